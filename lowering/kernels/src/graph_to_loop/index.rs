//! Gathers, inlined as loads at computed places.

use neap_optable::{DType, Node};

use super::Unlowerable;
use super::nest::NestBuilder;
use super::region::Lowering;
use crate::ir::{Index, OpId};

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
    let (ty, ity) = (cx.ty(n.inputs[0]), cx.ty(n.inputs[1]));
    let depth = match ity.dims.last().and_then(|d| d.as_const()) {
        Some(d) => d as usize,
        None => return Err(cx.refuse(n, "the last dim of its indices is symbolic; give its size with --dim")),
    };
    let mut place: Vec<OpId> = row[..batch].iter().map(|x| b.index(x)).collect();
    for j in 0..depth {
        let mut entry = row.to_vec();
        entry.push(Index::constant(j as i64));
        let i = b.value(cx, n.inputs[1], &entry)?;
        place.push(b.clamped(i, &ty.dims[batch + j]));
    }
    place.extend(rest.iter().map(|x| b.index(x)).collect::<Vec<_>>());
    debug_assert!(place.iter().all(|p| b.dtype(*p) == DType::I64));
    Ok(place)
}
