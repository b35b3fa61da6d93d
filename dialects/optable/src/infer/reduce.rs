//! Reductions, normalisations, scans and sorting along dims.

use super::cx::{Cx, axis_in, less, need_dim, need_float, need_number, need_rank, same_dtype};
use crate::{ArgKind, DType, Dim, ReduceKind, TensorType};

pub(super) fn reduce(cx: &Cx<'_>) -> Result<TensorType, String> {
    let [input] = cx.operands()?;
    let kind: ReduceKind = cx.enumeration("kind")?;
    let what = format!("operand of {}", kind.name());
    match kind {
        ReduceKind::Any | ReduceKind::All => same_dtype(&what, input, DType::Bool)?,
        ReduceKind::Mean => need_float(&what, input)?,
        ReduceKind::Sum | ReduceKind::Max | ReduceKind::Min | ReduceKind::Prod => need_number(&what, input)?,
    }
    let axes = cx.any_ints("axes")?;
    if axes.windows(2).any(|w| w[0] >= w[1]) {
        return Err(format!("axes {axes:?} are not sorted and distinct"));
    }
    for &a in axes {
        axis_in(a, input)?;
    }
    let keep = cx.flag("keep_dims")?;
    let mut dims = vec![];
    for (i, d) in input.dims.iter().enumerate() {
        match (axes.contains(&(i as i64)), keep) {
            (false, _) => dims.push(d.clone()),
            (true, true) => dims.push(Dim::constant(1)),
            (true, false) => {}
        }
    }
    Ok(TensorType { dtype: input.dtype, dims })
}

pub(super) fn arg_reduce(cx: &Cx<'_>) -> Result<TensorType, String> {
    let [input] = cx.operands()?;
    let _: ArgKind = cx.enumeration("kind")?;
    cx.flag("select_last")?;
    need_number("operand", input)?;
    let axis = cx.axis(input)?;
    if input.dims[axis].as_i64() == Some(0) {
        return Err(format!("dim {axis} of {input} has no elements to choose from"));
    }
    let mut dims = input.dims.clone();
    dims[axis] = Dim::constant(1);
    Ok(TensorType { dtype: DType::I64, dims })
}

pub(super) fn softmax(cx: &Cx<'_>) -> Result<TensorType, String> {
    let [input] = cx.operands()?;
    need_float("operand", input)?;
    cx.axis(input)?;
    cx.flag("log")?;
    Ok(input.clone())
}

pub(super) fn layer_norm(cx: &Cx<'_>) -> Result<TensorType, String> {
    let [input] = cx.operands()?;
    need_float("operand", input)?;
    cx.axis(input)?;
    cx.flag("rms")?;
    match cx.float("epsilon")? {
        e if e >= 0.0 && e.is_finite() => Ok(input.clone()),
        e => Err(format!("epsilon is {e}, expected a finite number of at least 0")),
    }
}

pub(super) fn cumsum(cx: &Cx<'_>) -> Result<TensorType, String> {
    let [input] = cx.operands()?;
    need_number("operand", input)?;
    cx.axis(input)?;
    cx.flag("exclusive")?;
    cx.flag("reverse")?;
    Ok(input.clone())
}

pub(super) fn top_k(cx: &Cx<'_>, outs: &[TensorType]) -> Result<(), String> {
    let [input] = cx.operands()?;
    let [values, indices] = outs else { return Err(format!("has {} results, expected 2", outs.len())) };
    need_number("operand", input)?;
    let axis = cx.axis(input)?;
    cx.flag("largest")?;
    same_dtype("values", values, input.dtype)?;
    same_dtype("indices", indices, DType::I64)?;
    for (what, t) in [("values", values), ("indices", indices)] {
        need_rank(what, t, input.rank())?;
        for (i, d) in input.dims.iter().enumerate() {
            if i != axis {
                need_dim(what, t, i, d)?;
            }
        }
    }
    need_dim("indices", indices, axis, &values.dims[axis])?;
    if less(&input.dims[axis], &values.dims[axis]) {
        return Err(format!("asks for {} elements of dim {axis} of {input}", values.dims[axis]));
    }
    Ok(())
}
