//! Softmax and layer normalisation: passes over each row, in f32 for f16 and bf16.

use neap_optable::{Dim, Node, UnaryKind, ValueId};

use super::Unlowerable;
use super::layout::Layout;
use super::nest::NestBuilder;
use super::region::{Lowering, reduction};
use crate::ir::{Access, BufferId, Combine, Effect, Index, Iter, OpId};
use crate::scalar::computed;

fn cell(buffer: BufferId) -> Access {
    Access { buffer, index: vec![], outside: None }
}

/// Row iterators as reductions, and their indices; dims of size 1 have none.
fn row_iters(free: &[Dim], outer: usize) -> (Vec<Iter>, Vec<Index>) {
    let (iters, index) = super::layout::iterate(free, outer);
    (iters.iter().map(|i| reduction(&i.extent)).collect(), index)
}

/// The first pass over a row: keeps a computed input for the later passes.
fn first_pass<'a>(
    cx: &mut Lowering<'a>,
    v: ValueId,
    layout: &Layout,
    free: &[Dim],
) -> Result<(NestBuilder, OpId, Vec<Index>), Unlowerable> {
    let (iters, index) = row_iters(free, cx.outer().len());
    let mut nest = cx.nest(iters);
    let x = nest.value(cx, v, &layout.index(&index))?;
    if let Some(to) = cx.keep(v, layout, &index)? {
        nest.effect(Effect::Store { to, value: x, when: None });
    }
    let x = nest.cast(computed(cx.ty(v).dtype), x);
    Ok((nest, x, index))
}

pub(super) fn softmax<'a>(cx: &mut Lowering<'a>, n: &'a Node) -> Result<(), Unlowerable> {
    let (input, out) = (n.inputs[0], n.outputs[0]);
    let (stored, dtype) = (cx.ty(out).dtype, computed(cx.ty(out).dtype));
    let axis = n.attrs.get_int("axis") as usize;
    let log = n.attrs.get_bool("log");
    let (layout, free) = cx.rows(n, input, &[axis])?;

    let (mut nest, x, _) = first_pass(cx, input, &layout, &free)?;
    let max = cx.temp(dtype, vec![])?;
    nest.effect(Effect::Reduce { to: cell(max), combine: Combine::Max, value: x, second: None });
    cx.nests.push(nest.build());

    let (iters, index) = row_iters(&free, cx.outer().len());
    let mut nest = cx.nest(iters);
    let x = nest.value(cx, input, &layout.index(&index))?;
    let x = nest.cast(dtype, x);
    let m = nest.read(cell(max), dtype);
    let shifted = nest.sub(x, m);
    let e = nest.unary(UnaryKind::Exp, shifted);
    let sum = cx.temp(dtype, vec![])?;
    nest.effect(Effect::Reduce { to: cell(sum), combine: Combine::Sum, value: e, second: None });
    let kept = if log || free.iter().any(|d| !d.is_const()) { None } else { Some(cx.temp(dtype, free.clone())?) };
    if let Some(buffer) = kept {
        nest.effect(Effect::Store { to: Access { buffer, index, outside: None }, value: e, when: None });
    }
    cx.nests.push(nest.build());

    let scale = cx.temp(dtype, vec![])?;
    cx.point_nest(cell(scale), |b| {
        let s = b.read(cell(sum), dtype);
        if log {
            b.unary(UnaryKind::Log, s)
        } else {
            let one = b.number(dtype, 1.0);
            b.div(one, s)
        }
    });

    let (iters, index) = super::layout::iterate(&free, cx.outer().len());
    let mut nest = cx.nest(iters);
    let s = nest.read(cell(scale), dtype);
    let value = match kept {
        Some(buffer) => {
            let e = nest.read(Access { buffer, index: index.clone(), outside: None }, dtype);
            nest.mul(e, s)
        }
        None => {
            let x = nest.value(cx, input, &layout.index(&index))?;
            let x = nest.cast(dtype, x);
            let m = nest.read(cell(max), dtype);
            let shifted = nest.sub(x, m);
            if log {
                nest.sub(shifted, s)
            } else {
                let e = nest.unary(UnaryKind::Exp, shifted);
                nest.mul(e, s)
            }
        }
    };
    let value = nest.cast(stored, value);
    let to = cx.place(out, &layout, &index)?;
    nest.effect(Effect::Store { to, value, when: None });
    cx.nests.push(nest.build());
    Ok(())
}

pub(super) fn layer_norm<'a>(cx: &mut Lowering<'a>, n: &'a Node) -> Result<(), Unlowerable> {
    let (input, out) = (n.inputs[0], n.outputs[0]);
    let (stored, rank) = (cx.ty(out).dtype, cx.ty(out).rank());
    let dtype = computed(stored);
    let axes: Vec<usize> = (n.attrs.get_int("axis") as usize..rank).collect();
    let (epsilon, rms) = (n.attrs.get_float("epsilon"), n.attrs.get_bool("rms"));
    let (layout, free) = cx.rows(n, input, &axes)?;
    let count = free.iter().fold(Dim::constant(1), |a, d| a.mul(d));
    let divide = |b: &mut NestBuilder, total: OpId| {
        let c = b.size(&count);
        let c = b.cast(dtype, c);
        b.div(total, c)
    };

    let (mut nest, x, _) = first_pass(cx, input, &layout, &free)?;
    let total = cx.temp(dtype, vec![])?;
    let value = if rms { nest.mul(x, x) } else { x };
    nest.effect(Effect::Reduce { to: cell(total), combine: Combine::Sum, value, second: None });
    cx.nests.push(nest.build());

    let mut square = total;
    let mut mean = None;
    if !rms {
        let m = cx.temp(dtype, vec![])?;
        cx.point_nest(cell(m), |b| {
            let t = b.read(cell(total), dtype);
            divide(b, t)
        });
        let (iters, index) = row_iters(&free, cx.outer().len());
        let mut nest = cx.nest(iters);
        let x = nest.value(cx, input, &layout.index(&index))?;
        let x = nest.cast(dtype, x);
        let mv = nest.read(cell(m), dtype);
        let d = nest.sub(x, mv);
        let value = nest.mul(d, d);
        square = cx.temp(dtype, vec![])?;
        nest.effect(Effect::Reduce { to: cell(square), combine: Combine::Sum, value, second: None });
        cx.nests.push(nest.build());
        mean = Some(m);
    }
    let scale = cx.temp(dtype, vec![])?;
    cx.point_nest(cell(scale), |b| {
        let t = b.read(cell(square), dtype);
        let var = divide(b, t);
        let eps = b.number(dtype, epsilon);
        let var = b.add(var, eps);
        let root = b.unary(UnaryKind::Sqrt, var);
        let one = b.number(dtype, 1.0);
        b.div(one, root)
    });

    let (iters, index) = super::layout::iterate(&free, cx.outer().len());
    let mut nest = cx.nest(iters);
    let x = nest.value(cx, input, &layout.index(&index))?;
    let x = nest.cast(dtype, x);
    let centred = match mean {
        Some(m) => {
            let m = nest.read(cell(m), dtype);
            nest.sub(x, m)
        }
        None => x,
    };
    let s = nest.read(cell(scale), dtype);
    let value = nest.mul(centred, s);
    // What follows (scale, bias, ...) reads the normalised row element once, so inlining it there saves a pass through memory.
    let value = nest.cast(stored, value);
    let to = cx.place(out, &layout, &index)?;
    nest.effect(Effect::Store { to, value, when: None });
    cx.nests.push(nest.build());
    Ok(())
}
