//! Packs operands into the thread's scratch: [panel][k][width].

use super::emit::{At, Env, Range};
use super::plan::Factors;
use super::shape::Guard;
use super::window::Windows;
use crate::explicit::{Elem, V};

/// Packs the column panels `from..to`.
pub(super) fn panels<'c>(env: &Env<'_, 'c>, at: &At<'c>, (from, to): Range<'c>) {
    let (b, s, o) = (env.b, env.s, &env.c.panel_operand);
    let contiguous = env.c.dense(&o.flat);
    let windows = Windows::of(env.c, s.lanes as i64);
    b.for_(from, to, 1, |b, panel| {
        let start = b.mul(panel, b.index(s.width() as i64));
        let length = env.block_length(at);
        let steps = env.grouped(length);
        let target = b.mul(b.sub(panel, from), b.mul(steps, b.index(s.width() as i64)));
        if contiguous && o.guards.is_empty() && (s.masks || !env.ragged()) {
            copy(env, at, start, target);
        } else if let Some(w) = windows.as_ref().filter(|_| !transposable(env)) {
            w.pack(env, at, start, target);
        } else if o.guards.is_empty() && transposable(env) {
            transpose(env, at, start, target);
        } else {
            elements(env, at, start, target);
        }
        if s.factors == Factors::Pairs {
            pair(env, (length, steps), target);
        }
    });
}

/// Makes two rows of a panel, of steps that follow each other, one of pairs. A step that is missing at the end is of zeros.
fn pair<'c>(env: &Env<'_, 'c>, (length, steps): Range<'c>, target: V<'c>) {
    let (b, s) = (env.b, env.s);
    let (lanes, width) = (s.lanes as i64, s.width() as i64);
    let row = |step: V<'c>| b.add(target, b.mul(step, b.index(width)));
    let zero = b.zero(env.factor.vector(lanes as u32));
    b.for_(length, steps, 1, |b, step| {
        for v in 0..s.vectors as i64 {
            b.vstore(zero, env.panels, b.add(row(step), b.index(v * lanes)));
        }
    });
    b.for_(b.index(0), steps, 2, |b, step| {
        let from = row(step);
        let load = |i: i64| b.vload(env.panels, b.add(from, b.index(i * lanes)), lanes as u32);
        let vectors: Vec<_> = (0..2 * s.vectors as i64).map(load).collect();
        let mix = |half: i64| (0..lanes).map(|l| (half * lanes + l) / 2 + l % 2 * lanes).collect::<Vec<_>>();
        for v in 0..s.vectors as usize {
            for half in 0..2 {
                let pairs = b.shuffle(vectors[v], vectors[v + s.vectors as usize], &mix(half));
                b.vstore(pairs, env.panels, b.add(from, b.index((2 * v as i64 + half) * lanes)));
            }
        }
    });
}

/// Packs the rows of one tile, the first of which is `first`: `[row][step]`, in whole groups of steps.
pub(super) fn rows<'c>(env: &Env<'_, 'c>, at: &At<'c>, first: V<'c>) {
    let (b, s, o) = (env.b, env.s, &env.c.rows_operand);
    let buffer = env.buffer(o.buffer);
    let (length, none) = (env.block_length(at), b.index(0));
    let steps = env.grouped(length);
    let last = b.sub(env.m, b.index(1));
    let contiguous = o.flat.run(&env.c.k, &env.c.extents).is_some_and(|s| s.as_i64() == Some(1));
    b.for_(none, b.index(s.rows as i64), 1, |b, r| {
        // Rows past the last repeat it: their results are not stored.
        let at = env.c.row.map_or_else(|| at.clone(), |axis| at.with(axis, b.min(b.add(first, r), last)));
        let (from, target) = (env.offset(&o.flat, &at), b.mul(r, steps));
        let factors = |v: V<'c>| match s.factors {
            Factors::Quads => env.unsigned(o, v),
            _ => env.factors(o, &at, none, v),
        };
        let one = |from: V<'c>, to: V<'c>| b.store(factors(b.load(buffer, from)), env.rows, to);
        if contiguous {
            let lanes = s.lanes as i64;
            let whole = b.mul(b.div_u(length, b.index(lanes)), b.index(lanes));
            b.for_(none, whole, lanes, |b, k| {
                let v = b.vload(buffer, b.add(from, k), lanes as u32);
                b.vstore(factors(v), env.rows, b.add(target, k));
            });
            b.for_(whole, length, 1, |b, k| one(b.add(from, k), b.add(target, k)));
        } else {
            let axes = env.k_axes(&at, &[&|a| env.size(&o.flat.strides[a]), &|a| env.packed_stride(a, 1)]);
            env.nest(&axes, &[from, target], &[], &mut vec![], &mut |_, cursors, _| {
                one(cursors[0], cursors[1]);
                vec![]
            });
        }
        b.for_(length, steps, 1, |b, k| b.store(b.splat(env.factor.scalar(), 0.0), env.rows, b.add(target, k)));
    });
}

/// Columns that lie one after another.
fn copy<'c>(env: &Env<'_, 'c>, at: &At<'c>, start: V<'c>, target: V<'c>) {
    let (b, s, o) = (env.b, env.s, &env.c.panel_operand);
    let left = b.sub(env.n, start);
    let lanes = s.lanes as u32;
    let masks: Vec<_> = (0..s.vectors)
        .map(|v| env.ragged().then(|| b.create_mask(b.sub(left, b.index((v * s.lanes) as i64)), lanes)))
        .collect();
    let axes = env.k_axes(at, &[&|a| env.size(&o.flat.strides[a]), &|a| env.packed_stride(a, s.width())]);
    let source = b.add(env.offset(&o.flat, at), start);
    let buffer = env.buffer(o.buffer);
    env.nest(&axes, &[source, target], &[], &mut vec![], &mut |_, cursors, _| {
        for (v, mask) in masks.iter().enumerate() {
            let shift = b.index((v as u64 * s.lanes) as i64);
            let from = b.add(cursors[0], shift);
            let value = match mask {
                Some(mask) => b.masked_load(buffer, from, *mask, b.zero(buffer.elem.scalar())),
                None => b.vload(buffer, from, lanes),
            };
            let value = env.factors(o, at, b.add(start, shift), value);
            b.vstore(value, env.panels, b.add(cursors[1], shift));
        }
        vec![]
    });
}

/// Any columns, element by element.
fn elements<'c>(env: &Env<'_, 'c>, at: &At<'c>, start: V<'c>, target: V<'c>) {
    let (b, s, o) = (env.b, env.s, &env.c.panel_operand);
    let buffer = env.buffer(o.buffer);
    let last = b.sub(env.n, b.index(1));
    b.for_(b.index(0), b.index(s.width() as i64), 1, |b, j| {
        // Lanes past the last column repeat it: their results are not stored.
        let n = b.min(b.add(start, j), last);
        let at = env.columns(at, n);
        let axes = env.k_axes(&at, &[&|a| env.size(&o.flat.strides[a]), &|a| env.packed_stride(a, s.width())]);
        let cursors = [env.offset(&o.flat, &at), b.add(target, j)];
        env.nest(&axes, &cursors, &[], &mut vec![], &mut |ivs, cursors, _| {
            let inside = o.guards.iter().fold(b.int(Elem::I1, 1), |all, g| {
                let one = b.in_range(guard(env, g, &at, ivs), env.size(&g.size));
                if all.known() == Some(1) { one } else { b.and(all, one) }
            });
            let value = b.if_else(inside, |b| vec![b.load(buffer, cursors[0])], |_| vec![env.outside(o)]);
            b.store(env.factors(o, &at, n, value[0]), env.panels, cursors[1]);
            vec![]
        });
    });
}

fn guard<'c>(env: &Env<'_, 'c>, g: &Guard, at: &At<'c>, ivs: &[V<'c>]) -> V<'c> {
    let at = env.c.k.iter().zip(ivs).fold(at.clone(), |at, (axis, iv)| env.step_at(&at, *axis, *iv));
    env.offset(&g.index, &at)
}

/// Whether elements lie one after another along the contracted length instead of along the columns.
fn transposable(env: &Env<'_, '_>) -> bool {
    let o = &env.c.panel_operand;
    let along = env.c.k.last().is_some_and(|a| o.flat.strides[*a].as_i64() == Some(1));
    along && o.guards.is_empty() && o.flat.run(&env.c.cols, &env.c.extents).is_some()
}

/// Columns that each lie in one piece: squares of vectors are transposed in registers.
fn transpose<'c>(env: &Env<'_, 'c>, at: &At<'c>, start: V<'c>, target: V<'c>) {
    let (b, s, o) = (env.b, env.s, &env.c.panel_operand);
    let (buffer, lanes) = (env.buffer(o.buffer), s.lanes as i64);
    let width = b.index(s.width() as i64);
    let stride = o.flat.run(&env.c.cols, &env.c.extents).expect("asked before");
    let stride = env.size(&stride);
    let last = b.sub(env.n, b.index(1));
    b.for_(b.index(0), width, lanes, |b, shift| {
        // Lanes past the last column repeat it: their results are not stored.
        let column = |j: V<'c>| b.mul(b.min(b.add(b.add(start, shift), j), last), stride);
        let columns: Vec<_> = (0..lanes).map(|j| column(b.index(j))).collect();
        let mut axes = env.k_axes(at, &[&|a| env.size(&o.flat.strides[a]), &|a| env.packed_stride(a, s.width())]);
        let (length, _) = axes.pop().expect("asked before");
        let cursors = [env.offset(&o.flat, at), b.add(target, shift)];
        env.nest(&axes, &cursors, &[], &mut vec![], &mut |_, cursors, _| {
            let whole = b.mul(b.div_u(length, b.index(lanes)), b.index(lanes));
            b.for_(b.index(0), whole, lanes, |b, k| {
                let from = b.add(cursors[0], k);
                let square = columns.iter().map(|c| b.vload(buffer, b.add(from, *c), lanes as u32)).collect();
                for (i, v) in transposed(env, square).into_iter().enumerate() {
                    let row = b.mul(b.add(k, b.index(i as i64)), width);
                    b.vstore(env.factors(o, at, b.add(start, shift), v), env.panels, b.add(cursors[1], row));
                }
            });
            b.for_(whole, length, 1, |b, k| {
                b.for_(b.index(0), b.index(lanes), 1, |b, j| {
                    let v = b.load(buffer, b.add(b.add(cursors[0], k), column(j)));
                    let n = b.min(b.add(b.add(start, shift), j), last);
                    b.store(env.factors(o, at, n, v), env.panels, b.add(b.add(cursors[1], b.mul(k, width)), j));
                });
            });
            vec![]
        });
    });
}

/// Transposes a square: at each distance, pairs of vectors exchange what lies off their diagonal.
pub(super) fn transposed<'c>(env: &Env<'_, 'c>, mut square: Vec<V<'c>>) -> Vec<V<'c>> {
    let lanes = square.len();
    let mut distance = 1;
    while distance < lanes {
        for i in (0..lanes).filter(|i| i & distance == 0) {
            let (low, high) = (square[i], square[i + distance]);
            let pick = |kept: usize| -> Vec<i64> {
                let lane = |l: usize| match l & distance {
                    0 => l + kept,
                    _ => lanes + l - distance + kept,
                };
                (0..lanes).map(|l| lane(l) as i64).collect()
            };
            square[i] = env.b.shuffle(low, high, &pick(0));
            square[i + distance] = env.b.shuffle(low, high, &pick(distance));
        }
        distance *= 2;
    }
    square
}
