//! The default pipeline on one page.

/// Graph passes from import to kernels.
pub const DEFAULT_PIPELINE: &str = "graph-simplify,\
    graph-fold,\
    graph-simplify,\
    graph-fold-batch-norm,\
    graph-fold,\
    graph-simplify,\
    graph-fuse,\
    graph-copy-outputs";
