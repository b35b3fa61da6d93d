//! Problem files: the JSON reader, the solver and the check.

#![no_main]

#[path = "../../../compiler/plan/tests/support/mod.rs"]
mod support;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| support::fuzz::problem(bytes));
