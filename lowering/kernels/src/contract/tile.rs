//! The register tile.

use super::emit::{At, Env};
use super::epilogue;
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
}

impl<'c> Columns<'c> {
    /// `local` counts from the first panel in the scratch.
    pub fn new(env: &Env<'_, 'c>, at: &At<'c>, panel: V<'c>, local: V<'c>) -> Self {
        let (b, s, o) = (env.b, env.s, &env.c.panel_operand);
        let start = b.mul(panel, b.index(s.width() as i64));
        let masks = (env.ragged() && s.masks).then(|| {
            let left = b.sub(env.n, start);
            (0..s.vectors).map(|v| b.create_mask(b.sub(left, b.index((v * s.lanes) as i64)), s.lanes as u32)).collect()
        });
        let length = b.mul(env.k, b.index(s.width() as i64));
        let (buffer, base) = match s.panel_source {
            Source::Direct | Source::Window => (env.buffer(o.buffer), b.add(env.offset(&o.flat, at), start)),
            Source::Scratch => (env.panels, b.mul(local, length)),
            Source::Ahead => {
                let batch = env.batch(|a| o.uses(a), at);
                (env.buffer(o.buffer), b.mul(b.add(b.mul(batch, env.col_tiles), panel), length))
            }
        };
        Columns { start, masks, buffer, base }
    }
}

/// One tile: accumulate, then the epilogue row by row. `local` counts from the first row tile in the scratch.
pub(super) fn emit<'c>(env: &Env<'_, 'c>, at: &At<'c>, columns: &Columns<'c>, tile: V<'c>, local: V<'c>) {
    let (b, s, o) = (env.b, env.s, &env.c.rows_operand);
    let first = b.mul(tile, b.index(s.rows as i64));
    let whole = env.m.known().is_some_and(|m| m % s.rows as i64 == 0);
    // Rows read in place end at the last row: the last tile begins earlier and leaves out the rows that others store.
    let start = match s.row_source {
        Source::Direct if !whole => b.min(first, b.sub(env.m, b.index(s.rows as i64))),
        _ => first,
    };
    let length = b.mul(env.k, b.index(s.rows as i64));
    let (buffer, base, row_stride) = match s.row_source {
        Source::Scratch => (env.rows, b.mul(local, length), b.index(1)),
        Source::Ahead => {
            let batch = env.batch(|a| o.uses(a), at);
            (env.buffer(o.buffer), b.mul(b.add(b.mul(batch, env.row_tiles), tile), length), b.index(1))
        }
        Source::Direct | Source::Window => {
            let stride = env.c.row.map_or(b.index(0), |r| env.size(&o.flat.strides[r]));
            (env.buffer(o.buffer), b.add(env.offset(&o.flat, at), b.mul(start, stride)), stride)
        }
    };

    let direct = s.row_source == Source::Direct || s.panel_source == Source::Direct;
    let row_step = |a: usize| match s.row_source {
        Source::Direct => env.size(&o.flat.strides[a]),
        _ => env.packed_stride(a, s.rows),
    };
    let panel_step = |a: usize| match s.panel_source {
        Source::Direct => env.size(&env.c.panel_operand.flat.strides[a]),
        _ => env.packed_stride(a, s.width()),
    };
    let axes = if direct {
        env.k_axes(&[&row_step, &panel_step])
    } else {
        vec![(env.k, vec![b.index(s.rows as i64), b.index(s.width() as i64)])]
    };
    let zero = b.zero(env.elem.vector(s.lanes as u32));
    let init = vec![zero; (s.rows * s.vectors) as usize];
    let sums = env.nest(&axes, &[base, columns.base], &init, &mut vec![], &mut |_, cursors, sums| {
        let vectors: Vec<_> = (0..s.vectors).map(|v| load_columns(env, columns, cursors[1], v)).collect();
        let mut next = Vec::with_capacity(sums.len());
        for r in 0..s.rows {
            let index = b.add(cursors[0], b.mul(row_stride, b.index(r as i64)));
            let element = b.broadcast(b.load(buffer, index), s.lanes as u32);
            for v in &vectors {
                next.push(b.fma(element, *v, sums[next.len()]));
            }
        }
        next
    });
    for (i, v) in sums.iter().enumerate() {
        b.vstore(*v, env.tile, b.index(i as i64 * s.lanes as i64));
    }
    finish(env, at, columns, start, first);
}

fn load_columns<'c>(env: &Env<'_, 'c>, columns: &Columns<'c>, cursor: V<'c>, v: u64) -> V<'c> {
    let (b, s) = (env.b, env.s);
    let index = b.add(cursor, b.index((v * s.lanes) as i64));
    match &columns.masks {
        Some(masks) if s.panel_source == Source::Direct => {
            b.masked_load(columns.buffer, index, masks[v as usize], b.zero(env.elem.scalar()))
        }
        _ => b.vload(columns.buffer, index, s.lanes as u32),
    }
}

/// Takes the tile from the scratch through the epilogue, from row `first` on, so that each row is stored once.
fn finish<'c>(env: &Env<'_, 'c>, at: &At<'c>, columns: &Columns<'c>, start: V<'c>, first: V<'c>) {
    let (b, s) = (env.b, env.s);
    let (skip, end) = (b.sub(first, start), b.min(b.sub(env.m, start), b.index(s.rows as i64)));
    let row = |r: V<'c>| {
        let mut at = at.clone();
        if let Some(axis) = env.c.row {
            at[axis] = Some(b.add(start, r));
        }
        (at, b.mul(r, b.index(s.width() as i64)))
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
