//! Convolutions with output channels in the lanes of vectors and pixels as the rows of a tile.
//!
//! A tile is some pixels of a line (or whole short lines) times some vectors of channels. Each pixel's element is broadcast from
//! where it lies, so strides and windows cost nothing, and nothing is laid out anew but the filter, at compile time. What the
//! pixels of a unit read is first copied line by line, with the padding, into a *slab* in the thread's scratch: then the inner
//! loop checks nothing. Finished tiles are turned over in registers and stored along the lines, so that tensors keep the layout
//! the model gave them. Sums are the same chains as in any other tile, so the bits are too.
//!
//! Of 8-bit pixels and filters, four channels of a pixel lie together in the slab as one word, and one instruction (VNNI) adds their
//! products. Zero points are in the sums from the start, times the sum of the filter.
//!
//! The scheme is that of direct convolution over packed filters (Georganas et al., "Anatomy of High-Performance Deep Learning
//! Convolutions on SIMD Architectures", SC 2018), with the transposition moved into the store.

mod geometry;
mod plan;
mod slab;
mod tile;

pub(super) use plan::choose;

use super::emit::{At, Env};
use crate::explicit::{Cmp, V};
use geometry::Geometry;

/// Tile and unit in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// Pixels of a line in a tile.
    pub columns: u64,
    /// Lines in a tile; more than one only where tiles have whole lines and units all lines.
    pub lines: u64,
    /// Whether tiles are whole vectors of pixels, none of which another tile stores.
    pub whole: bool,
    /// Lines of a unit.
    pub unit_lines: u64,
    /// Tiles along a line in a unit.
    pub unit_tiles: u64,
    /// Lines and elements of a line in the slab, where there is one.
    pub slab: Option<(u64, u64)>,
}

/// A unit's rectangle of pixels and the slab of it.
struct Area<'a, 'c> {
    g: &'a Geometry<'a>,
    p: Pixels,
    /// First line, number of lines.
    line: V<'c>,
    lines: V<'c>,
    /// First tile along a line, number of tiles.
    tile: V<'c>,
    tiles: V<'c>,
    /// First pixel of a line.
    column: V<'c>,
}

/// Units are numbered (batch, lines, tiles along them, panels), so that a thread's slice fills a slab once.
pub(super) fn units<'c>(env: &Env<'_, 'c>, p: Pixels, begin: V<'c>, end: V<'c>) {
    let (b, s) = (env.b, env.s);
    let g = &Geometry::of(env.c).expect("the schedule asked");
    let count = |n: u64, by: u64| n.div_ceil(by) as i64;
    let panels = b.index(count(env.m.known().expect("channels are known") as u64, s.width()));
    let panel_blocks = b.div_ceil(panels, s.unit_panels as i64);
    let tiles = b.index(count(g.extent.0, p.columns));
    let blocks = (b.index(count(g.extent.1, p.unit_lines)), b.div_ceil(tiles, p.unit_tiles as i64));
    let last = b.div_u(b.sub(b.add(end, panel_blocks), b.index(1)), panel_blocks);
    b.for_(b.div_u(begin, panel_blocks), last, 1, |b, outer| {
        let first = b.mul(outer, panel_blocks);
        let (from, to) = (b.max(b.sub(begin, first), b.index(0)), b.min(b.sub(end, first), panel_blocks));
        let rest = b.div_u(outer, blocks.1);
        let at = env.batch_at(b.div_u(rest, blocks.0));
        let line = b.mul(b.rem_u(rest, blocks.0), b.index(p.unit_lines as i64));
        let tile = b.mul(b.rem_u(outer, blocks.1), b.index(p.unit_tiles as i64));
        let lines = b.min(b.sub(b.index(g.extent.1 as i64), line), b.index(p.unit_lines as i64));
        let tiles = b.min(b.sub(tiles, tile), b.index(p.unit_tiles as i64));
        let column = start(env, tile, p.columns, g.extent.0);
        let area = Area { g, p, line, lines, tile, tiles, column };
        if s.block.is_none() {
            slab::fill(env, &at, &area);
        }
        b.for_(from, to, 1, |b, block| {
            let panel = b.mul(block, b.index(s.unit_panels as i64));
            let range = (panel, b.min(b.add(panel, b.index(s.unit_panels as i64)), panels));
            match s.block {
                None => area.tiles(env, &at, range, None),
                Some(length) => area.blocks(env, &at, range, length as i64),
            }
        });
    });
}

/// Where a tile begins: the last one ends at the end, so it begins earlier and leaves out what others store.
fn start<'c>(env: &Env<'_, 'c>, tile: V<'c>, size: u64, all: u64) -> V<'c> {
    let b = env.b;
    let start = b.mul(tile, b.index(size as i64));
    if all.is_multiple_of(size) { start } else { b.min(start, b.index((all - size) as i64)) }
}

impl<'c> Area<'_, 'c> {
    /// In blocks of the contracted length: sums wait in the scratch.
    fn blocks(&self, env: &Env<'_, 'c>, at: &At<'c>, panels: (V<'c>, V<'c>), block: i64) {
        let b = env.b;
        let axis = env.c.k[0];
        let length = env.size(&env.c.extents[axis]);
        b.for_(b.index(0), length, block, |b, from| {
            let at = at.in_block(axis, from, b.min(b.sub(length, from), b.index(block)));
            let first = b.cmp(Cmp::Eq, from, b.index(0));
            let last = b.cmp(Cmp::Ge, b.add(from, b.index(block)), length);
            slab::fill(env, &at, self);
            self.tiles(env, &at, panels, Some((first, last)));
        });
    }

    fn tiles(&self, env: &Env<'_, 'c>, at: &At<'c>, panels: (V<'c>, V<'c>), part: Option<(V<'c>, V<'c>)>) {
        let (b, p) = (env.b, self.p);
        let line_tiles = b.div_ceil(self.lines, p.lines as i64);
        b.for_(panels.0, panels.1, 1, |b, panel| {
            let channels = tile::Channels::new(env, at, panel);
            let number = b.mul(b.sub(panel, panels.0), b.mul(line_tiles, self.tiles));
            b.for_(b.index(0), line_tiles, 1, |b, y| {
                b.for_(b.index(0), self.tiles, 1, |b, x| {
                    let number = b.add(number, b.add(b.mul(y, self.tiles), x));
                    tile::emit(env, at, self, &channels, (y, x), number, part);
                });
            });
        });
    }
}
