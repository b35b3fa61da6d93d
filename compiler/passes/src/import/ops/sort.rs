//! Extremes, order and running sums along an axis.

use neap_optable::{ArgKind, Attrs, DType, GraphOp, TensorType};

use super::reshape::axis_operand;
use crate::import::cx::{Cx, Val};
use crate::import::error::{Res, invalid};
use crate::import::op::Op;
use crate::import::table::{Entry, always, since};

pub(super) const OPS: &[Entry] = &[
    always("ArgMax", |cx, op| arg(cx, op, ArgKind::Max)),
    always("ArgMin", |cx, op| arg(cx, op, ArgKind::Min)),
    always("TopK", top_k),
    since("CumSum", 11, cumsum),
];

fn arg(cx: &mut Cx, op: &Op<'_>, kind: ArgKind) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    let at = op.axis(0, cx.rank(v))?;
    let out = cx.arg_reduce(kind, v, at, op.flag("select_last_index", false)?)?;
    if op.flag("keepdims", true)? {
        return Ok(vec![out]);
    }
    let mut dims = cx.dims(out);
    dims.remove(at);
    Ok(vec![cx.reshape(out, dims)?])
}

/// k is an attribute up to opset 9, then an operand that settles the shape.
fn top_k(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    let at = op.axis(-1, cx.rank(v))?;
    let k = match op.int_opt("k")? {
        Some(k) if op.opset() < 10 => neap_optable::Dim::constant(k),
        _ => match cx.dim_values(op.input(1)?, "k")?.as_slice() {
            [k] => k.clone(),
            other => return invalid(format!("k has {} elements, expected one", other.len())),
        },
    };
    let mut dims = cx.dims(v);
    dims[at] = k;
    let attrs = Attrs::new().int("axis", at as i64).flag("largest", op.flag("largest", true)?);
    let outs = vec![TensorType { dtype: cx.dtype(v), dims: dims.clone() }, TensorType { dtype: DType::I64, dims }];
    cx.op(GraphOp::TopK, attrs, &[v], outs)
}

fn cumsum(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    let at = axis_operand(cx, op, 1, cx.rank(v))?;
    let attrs = Attrs::new()
        .int("axis", at as i64)
        .flag("exclusive", op.flag("exclusive", false)?)
        .flag("reverse", op.flag("reverse", false)?);
    Ok(vec![cx.infer1(GraphOp::Cumsum, attrs, &[v])?])
}
