//! The register tile.

use super::emit::{At, Env, Range};
use super::epilogue;
use super::pack;
use super::plan::{Factors, Source};
use crate::explicit::{Buf, Cmp, Elem, V};

/// What the tiles of one column panel share.
pub(super) struct Columns<'c> {
    /// First column.
    pub start: V<'c>,
    /// A mask a vector, where the panel may be partial and the target has masks.
    pub masks: Option<Vec<V<'c>>>,
    buffer: Buf<'c>,
    base: V<'c>,
    /// The panel's number in the unit.
    local: V<'c>,
    /// Sums of the panel's factors along the contracted length, a vector each, where the rows' factors have a zero point.
    sums: Option<Vec<V<'c>>>,
}

impl<'c> Columns<'c> {
    /// `local` counts from the first panel of the unit.
    pub fn new(env: &Env<'_, 'c>, at: &At<'c>, panel: V<'c>, local: V<'c>) -> Self {
        let (b, s, o) = (env.b, env.s, &env.c.panel_operand);
        let start = b.mul(panel, b.index(s.width() as i64));
        let masks = (env.ragged() && s.masks).then(|| {
            let left = b.sub(env.n, start);
            (0..s.vectors).map(|v| b.create_mask(b.sub(left, b.index((v * s.lanes) as i64)), s.lanes as u32)).collect()
        });
        let (buffer, base) = match s.panel_source {
            Source::Direct | Source::Window => (env.buffer(o.buffer), b.add(env.offset(&o.flat, at), start)),
            Source::Scratch => {
                let steps = env.grouped(env.block_length(at));
                (env.panels, b.mul(local, b.mul(steps, b.index(s.width() as i64))))
            }
            Source::Ahead => {
                let number = b.add(b.mul(env.batch(|a| o.flat.uses(a), at), env.col_tiles), panel);
                let base = b.mul(number, b.mul(env.grouped(env.k), b.index(s.width() as i64)));
                (env.buffer(o.buffer), b.add(base, env.block_offset(at, s.width())))
            }
        };
        let mut columns = Columns { start, masks, buffer, base, local, sums: None };
        if s.factors == Factors::Quads && env.shift(&env.c.rows_operand, at).is_some() {
            columns.sums = Some(sums(env, at, &columns));
        }
        columns
    }
}

/// The sum of each column's factors.
fn sums<'c>(env: &Env<'_, 'c>, at: &At<'c>, columns: &Columns<'c>) -> Vec<V<'c>> {
    let (b, s) = (env.b, env.s);
    let ones = b.splat(Elem::I8.vector(4 * s.lanes as u32), 1.0);
    let init = vec![b.zero(Elem::I32.vector(s.lanes as u32)); s.vectors as usize];
    let axes = [(b.div_ceil(env.k, 4), vec![b.index(4 * s.width() as i64)])];
    env.nest(&axes, &[columns.base], &init, &mut vec![], &mut |_, cursors, sums| {
        let add = |v: usize| b.quad_products(sums[v], ones, load_columns(env, at, columns, cursors[0], v as u64));
        (0..sums.len()).map(add).collect()
    })
}

/// What a tile reads of the broadcast operand.
struct Rows<'c> {
    /// First row.
    start: V<'c>,
    buffer: Buf<'c>,
    base: V<'c>,
    /// Offset of each row.
    shifts: Vec<V<'c>>,
}

impl<'c> Rows<'c> {
    fn new(env: &Env<'_, 'c>, at: &At<'c>, tile: V<'c>) -> Self {
        let (b, s, o) = (env.b, env.s, &env.c.rows_operand);
        let first = b.mul(tile, b.index(s.rows as i64));
        let shifts = |stride: V<'c>| (0..s.rows).map(|r| b.mul(stride, b.index(r as i64))).collect();
        let buffer = env.buffer(o.buffer);
        if s.row_source == Source::Ahead {
            let number = b.add(b.mul(env.batch(|a| o.flat.uses(a), at), env.row_tiles), tile);
            let base = b.mul(number, b.mul(env.k, b.index(s.rows as i64)));
            let base = b.add(base, env.block_offset(at, s.rows));
            return Rows { start: first, buffer, base, shifts: shifts(b.index(1)) };
        }
        if s.row_source == Source::Scratch {
            pack::rows(env, at, first);
            let (base, steps) = (b.index(0), env.grouped(env.block_length(at)));
            let buffer = if s.factors == Factors::Wide { env.rows } else { env.row_words };
            return Rows { start: first, buffer, base, shifts: shifts(steps) };
        }
        let stride = env.c.row.map_or(b.index(0), |r| env.size(&o.flat.strides[r]));
        let base = env.offset(&o.flat, at);
        let rows = Rows::direct(env, first, stride, (buffer, base));
        if s.factors != Factors::Quads {
            return rows;
        }
        // In words of four.
        let count = b.div_u(b.mul(b.mul(env.m, env.k), env.size(&env.c.count(&env.c.batch))), b.index(4));
        Rows { buffer: env.words(o.buffer, count), base: b.div_u(rows.base, b.index(4)), ..rows }
    }

    /// Rows that are read where they are.
    fn direct(env: &Env<'_, 'c>, first: V<'c>, stride: V<'c>, (buffer, base): (Buf<'c>, V<'c>)) -> Self {
        let (b, s) = (env.b, env.s);
        let shifts = |stride: V<'c>| (0..s.rows).map(|r| b.mul(stride, b.index(r as i64))).collect();
        match env.m.known() {
            Some(m) => {
                // The last tile ends at the last row: it begins earlier and leaves out the rows that others store.
                let whole = m % s.rows as i64 == 0;
                let start = if whole { first } else { b.min(first, b.index(m - s.rows as i64)) };
                Rows { start, buffer, base: b.add(base, b.mul(start, stride)), shifts: shifts(stride) }
            }
            None => {
                // Perhaps there are fewer rows than the tile has: those past the last read the last.
                let last = b.sub(env.m, b.index(1));
                let row = |r: u64| b.mul(b.min(b.add(first, b.index(r as i64)), last), stride);
                Rows { start: first, buffer, base, shifts: (0..s.rows).map(row).collect() }
            }
        }
    }
}

/// One tile: accumulate, then the epilogue row by row. `local` is the row tile's number in the unit, `last` whether its sums are
/// complete after this block of the contracted length, where there are blocks.
pub(super) fn emit<'c>(
    env: &Env<'_, 'c>,
    at: &At<'c>,
    columns: &Columns<'c>,
    tile: V<'c>,
    local: V<'c>,
    last: Option<V<'c>>,
) {
    let (b, s) = (env.b, env.s);
    let rows = Rows::new(env, at, tile);
    let size = (s.rows * s.width()) as i64;
    let saved = match last {
        Some(_) => b.mul(b.add(b.mul(local, b.index(s.unit_panels as i64)), columns.local), b.index(size)),
        None => b.index(0),
    };
    let place = |i: usize| b.add(saved, b.index(i as i64 * s.lanes as i64));
    let count = (s.rows * s.vectors) as usize;
    let init: Vec<V<'c>> = match last {
        Some(_) => (0..count).map(|i| b.vload(env.tile, place(i), s.lanes as u32)).collect(),
        None => vec![b.zero(env.elem.vector(s.lanes as u32)); count],
    };
    let shift = |i: usize| -> Option<V<'c>> {
        let (row, of) = (i / s.vectors as usize, &columns.sums.as_ref()?[i % s.vectors as usize]);
        let row = b.min(b.add(rows.start, b.index(row as i64)), b.sub(env.m, b.index(1)));
        let at = env.c.row.map_or_else(|| at.clone(), |axis| at.with(axis, row));
        let shift = env.shift(&env.c.rows_operand, &at)?;
        Some(b.mul(b.broadcast(shift, s.lanes as u32), *of))
    };
    for (i, v) in accumulate(env, at, columns, &rows, &init, local).into_iter().enumerate() {
        b.vstore(shift(i).map_or(v, |shift| b.add(v, shift)), env.tile, place(i));
    }
    let first = b.mul(tile, b.index(s.rows as i64));
    match last {
        Some(last) => b.when(last, |_| finish(env, at, columns, (rows.start, first), saved)),
        None => finish(env, at, columns, (rows.start, first), saved),
    }
}

fn accumulate<'c>(
    env: &Env<'_, 'c>,
    at: &At<'c>,
    columns: &Columns<'c>,
    rows: &Rows<'c>,
    init: &[V<'c>],
    local: V<'c>,
) -> Vec<V<'c>> {
    let (b, s) = (env.b, env.s);
    let direct = s.row_source == Source::Direct || s.panel_source == Source::Direct;
    let row_step = |a: usize| match s.row_source {
        Source::Direct => env.size(&env.c.rows_operand.flat.strides[a]),
        Source::Scratch => env.packed_stride(a, 1),
        _ => env.packed_stride(a, s.rows),
    };
    let panel_step = |a: usize| match s.panel_source {
        Source::Direct => env.size(&env.c.panel_operand.flat.strides[a]),
        _ => env.packed_stride(a, s.width()),
    };
    let row = if s.row_source == Source::Scratch { 1 } else { s.rows as i64 };
    let (length, width) = (env.block_length(at), s.width() as i64);
    let group = s.factors.group() as i64;
    let axes = match direct {
        // Rows count words.
        _ if group > 1 => vec![(b.div_ceil(length, group), vec![b.index(1), b.index(group * width)])],
        true => env.k_axes(at, &[&row_step, &panel_step]),
        false => vec![(length, vec![b.index(row), b.index(width)])],
    };
    // What this tile fetches of the panel, or the block of it, that follows.
    let mut cursors = vec![rows.base, columns.base];
    let mut axes = axes;
    if let Some(each) = s.fetch {
        let next = b.add(columns.base, b.mul(env.grouped(length), b.index(width)));
        cursors.push(b.add(next, b.mul(b.mul(local, env.grouped(length)), b.index(each as i64))));
        let step = |a: usize| env.packed_stride(a, each);
        match direct && group == 1 {
            true => axes.iter_mut().zip(&env.c.k).for_each(|((_, steps), a)| steps.push(step(*a))),
            false => axes[0].1.push(b.index(group * each as i64)),
        }
    }
    env.nest(&axes, &cursors, init, &mut vec![], &mut |_, cursors, sums| {
        if let Some(next) = cursors.get(2) {
            b.prefetch(columns.buffer, *next);
        }
        let vectors: Vec<_> = (0..s.vectors).map(|v| load_columns(env, at, columns, cursors[1], v)).collect();
        let mut next = Vec::with_capacity(sums.len());
        for shift in &rows.shifts {
            let element = match group {
                1 => b.broadcast(b.load(rows.buffer, b.add(cursors[0], *shift)), s.lanes as u32),
                group => {
                    let word = b.load(rows.buffer, b.add(cursors[0], b.div_u(*shift, b.index(group))));
                    b.reinterpret(b.broadcast(word, s.lanes as u32), env.factor)
                }
            };
            for v in &vectors {
                let sum = sums[next.len()];
                next.push(match s.factors {
                    Factors::Wide => env.multiply_add(element, *v, sum),
                    Factors::Pairs => b.add(sum, b.pair_products(element, *v)),
                    Factors::Quads => b.quad_products(sum, element, *v),
                });
            }
        }
        next
    })
}

fn load_columns<'c>(env: &Env<'_, 'c>, at: &At<'c>, columns: &Columns<'c>, cursor: V<'c>, v: u64) -> V<'c> {
    let (b, s) = (env.b, env.s);
    let first = b.index((v * s.lanes) as i64);
    let group = s.factors.group();
    let (shift, lanes) = (b.mul(first, b.index(group as i64)), group * s.lanes);
    let index = b.add(cursor, shift);
    let buffer = columns.buffer;
    let loaded = match &columns.masks {
        Some(masks) if s.panel_source == Source::Direct => {
            b.masked_load(buffer, index, masks[v as usize], b.zero(buffer.elem.scalar()))
        }
        _ => b.vload(buffer, index, lanes as u32),
    };
    match s.panel_source {
        Source::Scratch => loaded,
        _ if s.factors == Factors::Quads => loaded,
        _ => env.factors(&env.c.panel_operand, at, b.add(columns.start, first), loaded),
    }
}

/// Takes a tile from `saved` in the scratch through the epilogue. The tile begins at the first of `rows`, and stores from the
/// second on, so that each row is stored once.
fn finish<'c>(env: &Env<'_, 'c>, at: &At<'c>, columns: &Columns<'c>, rows: Range<'c>, saved: V<'c>) {
    let (start, first) = rows;
    let (b, s) = (env.b, env.s);
    let (skip, end) = (b.sub(first, start), b.min(b.sub(env.m, start), b.index(s.rows as i64)));
    let row = |r: V<'c>| {
        let at = env.c.row.map_or_else(|| at.clone(), |axis| at.with(axis, b.add(start, r)));
        (at, b.add(saved, b.mul(r, b.index(s.width() as i64))))
    };
    let vectors = || {
        b.for_(skip, end, 1, |b, r| {
            let (at, line) = row(r);
            for v in 0..s.vectors {
                let shift = b.index((v * s.lanes) as i64);
                let sum = b.vload(env.tile, b.add(line, shift), s.lanes as u32);
                let mask = columns.masks.as_ref().map(|m| m[v as usize]);
                epilogue::emit(env, &at, b.add(columns.start, shift), sum, mask);
            }
        });
    };
    let left = b.sub(env.n, columns.start);
    let full = match s.vector_epilogue {
        true if !env.ragged() || s.masks => return vectors(),
        true => b.cmp(Cmp::Ge, left, b.index(s.width() as i64)),
        false => b.int(Elem::I1, 0),
    };
    let count = b.min(left, b.index(s.width() as i64));
    b.if_else(
        full,
        |_| {
            vectors();
            vec![]
        },
        |b| {
            b.for_(skip, end, 1, |b, r| {
                let (at, line) = row(r);
                b.for_(b.index(0), count, 1, |b, j| {
                    let sum = b.load(env.tile, b.add(line, j));
                    epilogue::emit(env, &at, b.add(columns.start, j), sum, None);
                });
            });
            vec![]
        },
    );
}
