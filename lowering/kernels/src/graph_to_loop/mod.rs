//! One graph op, or one fusion region, to a kernel of the loop level.
//!
//! Ops that only move or combine elements (elementwise, broadcast, transpose, slice, gather, ...) are never computed on their own:
//! a nest that needs such a value inlines it at the index it needs ([`inline`]). The others (contractions, reductions, windows,
//! scans) become nests in the order of the region; what uses their results becomes an epilogue over the same outer iterators.

mod concat;
mod contraction;
mod index;
mod inline;
mod layout;
mod nest;
mod norm;
mod pool;
mod recurrent;
mod reduce;
mod region;
mod resize;
mod scatter;

use neap_optable::{Body, GraphOp, Node};

use crate::ir::Kernel;
use region::Lowering;

/// Why an op has no kernel. For a fusion: lower its members one by one instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{op} at `{node}`: {why}")]
pub struct Unlowerable {
    /// Operator.
    pub op: &'static str,
    /// Node name.
    pub node: String,
    /// What stands in the way and how to mend it.
    pub why: String,
}

/// Lowers one node of `body` to a kernel over the node's inputs and outputs.
///
/// # Errors
/// Ops without a kernel of their own (constants, weights, reshape-as-view is the caller's business), element types that are not
/// computed with, and fusion regions whose nests do not share their outer iterators.
pub fn lower(node: &Node, body: &Body) -> Result<Kernel, Unlowerable> {
    let mut cx = Lowering::new(node, body)?;
    for n in cx.region_nodes() {
        lower_node(&mut cx, n)?;
    }
    cx.finish()
}

/// Nests for the ops that cannot be inlined where they are used.
fn lower_node<'a>(cx: &mut Lowering<'a>, node: &'a Node) -> Result<(), Unlowerable> {
    match node.op {
        GraphOp::Matmul => contraction::matmul(cx, node),
        GraphOp::Conv => contraction::conv(cx, node),
        GraphOp::ConvTranspose => contraction::conv_transpose(cx, node),
        GraphOp::Pool => pool::pool(cx, node),
        GraphOp::Reduce => reduce::reduce(cx, node),
        GraphOp::ArgReduce => reduce::arg_reduce(cx, node),
        GraphOp::Cumsum => reduce::cumsum(cx, node),
        GraphOp::TopK => reduce::top_k(cx, node),
        GraphOp::Softmax => norm::softmax(cx, node),
        GraphOp::LayerNorm => norm::layer_norm(cx, node),
        GraphOp::Concat => concat::concat(cx, node),
        GraphOp::ScatterElements => scatter::scatter_elements(cx, node),
        GraphOp::ScatterNd => scatter::scatter_nd(cx, node),
        GraphOp::Lstm => recurrent::lstm(cx, node),
        GraphOp::Gru => recurrent::gru(cx, node),
        GraphOp::Unary
        | GraphOp::Binary
        | GraphOp::Compare
        | GraphOp::Select
        | GraphOp::Cast
        | GraphOp::Broadcast
        | GraphOp::Reshape
        | GraphOp::Transpose
        | GraphOp::Slice
        | GraphOp::Pad
        | GraphOp::Resize
        | GraphOp::Gather
        | GraphOp::GatherElements
        | GraphOp::GatherNd
        | GraphOp::Iota
        | GraphOp::Constant => Ok(()),
        GraphOp::Weight | GraphOp::Fusion | GraphOp::Yield => {
            Err(cx.refuse(node, "has no kernel; pass its value as an operand"))
        }
    }
}
