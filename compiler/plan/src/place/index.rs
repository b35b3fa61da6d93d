//! Placed rectangles by time, for blocks placed one after another.

use std::ops::Range;

/// A placed rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Placed {
    /// First byte.
    pub(crate) from: u64,
    /// Byte after the last.
    pub(crate) to: u64,
    /// First time, in compressed instants.
    pub(crate) lower: u32,
    /// Time after the last.
    pub(crate) upper: u32,
    /// Which block it belongs to.
    pub(crate) block: u32,
}

/// Time cut into stretches with about equally many births; each keeps the rectangles that touch it, by first byte.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    /// Stretch of each instant.
    stretch: Vec<u32>,
    lists: Vec<Vec<Placed>>,
}

impl Index {
    /// An empty index over instants with this many births each.
    pub(crate) fn new(births: &[u32]) -> Self {
        let total: u64 = births.iter().map(|b| u64::from(*b)).sum();
        let share = (total / 256).max(24);
        let mut stretch = Vec::with_capacity(births.len());
        let (mut now, mut filled) = (0, 0);
        for b in births {
            if filled >= share {
                now += 1;
                filled = 0;
            }
            filled += u64::from(*b);
            stretch.push(now);
        }
        Index { stretch, lists: vec![Vec::new(); now as usize + 1] }
    }

    /// The stretches that a life touches.
    pub(crate) fn stretches(&self, p: &Placed) -> Range<usize> {
        if p.lower >= p.upper {
            return 0..0;
        }
        self.stretch[p.lower as usize] as usize..self.stretch[p.upper as usize - 1] as usize + 1
    }

    /// The rectangles of a stretch, by first byte.
    pub(crate) fn list(&self, stretch: usize) -> &[Placed] {
        &self.lists[stretch]
    }

    /// Adds a rectangle.
    pub(crate) fn insert(&mut self, p: Placed) {
        for s in self.stretches(&p) {
            let list = &mut self.lists[s];
            let at = list.partition_point(|q| *q < p);
            list.insert(at, p);
        }
    }
}
