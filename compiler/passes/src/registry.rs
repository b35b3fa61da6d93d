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
];

/// The pass of this name.
pub fn find(name: &str) -> Option<&'static dyn ErasedPass> {
    PASSES.iter().copied().find(|p| p.name() == name)
}
