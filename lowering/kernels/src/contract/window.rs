//! Packs the panels of windows (convolutions) by vectors.
//!
//! A vector of columns covers pieces of a few lines of the input (`segments`): lanes of one segment lie one after another, or
//! every second element of the input. Padding and lines are masks, so that packing costs a masked load a segment.

use super::emit::{At, Env};
use super::plan::Source;
use super::shape::{Contraction, Flat, Guard};
use crate::explicit::{Builder, Cmp, Elem, V};

/// What vector packing needs to know of the panel operand.
pub(super) struct Windows<'a> {
    /// Column axes but the innermost: together they number the lines.
    lines: &'a [usize],
    /// Input elements from one column to the next.
    stride: i64,
    /// Length of a line.
    line: i64,
    segments: i64,
    /// The check on the innermost axis, with the axis' coefficient, and the other checks.
    across: Option<(&'a Guard, i64)>,
    others: Vec<&'a Guard>,
    /// Positions among the contracted axes of those that checks depend on, and of the others.
    window: Vec<usize>,
    channel: Vec<usize>,
}

impl<'a> Windows<'a> {
    /// Whether the panel operand may be packed this way.
    pub fn of(c: &'a Contraction, lanes: i64) -> Option<Self> {
        let o = &c.panel_operand;
        let (x, lines) = c.cols.split_last()?;
        let stride = o.flat.strides[*x].as_i64().filter(|s| [1, 2].contains(s))?;
        let line = c.extents[*x].as_i64()?;
        let segments = if lines.is_empty() || line % lanes == 0 { 1 } else { (lanes - 2) / line + 2 };
        let (mut across, mut others) = (None, vec![]);
        for g in &o.guards {
            let coefficient = g.index.strides[*x].as_i64()?;
            match coefficient {
                0 => others.push(g),
                1.. if across.is_none() => across = Some((g, coefficient)),
                _ => return None,
            }
        }
        let (window, channel) = (0..c.k.len()).partition(|i| o.guarded(c.k[*i]));
        (segments <= 9).then_some(Windows { lines, stride, line, segments, across, others, window, channel })
    }

    /// Columns of a line.
    pub fn line(&self) -> i64 {
        self.line
    }

    /// Input elements from one column to the next.
    pub fn stride(&self) -> i64 {
        self.stride
    }

    /// Positions among the contracted axes of those that no check depends on.
    pub fn channel(&self) -> &[usize] {
        &self.channel
    }

    /// Positions among the contracted axes of those that checks depend on.
    pub fn window(&self) -> &[usize] {
        &self.window
    }

    /// Extents of the window axes, where all are known.
    pub fn window_extents(&self, c: &Contraction) -> Option<Vec<i64>> {
        self.window.iter().map(|p| c.extents[c.k[*p]].as_i64()).collect()
    }

    /// Values of the window axes in row-major order; nothing where extents are not known.
    pub fn taps(&self, c: &Contraction) -> Vec<Vec<i64>> {
        let Some(extents) = self.window_extents(c) else { return vec![] };
        extents.iter().fold(vec![vec![]], |taps, e| {
            taps.iter().flat_map(|t| (0..*e).map(move |v| [t.as_slice(), &[v]].concat())).collect()
        })
    }

    /// Whether all taps of one channel come before those of the next.
    pub fn channel_major(&self) -> bool {
        self.channel.iter().all(|c| self.window.iter().all(|w| c < w))
    }

    /// Packs the panel of the columns from `start` on to `target` in the scratch.
    pub fn pack<'c>(&self, env: &Env<'_, 'c>, at: &At<'c>, start: V<'c>, target: V<'c>) {
        debug_assert_eq!(env.s.panel_source, Source::Scratch);
        let (b, s) = (env.b, env.s);
        if !s.masks {
            return self.pack_plain(env, at, start, target);
        }
        b.for_(b.index(0), b.index(s.width() as i64), s.lanes as i64, |b, shift| {
            let first = b.add(start, shift);
            let line = b.div_u(first, b.index(self.line));
            let within = b.sub(first, b.mul(line, b.index(self.line)));
            let segments: Vec<_> =
                (0..self.segments).map(|i| self.segment(env, at, b.add(line, b.index(i)), within, i)).collect();
            let axes = self.axes(env, at, &self.window);
            let cursors = [b.index(0), b.add(target, shift)];
            env.nest(&axes, &cursors, &[], &mut vec![], &mut |ivs, cursors, _| {
                let masks: Vec<_> = segments.iter().map(|segment| self.masks(env, segment, ivs)).collect();
                let axes = self.axes(env, at, &self.channel);
                env.nest(&axes, cursors, &[], &mut vec![], &mut |_, cursors, _| {
                    let v = self.gather(env, &segments, &masks, cursors[0]);
                    b.vstore(env.factors(&env.c.panel_operand, at, first, v), env.panels, cursors[1]);
                    vec![]
                });
                vec![]
            });
        });
    }

    fn axes<'c>(&self, env: &Env<'_, 'c>, at: &At<'c>, positions: &[usize]) -> Vec<(V<'c>, Vec<V<'c>>)> {
        let all = env.k_axes(
            at,
            &[&|a| env.size(&env.c.panel_operand.flat.strides[a]), &|a| env.packed_stride(a, env.s.width())],
        );
        positions.iter().map(|p| all[*p].clone()).collect()
    }

    fn segment<'c>(&self, env: &Env<'_, 'c>, at: &At<'c>, line: V<'c>, within: V<'c>, i: i64) -> Segment<'c> {
        let b = env.b;
        let at = self.line_at(env, at, line);
        // Where lane 0 would be on this line.
        let x = b.sub(within, b.index(i * self.line));
        let base = b.add(env.offset(&env.c.panel_operand.flat, &at), b.mul(x, b.index(self.stride)));
        let exists = match self.lines.is_empty() {
            true => b.int(Elem::I1, 1),
            false => b.in_range(line, self.line_count(env)),
        };
        Segment { at, x, base, exists }
    }

    /// Masks of the loads of a segment under the values of the window axes.
    fn masks<'c>(&self, env: &Env<'_, 'c>, segment: &Segment<'c>, tap: &[V<'c>]) -> Vec<V<'c>> {
        let b = env.b;
        let inside = b.and(segment.exists, self.inside(env, &segment.at, tap));
        let (low, high) = self.range(env, &segment.at, segment.x, tap);
        self.between(env, low, b.select(inside, high, low))
    }

    /// Lanes from the first to before the last that are columns of a line and inside the input; lane 0 is at `x`.
    fn range<'c>(&self, env: &Env<'_, 'c>, at: &At<'c>, x: V<'c>, tap: &[V<'c>]) -> (V<'c>, V<'c>) {
        let b = env.b;
        let (mut low, mut high) = (b.index(0), b.index(self.line));
        if let Some((g, coefficient)) = self.across {
            let rest = self.across_rest(env, at, tap);
            low = b.max(low, ceil_div(b, b.sub(b.index(0), rest), coefficient));
            high = b.min(high, ceil_div(b, b.sub(env.size(&g.size), rest), coefficient));
        }
        (b.sub(low, x), b.sub(high, x))
    }

    /// Masks of the elements from the first lane's to the last lane's.
    fn between<'c>(&self, env: &Env<'_, 'c>, low: V<'c>, high: V<'c>) -> Vec<V<'c>> {
        let (b, lanes) = (env.b, env.s.lanes as u32);
        let stride = b.index(self.stride);
        let (first, end) = (b.mul(low, stride), b.sub(b.mul(high, stride), b.index(self.stride - 1)));
        (0..self.stride)
            .map(|part| {
                let shift = b.index(part * i64::from(lanes));
                let before = b.create_mask(b.sub(first, shift), lanes);
                let until = b.create_mask(b.sub(end, shift), lanes);
                b.and(until, b.not(before))
            })
            .collect()
    }

    /// Masks of the loads of a tap on a line whose lane 0 is at `x`, as far as the innermost axis goes.
    pub fn across_masks<'c>(&self, env: &Env<'_, 'c>, at: &At<'c>, x: V<'c>, tap: &[V<'c>]) -> Vec<V<'c>> {
        let (low, high) = self.range(env, at, x, tap);
        self.between(env, low, high)
    }

    /// The checked index of the innermost axis at column 0.
    pub fn across_rest<'c>(&self, env: &Env<'_, 'c>, at: &At<'c>, tap: &[V<'c>]) -> V<'c> {
        self.across.map_or(env.b.index(0), |(g, _)| self.index(env, &g.index, at, tap))
    }

    /// Whether a tap is inside as far as the other axes go.
    pub fn inside<'c>(&self, env: &Env<'_, 'c>, at: &At<'c>, tap: &[V<'c>]) -> V<'c> {
        let b = env.b;
        self.others.iter().fold(b.int(Elem::I1, 1), |all, g| {
            b.and(all, b.in_range(self.index(env, &g.index, at, tap), env.size(&g.size)))
        })
    }

    fn index<'c>(&self, env: &Env<'_, 'c>, f: &Flat, at: &At<'c>, tap: &[V<'c>]) -> V<'c> {
        let at = self.window.iter().zip(tap).fold(at.clone(), |at, (p, v)| env.step_at(&at, env.c.k[*p], *v));
        env.offset(f, &at)
    }

    /// The position with the axes of a line set.
    pub fn line_at<'c>(&self, env: &Env<'_, 'c>, at: &At<'c>, line: V<'c>) -> At<'c> {
        let (mut at, mut rest) = (at.clone(), line);
        for (j, axis) in self.lines.iter().enumerate().rev() {
            let extent = env.size(&env.c.extents[*axis]);
            at = at.with(*axis, if j == 0 { rest } else { env.b.rem_u(rest, extent) });
            rest = env.b.div_u(rest, extent);
        }
        at
    }

    /// Number of lines.
    pub fn line_count<'c>(&self, env: &Env<'_, 'c>) -> V<'c> {
        env.size(&env.c.count(self.lines))
    }

    /// Whether the lanes from column `x` on lie on one line and read inside the input.
    fn inner<'c>(&self, env: &Env<'_, 'c>, at: &At<'c>, x: V<'c>, tap: &[V<'c>]) -> V<'c> {
        let b = env.b;
        let lanes = env.s.lanes as i64;
        let on_line = b.cmp(Cmp::Le, b.add(x, b.index(lanes)), b.index(self.line));
        let inside = b.and(on_line, self.inside(env, at, tap));
        let Some((g, coefficient)) = self.across else { return inside };
        let first = b.add(self.across_rest(env, at, tap), b.mul(x, b.index(coefficient)));
        let last = b.add(first, b.index(coefficient * (lanes - 1)));
        let inside = b.and(inside, b.cmp(Cmp::Ge, first, b.index(0)));
        b.and(inside, b.cmp(Cmp::Lt, last, env.size(&g.size)))
    }

    /// Columns `low..high` from which on vectors read inside the input for every tap, ignoring lines.
    pub fn inner_columns<'c>(&self, env: &Env<'_, 'c>, at: &At<'c>) -> (V<'c>, V<'c>) {
        let b = env.b;
        let (none, line) = (b.index(0), b.index(self.line));
        let Some((g, coefficient)) = self.across else { return (none, line) };
        // The taps whose index is the least and the greatest: a transposed convolution's falls along its window.
        let end = |greatest: bool| -> Vec<V<'c>> {
            let extents = self.window_extents(env.c).unwrap_or_default();
            let ends = self.window.iter().zip(extents).map(|(p, extent)| {
                let falls = g.index.strides[env.c.k[*p]].as_i64().is_some_and(|s| s < 0);
                if falls == greatest { none } else { b.index(extent - 1) }
            });
            ends.collect()
        };
        let low = ceil_div(b, b.sub(none, self.across_rest(env, at, &end(false))), coefficient);
        let high = ceil_div(b, b.sub(env.size(&g.size), self.across_rest(env, at, &end(true))), coefficient);
        (b.min(b.max(low, none), line), b.min(high, line))
    }

    /// The position with the innermost column axis set.
    pub fn column_at<'c>(&self, env: &Env<'_, 'c>, at: &At<'c>, x: V<'c>) -> At<'c> {
        at.with(*env.c.cols.last().expect("there are columns"), x)
    }

    /// The elements of a vector of columns, the first of which would be at `from`, through the masks of its parts.
    pub fn masked<'c>(&self, env: &Env<'_, 'c>, from: V<'c>, masks: &[V<'c>]) -> V<'c> {
        let (b, o) = (env.b, &env.c.panel_operand);
        let outside = b.broadcast(env.outside(o), env.s.lanes as u32);
        let part = |(i, m): (usize, &V<'c>)| {
            let from = b.add(from, b.index(i as i64 * env.s.lanes as i64));
            b.masked_load(env.buffer(o.buffer), from, *m, outside)
        };
        self.join(env, &masks.iter().enumerate().map(part).collect::<Vec<_>>())
    }

    /// The elements of a vector of columns, the first of which is at `from`, all inside.
    pub fn load<'c>(&self, env: &Env<'_, 'c>, from: V<'c>) -> V<'c> {
        let (b, lanes) = (env.b, env.s.lanes as i64);
        let buffer = env.buffer(env.c.panel_operand.buffer);
        let low = b.vload(buffer, from, lanes as u32);
        if self.stride == 1 {
            return low;
        }
        // Every second element; the second load ends at the last element that is wanted.
        let high = b.vload(buffer, b.add(from, b.index(lanes - 1)), lanes as u32);
        let pick = |l: i64| if 2 * l < lanes { 2 * l } else { lanes + 2 * l - (lanes - 1) };
        b.shuffle(low, high, &(0..lanes).map(pick).collect::<Vec<_>>())
    }

    /// As [`Windows::pack`] on a target without masks: whole vectors inside one line, else lane by lane.
    fn pack_plain<'c>(&self, env: &Env<'_, 'c>, at: &At<'c>, start: V<'c>, target: V<'c>) {
        let (b, s, o) = (env.b, env.s, &env.c.panel_operand);
        let last = b.sub(env.n, b.index(1));
        b.for_(b.index(0), b.index(s.width() as i64), s.lanes as i64, |b, shift| {
            let first = b.add(start, shift);
            let line = b.div_u(first, b.index(self.line));
            let x = b.sub(first, b.mul(line, b.index(self.line)));
            let segment = self.segment(env, at, line, x, 0);
            let cursors = [b.index(0), b.add(target, shift)];
            env.nest(&self.axes(env, at, &self.window), &cursors, &[], &mut vec![], &mut |tap, cursors, _| {
                let channels = self.axes(env, at, &self.channel);
                let inner = b.and(segment.exists, self.inner(env, &segment.at, x, tap));
                let vectors = || {
                    let from = b.add(segment.base, cursors[0]);
                    env.nest(&channels, &[from, cursors[1]], &[], &mut vec![], &mut |_, cursors, _| {
                        let v = env.factors(o, at, first, self.load(env, cursors[0]));
                        b.vstore(v, env.panels, cursors[1]);
                        vec![]
                    });
                };
                let lanes = || {
                    b.for_(b.index(0), b.index(s.lanes as i64), 1, |b, j| {
                        // Lanes past the last column repeat it: their results are not stored.
                        let n = b.min(b.add(first, j), last);
                        let at = env.columns(at, n);
                        let inside = self.all_inside(env, &at, tap);
                        let from = b.add(env.offset(&o.flat, &at), cursors[0]);
                        env.nest(&channels, &[from, b.add(cursors[1], j)], &[], &mut vec![], &mut |_, cursors, _| {
                            let load = |b: &Builder<'c>| vec![b.load(env.buffer(o.buffer), cursors[0])];
                            let v = b.if_else(inside, load, |_| vec![env.outside(o)]);
                            b.store(env.factors(o, &at, n, v[0]), env.panels, cursors[1]);
                            vec![]
                        });
                    });
                };
                b.if_else(
                    inner,
                    |_| {
                        vectors();
                        vec![]
                    },
                    |_| {
                        lanes();
                        vec![]
                    },
                );
                vec![]
            });
        });
    }

    /// Whether a tap of a fixed column is inside.
    pub fn all_inside<'c>(&self, env: &Env<'_, 'c>, at: &At<'c>, tap: &[V<'c>]) -> V<'c> {
        let b = env.b;
        let inside = self.inside(env, at, tap);
        let Some((g, _)) = self.across else { return inside };
        b.and(inside, b.in_range(self.index(env, &g.index, at, tap), env.size(&g.size)))
    }

    /// One vector of what the loads of each part gave.
    pub fn join<'c>(&self, env: &Env<'_, 'c>, parts: &[V<'c>]) -> V<'c> {
        match parts {
            [v] => *v,
            _ => env.b.shuffle(parts[0], parts[1], &(0..env.s.lanes as i64).map(|l| 2 * l).collect::<Vec<_>>()),
        }
    }

    fn gather<'c>(&self, env: &Env<'_, 'c>, segments: &[Segment<'c>], masks: &[Vec<V<'c>>], cursor: V<'c>) -> V<'c> {
        let (b, o) = (env.b, &env.c.panel_operand);
        let lanes = env.s.lanes as i64;
        let buffer = env.buffer(o.buffer);
        let parts: Vec<V<'c>> = (0..self.stride)
            .map(|part| {
                let outside = b.broadcast(env.outside(o), lanes as u32);
                segments.iter().zip(masks).fold(outside, |v, (segment, masks)| {
                    let from = b.add(b.add(segment.base, cursor), b.index(part * lanes));
                    b.masked_load(buffer, from, masks[part as usize], v)
                })
            })
            .collect();
        self.join(env, &parts)
    }
}

/// Part of a vector that lies on one line.
struct Segment<'c> {
    at: At<'c>,
    x: V<'c>,
    base: V<'c>,
    exists: V<'c>,
}

/// Quotient rounded up, also of a negative number, by 1, 2 or any other positive constant.
fn ceil_div<'c>(b: &Builder<'c>, a: V<'c>, by: i64) -> V<'c> {
    let up = b.add(a, b.index(by - 1));
    match by {
        1 => a,
        _ if by.count_ones() == 1 => b.shr_s(up, b.index(i64::from(by.trailing_zeros()))),
        _ => b.floor_div(up, b.index(by)),
    }
}
