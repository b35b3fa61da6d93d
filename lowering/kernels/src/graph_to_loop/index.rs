//! Gathers, inlined as loads at computed places.

use neap_optable::{DType, Node};

use super::Unlowerable;
use super::nest::NestBuilder;
use super::region::Lowering;
use crate::ir::{Index, OpId, Scalar};

pub(super) fn gather(b: &mut NestBuilder, cx: &mut Lowering<'_>, n: &Node, at: &[Index]) -> Result<OpId, Unlowerable> {
    let (input, indices) = (n.inputs[0], n.inputs[1]);
    let axis = n.attrs.get_int("axis") as usize;
    let ty = cx.ty(input);
    let rank = cx.ty(indices).rank();
    let i = b.value(cx, indices, &at[axis..axis + rank])?;
    let i = b.clamped(i, &ty.dims[axis]);
    let mut place: Vec<OpId> = at[..axis].iter().map(|x| b.index(x)).collect();
    place.push(i);
    place.extend(at[axis + rank..].iter().map(|x| b.index(x)).collect::<Vec<_>>());
    Ok(b.load(cx.whole(n, input)?, place, ty.dtype))
}

pub(super) fn gather_elements(
    b: &mut NestBuilder,
    cx: &mut Lowering<'_>,
    n: &Node,
    at: &[Index],
) -> Result<OpId, Unlowerable> {
    let (input, indices) = (n.inputs[0], n.inputs[1]);
    let axis = n.attrs.get_int("axis") as usize;
    let ty = cx.ty(input);
    let i = b.value(cx, indices, at)?;
    let i = b.clamped(i, &ty.dims[axis]);
    let place = (0..at.len()).map(|d| if d == axis { i } else { b.index(&at[d]) }).collect();
    Ok(b.load(cx.whole(n, input)?, place, ty.dtype))
}

pub(super) fn gather_nd(
    b: &mut NestBuilder,
    cx: &mut Lowering<'_>,
    n: &Node,
    at: &[Index],
) -> Result<OpId, Unlowerable> {
    let (input, indices) = (n.inputs[0], n.inputs[1]);
    let batch = n.attrs.get_int("batch_dims") as usize;
    let (ty, ity) = (cx.ty(input), cx.ty(indices));
    let rows = ity.rank() - 1;
    let place = addressed(b, cx, n, &at[..rows], batch, &at[rows..])?;
    Ok(b.load(cx.whole(n, input)?, place, ty.dtype))
}

/// The place that a row of indices addresses in the first operand: batch dims, then the row's entries, then the rest.
pub(super) fn addressed(
    b: &mut NestBuilder,
    cx: &mut Lowering<'_>,
    n: &Node,
    row: &[Index],
    batch: usize,
    rest: &[Index],
) -> Result<Vec<OpId>, Unlowerable> {
    let ty = cx.ty(n.inputs[0]);
    let mut place: Vec<OpId> = row[..batch].iter().map(|x| b.index(x)).collect();
    for (j, i) in entries(b, cx, n, row)?.into_iter().enumerate() {
        place.push(b.clamped(i, &ty.dims[batch + j]));
    }
    place.extend(rest.iter().map(|x| b.index(x)).collect::<Vec<_>>());
    debug_assert!(place.iter().all(|p| b.dtype(*p) == DType::I64));
    Ok(place)
}

/// Whether a row of indices addresses a place in the first operand, which shares no batch dims.
pub(super) fn addresses_inside(
    b: &mut NestBuilder,
    cx: &mut Lowering<'_>,
    n: &Node,
    row: &[Index],
) -> Result<OpId, Unlowerable> {
    let ty = cx.ty(n.inputs[0]);
    let mut all = b.constant(DType::Bool, Scalar::Int(1));
    for (j, i) in entries(b, cx, n, row)?.into_iter().enumerate() {
        let inside = b.inside(i, &ty.dims[j]);
        all = if j == 0 { inside } else { b.and(all, inside) };
    }
    Ok(all)
}

/// The entries of a row of indices.
fn entries(b: &mut NestBuilder, cx: &mut Lowering<'_>, n: &Node, row: &[Index]) -> Result<Vec<OpId>, Unlowerable> {
    let depth = match cx.ty(n.inputs[1]).dims.last().and_then(|d| d.as_const()) {
        Some(d) => d as i64,
        None => return Err(cx.refuse(n, "the last dim of its indices is symbolic; give its size with --dim")),
    };
    let entry = |j| {
        let mut entry = row.to_vec();
        entry.push(Index::constant(j));
        b.value(cx, n.inputs[1], &entry)
    };
    (0..depth).map(entry).collect()
}
