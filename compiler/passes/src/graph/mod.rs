//! Passes over the graph level, one file each.

pub mod copy_outputs;
pub mod fold;
pub mod fold_batch_norm;
pub mod fuse;
pub mod simplify;
pub mod tile;
pub mod upstream;
