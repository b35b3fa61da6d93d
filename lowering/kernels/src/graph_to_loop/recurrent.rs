//! Recurrences: parallel over the batch, one step after another over time. The running state lives in the last-state outputs.

use neap_optable::{BinaryKind, CompareKind, DType, Dim, Node, UnaryKind, ValueId};

use super::Unlowerable;
use super::nest::NestBuilder;
use super::region::{Lowering, parallel, reduction, sequential};
use crate::ir::{Access, BufferId, Combine, Effect, Index, OpId};

const BATCH: Index = Index::Iter(0);

fn at(buffer: BufferId, index: Vec<Index>) -> Access {
    Access { buffer, index, outside: None }
}

struct Recurrence {
    /// Index of the time step, from the end if reversed.
    time: Index,
    hidden: Dim,
    dtype: DType,
}

/// Outer iterators `[batch, time]`.
fn begin<'a>(cx: &mut Lowering<'a>, n: &'a Node) -> Result<Recurrence, Unlowerable> {
    let gates = &cx.ty(n.inputs[0]).dims;
    let hidden = cx.ty(n.outputs[0]).dims[2].clone();
    let time = gates[0].clone();
    let dtype = cx.ty(n.outputs[0]).dtype;
    if dtype.is_half() {
        return Err(
            cx.refuse(n, format!("recurrences keep states that {dtype} is too coarse for; cast to f32 around them"))
        );
    }
    cx.set_outer(n, vec![parallel(&gates[1]), sequential(&time)])?;
    let step = if n.attrs.get_bool("reverse") {
        Index::Iter(1).times(&Dim::constant(-1)).add(&Index::Size(time.sub(&Dim::constant(1))))
    } else {
        Index::Iter(1)
    };
    Ok(Recurrence { time: step, hidden, dtype })
}

/// At the first step the states are the given ones.
fn start<'a>(cx: &mut Lowering<'a>, r: &Recurrence, states: &[(ValueId, BufferId)]) -> Result<(), Unlowerable> {
    let mut nest = cx.nest(vec![parallel(&r.hidden)]);
    let (step, zero) = (nest.index(&Index::Iter(1)), nest.int(0));
    let when = Some(nest.compare(CompareKind::Eq, step, zero));
    let j = nest.own(0);
    for (from, to) in states {
        let value = nest.value(cx, *from, &[BATCH, j.clone()])?;
        nest.effect(Effect::Store { to: at(*to, vec![BATCH, j.clone()]), value, when });
    }
    cx.nests.push(nest.build());
    Ok(())
}

/// rows [first, first + count) of `recurrent` times the hidden state that `read` gives, into a temporary.
fn project<'a>(
    cx: &mut Lowering<'a>,
    recurrent: ValueId,
    first: &Dim,
    count: &Dim,
    r: &Recurrence,
    read: impl FnOnce(&mut NestBuilder, Index) -> OpId,
) -> Result<BufferId, Unlowerable> {
    let to = cx.temp(r.dtype, vec![count.clone()])?;
    let mut nest = cx.nest(vec![parallel(count), reduction(&r.hidden)]);
    let (row, k) = (nest.own(0), nest.own(1));
    let value = read(&mut nest, k.clone());
    let second = nest.value(cx, recurrent, &[row.add(&Index::Size(first.clone())), k])?;
    nest.effect(Effect::Reduce { to: at(to, vec![row]), combine: Combine::Fma, value, second: Some(second) });
    cx.nests.push(nest.build());
    Ok(to)
}

/// The gate `which` of this step at hidden index `j`: what came in.
fn incoming<'a>(
    nest: &mut NestBuilder,
    cx: &mut Lowering<'a>,
    n: &'a Node,
    r: &Recurrence,
    which: i64,
    j: &Index,
) -> Result<OpId, Unlowerable> {
    nest.value(cx, n.inputs[0], &[r.time.clone(), BATCH, j.add(&Index::Size(r.hidden.scale(which)))])
}

pub(super) fn lstm<'a>(cx: &mut Lowering<'a>, n: &'a Node) -> Result<(), Unlowerable> {
    let r = begin(cx, n)?;
    let (all, h, c) = (cx.only_output(n, 0)?, cx.only_output(n, 1)?, cx.only_output(n, 2)?);
    start(cx, &r, &[(n.inputs[2], h), (n.inputs[3], c)])?;
    let four = r.hidden.scale(4);
    let z = project(cx, n.inputs[1], &Dim::constant(0), &four, &r, |b, k| b.read(at(h, vec![BATCH, k]), r.dtype))?;

    let mut nest = cx.nest(vec![parallel(&r.hidden)]);
    let j = nest.own(0);
    let mut gate = |nest: &mut NestBuilder, which: i64, f: UnaryKind| -> Result<OpId, Unlowerable> {
        let x = incoming(nest, cx, n, &r, which, &j)?;
        let y = nest.read(at(z, vec![j.add(&Index::Size(r.hidden.scale(which)))]), r.dtype);
        let sum = nest.add(x, y);
        Ok(nest.unary(f, sum))
    };
    let input = gate(&mut nest, 0, UnaryKind::Sigmoid)?;
    let output = gate(&mut nest, 1, UnaryKind::Sigmoid)?;
    let forget = gate(&mut nest, 2, UnaryKind::Sigmoid)?;
    let candidate = gate(&mut nest, 3, UnaryKind::Tanh)?;
    let old = nest.read(at(c, vec![BATCH, j.clone()]), r.dtype);
    let kept = nest.mul(forget, old);
    let new = nest.mul(input, candidate);
    let cell = nest.add(kept, new);
    let squashed = nest.unary(UnaryKind::Tanh, cell);
    let state = nest.mul(output, squashed);
    for (to, value) in [
        (at(c, vec![BATCH, j.clone()]), cell),
        (at(h, vec![BATCH, j.clone()]), state),
        (at(all, vec![r.time.clone(), BATCH, j.clone()]), state),
    ] {
        nest.effect(Effect::Store { to, value, when: None });
    }
    cx.nests.push(nest.build());
    Ok(())
}

pub(super) fn gru<'a>(cx: &mut Lowering<'a>, n: &'a Node) -> Result<(), Unlowerable> {
    let r = begin(cx, n)?;
    let (all, h) = (cx.only_output(n, 0)?, cx.only_output(n, 1)?);
    let linear = n.attrs.get_bool("linear_before_reset");
    let (recurrent, bias) = (n.inputs[1], n.inputs[2]);
    start(cx, &r, &[(n.inputs[3], h)])?;
    let two = r.hidden.scale(2);
    let z = project(cx, recurrent, &Dim::constant(0), &two, &r, |b, k| b.read(at(h, vec![BATCH, k]), r.dtype))?;

    // Update and reset gates, and, where the reset comes before the product, the state that was reset.
    let update = cx.temp(r.dtype, vec![r.hidden.clone()])?;
    let reset = cx.temp(r.dtype, vec![r.hidden.clone()])?;
    let mut nest = cx.nest(vec![parallel(&r.hidden)]);
    let j = nest.own(0);
    for (which, to) in [(0, update), (1, reset)] {
        let x = incoming(&mut nest, cx, n, &r, which, &j)?;
        let y = nest.read(at(z, vec![j.add(&Index::Size(r.hidden.scale(which)))]), r.dtype);
        let sum = nest.add(x, y);
        let mut value = nest.unary(UnaryKind::Sigmoid, sum);
        if which == 1 && !linear {
            let old = nest.read(at(h, vec![BATCH, j.clone()]), r.dtype);
            value = nest.mul(value, old);
        }
        nest.effect(Effect::Store { to: at(to, vec![j.clone()]), value, when: None });
    }
    cx.nests.push(nest.build());

    let hidden = r.hidden.clone();
    let product = project(cx, recurrent, &two, &hidden, &r, |b, k| {
        if linear { b.read(at(h, vec![BATCH, k]), r.dtype) } else { b.read(at(reset, vec![k]), r.dtype) }
    })?;

    let mut nest = cx.nest(vec![parallel(&r.hidden)]);
    let j = nest.own(0);
    let x = incoming(&mut nest, cx, n, &r, 2, &j)?;
    let y = nest.read(at(product, vec![j.clone()]), r.dtype);
    let b = nest.value(cx, bias, std::slice::from_ref(&j))?;
    let mut y = nest.add(y, b);
    if linear {
        let gate = nest.read(at(reset, vec![j.clone()]), r.dtype);
        y = nest.mul(gate, y);
    }
    let sum = nest.add(x, y);
    let candidate = nest.unary(UnaryKind::Tanh, sum);
    let z = nest.read(at(update, vec![j.clone()]), r.dtype);
    let old = nest.read(at(h, vec![BATCH, j.clone()]), r.dtype);
    let one = nest.number(r.dtype, 1.0);
    let rest = nest.binary(BinaryKind::Sub, one, z);
    let new = nest.mul(rest, candidate);
    let kept = nest.mul(z, old);
    let state = nest.add(new, kept);
    for to in [at(h, vec![BATCH, j.clone()]), at(all, vec![r.time.clone(), BATCH, j.clone()])] {
        nest.effect(Effect::Store { to, value: state, when: None });
    }
    cx.nests.push(nest.build());
    Ok(())
}
