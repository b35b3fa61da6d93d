//! The register tile: pixels times channels.

use super::super::emit::{At, Env};
use super::super::epilogue;
use super::super::pack::transposed;
use super::super::plan::Factors;
use super::{Area, start};
use crate::explicit::{Buf, Elem, V};
use crate::scalar;

/// A panel of the filter.
pub(super) struct Channels<'c> {
    /// Its first channel.
    start: V<'c>,
    buffer: Buf<'c>,
    base: V<'c>,
    /// What the sums begin with, a vector each, if not with zeros.
    init: Option<Vec<V<'c>>>,
}

impl<'c> Channels<'c> {
    pub fn new(env: &Env<'_, 'c>, at: &At<'c>, panel: V<'c>) -> Self {
        let (b, s, o) = (env.b, env.s, &env.c.rows_operand);
        let width = s.width() as i64;
        let panels = b.div_ceil(env.m, width);
        let number = b.add(b.mul(env.batch(|a| o.flat.uses(a), at), panels), panel);
        let length = steps(env).into_iter().fold(b.index(1), |n, k| b.mul(n, k));
        let buffer = match s.factors {
            Factors::Quads => {
                let filters = env.size(&env.c.count(&env.c.batch));
                env.words(o.buffer, b.mul(b.mul(filters, panels), b.mul(length, b.index(width))))
            }
            _ => env.buffer(o.buffer),
        };
        let base = b.add(b.mul(number, b.mul(length, b.index(width))), env.block_offset(at, s.width()));
        let init = env.shift_of_words(at).map(|shift| {
            let ones = b.splat(Elem::I8.vector(4 * s.lanes as u32), 1.0);
            let zeros = vec![b.zero(Elem::I32.vector(s.lanes as u32)); s.vectors as usize];
            let axes = [(length, vec![b.index(width)])];
            let sums = env.nest(&axes, &[base], &zeros, &mut vec![], &mut |_, cursors, sums| {
                (0..sums.len())
                    .map(|v| b.quad_products(sums[v], ones, load(env, buffer, cursors[0], v as u64)))
                    .collect()
            });
            sums.into_iter().map(|v| b.mul(b.broadcast(shift, s.lanes as u32), v)).collect()
        });
        Channels { start: b.mul(panel, b.index(width)), buffer, base, init }
    }
}

impl<'c> Env<'_, 'c> {
    /// The zero point of words of pixels, if there is one.
    fn shift_of_words(&self, at: &At<'c>) -> Option<V<'c>> {
        let words = self.s.factors == Factors::Quads;
        words.then(|| self.shift(&self.c.panel_operand, at)).flatten()
    }
}

/// Steps along each contracted axis, of words where factors are in words.
fn steps<'c>(env: &Env<'_, 'c>) -> Vec<V<'c>> {
    let group = env.s.factors.group() as i64;
    let extent = |(i, a): (usize, &usize)| match i {
        0 => env.b.div_ceil(env.size(&env.c.extents[*a]), group),
        _ => env.size(&env.c.extents[*a]),
    };
    env.c.k.iter().enumerate().map(extent).collect()
}

/// A vector of a panel's factors.
fn load<'c>(env: &Env<'_, 'c>, buffer: Buf<'c>, cursor: V<'c>, v: u64) -> V<'c> {
    let (b, s) = (env.b, env.s);
    let at = b.add(cursor, b.index((v * s.lanes) as i64));
    let loaded = b.vload(buffer, at, s.lanes as u32);
    match s.factors {
        Factors::Quads => b.reinterpret(loaded, Elem::I8),
        _ => scalar::from_memory(b, env.c.rows_operand.dtype, loaded),
    }
}

/// One tile, the unit's `number`-th: accumulate, then turn over and store. `part` says whether the current block of the
/// contracted length is the first and the last, where there are blocks.
pub(super) fn emit<'c>(
    env: &Env<'_, 'c>,
    at: &At<'c>,
    area: &Area<'_, 'c>,
    channels: &Channels<'c>,
    (y, x): (V<'c>, V<'c>),
    number: V<'c>,
    part: Option<(V<'c>, V<'c>)>,
) {
    let (b, s, g, p) = (env.b, env.s, area.g, area.p);
    // Lines and pixels from the unit's first on.
    let line = match p.lines {
        1 => y,
        n => start(env, y, n, g.extent.1),
    };
    let tile = b.add(area.tile, x);
    let column = start(env, tile, p.columns, g.extent.0);
    let across = b.sub(column, area.column);
    let steps = match p.slab {
        Some((_, elements)) => (elements as i64 * g.down.pixel, g.across.pixel),
        None => (g.line * g.down.pixel, g.across.pixel),
    };
    let mut base = b.add(b.mul(line, b.index(steps.0)), b.mul(across, b.index(steps.1)));
    if p.slab.is_none() {
        let at = at.with(g.x, area.column);
        let at = g.y.map_or_else(|| at.clone(), |y| at.with(y, area.line));
        base = b.add(base, env.offset(&env.c.panel_operand.flat, &at));
    }
    let nth = b.add(b.mul(y, area.tiles), x);
    let shift = |r: u64| (r / p.columns) as i64 * steps.0 + (r % p.columns) as i64 * steps.1;
    let shifts: Vec<i64> = (0..s.rows).map(shift).collect();

    let saved = match part {
        Some(_) => b.mul(number, b.index((s.rows * s.width()) as i64)),
        None => b.index(0),
    };
    let place = |i: usize| b.add(saved, b.index(i as i64 * s.lanes as i64));
    let count = (s.rows * s.vectors) as usize;
    let zeros = match &channels.init {
        Some(init) => init.iter().copied().cycle().take(count).collect(),
        None => vec![b.zero(env.elem.vector(s.lanes as u32)); count],
    };
    let init = match part {
        None => zeros,
        Some((first, _)) => {
            let load = |_: &_| (0..count).map(|i| b.vload(env.tile, place(i), s.lanes as u32)).collect();
            b.if_else(first, |_| zeros.clone(), load)
        }
    };
    for (i, v) in accumulate(env, at, area, (base, nth), channels, &shifts, &init).into_iter().enumerate() {
        b.vstore(v, env.tile, place(i));
    }
    let done = || {
        let skip =
            (b.sub(b.mul(y, b.index(p.lines as i64)), line), b.sub(b.mul(tile, b.index(p.columns as i64)), column));
        let pixel = b.add(b.mul(b.add(area.line, line), b.index(g.extent.0 as i64)), column);
        let skip = b.add(b.mul(skip.0, b.index(p.columns as i64)), skip.1);
        finish(env, at, channels, pixel, skip, saved);
    };
    match part {
        None => done(),
        Some((_, last)) => b.when(last, |_| done()),
    }
}

fn accumulate<'c>(
    env: &Env<'_, 'c>,
    at: &At<'c>,
    area: &Area<'_, 'c>,
    (pixels, nth): (V<'c>, V<'c>),
    channels: &Channels<'c>,
    shifts: &[i64],
    init: &[V<'c>],
) -> Vec<V<'c>> {
    let (b, s, lanes) = (env.b, env.s, env.s.lanes);
    let source = match area.p.slab {
        Some(_) if s.factors == Factors::Quads => env.panel_words,
        Some(_) => env.panels,
        None => env.buffer(env.c.panel_operand.buffer),
    };
    let mut axes = env.k_axes(at, &[&|a| env.packed_stride(a, s.width())]);
    if s.factors == Factors::Quads {
        axes.iter_mut().zip(steps(env)).for_each(|(axis, steps)| axis.0 = steps);
    }
    let axes: Vec<_> = axes
        .into_iter()
        .zip(area.strides(env))
        .map(|((extent, steps), stride)| (extent, vec![stride, steps[0]]))
        .collect();
    // What this tile, the panel's `nth`, fetches of the panel, or the block of it, that follows.
    let (mut axes, mut cursors) = (axes, vec![pixels, channels.base]);
    if let Some(each) = s.fetch {
        let length = axes.iter().fold(b.index(1), |n, (extent, _)| b.mul(n, *extent));
        let next = b.add(channels.base, b.mul(length, b.index(s.width() as i64)));
        cursors.push(b.add(next, b.mul(b.mul(nth, length), b.index(each as i64))));
        axes.iter_mut().zip(&env.c.k).for_each(|((_, steps), a)| steps.push(env.packed_stride(*a, each)));
    }
    env.nest(&axes, &cursors, init, &mut vec![], &mut |_, cursors, sums| {
        if let Some(next) = cursors.get(2) {
            b.prefetch(channels.buffer, *next);
        }
        let vectors: Vec<_> = (0..s.vectors).map(|v| load(env, channels.buffer, cursors[1], v)).collect();
        let mut next = Vec::with_capacity(sums.len());
        for shift in shifts {
            let element = b.broadcast(b.load(source, b.add(cursors[0], b.index(*shift))), lanes as u32);
            for v in &vectors {
                let sum = sums[next.len()];
                next.push(match s.factors {
                    Factors::Quads => b.quad_products(sum, b.reinterpret(element, Elem::I8), *v),
                    _ => env.multiply_add(element, *v, sum),
                });
            }
        }
        next
    })
}

/// Takes a tile from `saved` in the scratch through the epilogue, channel by channel: of its pixels, which follow each other from
/// `pixel` on, the first `skip` are another tile's.
fn finish<'c>(env: &Env<'_, 'c>, at: &At<'c>, channels: &Channels<'c>, pixel: V<'c>, skip: V<'c>, saved: V<'c>) {
    let (b, s) = (env.b, env.s);
    let whole_vectors = s.pixels.is_some_and(|p| p.whole);
    let (lanes, width) = (s.lanes, b.index(s.width() as i64));
    let row = env.c.row.expect("there are channels");
    let turned = if s.factors == Factors::Quads { env.row_words } else { env.rows };
    b.for_(b.index(0), width, lanes as i64, |b, first| {
        let channel = b.add(channels.start, first);
        let count = b.min(b.sub(env.m, channel), b.index(lanes as i64));
        for group in 0..s.rows.div_ceil(lanes) {
            let line = |i: u64| {
                // Rows past the last repeat it: what becomes of them is not stored.
                let r = (group * lanes + i).min(s.rows - 1);
                b.add(b.add(saved, first), b.index((r * s.width()) as i64))
            };
            let square = (0..lanes).map(|i| b.vload(env.tile, line(i), lanes as u32)).collect();
            for (i, v) in transposed(env, square).into_iter().enumerate() {
                b.vstore(v, turned, b.index((i as u64 * lanes) as i64));
            }
            let from = (group * lanes) as i64;
            let whole = b.create_mask(b.index(s.rows as i64 - from), lanes as u32);
            let before = b.create_mask(b.sub(skip, b.index(from)), lanes as u32);
            let mask = (!whole_vectors).then(|| b.and(whole, b.not(before)));
            b.for_(b.index(0), count, 1, |b, i| {
                let sum = b.vload(turned, b.mul(i, b.index(lanes as i64)), lanes as u32);
                let at = at.with(row, b.add(channel, i));
                epilogue::emit(env, &at, b.add(pixel, b.index(from)), sum, mask);
            });
        }
    });
}
