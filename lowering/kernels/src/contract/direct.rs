//! Contractions of few rows through windows (depthwise convolutions): the input is read in place, line by line.
//!
//! Packing would cost as much as the products. A vector of columns lies on one line; padding at its ends is a mask made once for
//! all lines, and only the first and last lines check which of the filter's lines are inside.

use std::collections::HashMap;

use super::emit::{At, Env};
use super::epilogue;
use super::plan::Source;
use super::window::Windows;
use crate::explicit::V;

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
        b.for_(b.index(0), b.index(windows.line()), s.lanes as i64, |b, x| {
            let masks = Masks::new(env, &windows, &at, x);
            b.for_(first, last, 1, |b, line| {
                let sums = accumulate(env, &windows, &at, line, x, &masks);
                let n = b.add(b.mul(line, b.index(windows.line())), x);
                for (r, sum) in sums.into_iter().enumerate() {
                    let mut at = at.clone();
                    if let Some(axis) = env.c.row {
                        at[axis] = Some(b.index(r as i64));
                    }
                    epilogue::emit(env, &at, n, sum, masks.columns);
                }
            });
        });
    });
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

/// The sums of all rows at one vector of one line.
fn accumulate<'c>(
    env: &Env<'_, 'c>,
    w: &Windows<'_>,
    at: &At<'c>,
    line: V<'c>,
    x: V<'c>,
    masks: &Masks<'c>,
) -> Vec<V<'c>> {
    let (b, s, c) = (env.b, env.s, env.c);
    let at = w.line_at(env, at, line);
    let base = b.add(env.offset(&c.panel_operand.flat, &at), b.mul(x, b.index(w.stride())));
    let rows = &c.rows_operand;
    let (row_buffer, row_base) = match s.row_source {
        Source::Ahead => {
            let batch = env.batch(|a| rows.uses(a), &at);
            (env.buffer(rows.buffer), b.mul(batch, b.mul(env.k, b.index(s.rows as i64))))
        }
        _ => (env.buffer(rows.buffer), env.offset(&rows.flat, &at)),
    };
    let row_stride = match (s.row_source, c.row) {
        (Source::Ahead, _) => b.index(1),
        (_, Some(r)) => env.size(&rows.flat.strides[r]),
        (_, None) => b.index(0),
    };
    let row_step = |a: usize| match s.row_source {
        Source::Ahead => env.packed_stride(a, s.rows),
        _ => env.size(&rows.flat.strides[a]),
    };
    let steps = env.k_axes(&[&row_step, &|a| env.size(&c.panel_operand.flat.strides[a])]);
    let channels: Vec<_> = w.channel().iter().map(|p| steps[*p].clone()).collect();
    let taps = w.taps(env.c);

    let run = |checked: bool| {
        // A line of the filter that is outside the input: its lanes are masked off.
        let none = b.constant_mask(0, s.lanes as u32);
        let masks: Vec<Vec<V<'c>>> = taps
            .iter()
            .zip(&masks.taps)
            .map(|(tap, masks)| {
                if !checked {
                    return masks.clone();
                }
                let inside = w.inside(env, &at, &tap.iter().map(|v| b.index(*v)).collect::<Vec<_>>());
                masks.iter().map(|m| b.select(inside, *m, none)).collect()
            })
            .collect();
        let zero = vec![b.zero(env.elem.vector(s.lanes as u32)); s.rows as usize];
        env.nest(&channels, &[row_base, base], &zero, &mut vec![], &mut |_, cursors, sums| {
            let mut sums = sums.to_vec();
            for (tap, masks) in taps.iter().zip(&masks) {
                let shift = |i: usize| {
                    w.window()
                        .iter()
                        .zip(tap)
                        .fold(b.index(0), |sum, (p, v)| b.add(sum, b.mul(steps[*p].1[i], b.index(*v))))
                };
                let from = b.add(cursors[1], shift(1));
                let outside = b.splat(env.elem.vector(s.lanes as u32), c.panel_operand.outside);
                let parts: Vec<_> = masks
                    .iter()
                    .enumerate()
                    .map(|(i, m)| {
                        let from = b.add(from, b.index(i as i64 * s.lanes as i64));
                        b.masked_load(env.buffer(c.panel_operand.buffer), from, *m, outside)
                    })
                    .collect();
                let v = w.join(env, &parts);
                for (r, sum) in sums.iter_mut().enumerate() {
                    let at = b.add(b.add(cursors[0], shift(0)), b.mul(row_stride, b.index(r as i64)));
                    *sum = b.fma(b.load(row_buffer, at), v, *sum);
                }
            }
            sums
        })
    };
    let last = w.window_extents(c).unwrap_or_default();
    let last: Vec<_> = last.iter().map(|e| b.index(e - 1)).collect();
    let first = vec![b.index(0); last.len()];
    let interior = b.and(w.inside(env, &at, &first), w.inside(env, &at, &last));
    b.if_else(interior, |_| run(false), |_| run(true))
}
