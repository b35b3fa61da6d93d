//! Plans made wrong: what the check accepts must run.

#![no_main]

#[path = "../../../compiler/plan/tests/support/mod.rs"]
mod support;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| support::fuzz::plan(bytes));
