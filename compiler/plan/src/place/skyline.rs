//! The state of the exact search: what is placed, how far each section is filled, and how low the rest can lie.
//!
//! Each section is decided from below up to its *floor*. A cell placed above the floor *floats*: the gap below it is still
//! open. Only blocks of several rectangles ever make cells float.

use super::cells::Cells;
use crate::random::Random;

/// A cell of an unplaced block in a section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Units from the block's start.
    pub(crate) offset: u64,
    pub(crate) block: u32,
    cell: u32,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    /// Section, its floor and what floated above it.
    Floor(u32, u64, u64),
    Lowest(u32, u64),
    /// Section and place in its list.
    Float(u32, u32),
    Placed(u32),
}

/// What is placed, and what follows for the rest.
pub(crate) struct Skyline<'c> {
    pub(crate) cells: &'c Cells,
    pub(crate) height: u64,
    pub(crate) floor: Vec<u64>,
    /// Units still to be placed in each section.
    pub(crate) rest: Vec<u64>,
    /// Units that float in each section.
    pub(crate) above: Vec<u64>,
    /// Floating cells by start; those under the floor are no more than memory.
    floats: Vec<Vec<(u64, u64)>>,
    /// How many cells were put above a floor.
    floating: usize,
    /// Cells of unplaced blocks come first in each section's part of this list.
    entries: Vec<Entry>,
    start: Vec<u32>,
    /// How many cells are unplaced in each section.
    pub(crate) left: Vec<u32>,
    /// Place of each cell in `entries`.
    slot: Vec<u32>,
    /// Unplaced blocks with cells both before this section and from it on.
    pub(crate) bridge: Vec<u32>,
    /// Lowest possible offset of each unplaced block.
    pub(crate) lowest: Vec<u64>,
    pub(crate) offset: Vec<u64>,
    trail: Vec<Change>,
    dirty: Bits,
    /// Sections whose choices may have changed.
    pub(crate) stale: Bits,
    /// Combined noise of the unplaced blocks that begin in each section.
    set_hash: Vec<u128>,
    noise: Vec<u128>,
}

impl<'c> Skyline<'c> {
    /// Nothing placed.
    pub(crate) fn new(cells: &'c Cells, height: u64) -> Self {
        let (n, m) = (cells.len(), cells.loads.len());
        let mut bridge = vec![0; m + 1];
        let mut by_section: Vec<Vec<Entry>> = vec![Vec::new(); m];
        for b in 0..n as u32 {
            for s in cells.span(b).skip(1) {
                bridge[s] += 1;
            }
            for cell in cells.range(b) {
                let c = &cells.cells[cell];
                by_section[c.section as usize].push(Entry { offset: c.offset, block: b, cell: cell as u32 });
            }
        }
        let mut slot = vec![0; cells.cells.len()];
        let (mut entries, mut start) = (Vec::with_capacity(slot.len()), Vec::with_capacity(m));
        for list in &by_section {
            start.push(entries.len() as u32);
            for e in list {
                slot[e.cell as usize] = entries.len() as u32;
                entries.push(*e);
            }
        }
        let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
        let by_shape: Vec<u128> = (0..n).map(|_| random.wide()).collect();
        let noise: Vec<u128> = cells.shape.iter().map(|s| by_shape[*s as usize]).collect();
        let mut set_hash: Vec<u128> = vec![0; m];
        for b in 0..n {
            let sum = &mut set_hash[cells.hull[b].0 as usize];
            *sum = sum.wrapping_add(noise[b]);
        }
        Skyline {
            cells,
            height,
            floor: vec![0; m],
            rest: cells.loads.clone(),
            above: vec![0; m],
            floats: vec![Vec::new(); m],
            floating: 0,
            entries,
            start,
            left: by_section.iter().map(|l| l.len() as u32).collect(),
            slot,
            bridge,
            lowest: (0..n as u32).map(|b| cells.align_up(b, 0)).collect(),
            offset: vec![0; n],
            trail: Vec::new(),
            dirty: Bits::new(m),
            stale: Bits::new(m),
            set_hash,
            noise,
        }
    }

    /// Draws the first conclusions; false if nothing fits.
    pub(crate) fn begin(&mut self) -> bool {
        self.dirty.set(0..self.floor.len());
        self.stale.set(0..self.floor.len());
        let full = (0..self.floor.len()).all(|s| self.rest[s] <= self.height);
        let tall = (0..self.cells.len()).all(|b| self.lowest[b] + self.cells.extent[b] <= self.height);
        full && tall && self.settle()
    }

    /// Where to come back to.
    pub(crate) fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Cells of unplaced blocks in a section.
    pub(crate) fn unplaced(&self, section: usize) -> &[Entry] {
        let start = self.start[section] as usize;
        &self.entries[start..start + self.left[section] as usize]
    }

    /// Units of an unplaced cell.
    pub(crate) fn size(&self, e: &Entry) -> u64 {
        self.cells.cells[e.cell as usize].size
    }

    /// Ends of the cells that float in a section.
    pub(crate) fn float_ends(&self, section: usize) -> impl Iterator<Item = u64> + '_ {
        self.floats[section].iter().filter(move |f| f.0 >= self.floor[section]).map(|f| f.1)
    }

    /// Units of a section that may stay empty.
    pub(crate) fn slack(&self, section: usize) -> u64 {
        self.height.saturating_sub(self.floor[section] + self.rest[section] + self.above[section])
    }

    /// Puts a block at its lowest offset; says whether all sections can still be filled.
    pub(crate) fn place(&mut self, b: u32) -> bool {
        let cells = self.cells;
        let at = self.lowest[b as usize];
        self.offset[b as usize] = at;
        self.trail.push(Change::Placed(b));
        for cell in cells.range(b) {
            let c = &cells.cells[cell];
            let s = c.section as usize;
            self.rest[s] -= c.size;
            self.left[s] -= 1;
            let last = self.start[s] + self.left[s];
            let here = self.slot[cell];
            self.slot[self.entries[last as usize].cell as usize] = here;
            self.slot[cell] = last;
            self.entries.swap(here as usize, last as usize);
        }
        let first = cells.hull[b as usize].0 as usize;
        self.set_hash[first] = self.set_hash[first].wrapping_sub(self.noise[b as usize]);
        for s in cells.span(b).skip(1) {
            self.bridge[s] -= 1;
        }
        self.stale.set(cells.span(b));
        self.dirty.set(cells.span(b));
        let mut fits = true;
        for c in cells.of(b) {
            let (s, from, to) = (c.section as usize, at + c.offset, at + c.offset + c.size);
            fits = fits && if from == self.floor[s] { self.rise(s, to) } else { self.float(s, from, to) };
        }
        let fits = fits && self.settle();
        if !fits {
            self.dirty.clear();
        }
        fits
    }

    /// Lifts a floor with nothing between it and `level`, and all that follows.
    pub(crate) fn leave_empty(&mut self, s: usize, level: u64) -> bool {
        let fits = self.rise(s, level) && self.settle();
        if !fits {
            self.dirty.clear();
        }
        fits
    }

    /// Lifts a floor and what lies above it.
    fn rise(&mut self, s: usize, level: u64) -> bool {
        let old = self.floor[s];
        self.trail.push(Change::Floor(s as u32, old, self.above[s]));
        let mut level = level;
        if self.above[s] > 0 {
            for f in &self.floats[s] {
                if f.0 >= old && f.0 <= level {
                    self.above[s] -= f.1 - f.0;
                    level = level.max(f.1);
                }
            }
        }
        self.floor[s] = level;
        self.stale.set(s..s + 1);
        if self.left[s] == 0 {
            return true;
        }
        if level + self.rest[s] + self.above[s] > self.height {
            return false;
        }
        let (from, to) = (self.start[s] as usize, (self.start[s] + self.left[s]) as usize);
        for i in from..to {
            let e = self.entries[i];
            if self.lowest[e.block as usize] + e.offset < level && !self.lift(e.block, level - e.offset) {
                return false;
            }
        }
        true
    }

    /// Puts a cell above a floor.
    fn float(&mut self, s: usize, from: u64, to: u64) -> bool {
        let at = self.floats[s].partition_point(|f| f.0 < from);
        self.floats[s].insert(at, (from, to));
        self.above[s] += to - from;
        self.floating += 1;
        self.trail.push(Change::Float(s as u32, at as u32));
        let (first, last) = (self.start[s] as usize, (self.start[s] + self.left[s]) as usize);
        for i in first..last {
            let e = self.entries[i];
            let low = self.lowest[e.block as usize] + e.offset;
            if low < to && low + self.size(&e) > from && !self.lift(e.block, to - e.offset) {
                return false;
            }
        }
        true
    }

    /// Lifts a block to the lowest offset from `at` on at which it is legal and touches nothing that floats.
    fn lift(&mut self, b: u32, at: u64) -> bool {
        let cells = self.cells;
        let mut at = cells.align_up(b, at);
        if self.floating > 0 {
            at = self.free(b, at);
        }
        self.trail.push(Change::Lowest(b, self.lowest[b as usize]));
        self.lowest[b as usize] = at;
        self.dirty.set(cells.span(b));
        self.stale.set(cells.span(b));
        at + cells.extent[b as usize] <= self.height
    }

    fn free(&self, b: u32, mut at: u64) -> u64 {
        loop {
            let before = at;
            for c in self.cells.of(b) {
                for f in &self.floats[c.section as usize] {
                    if f.0 < at + c.offset + c.size && f.1 > at + c.offset {
                        at = self.cells.align_up(b, f.1 - c.offset);
                    }
                }
            }
            if at == before {
                return at;
            }
        }
    }

    /// Lifts each floor to the lowest address that any of its cells could take, until nothing moves.
    fn settle(&mut self) -> bool {
        while let Some(s) = self.dirty.pop() {
            let lows = self.unplaced(s).iter().map(|e| self.lowest[e.block as usize] + e.offset);
            if let Some(level) = lows.min()
                && level > self.floor[s]
                && !self.rise(s, level)
            {
                return false;
            }
        }
        true
    }

    /// Takes back everything since a mark.
    pub(crate) fn undo(&mut self, mark: usize) {
        let cells = self.cells;
        while self.trail.len() > mark {
            match self.trail.pop() {
                Some(Change::Floor(s, floor, above)) => {
                    self.floor[s as usize] = floor;
                    self.above[s as usize] = above;
                    self.stale.set(s as usize..s as usize + 1);
                }
                Some(Change::Lowest(b, old)) => {
                    self.lowest[b as usize] = old;
                    self.stale.set(cells.span(b));
                }
                Some(Change::Float(s, at)) => {
                    let (from, to) = self.floats[s as usize].remove(at as usize);
                    self.above[s as usize] -= to - from;
                    self.floating -= 1;
                }
                Some(Change::Placed(b)) => {
                    // Placed last, taken back first: its cells still lie right behind those unplaced.
                    for c in cells.of(b) {
                        self.rest[c.section as usize] += c.size;
                        self.left[c.section as usize] += 1;
                    }
                    let first = cells.hull[b as usize].0 as usize;
                    self.set_hash[first] = self.set_hash[first].wrapping_add(self.noise[b as usize]);
                    for s in cells.span(b).skip(1) {
                        self.bridge[s] += 1;
                    }
                    self.stale.set(cells.span(b));
                }
                None => {}
            }
        }
    }

    /// What decides the fate of a run of sections: floors, what floats, and the unplaced blocks.
    pub(crate) fn key(&self, from: usize, to: usize) -> u128 {
        let mut key = Random::new((from as u64) << 32 | to as u64).wide();
        for s in from..to {
            let place = (s as u64).wrapping_mul(0xd134_2543_de82_ef95);
            key = key.wrapping_add(self.set_hash[s]).wrapping_add(Random::new(place ^ self.floor[s]).wide());
            if self.above[s] > 0 {
                for f in self.floats[s].iter().filter(|f| f.0 >= self.floor[s]) {
                    let ends = Random::new(f.0).bits() ^ Random::new(f.1).bits().rotate_left(1);
                    key = key.wrapping_add(Random::new(place ^ ends).wide());
                }
            }
        }
        key
    }
}

/// A set of sections.
#[derive(Clone, Debug)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    fn new(count: usize) -> Self {
        Bits(vec![0; count.div_ceil(64)])
    }

    fn set(&mut self, range: std::ops::Range<usize>) {
        let (first, last) = (range.start / 64, (range.end - 1) / 64);
        let low = !0 << (range.start % 64);
        let high = !0 >> (63 - (range.end - 1) % 64);
        if first == last {
            self.0[first] |= low & high;
            return;
        }
        self.0[first] |= low;
        self.0[first + 1..last].fill(!0);
        self.0[last] |= high;
    }

    fn clear(&mut self) {
        self.0.fill(0);
    }

    fn pop(&mut self) -> Option<usize> {
        let (i, word) = self.0.iter_mut().enumerate().find(|w| *w.1 != 0)?;
        let bit = word.trailing_zeros() as usize;
        *word &= *word - 1;
        Some(i * 64 + bit)
    }

    /// Takes a member out; says whether it was one.
    pub(crate) fn take(&mut self, i: usize) -> bool {
        let bit = 1 << (i % 64);
        let was = self.0[i / 64] & bit != 0;
        self.0[i / 64] &= !bit;
        was
    }
}
