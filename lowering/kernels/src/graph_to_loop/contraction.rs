//! Matrix products and convolutions: one fused multiply-add reduction a result element.

use neap_optable::{BinaryKind, CompareKind, Dim, GraphOp, Node, ValueId};

use super::Unlowerable;
use super::layout::Layout;
use super::nest::NestBuilder;
use super::region::{Lowering, parallel, reduction};
use crate::ir::{Access, Combine, Effect, Index, Iter, OpId, Scalar};

/// `[..., M, K] x [..., K, N]`, each operand perhaps transposed, batch dims broadcast.
pub(super) fn matmul<'a>(cx: &mut Lowering<'a>, n: &'a Node) -> Result<(), Unlowerable> {
    let (lhs, rhs, out) = (n.inputs[0], n.inputs[1], n.outputs[0]);
    let dims = cx.ty(out).dims.clone();
    let rank = dims.len();
    let left = &cx.ty(lhs).dims;
    let transposed = n.attrs.get_bool("transpose_lhs");
    let k = left[left.len() - if transposed { 2 } else { 1 }].clone();
    cx.set_outer(n, dims.iter().map(parallel).collect())?;
    let mut nest = cx.nest(vec![reduction(&k)]);
    let k = nest.own(0);
    let operand = |v, row: &Index, column: &Index, transposed: bool| {
        let from = &cx.ty(v).dims;
        let batch = from.len() - 2;
        let lead = rank - 2 - batch;
        let mut index: Vec<Index> = (0..batch)
            .map(|i| if from[i].as_const() == Some(1) { Index::zero() } else { Index::Iter(lead + i) })
            .collect();
        let (row, column) = if transposed { (column, row) } else { (row, column) };
        index.extend([row.clone(), column.clone()]);
        index
    };
    let a = operand(lhs, &Index::Iter(rank - 2), &k, transposed);
    let b = operand(rhs, &k, &Index::Iter(rank - 1), n.attrs.get_bool("transpose_rhs"));
    let value = nest.value(cx, lhs, &a)?;
    let second = nest.value(cx, rhs, &b)?;
    let index = (0..rank).map(Index::Iter).collect();
    contract(cx, n, nest, value, second, index)
}

/// Geometry of a convolution's windows.
struct Windows<'a> {
    strides: &'a [i64],
    low: &'a [i64],
    dilations: &'a [i64],
    groups: i64,
}

impl<'a> Windows<'a> {
    fn of(n: &'a Node, spatial: usize) -> Self {
        Windows {
            strides: n.attrs.get_ints("strides"),
            low: &n.attrs.get_ints("pads")[..spatial],
            dilations: n.attrs.get_ints("dilations"),
            groups: n.attrs.get_int("groups"),
        }
    }
}

/// Outer iterators `[image, group (if several), channel in group, spatial...]`, and the group and channel-in-group indices.
fn outer_of(dims: &[Dim], groups: i64) -> (Vec<Iter>, Index, Index, Dim) {
    let per_group = dims[1].floor_div(&Dim::constant(groups)).unwrap_or_else(|| dims[1].clone());
    let mut outer = vec![parallel(&dims[0])];
    if groups > 1 {
        outer.push(parallel(&Dim::constant(groups)));
    }
    outer.push(parallel(&per_group));
    outer.extend(dims[2..].iter().map(parallel));
    let group = if groups > 1 { Index::Iter(1) } else { Index::zero() };
    let channel = Index::Iter(if groups > 1 { 2 } else { 1 });
    (outer, group, channel, per_group)
}

/// The index of the result under those outer iterators.
fn result_index(outer: usize, spatial: usize, group: &Index, channel: &Index, per_group: &Dim) -> Vec<Index> {
    let mut index = vec![Index::Iter(0), group.times(per_group).add(channel)];
    index.extend((outer - spatial..outer).map(Index::Iter));
    index
}

pub(super) fn conv<'a>(cx: &mut Lowering<'a>, n: &'a Node) -> Result<(), Unlowerable> {
    let (input, filter, out) = (n.inputs[0], n.inputs[1], n.outputs[0]);
    let (dims, from, weights) = (&cx.ty(out).dims, &cx.ty(input).dims, &cx.ty(filter).dims);
    let spatial = dims.len() - 2;
    let w = Windows::of(n, spatial);
    let (outer, group, channel, per_group) = outer_of(dims, w.groups);
    let first = outer.len() - spatial;
    let result = result_index(outer.len(), spatial, &group, &channel, &per_group);
    cx.set_outer(n, outer)?;
    let mut nest = cx.nest(weights[1..].iter().map(reduction).collect());
    let mut index = vec![Index::Iter(0), group.times(&weights[1]).add(&nest.own(0))];
    let mut inside = true;
    for d in 0..spatial {
        let (stride, dilation) = (Dim::constant(w.strides[d]), Dim::constant(w.dilations[d]));
        let start = Index::Iter(first + d).times(&stride).add(&Index::constant(-w.low[d]));
        index.push(start.add(&nest.own(1 + d).times(&dilation)));
        // The last element that any window reads, against the last there is.
        let one = Dim::constant(1);
        let reach = dims[2 + d].sub(&one).mul(&stride).add(&weights[2 + d].sub(&one).mul(&dilation));
        let last = reach.sub(&Dim::constant(w.low[d])).sub(&from[2 + d].sub(&one));
        inside &= w.low[d] == 0 && last.as_i64().is_some_and(|v| v <= 0);
    }
    if !inside {
        // Scalar work on the image reads its elements here, padded by what the work makes 0 of.
        let (raw, outside) = padded(cx, input);
        let (buffer, dtype) = (cx.whole(n, raw)?, cx.ty(raw).dtype);
        let outside = if dtype.is_float() { Scalar::Float(0.0) } else { Scalar::Int(outside) };
        let read = nest.read(Access { buffer, index: index.clone(), outside: Some(outside) }, dtype);
        nest.let_value(raw, &index, read);
    }
    let value = nest.value(cx, input, &index)?;
    let mut at = vec![group.times(&per_group).add(&channel)];
    at.extend((0..=spatial).map(|d| nest.own(d)));
    let second = nest.value(cx, filter, &at)?;
    contract(cx, n, nest, value, second, result)
}

/// The value in memory that an image is computed from by casts and subtractions of constants, and the number of which they
/// make 0.
fn padded(cx: &Lowering<'_>, mut v: ValueId) -> (ValueId, i64) {
    let mut outside = 0;
    while let Some(n) = cx.producer(v) {
        match n.op {
            GraphOp::Cast => {}
            GraphOp::Binary if n.attrs.get_enum::<BinaryKind>("kind") == BinaryKind::Sub => {
                let Some(zero) = cx.splat(n.inputs[1]) else { break };
                outside += zero;
            }
            _ => break,
        }
        v = n.inputs[0];
    }
    (v, outside)
}

/// Where windows do not overlap, each result element comes from one input element: its position in the window is an iterator of
/// its own, and what is left is a product of matrices, summed in the order of [`conv_transpose`].
fn conv_transpose_apart<'a>(cx: &mut Lowering<'a>, n: &'a Node, w: &Windows<'_>) -> Result<(), Unlowerable> {
    let (input, filter, out) = (n.inputs[0], n.inputs[1], n.outputs[0]);
    let (dims, from, weights) = (&cx.ty(out).dims, &cx.ty(input).dims, &cx.ty(filter).dims);
    let spatial = dims.len() - 2;
    let groups = Dim::constant(w.groups);
    let split = |d: &Dim| d.floor_div(&groups).unwrap_or_else(|| d.clone());
    let (per_group, channels) = (split(&dims[1]), split(&weights[0]));
    let strides: Vec<Dim> = w.strides.iter().map(|s| Dim::constant(*s)).collect();
    let grouped = usize::from(w.groups > 1);
    // Channels are the rows of the product, pixels its columns.
    let mut outer = vec![parallel(&dims[0])];
    outer.extend((w.groups > 1).then(|| parallel(&groups)));
    outer.extend(strides.iter().map(parallel));
    outer.push(parallel(&per_group));
    outer.extend(from[2..].iter().map(parallel));
    let group = if w.groups > 1 { Index::Iter(1) } else { Index::zero() };
    let within = |d: usize| Index::Iter(1 + grouped + d);
    let channel = Index::Iter(1 + grouped + spatial);
    let pixel = |d: usize| Index::Iter(2 + grouped + spatial + d);
    cx.set_outer(n, outer)?;
    let mut nest = cx.nest(vec![reduction(&channels)]);
    let from_channel = group.times(&channels).add(&nest.own(0));
    let mut index = vec![Index::Iter(0), from_channel.clone()];
    index.extend((0..spatial).map(pixel));
    let value = nest.value(cx, input, &index)?;
    let mut at = vec![from_channel, channel.clone()];
    at.extend((0..spatial).map(within));
    let second = nest.value(cx, filter, &at)?;
    let mut result = vec![Index::Iter(0), group.times(&per_group).add(&channel)];
    result.extend((0..spatial).map(|d| pixel(d).times(&strides[d]).add(&within(d))));
    contract(cx, n, nest, value, second, result)
}

/// Gathers: each result element sums the inputs whose forward window covers it, guarded by exact divisions.
pub(super) fn conv_transpose<'a>(cx: &mut Lowering<'a>, n: &'a Node) -> Result<(), Unlowerable> {
    let (input, filter, out) = (n.inputs[0], n.inputs[1], n.outputs[0]);
    let (dims, weights) = (&cx.ty(out).dims, &cx.ty(filter).dims);
    let spatial = dims.len() - 2;
    let w = Windows::of(n, spatial);
    let from = &cx.ty(input).dims;
    let apart = (0..spatial).all(|d| {
        let stride = Dim::constant(w.strides[d]);
        let whole = dims[2 + d] == from[2 + d].mul(&stride);
        weights[2 + d] == stride && w.low[d] == 0 && whole && (w.dilations[d] == 1 || w.strides[d] == 1)
    });
    if apart {
        return conv_transpose_apart(cx, n, &w);
    }
    let (outer, group, channel, per_group) = outer_of(dims, w.groups);
    let first = outer.len() - spatial;
    let result = result_index(outer.len(), spatial, &group, &channel, &per_group);
    let groups = Dim::constant(w.groups);
    let channels = weights[0].floor_div(&groups).unwrap_or_else(|| weights[0].clone());
    cx.set_outer(n, outer)?;
    let iters = [&channels].into_iter().chain(&weights[2..]).map(reduction).collect();
    let mut nest = cx.nest(iters);
    let from_channel = group.times(&channels).add(&nest.own(0));
    let mut index = vec![Index::Iter(0), from_channel.clone()];
    let mut aligned: Option<OpId> = None;
    for d in 0..spatial {
        let stride = Dim::constant(w.strides[d]);
        let reach = nest.own(1 + d).times(&Dim::constant(-w.dilations[d]));
        let numerator = Index::Iter(first + d).add(&Index::constant(w.low[d])).add(&reach);
        index.push(Index::FloorDiv(Box::new(numerator.clone()), stride.clone()));
        if w.strides[d] != 1 {
            let (i, s, zero) = (nest.index(&numerator), nest.size(&stride), nest.int(0));
            let rest = nest.binary(BinaryKind::Mod, i, s);
            let exact = nest.compare(CompareKind::Eq, rest, zero);
            aligned = Some(match aligned {
                None => exact,
                Some(a) => nest.and(a, exact),
            });
        }
    }
    let buffer = cx.whole(n, input)?;
    let dtype = cx.ty(input).dtype;
    let zero = if dtype.is_float() { Scalar::Float(0.0) } else { Scalar::Int(0) };
    let mut value = nest.read(Access { buffer, index, outside: Some(zero) }, dtype);
    if let Some(a) = aligned {
        let zero = nest.constant(dtype, zero);
        value = nest.select(a, value, zero);
    }
    let mut at = vec![from_channel, channel];
    at.extend((0..spatial).map(|d| nest.own(1 + d)));
    let second = nest.value(cx, filter, &at)?;
    contract(cx, n, nest, value, second, result)
}

/// Ends a contraction's nest; `index` is the result's, over the outer iterators.
fn contract(
    cx: &mut Lowering<'_>,
    n: &Node,
    mut nest: NestBuilder,
    value: OpId,
    second: OpId,
    index: Vec<Index>,
) -> Result<(), Unlowerable> {
    let space = cx.space();
    let layout = Layout::fixed(index.iter().map(|i| space.simplify(i)).collect());
    let to = cx.place(n.outputs[0], &layout, &[])?;
    nest.effect(Effect::Reduce { to, combine: Combine::Fma, value, second: Some(second) });
    cx.nests.push(nest.build());
    Ok(())
}
