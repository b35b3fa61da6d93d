//! Generated from `dialects/mlir/td` by neap-gen; do not edit.

mod graph_kinds;
mod graph_op;
mod loop_kinds;
mod loop_op;
mod segment_kinds;
mod segment_op;

pub use graph_kinds::*;
pub use graph_op::*;
pub use loop_kinds::*;
pub use loop_op::*;
pub use segment_kinds::*;
pub use segment_op::*;
