//! neap's tests that need MLIR, as data: each module turns files or tables into trials, and one binary runs them all, since a
//! binary that links MLIR is large.
//!
//! To add tests, add rows or files to a module's data, or a module with a `trials` function and one line in [`trials`].

mod arena;
mod exec;
mod explicit;
mod filecheck;
mod files;
mod graph_bodies;
mod graph_files;
mod import;
mod kernels;
mod loop_files;
mod numerics;
mod ods;
mod op_table;
mod verifier;

use libtest_mimic::Trial;

/// All trials.
pub fn trials() -> Vec<Trial> {
    let mut all = vec![];
    all.extend(filecheck::trials());
    all.extend(graph_files::trials());
    all.extend(graph_bodies::trials());
    all.extend(kernels::trials());
    all.extend(loop_files::trials());
    all.extend(verifier::trials());
    all.extend(ods::trials());
    all.extend(op_table::trials());
    all.extend(explicit::trials());
    all.extend(import::trials());
    all.extend(numerics::trials());
    all.extend(arena::trials());
    all
}
