//! Generated from `dialects/mlir/td` by neap-gen; do not edit.

mod graph_kinds;
mod graph_op;

pub use graph_kinds::*;
pub use graph_op::*;
