//! Shape inference and the legality check of every operator.
//!
//! [`infer`] gives the result types that follow from the operands; [`check`] compares given result types with the operands.
//! Symbolic dims are compared as polynomials: what cannot be decided passes, what provably differs fails.
//! Attributes are read without panicking, so that both may be run on anything a user wrote.

mod contract;
mod cx;
mod elementwise;
mod index;
mod recurrent;
mod reduce;
mod shape;
mod structure;
mod window;

#[cfg(test)]
mod tests;

use crate::{Attrs, Body, GraphOp, TensorType};
use cx::Cx;

/// Result types of an op whose results follow from its operands and attributes.
///
/// # Errors
/// What was found against what is expected, in one line; also for an op whose result type is given and not inferred
/// (broadcast, cast, conv_transpose, fusion, iota, pool, reshape, resize, slice, top_k, weight, yield).
pub fn infer(op: GraphOp, attrs: &Attrs, ins: &[TensorType]) -> Result<Vec<TensorType>, String> {
    let cx = Cx { attrs, ins };
    let one = |t: Result<TensorType, String>| t.map(|t| vec![t]);
    let found = match op {
        GraphOp::Unary => one(elementwise::unary(&cx)),
        GraphOp::Binary => one(elementwise::binary(&cx)),
        GraphOp::Compare => one(elementwise::compare(&cx)),
        GraphOp::Select => one(elementwise::select(&cx)),
        GraphOp::Transpose => one(shape::transpose(&cx)),
        GraphOp::Concat => one(shape::concat(&cx)),
        GraphOp::Pad => one(shape::pad(&cx)),
        GraphOp::Matmul => one(contract::matmul(&cx)),
        GraphOp::Conv => one(contract::conv(&cx)),
        GraphOp::Reduce => one(reduce::reduce(&cx)),
        GraphOp::ArgReduce => one(reduce::arg_reduce(&cx)),
        GraphOp::Softmax => one(reduce::softmax(&cx)),
        GraphOp::LayerNorm => one(reduce::layer_norm(&cx)),
        GraphOp::Cumsum => one(reduce::cumsum(&cx)),
        GraphOp::Gather => one(index::gather(&cx)),
        GraphOp::GatherElements => one(index::gather_elements(&cx)),
        GraphOp::GatherNd => one(index::gather_nd(&cx)),
        GraphOp::ScatterElements => one(index::scatter_elements(&cx)),
        GraphOp::ScatterNd => one(index::scatter_nd(&cx)),
        GraphOp::Constant => one(structure::constant(&cx)),
        GraphOp::Lstm => recurrent::lstm(&cx),
        GraphOp::Gru => recurrent::gru(&cx),
        GraphOp::Broadcast
        | GraphOp::Cast
        | GraphOp::ConvTranspose
        | GraphOp::Fusion
        | GraphOp::Iota
        | GraphOp::Pool
        | GraphOp::Reshape
        | GraphOp::Resize
        | GraphOp::Slice
        | GraphOp::TopK
        | GraphOp::Weight
        | GraphOp::Yield => Err("its result type is given, it does not follow from the operands".into()),
    };
    found.map_err(|e| format!("graph.{}: {e}", op.name()))
}

/// Whether an op with these operands may have these result types. A `graph.fusion` needs its region.
///
/// # Errors
/// What was found against what is expected, with the dim, in one line.
pub fn check(
    op: GraphOp,
    attrs: &Attrs,
    ins: &[TensorType],
    outs: &[TensorType],
    region: Option<&Body>,
) -> Result<(), String> {
    let at_op = |e: String| format!("graph.{}: {e}", op.name());
    if region.is_some() && op != GraphOp::Fusion {
        return Err(at_op("has a region, but only graph.fusion has one".into()));
    }
    for (what, types) in [("operand", ins), ("result", outs)] {
        for (i, t) in types.iter().enumerate() {
            cx::check_sizes(t).map_err(|e| at_op(format!("{what} {i}: {e}")))?;
        }
    }
    let cx = Cx { attrs, ins };
    match op {
        GraphOp::Broadcast => shape::broadcast(&cx, outs),
        GraphOp::Cast => elementwise::cast(&cx, outs),
        GraphOp::ConvTranspose => contract::conv_transpose(&cx, outs),
        GraphOp::Fusion => structure::fusion(&cx, outs, region),
        GraphOp::Iota => index::iota(&cx, outs),
        GraphOp::Pool => window::pool(&cx, outs),
        GraphOp::Reshape => shape::reshape(&cx, outs),
        GraphOp::Resize => window::resize(&cx, outs),
        GraphOp::Slice => shape::slice(&cx, outs),
        GraphOp::TopK => reduce::top_k(&cx, outs),
        GraphOp::Weight => structure::weight(&cx, outs),
        GraphOp::Yield => Err("stands only at the end of a region in MLIR; a body has its results instead".into()),
        GraphOp::ArgReduce
        | GraphOp::Binary
        | GraphOp::Compare
        | GraphOp::Concat
        | GraphOp::Constant
        | GraphOp::Conv
        | GraphOp::Cumsum
        | GraphOp::Gather
        | GraphOp::GatherElements
        | GraphOp::GatherNd
        | GraphOp::Gru
        | GraphOp::LayerNorm
        | GraphOp::Lstm
        | GraphOp::Matmul
        | GraphOp::Pad
        | GraphOp::Reduce
        | GraphOp::ScatterElements
        | GraphOp::ScatterNd
        | GraphOp::Select
        | GraphOp::Softmax
        | GraphOp::Transpose
        | GraphOp::Unary => return cx::same_types(&infer(op, attrs, ins)?, outs).map_err(at_op),
    }
    .map_err(at_op)
}
