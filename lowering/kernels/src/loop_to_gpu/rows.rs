//! A block for each row: threads share the iterations of every nest, and are the lanes of its reductions.

use crate::explicit::{Buf, Cmp, Elem, V};
use crate::ir::{Combine, IterKind, OpId};
use crate::loop_to_scf::combine::{fold, start};
use crate::loop_to_scf::nest::Site;
use crate::loop_to_scf::stage::Env;
use crate::loop_to_scf::value::Val;
use crate::scalar;
use crate::schedule::{Action, LANES, LoopNest, NestPlan, Place, RUN_FOR_ACCUMULATORS};

/// One outer iteration by the whole block.
pub(super) fn unit<'c>(env: &Env<'_, '_, 'c>, row: V<'c>, shared: Buf<'c>, threads: u32) {
    env.values.borrow_mut().clear();
    let outer = env.rows(row);
    for (nest, plan) in env.stage.loops.nests.iter().zip(&env.stage.nests) {
        let parallel = nest.iters.iter().all(|i| i.kind == IterKind::Parallel);
        match plan {
            NestPlan::Run => run(env, nest, &outer, shared, threads),
            _ if parallel && !nest.iters.is_empty() => shared_nest(env, nest, &outer, threads),
            // Of one point, or sequential: every thread does all of it and stores the same.
            _ => env.nest(nest, NestPlan::Plain, &outer, None),
        }
        // Later nests see what other threads stored.
        let stores = nest.actions.iter().any(|a| !matches!(a, Action::Reduce { .. }));
        if stores && !nest.iters.is_empty() {
            env.b.barrier();
        }
    }
}

/// Parallel iterations: the threads take turns along the innermost one.
fn shared_nest<'c>(env: &Env<'_, '_, 'c>, nest: &LoopNest, outer: &[V<'c>], threads: u32) {
    let space = env.stage.loops.space(nest);
    let site = Site { nest, plan: NestPlan::Plain, space: &space, first: outer.len() };
    let mut iters = outer.to_vec();
    iters.resize(outer.len() + nest.iters.len(), env.b.index(0));
    let (last, lead) = nest.iters.split_last().expect("the nest has iterators");
    loops(env, lead.len(), site, &mut iters, 0, &mut |iters| {
        let end = env.b.size(&last.extent, &env.sizes);
        env.b.for_(env.b.thread_id(), end, i64::from(threads), |_, at| {
            *iters.last_mut().expect("the nest has iterators") = at;
            let values = env.body(site, iters, None);
            env.stores(site, &values, iters, None);
        });
    });
}

/// The first `count` own iterators as plain loops around `body`.
fn loops<'c>(
    env: &Env<'_, '_, 'c>,
    count: usize,
    site: Site<'_>,
    iters: &mut Vec<V<'c>>,
    at: usize,
    body: &mut dyn FnMut(&mut Vec<V<'c>>),
) {
    if at == count {
        return body(iters);
    }
    let end = env.b.size(&site.nest.iters[at].extent, &env.sizes);
    env.b.for_(env.b.index(0), end, 1, |_, i| {
        iters[site.first + at] = i;
        loops(env, count, site, iters, at + 1, body);
    });
}

struct Lane<'a> {
    to: &'a Place,
    combine: Combine,
    value: OpId,
    dtype: neap_optable::DType,
}

/// A reduction along a run: thread `t` is lane `t`; lanes are combined by halving through the block's shared memory.
fn run<'c>(env: &Env<'_, '_, 'c>, nest: &LoopNest, outer: &[V<'c>], shared: Buf<'c>, threads: u32) {
    let b = env.b;
    let space = env.stage.loops.space(nest);
    let site = Site { nest, plan: NestPlan::Run, space: &space, first: outer.len() };
    let mut iters = outer.to_vec();
    iters.resize(outer.len() + nest.iters.len(), b.index(0));
    let types = scalar::dtypes_of(&nest.ops, |i| env.dtype(nest.reads[i].buffer), |id| env.dtype(id));
    let lanes: Vec<Lane<'_>> = (nest.actions.iter())
        .filter_map(|a| match a {
            Action::Reduce { to, combine, value, .. } => {
                Some(Lane { to, combine: *combine, value: *value, dtype: types[value.0] })
            }
            Action::Store { .. } | Action::StoreAt { .. } => None,
        })
        .collect();
    let extent = nest.iters.last().and_then(|i| i.extent.as_const()).expect("the length of a run is known");
    let width = if extent >= RUN_FOR_ACCUMULATORS { threads } else { LANES };
    let thread = b.thread_id();
    let init: Vec<V<'c>> = lanes.iter().flat_map(|l| start(b, l.combine, l.dtype, 0)).collect();
    let axes: Vec<usize> = (outer.len()..iters.len()).collect();
    // Threads beyond the lanes have nothing to add.
    let first = b.select(b.cmp(Cmp::Lt, thread, b.index(i64::from(width))), thread, b.index(extent as i64));
    let sums = strided(env, site, &lanes, &axes, init, &mut iters, (first, width));
    for (l, v) in lanes.iter().zip(sums) {
        let total = halve(env, l, v, shared, width);
        env.store(site, l.to, Val::One(total), None, &iters, None);
    }
}

fn strided<'c>(
    env: &Env<'_, '_, 'c>,
    site: Site<'_>,
    lanes: &[Lane<'_>],
    axes: &[usize],
    acc: Vec<V<'c>>,
    iters: &mut Vec<V<'c>>,
    (first, width): (V<'c>, u32),
) -> Vec<V<'c>> {
    let b = env.b;
    let [axis, rest @ ..] = axes else {
        let values = env.body(site, iters, None);
        env.stores(site, &values, iters, None);
        let next = |(l, a): (&Lane<'_>, V<'c>)| fold(b, l.combine, l.dtype, a, values[l.value.0].lane(b, 0), None);
        return lanes.iter().zip(acc).map(next).collect();
    };
    let end = b.size(&site.nest.iters[*axis - site.first].extent, &env.sizes);
    let (from, step) = if rest.is_empty() { (first, i64::from(width)) } else { (b.index(0), 1) };
    b.for_iter(from, end, step, &acc, |_, at, acc| {
        iters[*axis] = at;
        strided(env, site, lanes, rest, acc.to_vec(), iters, (first, width))
    })
}

/// Lane i with lane i + n/2 until one is left, which every thread then has.
fn halve<'c>(env: &Env<'_, '_, 'c>, l: &Lane<'_>, v: V<'c>, shared: Buf<'c>, width: u32) -> V<'c> {
    let b = env.b;
    let thread = b.thread_id();
    // Shared memory is of f32; integers of its width travel as bits.
    let pack = |v: V<'c>| if v.elem() == Elem::F32 { v } else { b.bitcast(v, Elem::F32) };
    let unpack = |v: V<'c>| if scalar::elem(l.dtype) == Elem::F32 { v } else { b.bitcast(v, scalar::elem(l.dtype)) };
    b.barrier();
    b.store(pack(v), shared, thread);
    b.barrier();
    let mut n = i64::from(width) / 2;
    while n > 0 {
        b.when(b.cmp(Cmp::Lt, thread, b.index(n)), |b| {
            let (x, y) = (b.load(shared, thread), b.load(shared, b.add(thread, b.index(n))));
            let sum = fold(b, l.combine, l.dtype, unpack(x), unpack(y), None);
            b.store(pack(sum), shared, thread);
        });
        b.barrier();
        n /= 2;
    }
    unpack(b.load(shared, b.index(0)))
}
