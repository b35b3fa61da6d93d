//! Copies what a unit's pixels read, with the padding: [channels][lines][elements], or words of four channels.

use super::super::emit::{At, Env};
use super::super::plan::Factors;
use super::Area;
use crate::explicit::{Elem, V};

/// The contracted axes that are not taps within the slab, with their strides there, by position.
fn channels<'c>(env: &Env<'_, 'c>, area: &Area<'_, 'c>, slab: (u64, u64)) -> Vec<Option<V<'c>>> {
    let (b, k) = (env.b, &env.c.k);
    let mut stride = b.index((slab.0 * slab.1) as i64);
    let mut out = vec![None; k.len()];
    for (i, a) in k.iter().enumerate().rev() {
        if area.tap(*a).is_none() {
            out[i] = Some(stride);
            stride = b.mul(stride, env.size(&env.c.extents[*a]));
        }
    }
    out
}

impl<'c> Area<'_, 'c> {
    /// What a tap of this contracted axis moves in the slab, if it is one: lines and elements.
    fn tap(&self, axis: usize) -> Option<(i64, i64)> {
        match axis {
            a if self.g.across.tap == Some(a) => Some((0, self.g.across.tap_step)),
            a if self.g.down.tap == Some(a) => Some((self.g.down.tap_step, 0)),
            _ => None,
        }
    }

    /// Strides of the contracted axes where tiles read: in the slab, or in the input.
    pub fn strides(&self, env: &Env<'_, 'c>) -> Vec<V<'c>> {
        let k = env.c.k.iter();
        let Some(slab) = self.p.slab else {
            return k.map(|a| env.size(&env.c.panel_operand.flat.strides[*a])).collect();
        };
        let in_slab = |(lines, elements): (i64, i64)| env.b.index(lines * slab.1 as i64 + elements);
        let channels = channels(env, self, slab);
        k.zip(channels).map(|(a, c)| c.unwrap_or_else(|| in_slab(self.tap(*a).expect("no channel")))).collect()
    }
}

/// Elements of 8 bits, a vector a channel, as words of a vector of pixels.
fn interleaved<'c>(env: &Env<'_, 'c>, channels: &[V<'c>]) -> V<'c> {
    let lanes = env.s.lanes as i64;
    let merge = |a: V<'c>, b: V<'c>, unit: i64, count: i64| {
        let lane = |i: i64| i / (2 * unit) * unit + i % unit + (i / unit % 2) * count;
        env.b.shuffle(a, b, &(0..2 * count).map(lane).collect::<Vec<_>>())
    };
    let halves = (merge(channels[0], channels[1], 1, lanes), merge(channels[2], channels[3], 1, lanes));
    merge(halves.0, halves.1, 2, 2 * lanes)
}

/// Fills the slab of the current block of channels.
pub(super) fn fill<'c>(env: &Env<'_, 'c>, at: &At<'c>, area: &Area<'_, 'c>) {
    let Some(slab) = area.p.slab else { return };
    let (b, s, o, g) = (env.b, env.s, &env.c.panel_operand, area.g);
    let (lanes, none) = (s.lanes as i64, b.index(0));
    let at = at.with(g.x, area.column);
    let at = g.y.map_or_else(|| at.clone(), |y| at.with(y, area.line));
    let buffer = env.buffer(o.buffer);
    let outside = b.broadcast(env.outside(o), lanes as u32);
    let elements = b.index(slab.1 as i64);
    // Elements of a line that are inside.
    let (low, high) = match g.across.guard {
        None => (none, elements),
        Some(check) => {
            let first = env.offset(&check.index, &at);
            (b.max(b.sub(none, first), none), b.min(b.sub(env.size(&check.size), first), elements))
        }
    };
    let top = g.down.guard.map(|check| (env.offset(&check.index, &at), env.size(&check.size)));
    // Fewer lines where the unit has fewer.
    let missing = b.mul(b.sub(b.index(area.p.unit_lines as i64), area.lines), b.index(g.down.pixel));
    let lines = b.sub(b.index(slab.0 as i64), missing);
    let strides = channels(env, area, slab);
    let axes = env.k_axes(&at, &[&|a| env.size(&o.flat.strides[a])]);
    let axes = axes.into_iter().zip(strides).filter_map(|((extent, mut steps), stride)| {
        steps.push(stride?);
        Some((extent, steps))
    });
    let mut axes: Vec<_> = axes.collect();
    let quads = s.factors == Factors::Quads;
    let channel = env.size(&o.flat.strides[env.c.k[0]]);
    let count = env.size(&env.c.extents[env.c.k[0]]);
    if quads {
        axes[0].0 = b.div_ceil(count, 4);
        axes[0].1[0] = b.mul(channel, b.index(4));
    }
    env.nest(&axes, &[env.offset(&o.flat, &at), none], &[], &mut vec![], &mut |ivs, cursors, _| {
        b.for_(none, lines, 1, |b, l| {
            let high = match top {
                None => high,
                Some((first, size)) => b.select(b.in_range(b.add(first, l), size), high, low),
            };
            let from = b.add(cursors[0], b.mul(l, b.index(g.line)));
            let to = b.add(cursors[1], b.mul(l, elements));
            b.for_(none, elements, lanes, |b, j| {
                let before = b.create_mask(b.sub(low, j), lanes as u32);
                let until = b.create_mask(b.sub(high, j), lanes as u32);
                let mask = b.and(until, b.not(before));
                let load = |from: V<'c>| b.masked_load(buffer, b.add(from, j), mask, outside);
                // What is past the line's end is overwritten by the next line, or belongs to nothing.
                if !quads {
                    return b.vstore(env.factors(o, &at, none, load(from)), env.panels, b.add(to, j));
                }
                let first = b.mul(ivs[0], b.index(4));
                let one = |i: i64| {
                    // Channels past the last repeat it: the filter has zeros there.
                    let i = b.min(b.index(i), b.sub(b.sub(count, b.index(1)), first));
                    env.unsigned(o, load(b.add(from, b.mul(i, channel))))
                };
                let words = b.reinterpret(interleaved(env, &[0, 1, 2, 3].map(one)), Elem::I32);
                b.vstore(words, env.panel_words, b.add(to, j));
            });
        });
        vec![]
    });
}
