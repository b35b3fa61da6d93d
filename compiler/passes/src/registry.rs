//! All passes, in the order of the documentation.

use crate::graph;
use crate::pass::{Erased, ErasedPass};

/// Every pass that `neap-opt` knows.
pub static PASSES: &[&dyn ErasedPass] = &[
    &Erased::<graph::simplify::Simplify>::NEW,
    &Erased::<graph::fold::Fold>::NEW,
    &Erased::<graph::fold_batch_norm::FoldBatchNorm>::NEW,
    &Erased::<graph::fuse::Fuse>::NEW,
    &Erased::<graph::copy_outputs::CopyOutputs>::NEW,
    &Erased::<graph::tile::Tile>::NEW,
];

/// The pass of this name.
pub fn find(name: &str) -> Option<&'static dyn ErasedPass> {
    PASSES.iter().copied().find(|p| p.name() == name)
}

/// Conversions between levels, with their summaries; lowering is the driver's business, since it needs a target.
pub static CONVERSIONS: &[(&str, &str)] = &[
    ("convert-graph-to-loop", "lower every operator and fusion to a kernel of the loop dialect"),
    ("convert-loop-to-scf", "schedule kernels and lower them to the explicit level"),
    ("convert-loop-to-gpu", "lower kernels to a gpu.module each; with --gpu-chip, on to the chip's assembly"),
];

/// All names that a pipeline text may use, but `mlir(...)`.
pub fn names() -> impl Iterator<Item = &'static str> {
    PASSES.iter().map(|p| p.name()).chain(CONVERSIONS.iter().map(|(n, _)| *n))
}
