//! The register tile.

use super::emit::{At, Env, Range};
use super::epilogue;
use super::pack;
use super::plan::Source;
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
        Columns { start, masks, buffer, base, local }
    }
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
            return Rows { start: first, buffer: env.rows, base, shifts: shifts(steps) };
        }
        let stride = env.c.row.map_or(b.index(0), |r| env.size(&o.flat.strides[r]));
        let base = env.offset(&o.flat, at);
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
    for (i, v) in accumulate(env, at, columns, &rows, &init).into_iter().enumerate() {
        b.vstore(v, env.tile, place(i));
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
    let axes = match direct {
        true => env.k_axes(at, &[&row_step, &panel_step]),
        // Rows count pairs.
        false if s.pairs => vec![(b.div_ceil(length, 2), vec![b.index(1), b.index(2 * width)])],
        false => vec![(length, vec![b.index(row), b.index(width)])],
    };
    env.nest(&axes, &[rows.base, columns.base], init, &mut vec![], &mut |_, cursors, sums| {
        let vectors: Vec<_> = (0..s.vectors).map(|v| load_columns(env, at, columns, cursors[1], v)).collect();
        let mut next = Vec::with_capacity(sums.len());
        for shift in &rows.shifts {
            let element = match s.pairs {
                true => {
                    let pair = b.load(env.row_pairs, b.add(cursors[0], b.div_u(*shift, b.index(2))));
                    b.reinterpret(b.broadcast(pair, s.lanes as u32), Elem::I16)
                }
                false => b.broadcast(b.load(rows.buffer, b.add(cursors[0], *shift)), s.lanes as u32),
            };
            for v in &vectors {
                let sum = sums[next.len()];
                next.push(match s.pairs {
                    true => b.add(sum, b.pair_products(element, *v)),
                    false => env.multiply_add(element, *v, sum),
                });
            }
        }
        next
    })
}

fn load_columns<'c>(env: &Env<'_, 'c>, at: &At<'c>, columns: &Columns<'c>, cursor: V<'c>, v: u64) -> V<'c> {
    let (b, s) = (env.b, env.s);
    let first = b.index((v * s.lanes) as i64);
    let (shift, lanes) = if s.pairs { (b.add(first, first), 2 * s.lanes) } else { (first, s.lanes) };
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
