//! Operators that move elements.

use super::cx::{Cx, differ, less, merge, need_dim, need_rank, one, same_dtype};
use crate::{Dim, PadMode, TensorType};

pub(super) fn broadcast(cx: &Cx<'_>, outs: &[TensorType]) -> Result<(), String> {
    let [input] = cx.operands()?;
    let out = one(outs)?;
    same_dtype("result", out, input.dtype)?;
    if out.rank() < input.rank() {
        return Err(format!("cannot broadcast {input} to {out}, which has fewer dims"));
    }
    let new = out.rank() - input.rank();
    for (i, d) in input.dims.iter().enumerate() {
        let to = &out.dims[i + new];
        if d.as_i64() != Some(1) && differ(d, to) {
            return Err(format!("cannot broadcast {input} to {out}: dim {i} is {d}, expected 1 or {to}"));
        }
    }
    Ok(())
}

pub(super) fn reshape(cx: &Cx<'_>, outs: &[TensorType]) -> Result<(), String> {
    let [input] = cx.operands()?;
    let out = one(outs)?;
    same_dtype("result", out, input.dtype)?;
    let (from, to) = (input.count(), out.count());
    if differ(&from, &to) {
        return Err(format!("cannot reshape {input} to {out}: {from} elements against {to}"));
    }
    Ok(())
}

pub(super) fn transpose(cx: &Cx<'_>) -> Result<TensorType, String> {
    let [input] = cx.operands()?;
    let permutation = cx.ints("permutation", input.rank())?;
    let mut sorted = permutation.to_vec();
    sorted.sort_unstable();
    if sorted.iter().enumerate().any(|(i, &p)| p != i as i64) {
        return Err(format!("{permutation:?} is not a permutation of the dims of {input}"));
    }
    Ok(TensorType { dtype: input.dtype, dims: permutation.iter().map(|&p| input.dims[p as usize].clone()).collect() })
}

pub(super) fn slice(cx: &Cx<'_>, outs: &[TensorType]) -> Result<(), String> {
    let [input] = cx.operands()?;
    let out = one(outs)?;
    same_dtype("result", out, input.dtype)?;
    need_rank("result", out, input.rank())?;
    let (starts, steps) = (cx.ints("starts", input.rank())?, cx.ints("steps", input.rank())?);
    for i in 0..input.rank() {
        let (start, step, size, count) = (starts[i], steps[i], &input.dims[i], &out.dims[i]);
        if step == 0 {
            return Err(format!("the step of dim {i} is 0"));
        }
        if start < 0 {
            return Err(format!("the start of dim {i} is {start}, expected at least 0"));
        }
        // Where the count may be 0 nothing need exist.
        if count.as_i64().is_none_or(|c| c == 0) {
            continue;
        }
        let last = Dim::constant(start).add(&count.sub(&Dim::constant(1)).scale(step));
        if less(&last, &Dim::constant(0)) || less(size, &last.add(&Dim::constant(1))) {
            return Err(format!("reads element {last} of dim {i} of {input}"));
        }
        if less(size, &Dim::constant(start.saturating_add(1))) {
            return Err(format!("starts at element {start} of dim {i} of {input}"));
        }
    }
    Ok(())
}

pub(super) fn concat(cx: &Cx<'_>) -> Result<TensorType, String> {
    let first = cx.ins.first().ok_or("has no operands, expected at least 1")?;
    let axis = cx.axis(first)?;
    let mut out = first.clone();
    for (i, t) in cx.ins.iter().enumerate().skip(1) {
        let what = format!("operand {i}");
        same_dtype(&what, t, first.dtype)?;
        need_rank(&what, t, first.rank())?;
        for (j, d) in out.dims.iter_mut().enumerate() {
            if j == axis {
                *d = d.add(&t.dims[j]);
            } else {
                need_dim(&what, t, j, d)?;
                *d = merge(d, &t.dims[j]);
            }
        }
    }
    Ok(out)
}

pub(super) fn pad(cx: &Cx<'_>) -> Result<TensorType, String> {
    let [input, value] = cx.operands()?;
    same_dtype("value", value, input.dtype)?;
    need_rank("value", value, 0)?;
    let mode: PadMode = cx.enumeration("mode")?;
    let (low, high) = (cx.ints("low", input.rank())?, cx.ints("high", input.rank())?);
    let mut out = input.clone();
    for (i, d) in out.dims.iter_mut().enumerate() {
        let size = d.add(&Dim::constant(low[i])).add(&Dim::constant(high[i]));
        if less(&size, &Dim::constant(0)) {
            return Err(format!("pads {} and {} leave dim {i} of {input} with {size} elements", low[i], high[i]));
        }
        if mode != PadMode::Constant && d.as_i64() == Some(0) && (low[i] > 0 || high[i] > 0) {
            return Err(format!("mode {} has nothing to repeat in dim {i} of {input}", mode.name()));
        }
        *d = size;
    }
    Ok(out)
}
