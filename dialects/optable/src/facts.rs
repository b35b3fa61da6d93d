//! What planners and cost models ask of an operator.

use crate::{Attrs, Body, Dim, GraphOp, ReduceKind, TensorType, UnaryKind};

impl UnaryKind {
    /// Whether the result is the operand, its negative, a whole number near it, or a truth value: one cheap instruction or two
    /// compute it, and nothing is rounded.
    pub const fn is_exact(self) -> bool {
        matches!(
            self,
            UnaryKind::Abs
                | UnaryKind::Neg
                | UnaryKind::Sign
                | UnaryKind::Relu
                | UnaryKind::Floor
                | UnaryKind::Ceil
                | UnaryKind::Round
                | UnaryKind::Not
                | UnaryKind::Isnan
                | UnaryKind::Isinf
        )
    }
}

/// Floating-point (or integer) operations, as an expression over the symbolic dims; a multiply-add counts as 2 and every
/// elementwise function as 1 an element. Moving elements counts nothing, as does a fusion (see [`Body::flops`]).
///
/// The types must have passed [`crate::check`].
pub fn flops(op: GraphOp, attrs: &Attrs, ins: &[TensorType], outs: &[TensorType]) -> Dim {
    match op {
        GraphOp::Unary | GraphOp::Binary | GraphOp::Compare | GraphOp::Select | GraphOp::Cast => outs[0].count(),
        GraphOp::Matmul => {
            let lhs = &ins[0];
            let k = lhs.rank() - if attrs.get_bool("transpose_lhs") { 2 } else { 1 };
            outs[0].count().mul(&lhs.dims[k]).scale(2)
        }
        // An output element sees one filter: channels of its group times the kernel.
        GraphOp::Conv => product(&ins[1].dims[1..]).mul(&outs[0].count()).scale(2),
        // Every input element meets the filters of its channel.
        GraphOp::ConvTranspose => product(&ins[1].dims[1..]).mul(&ins[0].count()).scale(2),
        GraphOp::Pool => {
            let kernel = attrs.get_ints("kernel").iter().fold(1, |n: i64, k| n.saturating_mul(*k));
            outs[0].count().scale(kernel)
        }
        GraphOp::Reduce => match attrs.get_enum("kind") {
            ReduceKind::Mean => ins[0].count().add(&outs[0].count()),
            ReduceKind::Sum
            | ReduceKind::Max
            | ReduceKind::Min
            | ReduceKind::Prod
            | ReduceKind::Any
            | ReduceKind::All => ins[0].count(),
        },
        GraphOp::ArgReduce | GraphOp::Cumsum => ins[0].count(),
        // max, subtract, exp, sum, divide
        GraphOp::Softmax => ins[0].count().scale(5),
        // mean, subtract, square, sum, scale
        GraphOp::LayerNorm => ins[0].count().scale(5),
        // Sorting compares; the order of n log n is not worth an expression.
        GraphOp::TopK => ins[0].count(),
        GraphOp::Resize => outs[0].count().scale(match attrs.get_enum("mode") {
            crate::ResizeMode::Nearest => 0,
            crate::ResizeMode::Linear => 4,
            crate::ResizeMode::Cubic => 16,
        }),
        // A step is one product [B, H] x [H, n H] and about four operations a gate.
        GraphOp::Lstm | GraphOp::Gru => {
            let hidden = &ins[1].dims[1];
            ins[0].count().mul(&hidden.scale(2).add(&Dim::constant(4)))
        }
        GraphOp::Iota => outs[0].count().scale(2),
        GraphOp::ScatterElements | GraphOp::ScatterNd => ins[2].count(),
        GraphOp::Broadcast
        | GraphOp::Concat
        | GraphOp::Constant
        | GraphOp::Fusion
        | GraphOp::Gather
        | GraphOp::GatherElements
        | GraphOp::GatherNd
        | GraphOp::Pad
        | GraphOp::Reshape
        | GraphOp::Slice
        | GraphOp::Transpose
        | GraphOp::Weight
        | GraphOp::Yield => Dim::constant(0),
    }
}

/// Whether the result is the operand's bytes under another shape, so that no kernel need run.
pub const fn is_view(op: GraphOp) -> bool {
    matches!(op, GraphOp::Reshape)
}

/// Whether every result element depends on the operands' elements at the same place alone.
pub const fn is_elementwise(op: GraphOp) -> bool {
    matches!(op, GraphOp::Unary | GraphOp::Binary | GraphOp::Compare | GraphOp::Select | GraphOp::Cast)
}

/// Pairs (operand, result) where a kernel may write the result over the operand if that dies there: each place is read
/// before it is written, and both have the same size in bytes. Whether a kernel's schedule keeps to it is for the schedule to say.
pub fn in_place(op: GraphOp, ins: &[TensorType], outs: &[TensorType]) -> Vec<(usize, usize)> {
    let candidates: usize = match op {
        GraphOp::Unary | GraphOp::Binary | GraphOp::Compare | GraphOp::Select | GraphOp::Cast => ins.len(),
        // Rows are finished one by one.
        GraphOp::Softmax | GraphOp::LayerNorm | GraphOp::Cumsum => 1,
        // The result is a copy of the input but for a few places.
        GraphOp::ScatterElements | GraphOp::ScatterNd => 1,
        GraphOp::Reshape => 1,
        GraphOp::ArgReduce
        | GraphOp::Broadcast
        | GraphOp::Concat
        | GraphOp::Constant
        | GraphOp::Conv
        | GraphOp::ConvTranspose
        | GraphOp::Fusion
        | GraphOp::Gather
        | GraphOp::GatherElements
        | GraphOp::GatherNd
        | GraphOp::Gru
        | GraphOp::Iota
        | GraphOp::Lstm
        | GraphOp::Matmul
        | GraphOp::Pad
        | GraphOp::Pool
        | GraphOp::Reduce
        | GraphOp::Resize
        | GraphOp::Slice
        | GraphOp::TopK
        | GraphOp::Transpose
        | GraphOp::Weight
        | GraphOp::Yield => 0,
    };
    let same_bytes = |i: &usize| ins[*i].dtype.size() == outs[0].dtype.size() && ins[*i].count() == outs[0].count();
    (0..candidates).filter(same_bytes).map(|i| (i, 0)).collect()
}

impl Body {
    /// Operations of all nodes, fusion regions included; see [`flops`].
    pub fn flops(&self) -> Dim {
        self.nodes.iter().fold(Dim::constant(0), |sum, n| {
            let types = |ids: &[crate::ValueId]| ids.iter().map(|v| self.ty(*v).clone()).collect::<Vec<_>>();
            let own = flops(n.op, &n.attrs, &types(&n.inputs), &types(&n.outputs));
            sum.add(&n.region.as_ref().map_or(own, |r| r.flops()))
        })
    }
}

fn product(dims: &[Dim]) -> Dim {
    dims.iter().fold(Dim::constant(1), |n, d| n.mul(d))
}
