//! Tables of buffers: the CSV reader, the placement and its check.

#![no_main]

#[path = "../../../compiler/plan/tests/support/mod.rs"]
mod support;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| support::fuzz::table(bytes));
