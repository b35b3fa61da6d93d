//! Operators whose places come from data.

use super::cx::{Cx, less, need_dim, need_index, need_number, need_rank, one, same_dtype, same_type};
use crate::{DType, ScatterKind, TensorType};

pub(super) fn gather(cx: &Cx<'_>) -> Result<TensorType, String> {
    let [input, indices] = cx.operands()?;
    need_index(indices)?;
    let axis = cx.axis(input)?;
    let mut dims = input.dims[..axis].to_vec();
    dims.extend_from_slice(&indices.dims);
    dims.extend_from_slice(&input.dims[axis + 1..]);
    // Indices are clamped, which needs an element to clamp to.
    if input.dims[axis].as_i64() == Some(0) && indices.count().as_i64().is_some_and(|c| c > 0) {
        return Err(format!("dim {axis} of {input} has no elements to gather"));
    }
    Ok(TensorType { dtype: input.dtype, dims })
}

pub(super) fn gather_elements(cx: &Cx<'_>) -> Result<TensorType, String> {
    let [input, indices] = cx.operands()?;
    along_axis(cx, input, indices)?;
    Ok(TensorType { dtype: input.dtype, dims: indices.dims.clone() })
}

pub(super) fn gather_nd(cx: &Cx<'_>) -> Result<TensorType, String> {
    let [input, indices] = cx.operands()?;
    need_index(indices)?;
    let batch = cx.int("batch_dims")?;
    let batch = usize::try_from(batch)
        .ok()
        .filter(|&b| b < indices.rank() && b <= input.rank())
        .ok_or_else(|| format!("batch_dims is {batch} for input {input} and indices {indices}"))?;
    for i in 0..batch {
        need_dim("indices", indices, i, &input.dims[i])?;
    }
    let depth = row_length(input, indices, batch)?;
    let mut dims = indices.dims[..indices.rank() - 1].to_vec();
    dims.extend_from_slice(&input.dims[batch + depth..]);
    Ok(TensorType { dtype: input.dtype, dims })
}

pub(super) fn scatter_elements(cx: &Cx<'_>) -> Result<TensorType, String> {
    let [input, indices, updates] = cx.operands()?;
    scatter_kind(cx, input)?;
    along_axis(cx, input, indices)?;
    same_type("updates", updates, &TensorType { dtype: input.dtype, dims: indices.dims.clone() })?;
    Ok(input.clone())
}

pub(super) fn scatter_nd(cx: &Cx<'_>) -> Result<TensorType, String> {
    let [input, indices, updates] = cx.operands()?;
    scatter_kind(cx, input)?;
    need_index(indices)?;
    let depth = row_length(input, indices, 0)?;
    let mut dims = indices.dims[..indices.rank() - 1].to_vec();
    dims.extend_from_slice(&input.dims[depth..]);
    same_type("updates", updates, &TensorType { dtype: input.dtype, dims })?;
    Ok(input.clone())
}

pub(super) fn iota(cx: &Cx<'_>, outs: &[TensorType]) -> Result<(), String> {
    let [start, step] = cx.operands()?;
    let out = one(outs)?;
    cx.axis(out)?;
    need_number("result", out)?;
    for (what, t) in [("start", start), ("step", step)] {
        need_rank(what, t, 0)?;
        same_dtype(what, t, out.dtype)?;
    }
    Ok(())
}

/// Assigning takes any type, combining numbers only.
fn scatter_kind(cx: &Cx<'_>, input: &TensorType) -> Result<(), String> {
    match cx.enumeration("kind")? {
        ScatterKind::Assign => Ok(()),
        ScatterKind::Add | ScatterKind::Mul | ScatterKind::Max | ScatterKind::Min if input.dtype != DType::Bool => {
            Ok(())
        }
        kind => Err(format!("{} does not combine elements of {input}", kind.name())),
    }
}

/// Indices that address along `axis`, and stay inside the input along every other dim.
fn along_axis(cx: &Cx<'_>, input: &TensorType, indices: &TensorType) -> Result<(), String> {
    need_index(indices)?;
    need_rank("indices", indices, input.rank())?;
    let axis = cx.axis(input)?;
    for (i, (d, n)) in input.dims.iter().zip(&indices.dims).enumerate() {
        if i != axis && less(d, n) {
            return Err(format!("indices are {indices}: dim {i} is {n}, expected at most {d} as in {input}"));
        }
    }
    Ok(())
}

/// How many dims one row of the indices addresses.
fn row_length(input: &TensorType, indices: &TensorType, batch: usize) -> Result<usize, String> {
    let last = indices.dims.last().ok_or_else(|| format!("indices are {indices}, expected at least rank 1"))?;
    let depth = last.as_const().ok_or_else(|| format!("the last dim of indices {indices} must be known now"))?;
    usize::try_from(depth)
        .ok()
        .filter(|&d| d <= input.rank() - batch)
        .ok_or_else(|| format!("the rows of indices {indices} address {depth} dims, more than {input} has"))
}
