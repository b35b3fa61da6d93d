//! The rules about files, crates and documents that no compiler checks. Links no MLIR.

mod crates;
mod documents;
mod files;
mod sources;
