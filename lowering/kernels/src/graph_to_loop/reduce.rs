//! Reductions and scans along axes.

use neap_optable::{ArgKind, CompareKind, DType, Dim, Node, ReduceKind, UnaryKind};

use super::Unlowerable;
use super::layout::{Layout, Slot, iterate};
use super::region::{Lowering, parallel, reduction, sequential};
use crate::ir::{Access, Combine, Effect, Index, Scalar};
use crate::scalar::computed;

/// The layout of a result whose reduced axes are gone, or stay with size 1.
fn reduced(layout: &Layout, axes: &[usize], keep: bool) -> Layout {
    let slots = layout.0.iter().enumerate().filter_map(|(d, s)| match (axes.contains(&d), keep) {
        (false, _) => Some(s.clone()),
        (true, true) => Some(Slot::Fixed(Index::zero())),
        (true, false) => None,
    });
    Layout(slots.collect())
}

pub(super) fn reduce<'a>(cx: &mut Lowering<'a>, n: &'a Node) -> Result<(), Unlowerable> {
    let (input, out) = (n.inputs[0], n.outputs[0]);
    let dtype = cx.ty(out).dtype;
    let axes: Vec<usize> = n.attrs.get_ints("axes").iter().map(|a| *a as usize).collect();
    let kind: ReduceKind = n.attrs.get_enum("kind");
    let (layout, free) = cx.rows(n, input, &axes)?;
    let (iters, index) = iterate(&free, cx.outer().len());
    let mut nest = cx.nest(iters.iter().map(|i| reduction(&i.extent)).collect());
    let value = nest.value(cx, input, &layout.index(&index))?;
    if cx.use_count(input) > 1
        && let Some(to) = cx.keep(input, &layout, &index)?
    {
        nest.effect(Effect::Store { to, value, when: None });
    }
    let combine = match kind {
        ReduceKind::Sum | ReduceKind::Mean => Combine::Sum,
        ReduceKind::Max => Combine::Max,
        ReduceKind::Min => Combine::Min,
        ReduceKind::Prod => Combine::Prod,
        ReduceKind::Any => Combine::Any,
        ReduceKind::All => Combine::All,
    };
    let result = reduced(&layout, &axes, n.attrs.get_bool("keep_dims"));
    if kind != ReduceKind::Mean {
        let to = cx.place(out, &result, &[])?;
        nest.effect(Effect::Reduce { to, combine, value, second: None });
        cx.nests.push(nest.build());
        return Ok(());
    }
    let wide = computed(dtype);
    let value = nest.cast(wide, value);
    let total = Access { buffer: cx.temp(wide, vec![])?, index: vec![], outside: None };
    nest.effect(Effect::Reduce { to: total.clone(), combine, value, second: None });
    cx.nests.push(nest.build());
    let count = free.iter().fold(Dim::constant(1), |a, d| a.mul(d));
    let to = cx.place(out, &result, &[])?;
    cx.point_nest(to, |b| {
        let t = b.read(total, wide);
        let c = b.size(&count);
        let c = b.cast(wide, c);
        let mean = b.div(t, c);
        b.cast(dtype, mean)
    });
    Ok(())
}

pub(super) fn arg_reduce<'a>(cx: &mut Lowering<'a>, n: &'a Node) -> Result<(), Unlowerable> {
    let axis = n.attrs.get_int("axis") as usize;
    let kind: ArgKind = n.attrs.get_enum("kind");
    let (layout, free) = cx.rows(n, n.inputs[0], &[axis])?;
    let mut nest = cx.nest(free.iter().map(reduction).collect());
    let index = [nest.own(0)];
    let value = nest.value(cx, n.inputs[0], &layout.index(&index))?;
    let to = cx.place(n.outputs[0], &reduced(&layout, &[axis], true), &[])?;
    nest.effect(Effect::Reduce {
        to,
        combine: Combine::Arg(kind, n.attrs.get_bool("select_last")),
        value,
        second: None,
    });
    cx.nests.push(nest.build());
    Ok(())
}

/// A running sum: element i adds to what stands at i - 1 of the result, where 0 stands before the first.
pub(super) fn cumsum<'a>(cx: &mut Lowering<'a>, n: &'a Node) -> Result<(), Unlowerable> {
    let (input, out) = (n.inputs[0], n.outputs[0]);
    let dtype = cx.ty(out).dtype;
    let axis = n.attrs.get_int("axis") as usize;
    let (exclusive, reverse) = (n.attrs.get_bool("exclusive"), n.attrs.get_bool("reverse"));
    let (layout, free) = cx.rows(n, input, &[axis])?;
    let mut nest = cx.nest(vec![sequential(&free[0])]);
    let last = Index::Size(free[0].sub(&Dim::constant(1)));
    let step = nest.own(0);
    let (i, back) = if reverse { (step.times(&Dim::constant(-1)).add(&last), 1) } else { (step.clone(), -1) };
    let before = i.add(&Index::constant(back));
    let zero = if dtype.is_float() { Scalar::Float(0.0) } else { Scalar::Int(0) };
    // Sums of f16 and bf16 run in f32, in a row of their own.
    let wide = computed(dtype);
    let to = match wide == dtype {
        true => cx.place(out, &layout, std::slice::from_ref(&i))?,
        false => Access { buffer: cx.temp(wide, free.clone())?, index: vec![i.clone()], outside: None },
    };
    let at_before = match to.index.len() {
        1 if layout.0.len() > 1 || wide != dtype => vec![before.clone()],
        _ => layout.index(std::slice::from_ref(&before)),
    };
    let sum = nest.read(Access { buffer: to.buffer, index: at_before, outside: Some(zero) }, wide);
    let value = if exclusive {
        let buffer = cx.whole(n, input)?;
        let index = layout.index(std::slice::from_ref(&before));
        nest.read(Access { buffer, index, outside: Some(zero) }, dtype)
    } else {
        nest.value(cx, input, &layout.index(std::slice::from_ref(&i)))?
    };
    let value = nest.cast(wide, value);
    let value = nest.add(sum, value);
    nest.effect(Effect::Store { to: to.clone(), value, when: None });
    cx.nests.push(nest.build());
    if wide == dtype {
        return Ok(());
    }
    let mut nest = cx.nest(vec![parallel(&free[0])]);
    let i = nest.own(0);
    let value = nest.read(Access { index: vec![i.clone()], ..to }, wide);
    let value = nest.cast(dtype, value);
    let to = cx.place(out, &layout, &[i])?;
    nest.effect(Effect::Store { to, value, when: None });
    cx.nests.push(nest.build());
    Ok(())
}

/// Rank counting: element i goes to the place that is the number of elements before it in the sorted order.
/// A NaN counts as larger than every number.
pub(super) fn top_k<'a>(cx: &mut Lowering<'a>, n: &'a Node) -> Result<(), Unlowerable> {
    let input = n.inputs[0];
    let axis = n.attrs.get_int("axis") as usize;
    let largest = n.attrs.get_bool("largest");
    let dtype = cx.ty(input).dtype;
    let k = cx.ty(n.outputs[0]).dims[axis].clone();
    let (layout, free) = cx.rows(n, input, &[axis])?;
    let rank = cx.temp(DType::I64, free.clone())?;

    let mut nest = cx.nest(vec![parallel(&free[0]), reduction(&free[0])]);
    let (i, j) = (nest.own(0), nest.own(1));
    let at = |i: &Index| layout.index(std::slice::from_ref(i));
    let (x, y) = (nest.value(cx, input, &at(&i))?, nest.value(cx, input, &at(&j))?);
    let more = if largest { CompareKind::Gt } else { CompareKind::Lt };
    let mut before = nest.compare(more, y, x);
    let mut equal = nest.compare(CompareKind::Eq, y, x);
    if dtype.is_float() {
        let (nx, ny) = (nest.unary(UnaryKind::Isnan, x), nest.unary(UnaryKind::Isnan, y));
        let (number, other) = if largest { (nx, ny) } else { (ny, nx) };
        let number = nest.unary(UnaryKind::Not, number);
        let wins = nest.and(number, other);
        before = nest.or(before, wins);
        let both = nest.and(nx, ny);
        equal = nest.or(equal, both);
    }
    let (ii, jj) = (nest.index(&i), nest.index(&j));
    let earlier = nest.compare(CompareKind::Lt, jj, ii);
    let tie = nest.and(equal, earlier);
    let before = nest.or(before, tie);
    let one = nest.cast(DType::I64, before);
    let to = Access { buffer: rank, index: vec![i], outside: None };
    nest.effect(Effect::Reduce { to, combine: Combine::Sum, value: one, second: None });
    cx.nests.push(nest.build());

    let (values, indices) = (cx.only_output(n, 0)?, cx.only_output(n, 1)?);
    let mut nest = cx.nest(vec![parallel(&free[0])]);
    let i = nest.own(0);
    let r = nest.read(Access { buffer: rank, index: vec![i.clone()], outside: None }, DType::I64);
    let limit = nest.size(&k);
    let when = Some(nest.compare(CompareKind::Lt, r, limit));
    let mut place = vec![];
    for (s, d) in layout.0.iter().zip(0..) {
        place.push(match s {
            Slot::Fixed(f) if d != axis => nest.index(f),
            _ => r,
        });
    }
    let x = nest.value(cx, input, &at(&i))?;
    nest.effect(Effect::StoreAt { to: values, index: place.clone(), value: x, when });
    let ii = nest.index(&i);
    nest.effect(Effect::StoreAt { to: indices, index: place, value: ii, when });
    cx.nests.push(nest.build());
    Ok(())
}
