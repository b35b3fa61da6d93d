//! How output pixels and taps of the filter lie in the input.

use super::super::shape::{Contraction, Guard};

/// A check of one spatial dim, with what one pixel and one tap move in it.
#[derive(Clone, Copy)]
pub struct Spatial<'a> {
    /// The check, where the dim has padding.
    pub guard: Option<&'a Guard>,
    /// The contracted axis of its taps, where a check depends on one.
    pub tap: Option<usize>,
    /// Elements (across) or lines (down) from one pixel to the next, and from one tap to the next.
    pub pixel: i64,
    /// Of one tap.
    pub tap_step: i64,
}

/// The pixels of a contraction: columns in lines.
pub struct Geometry<'a> {
    /// The axis along a line.
    pub x: usize,
    /// The axis of the lines, if there are several.
    pub y: Option<usize>,
    /// Pixels of a line, and lines.
    pub extent: (u64, u64),
    /// Along a line: its elements follow each other in memory.
    pub across: Spatial<'a>,
    /// From line to line.
    pub down: Spatial<'a>,
    /// Elements from one input line to the next.
    pub line: i64,
}

impl<'a> Geometry<'a> {
    /// The geometry, where lines of pixels are read at a fixed distance, and at most two dims are checked.
    pub fn of(c: &'a Contraction) -> Option<Self> {
        let o = &c.panel_operand;
        let (x, y) = match c.cols[..] {
            [x] => (x, None),
            [y, x] => (x, Some(y)),
            _ => return None,
        };
        let extent = |a: usize| c.extents[a].as_const();
        let stride = |a: usize| o.flat.strides[a].as_i64();
        let checks = |g: &Guard, axis: Option<usize>| axis.is_some_and(|a| g.index.uses(a));
        let (mut across, mut down) = (None, None);
        for g in &o.guards {
            let place = match (checks(g, Some(x)), checks(g, y)) {
                (true, false) => &mut across,
                // Where there is one line, a check that no pixel matters to is of the lines.
                (false, _) => &mut down,
                _ => return None,
            };
            if place.replace(g).is_some() {
                return None;
            }
        }
        let spatial = |guard: Option<&'a Guard>, axis: Option<usize>, unchecked: i64| -> Option<Spatial<'a>> {
            let Some(g) = guard else {
                return Some(Spatial { guard, tap: None, pixel: unchecked, tap_step: 0 });
            };
            let mut taps = c.k.iter().copied().filter(|k| g.index.uses(*k));
            let tap = taps.next();
            if taps.next().is_some() || c.batch.iter().any(|a| g.index.uses(*a)) || g.size.as_const().is_none() {
                return None;
            }
            let step = |a: Option<usize>| a.map_or(Some(0), |a| g.index.strides[a].as_i64());
            Some(Spatial { guard, tap, pixel: step(axis)?, tap_step: step(tap)? })
        };
        let across = spatial(across, Some(x), stride(x)?)?;
        let down = spatial(down, y, 1)?;
        // In elements a line holds what the check counts.
        let counted = |s: Spatial<'_>, axis: Option<usize>, unit: i64| {
            let fits = |axis: Option<usize>, step: i64| axis.is_none_or(|a| stride(a) == Some(step * unit));
            fits(axis, s.pixel) && fits(s.tap, s.tap_step)
        };
        let line = match (y, down.tap) {
            (Some(y), _) if down.pixel > 0 => stride(y)? / down.pixel,
            (None, Some(tap)) if down.tap_step > 0 => stride(tap)? / down.tap_step,
            _ => 0,
        };
        let forward = across.pixel > 0 && across.tap_step >= 0 && down.tap_step >= 0 && (y.is_none() || down.pixel > 0);
        let fits = forward && counted(across, Some(x), 1) && counted(down, y, line);
        let extent = (extent(x)?, y.map_or(Some(1), extent)?);
        fits.then_some(Geometry { x, y, extent, across, down, line })
    }

    /// Whether a contracted axis is of taps.
    pub fn is_tap(&self, axis: usize) -> bool {
        self.across.tap == Some(axis) || self.down.tap == Some(axis)
    }

    /// Input elements of a line that pixels of a line read.
    pub fn elements(&self, c: &Contraction, pixels: u64) -> Option<u64> {
        reach(c, &self.across, pixels)
    }

    /// Input lines that lines of pixels read.
    pub fn lines(&self, c: &Contraction, lines: u64) -> Option<u64> {
        reach(c, &self.down, lines)
    }
}

fn reach(c: &Contraction, s: &Spatial<'_>, pixels: u64) -> Option<u64> {
    let taps = s.tap.map_or(Some(1), |a| c.extents[a].as_const())?;
    Some((pixels - 1) * s.pixel as u64 + (taps - 1) * s.tap_step as u64 + 1)
}
