//! Scatters: a copy of the input, then the updates in order. An update whose place is outside is dropped.

use neap_optable::{BinaryKind, Node, ScatterKind};

use super::Unlowerable;
use super::index::{addressed, addresses_inside};
use super::layout::iterate;
use super::nest::NestBuilder;
use super::region::{Lowering, parallel, sequential};
use crate::ir::{Access, BufferId, Effect, OpId};

pub(super) fn scatter_elements<'a>(cx: &mut Lowering<'a>, n: &'a Node) -> Result<(), Unlowerable> {
    let (indices, updates) = (n.inputs[1], n.inputs[2]);
    let out = copy(cx, n)?;
    let axis = n.attrs.get_int("axis") as usize;
    let dims = &cx.ty(indices).dims;
    // Updates off the axis never meet, so only the axis has an order.
    let iters = dims.iter().enumerate().map(|(d, e)| if d == axis { sequential(e) } else { parallel(e) }).collect();
    let mut nest = cx.nest(iters);
    let at: Vec<_> = (0..dims.len()).map(|d| nest.own(d)).collect();
    let i = nest.value(cx, indices, &at)?;
    let to = &cx.ty(n.inputs[0]).dims[axis];
    let (i, inside) = (nest.clamped(i, to), nest.inside(i, to));
    let place: Vec<OpId> = (0..at.len()).map(|d| if d == axis { i } else { nest.index(&at[d]) }).collect();
    let update = nest.value(cx, updates, &at)?;
    meet(cx, n, nest, Place { to: out, index: place, inside }, update);
    Ok(())
}

pub(super) fn scatter_nd<'a>(cx: &mut Lowering<'a>, n: &'a Node) -> Result<(), Unlowerable> {
    let updates = n.inputs[2];
    let out = copy(cx, n)?;
    let rows = cx.ty(n.inputs[1]).rank() - 1;
    let dims = &cx.ty(updates).dims;
    let iters = dims.iter().enumerate().map(|(d, e)| if d < rows { sequential(e) } else { parallel(e) }).collect();
    let mut nest = cx.nest(iters);
    let at: Vec<_> = (0..dims.len()).map(|d| nest.own(d)).collect();
    let place = addressed(&mut nest, cx, n, &at[..rows], 0, &at[rows..])?;
    let inside = addresses_inside(&mut nest, cx, n, &at[..rows])?;
    let update = nest.value(cx, updates, &at)?;
    meet(cx, n, nest, Place { to: out, index: place, inside }, update);
    Ok(())
}

fn copy<'a>(cx: &mut Lowering<'a>, n: &'a Node) -> Result<BufferId, Unlowerable> {
    cx.set_outer(n, vec![])?;
    let out = cx.only_output(n, 0)?;
    let (iters, index) = iterate(&cx.ty(n.inputs[0]).dims, 0);
    let mut nest = cx.nest(iters);
    let value = nest.value(cx, n.inputs[0], &index)?;
    nest.effect(Effect::Store { to: Access { buffer: out, index, outside: None }, value, when: None });
    cx.nests.push(nest.build());
    Ok(out)
}

/// Where an update goes: clamped indices, and whether it goes there at all.
struct Place {
    to: BufferId,
    index: Vec<OpId>,
    inside: OpId,
}

fn meet(cx: &mut Lowering<'_>, n: &Node, mut nest: NestBuilder, place: Place, update: OpId) {
    if cx.ty(n.inputs[0]).dims.iter().any(|d| d.as_i64() == Some(0)) {
        return;
    }
    let Place { to, index, inside } = place;
    let kind = match n.attrs.get_enum::<ScatterKind>("kind") {
        ScatterKind::Assign => None,
        ScatterKind::Add => Some(BinaryKind::Add),
        ScatterKind::Mul => Some(BinaryKind::Mul),
        ScatterKind::Max => Some(BinaryKind::Max),
        ScatterKind::Min => Some(BinaryKind::Min),
    };
    let value = match kind {
        None => update,
        Some(k) => {
            let old = nest.load(to, index.clone(), nest.dtype(update));
            nest.binary(k, old, update)
        }
    };
    nest.effect(Effect::StoreAt { to, index, value, when: Some(inside) });
    cx.nests.push(nest.build());
}
