//! Matrix products and convolutions.

use super::cx::{Cx, differ, less, merge, need_dim, need_number, need_rank, one, same_dtype};
use super::window::Window;
use crate::{Dim, TensorType};

pub(super) fn matmul(cx: &Cx<'_>) -> Result<TensorType, String> {
    let [lhs, rhs] = cx.operands()?;
    need_number("left operand", lhs)?;
    same_dtype("right operand", rhs, lhs.dtype)?;
    for (what, t) in [("left operand", lhs), ("right operand", rhs)] {
        if t.rank() < 2 {
            return Err(format!("{what} is {t}, expected at least rank 2"));
        }
    }
    let (l, r) = (lhs.rank() - 2, rhs.rank() - 2);
    let (m, k) = if cx.flag("transpose_lhs")? { (l + 1, l) } else { (l, l + 1) };
    let (k2, n) = if cx.flag("transpose_rhs")? { (r + 1, r) } else { (r, r + 1) };
    if differ(&lhs.dims[k], &rhs.dims[k2]) {
        return Err(format!(
            "cannot multiply {lhs} by {rhs}: dim {k} of the left is {}, dim {k2} of the right is {}",
            lhs.dims[k], rhs.dims[k2]
        ));
    }
    let mut dims = broadcast_dims(&lhs.dims[..l], &rhs.dims[..r])
        .map_err(|(a, b)| format!("cannot multiply {lhs} by {rhs}: batch dims {a} and {b} do not broadcast"))?;
    dims.push(lhs.dims[m].clone());
    dims.push(rhs.dims[n].clone());
    Ok(TensorType { dtype: lhs.dtype, dims })
}

/// The numpy broadcast of two shapes; the pair of dims that does not fit as error.
fn broadcast_dims(a: &[Dim], b: &[Dim]) -> Result<Vec<Dim>, (Dim, Dim)> {
    let rank = a.len().max(b.len());
    let at = |s: &[Dim], i: usize| (i + s.len()).checked_sub(rank).map_or(Dim::constant(1), |i| s[i].clone());
    (0..rank)
        .map(|i| {
            let (x, y) = (at(a, i), at(b, i));
            match (x.as_i64(), y.as_i64()) {
                (Some(1), _) => Ok(y),
                (_, Some(1)) => Ok(x),
                _ if differ(&x, &y) => Err((x, y)),
                _ => Ok(merge(&x, &y)),
            }
        })
        .collect()
}

pub(super) fn conv(cx: &Cx<'_>) -> Result<TensorType, String> {
    let [input, filter] = cx.operands()?;
    let groups = operands(cx, input, filter)?;
    let channels = filter.dims[1].scale(groups);
    need_dim("input", input, 1, &channels).map_err(|e| format!("{e} ({groups} groups of filter {filter})"))?;
    if filter.dims[0].as_i64().is_some_and(|o| o % groups != 0) {
        return Err(format!("filter is {filter}: dim 0 is not a multiple of the {groups} groups"));
    }
    let mut dims = vec![input.dims[0].clone(), filter.dims[0].clone()];
    for (i, w) in Window::of_filter(cx, filter)?.iter().enumerate() {
        let size = &input.dims[i + 2];
        let span = w.span(size);
        if less(&span, &Dim::constant(0)) {
            return Err(format!(
                "the kernel reaches over {} elements, more than dim {} of input {input}",
                w.reach,
                i + 2
            ));
        }
        dims.push(w.floor_count(size));
    }
    Ok(TensorType { dtype: input.dtype, dims })
}

pub(super) fn conv_transpose(cx: &Cx<'_>, outs: &[TensorType]) -> Result<(), String> {
    let [input, filter] = cx.operands()?;
    let out = one(outs)?;
    let groups = operands(cx, input, filter)?;
    need_dim("filter", filter, 0, &input.dims[1])?;
    if input.dims[1].as_i64().is_some_and(|c| c % groups != 0) {
        return Err(format!("input is {input}: dim 1 is not a multiple of the {groups} groups"));
    }
    same_dtype("result", out, input.dtype)?;
    need_rank("result", out, input.rank())?;
    need_dim("result", out, 0, &input.dims[0])?;
    need_dim("result", out, 1, &filter.dims[1].scale(groups))?;
    for (i, w) in Window::of_filter(cx, filter)?.iter().enumerate() {
        let (from, to) = (&input.dims[i + 2], &out.dims[i + 2]);
        // Without output padding; the padding must be smaller than the stride or the dilation.
        let least =
            from.sub(&Dim::constant(1)).scale(w.stride).add(&w.reach).sub(&Dim::constant(w.low.saturating_add(w.high)));
        if less(to, &least) || less(&least.add(&Dim::constant(w.stride.max(w.dilation) - 1)), to) {
            return Err(format!(
                "result is {out}: dim {} is {to}, expected {least} plus an output padding below {}",
                i + 2,
                w.stride.max(w.dilation)
            ));
        }
    }
    Ok(())
}

/// What convolutions ask of their operands alike; gives the groups.
fn operands(cx: &Cx<'_>, input: &TensorType, filter: &TensorType) -> Result<i64, String> {
    need_number("input", input)?;
    same_dtype("filter", filter, input.dtype)?;
    if input.rank() < 3 {
        return Err(format!("input is {input}, expected at least rank 3"));
    }
    need_rank("filter", filter, input.rank())?;
    match cx.int("groups")? {
        g if g > 0 => Ok(g),
        g => Err(format!("has {g} groups, expected at least 1")),
    }
}
