//! Local search over stacking sequences: a block on a critical path is taken out and put back where it costs least.
//!
//! A sequence says of every two blocks that meet in time which lies above the other. Its *heads* (how low each block can
//! lie) and *tails* (how far below the ceiling each must start) follow in one pass each way, as in a job shop, with sections
//! for machines and addresses for time. With one block taken out, heads and tails of the others tell what every place in
//! the sequence would cost it (Dell'Amico and Trubian, Annals of OR 1993; Mastrolilli and Gambardella, J. Scheduling 2000).
//! Blocks moved lately are left alone for a few moves.

use super::cells::Cells;
use crate::random::Random;

/// Moves for which a block moved stays where it is, at least.
const TENURE: u64 = 3;

/// A sequence under improvement. Lengths are in units.
pub(crate) struct Reinsert<'c> {
    cells: &'c Cells,
    /// Blocks from below, by head.
    order: Vec<u32>,
    /// Of 32 bits, since these passes take all the time. What grows past them stays at the largest number, which is never
    /// the best height.
    head: Vec<u32>,
    tail: Vec<u32>,
    /// Filled up to here from below or from above, by section.
    filled: Vec<u32>,
    extent: Vec<u32>,
    random: Random,
    height: u32,
    /// Height and offsets of the best placement so far.
    pub(crate) best: (u64, Vec<u64>),
    /// Until when each block stays.
    tabu: Vec<u64>,
    moves: u64,
}

impl<'c> Reinsert<'c> {
    /// Begins with a placement; none if the numbers are too large.
    pub(crate) fn new(cells: &'c Cells, offsets: &[u64]) -> Option<Self> {
        let n = cells.len();
        let extent = cells.extent.iter().map(|e| u32::try_from(*e).ok()).collect::<Option<Vec<u32>>>()?;
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by_key(|b| (offsets[*b as usize], *b));
        let mut me = Reinsert {
            cells,
            order,
            head: vec![0; n],
            tail: vec![0; n],
            filled: vec![0; cells.loads.len()],
            extent,
            random: Random::new(1),
            height: 0,
            best: (u64::MAX, Vec::new()),
            tabu: vec![0; n],
            moves: 0,
        };
        me.settle();
        Some(me)
    }

    /// Heads and tails of the sequence as it stands.
    fn settle(&mut self) {
        self.heads();
        self.tails();
        self.height = self.order.iter().map(|b| self.through(*b)).max().unwrap_or(0);
        // Tails leave alignment out; the placement counts.
        let ends = self.head.iter().zip(&self.extent).map(|(h, e)| h.saturating_add(*e));
        let real = ends.max().unwrap_or(0);
        if u64::from(real) < self.best.0 && real < u32::MAX {
            self.best.0 = real.into();
            self.best.1.clear();
            self.best.1.extend(self.head.iter().map(|h| u64::from(*h)));
        }
    }

    /// Length of the longest path through a block.
    fn through(&self, b: u32) -> u32 {
        self.head[b as usize].saturating_add(self.tail[b as usize])
    }

    fn heads(&mut self) {
        let (cells, filled) = (self.cells, &mut self.filled);
        filled.fill(0);
        for &b in &self.order {
            let low = if cells.flat[b as usize] {
                filled[cells.span(b)].iter().fold(0, |a: u32, t| a.max(*t))
            } else {
                let low = cells.of(b).iter().map(|c| filled[c.section as usize].saturating_sub(narrow(c.offset)));
                low.max().unwrap_or(0)
            };
            let head = narrow(cells.align_up(b, low.into()));
            self.head[b as usize] = head;
            if cells.flat[b as usize] {
                filled[cells.span(b)].fill(head.saturating_add(self.extent[b as usize]));
            } else {
                cells
                    .of(b)
                    .iter()
                    .for_each(|c| filled[c.section as usize] = head.saturating_add(narrow(c.offset + c.size)));
            }
        }
    }

    fn tails(&mut self) {
        let (cells, filled) = (self.cells, &mut self.filled);
        filled.fill(0);
        for &b in self.order.iter().rev() {
            if cells.flat[b as usize] {
                let filled = &mut filled[cells.span(b)];
                let tail = filled.iter().fold(0, |a: u32, t| a.max(*t)).saturating_add(self.extent[b as usize]);
                self.tail[b as usize] = tail;
                filled.fill(tail);
            } else {
                let high =
                    cells.of(b).iter().map(|c| filled[c.section as usize].saturating_add(narrow(c.offset + c.size)));
                let tail = high.max().unwrap_or(0);
                self.tail[b as usize] = tail;
                cells.of(b).iter().rev().for_each(|c| filled[c.section as usize] = tail - narrow(c.offset));
            }
        }
    }

    /// Moves one block; says whether any could be moved. Work is about four times the cells of all blocks.
    pub(crate) fn step(&mut self) -> bool {
        self.moves += 1;
        let critical = |b: u32| self.through(b) >= self.height;
        let free: Vec<usize> = (0..self.order.len())
            .filter(|i| critical(self.order[*i]) && self.tabu[self.order[*i] as usize] <= self.moves)
            .collect();
        if free.is_empty() {
            return false;
        }
        let v = self.order.remove(free[(self.random.bits() % free.len() as u64) as usize]);
        self.heads();
        self.tails();
        self.order.sort_by_key(|b| self.head[*b as usize]);
        let place = self.cheapest(v);
        self.order.insert(place, v);
        self.tabu[v as usize] = self.moves + TENURE + self.random.bits() % (TENURE + 1);
        self.settle();
        true
    }

    /// The place in the sequence where a block taken out would lie on the shortest path.
    fn cheapest(&mut self, v: u32) -> usize {
        let cells = self.cells;
        let (from, to) = cells.hull[v as usize];
        let size = self.extent[v as usize];
        let meets = |b: u32| cells.hull[b as usize].0 < to && from < cells.hull[b as usize].1;
        let near: Vec<usize> = (0..self.order.len()).filter(|i| meets(self.order[*i])).collect();
        let mut above = vec![0; near.len() + 1];
        for i in (0..near.len()).rev() {
            above[i] = above[i + 1].max(self.tail[self.order[near[i]] as usize]);
        }
        let (mut below, mut best, mut ties, mut place) = (0u32, u32::MAX, 0, 0);
        for (i, above) in above.iter().enumerate() {
            let cost = below.saturating_add(size).saturating_add(*above);
            if cost < best {
                (best, ties) = (cost, 0);
            }
            if cost == best {
                ties += 1;
                if self.random.bits().is_multiple_of(ties) {
                    place = near.get(i).copied().unwrap_or(self.order.len());
                }
            }
            if let Some(b) = near.get(i).map(|i| self.order[*i] as usize) {
                below = below.max(self.head[b].saturating_add(self.extent[b]));
            }
        }
        place
    }
}

/// The number in 32 bits, or the largest.
fn narrow(x: u64) -> u32 {
    u32::try_from(x).unwrap_or(u32::MAX)
}
