//! neap's runtime: loads an artefact and runs it in one arena. Links neither MLIR nor LLVM.

pub mod program;
