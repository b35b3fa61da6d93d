//! The fuzz targets of `testsuite/fuzz` on the bytes kept there: seeds, and what fuzzing once found.

mod support;

use std::path::Path;

fn each(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testsuite/fuzz/seeds").join(target);
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files.iter().for_each(|f| run(&std::fs::read(f).unwrap()));
}

#[test]
fn problems() {
    each("problem", support::fuzz::problem);
}

#[test]
fn tables() {
    each("table", support::fuzz::table);
}

#[test]
fn plans() {
    each("plan", support::fuzz::plan);
}
