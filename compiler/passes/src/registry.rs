//! All passes, in the order of the documentation.

use std::sync::{PoisonError, RwLock};

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

/// Passes from other crates.
static MORE: RwLock<Vec<&'static dyn ErasedPass>> = RwLock::new(vec![]);

/// Makes a pass of another crate known to pipelines; one of the same name that came before stays.
pub fn register(pass: &'static dyn ErasedPass) {
    MORE.write().unwrap_or_else(PoisonError::into_inner).push(pass);
}

fn more() -> Vec<&'static dyn ErasedPass> {
    MORE.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// All passes there are.
pub fn passes() -> impl Iterator<Item = &'static dyn ErasedPass> {
    PASSES.iter().copied().chain(more())
}

/// The pass of this name.
pub fn find(name: &str) -> Option<&'static dyn ErasedPass> {
    passes().find(|p| p.name() == name)
}

/// Conversions between levels, with their summaries; lowering is the driver's business, since it needs a target.
pub static CONVERSIONS: &[(&str, &str)] = &[
    ("convert-graph-to-loop", "lower every operator and fusion to a kernel of the loop dialect"),
    ("convert-loop-to-scf", "schedule kernels and lower them to the explicit level"),
    ("convert-loop-to-gpu", "lower kernels to a gpu.module each; with --gpu-chip, on to the chip's assembly"),
];

/// All names that a pipeline text may use, but `mlir(...)`.
pub fn names() -> impl Iterator<Item = &'static str> {
    passes().map(|p| p.name()).chain(CONVERSIONS.iter().map(|(n, _)| *n))
}
