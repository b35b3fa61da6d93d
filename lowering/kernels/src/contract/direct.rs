//! Contractions of few rows through windows (depthwise convolutions): the input is read in place, line by line.
//!
//! Packing would cost as much as the products. A vector of columns lies on one line; padding at its ends is a mask made once for
//! all lines, and only the first and last lines check which of the filter's lines are inside.

use std::collections::HashMap;

use super::emit::{At, Env};
use super::epilogue;
use super::plan::Source;
use super::window::Windows;
use crate::explicit::{Buf, Cmp, V};

/// Units are numbered (batch, block of lines).
pub(super) fn units<'c>(env: &Env<'_, 'c>, begin: V<'c>, end: V<'c>) {
    let (b, s) = (env.b, env.s);
    let windows = Windows::of(env.c, s.lanes as i64).expect("the schedule asked");
    let lines = windows.line_count(env);
    let blocks = b.div_ceil(lines, s.unit_panels as i64);
    b.for_(begin, end, 1, |b, unit| {
        let at = env.batch_at(b.div_u(unit, blocks));
        let first = b.mul(b.rem_u(unit, blocks), b.index(s.unit_panels as i64));
        let last = b.min(b.add(first, b.index(s.unit_panels as i64)), lines);
        if !s.masks {
            return b.for_(first, last, 1, |_, line| plain(env, &windows, &at, line));
        }
        b.for_(b.index(0), b.index(windows.line()), s.lanes as i64, |b, x| {
            let masks = Masks::new(env, &windows, &at, x);
            b.for_(first, last, 1, |_, line| {
                let sums = accumulate(env, &windows, &at, line, x, Some(&masks));
                store(env, &windows, &at, line, x, &sums, masks.columns);
            });
        });
    });
}

/// A line on a target without masks: whole vectors where all taps are inside across, else element by element.
fn plain<'c>(env: &Env<'_, 'c>, w: &Windows<'_>, at: &At<'c>, line: V<'c>) {
    let (b, lanes) = (env.b, env.s.lanes as i64);
    let (low, high) = w.inner_columns(env, at);
    let count = b.div(b.max(b.sub(high, low), b.index(0)), b.index(lanes));
    let end = b.add(low, b.mul(count, b.index(lanes)));
    b.for_(low, end, lanes, |_, x| {
        let sums = accumulate(env, w, at, line, x, None);
        store(env, w, at, line, x, &sums, None);
    });
    b.for_(b.index(0), b.index(2), 1, |b, part| {
        let before = b.cmp(Cmp::Eq, part, b.index(0));
        let from = b.select(before, b.index(0), end);
        let to = b.select(before, low, b.index(w.line()));
        b.for_(from, to, 1, |_, x| {
            let here = w.column_at(env, &w.line_at(env, at, line), x);
            let n = b.add(b.mul(line, b.index(w.line())), x);
            let sums: Vec<_> = (0..env.s.rows).map(|r| element(env, w, &here, n, r)).collect();
            store(env, w, at, line, x, &sums, None);
        });
    });
}

/// The sum of one element, of column `n`.
fn element<'c>(env: &Env<'_, 'c>, w: &Windows<'_>, at: &At<'c>, n: V<'c>, row: u64) -> V<'c> {
    let (b, c) = (env.b, env.c);
    let (panel, rows) = (&c.panel_operand, Rows::new(env, at));
    let at_row = row_at(env, at, row);
    let axes = env.k_axes(at, &[&|a| rows.step(env, a), &|a| env.size(&c.panel_operand.flat.strides[a])]);
    let cursors = [b.add(rows.base, b.mul(rows.stride, b.index(row as i64))), env.offset(&panel.flat, at)];
    let zero = b.splat(env.elem.scalar(), 0.0);
    let sums = env.nest(&axes, &cursors, &[zero], &mut vec![], &mut |ivs, cursors, sums| {
        let tap: Vec<_> = w.window().iter().map(|p| ivs[*p]).collect();
        let v = b.if_else(
            w.all_inside(env, at, &tap),
            |b| vec![b.load(env.buffer(panel.buffer), cursors[1])],
            |_| vec![env.outside(panel)],
        );
        let factor = env.factors(&c.rows_operand, &at_row, n, b.load(rows.buffer, cursors[0]));
        vec![env.multiply_add(factor, env.factors(panel, at, n, v[0]), sums[0])]
    });
    sums[0]
}

fn store<'c>(
    env: &Env<'_, 'c>,
    w: &Windows<'_>,
    at: &At<'c>,
    line: V<'c>,
    x: V<'c>,
    sums: &[V<'c>],
    mask: Option<V<'c>>,
) {
    let n = env.b.add(env.b.mul(line, env.b.index(w.line())), x);
    for (r, sum) in sums.iter().enumerate() {
        epilogue::emit(env, &row_at(env, at, r as u64), n, *sum, mask);
    }
}

fn row_at<'c>(env: &Env<'_, 'c>, at: &At<'c>, row: u64) -> At<'c> {
    env.c.row.map_or_else(|| at.clone(), |axis| at.with(axis, env.b.index(row as i64)))
}

/// Where the rows' elements lie.
struct Rows<'c> {
    buffer: Buf<'c>,
    base: V<'c>,
    stride: V<'c>,
}

impl<'c> Rows<'c> {
    fn new(env: &Env<'_, 'c>, at: &At<'c>) -> Self {
        let (b, s, o) = (env.b, env.s, &env.c.rows_operand);
        let (base, stride) = match (s.row_source, env.c.row) {
            (Source::Ahead, _) => {
                let batch = env.batch(|a| o.flat.uses(a), at);
                (b.mul(batch, b.mul(env.k, b.index(s.rows as i64))), b.index(1))
            }
            (_, Some(r)) => (env.offset(&o.flat, at), env.size(&o.flat.strides[r])),
            (_, None) => (env.offset(&o.flat, at), b.index(0)),
        };
        Rows { buffer: env.buffer(o.buffer), base, stride }
    }

    fn step(&self, env: &Env<'_, 'c>, axis: usize) -> V<'c> {
        match env.s.row_source {
            Source::Ahead => env.packed_stride(axis, env.s.rows),
            _ => env.size(&env.c.rows_operand.flat.strides[axis]),
        }
    }
}

/// What the lanes at one x may touch.
struct Masks<'c> {
    /// Lanes that are columns, where not all are.
    columns: Option<V<'c>>,
    /// For each tap the masks of its loads; equal ones are one value.
    taps: Vec<Vec<V<'c>>>,
}

impl<'c> Masks<'c> {
    fn new(env: &Env<'_, 'c>, w: &Windows<'_>, at: &At<'c>, x: V<'c>) -> Self {
        let (b, lanes) = (env.b, env.s.lanes);
        let whole = w.line() % lanes as i64 == 0;
        let columns = (!whole).then(|| b.create_mask(b.sub(b.index(w.line()), x), lanes as u32));
        let mut made: HashMap<i64, Vec<V<'c>>> = HashMap::new();
        let taps = w.taps(env.c).into_iter().map(|tap| {
            let tap: Vec<_> = tap.iter().map(|v| b.index(*v)).collect();
            let make = || w.across_masks(env, at, x, &tap);
            match w.across_rest(env, at, &tap).known() {
                Some(rest) => made.entry(rest).or_insert_with(make).clone(),
                None => make(),
            }
        });
        let taps = taps.collect();
        Masks { columns, taps }
    }
}

/// The sums of all rows at one vector of one line; without masks all its lanes are inside across.
fn accumulate<'c>(
    env: &Env<'_, 'c>,
    w: &Windows<'_>,
    at: &At<'c>,
    line: V<'c>,
    x: V<'c>,
    masks: Option<&Masks<'c>>,
) -> Vec<V<'c>> {
    let (b, s, c) = (env.b, env.s, env.c);
    let at = w.line_at(env, at, line);
    let base = b.add(env.offset(&c.panel_operand.flat, &at), b.mul(x, b.index(w.stride())));
    let rows = Rows::new(env, &at);
    let steps = env.k_axes(&at, &[&|a| rows.step(env, a), &|a| env.size(&c.panel_operand.flat.strides[a])]);
    let channels: Vec<_> = w.channel().iter().map(|p| steps[*p].clone()).collect();
    let taps = w.taps(c);
    let vector = env.elem.vector(s.lanes as u32);
    let n = b.add(b.mul(line, b.index(w.line())), x);

    let run = |checked: bool| {
        env.nest(
            &channels,
            &[rows.base, base],
            &vec![b.zero(vector); s.rows as usize],
            &mut vec![],
            &mut |_, cursors, sums| {
                let mut sums = sums.to_vec();
                for (t, tap) in taps.iter().enumerate() {
                    let shift = |i: usize| {
                        let at = w.window().iter().zip(tap);
                        at.fold(b.index(0), |sum, (p, v)| b.add(sum, b.mul(steps[*p].1[i], b.index(*v))))
                    };
                    let from = b.add(cursors[1], shift(1));
                    let load = || match masks {
                        Some(masks) => w.masked(env, from, &masks.taps[t]),
                        None => w.load(env, from),
                    };
                    let v = match checked {
                        false => load(),
                        true => {
                            let tap: Vec<_> = tap.iter().map(|v| b.index(*v)).collect();
                            let outside = || vec![b.broadcast(env.outside(&c.panel_operand), s.lanes as u32)];
                            b.if_else(w.inside(env, &at, &tap), |_| vec![load()], |_| outside())[0]
                        }
                    };
                    let v = env.factors(&c.panel_operand, &at, n, v);
                    for (r, sum) in sums.iter_mut().enumerate() {
                        let from = b.add(b.add(cursors[0], shift(0)), b.mul(rows.stride, b.index(r as i64)));
                        let factor = b.load(rows.buffer, from);
                        let factor = env.factors(&c.rows_operand, &row_at(env, &at, r as u64), n, factor);
                        *sum = env.multiply_add(factor, v, *sum);
                    }
                }
                sums
            },
        )
    };
    let last = w.window_extents(c).unwrap_or_default();
    let last: Vec<_> = last.iter().map(|e| b.index(e - 1)).collect();
    let first = vec![b.index(0); last.len()];
    let interior = b.and(w.inside(env, &at, &first), w.inside(env, &at, &last));
    b.if_else(interior, |_| run(false), |_| run(true))
}
