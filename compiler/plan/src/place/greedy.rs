//! Greedy placement: one block after another at the lowest offset where it fits beside those placed before it.

use super::index::{Index, Set};
use super::sections::maximal;
use super::{Block, Placement};

/// Places blocks in the sequence given, each as low as it can go beside those placed before it.
pub fn greedy(blocks: &[Block], sequence: &[usize]) -> Placement {
    let mut stack = Stack::new(blocks);
    for &b in sequence {
        stack.place(b);
    }
    Placement::new(blocks, stack.offsets)
}

/// A rectangle of a block over sections of time.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Bytes from the block's start.
    from: u64,
    to: u64,
    /// Sections.
    lower: u32,
    upper: u32,
}

/// Blocks placed so far.
#[derive(Clone, Debug)]
pub(crate) struct Stack<'b> {
    blocks: &'b [Block],
    /// Parts of all blocks, block by block, and where each block's begin.
    parts: Vec<Part>,
    first: Vec<u32>,
    index: Index,
    /// Offset of each block; meaningless for those not placed.
    pub(crate) offsets: Vec<u64>,
    /// Where in each set a search for a place stands; kept to save allocations.
    cursors: Vec<(u32, Set, u32)>,
}

impl<'b> Stack<'b> {
    /// Nothing placed.
    pub(crate) fn new(blocks: &'b [Block]) -> Self {
        let mut lives = Vec::new();
        let (mut parts, mut first) = (Vec::new(), vec![0]);
        for block in blocks {
            for p in block.pieces.iter().filter(|p| p.size > 0 && p.lower < p.upper) {
                lives.push((p.lower, p.upper));
                parts.push(Part { from: p.offset, to: p.offset + p.size, lower: 0, upper: 0 });
            }
            first.push(parts.len() as u32);
        }
        let (low, high, count) = maximal(&lives);
        for (i, p) in parts.iter_mut().enumerate() {
            (p.lower, p.upper) = (low[i], high[i]);
        }
        Stack { blocks, parts, first, index: Index::new(count), offsets: vec![0; blocks.len()], cursors: Vec::new() }
    }

    /// Takes all blocks away again.
    pub(crate) fn clear(&mut self) {
        self.index.clear();
    }

    fn range(&self, b: usize) -> std::ops::Range<usize> {
        self.first[b] as usize..self.first[b + 1] as usize
    }

    /// Places a block at the lowest offset that clashes with nothing, and returns its end.
    pub(crate) fn place(&mut self, b: usize) -> u64 {
        let at = self.lowest(b);
        self.put(b, at);
        at + self.blocks[b].extent()
    }

    /// Puts a block at an offset known to be free.
    pub(crate) fn put(&mut self, b: usize, at: u64) {
        self.offsets[b] = at;
        for i in self.range(b) {
            let p = self.parts[i];
            self.index.insert(p.lower..p.upper, (at + p.from, at + p.to));
        }
    }

    /// The lowest offset of a block that clashes with nothing placed.
    ///
    /// Each part has a cursor in each set that concerns it; the offset rises past whatever is in the way until no cursor
    /// moves. Cursors only move forward, so the cost is at most the length of the sets.
    pub(crate) fn lowest(&mut self, b: usize) -> u64 {
        let mut cursors = std::mem::take(&mut self.cursors);
        cursors.clear();
        for i in self.range(b) {
            let p = self.parts[i];
            self.index.sets(p.lower..p.upper, |set| cursors.push((i as u32, set, 0)));
        }
        let block = &self.blocks[b];
        let mut at = block.align_up(0);
        let mut settled = 0;
        let mut next = 0;
        while settled < cursors.len() {
            let (i, set, from) = cursors[next];
            let p = self.parts[i as usize];
            let ranges = &self.index.ranges(set)[from as usize..];
            let mut cursor = skip(ranges, at + p.from);
            let before = at;
            while let Some(r) = ranges.get(cursor) {
                if r.0 >= at + p.to {
                    break;
                }
                if r.1 > at + p.from {
                    at = block.align_up(r.1 - p.from);
                }
                cursor += 1;
            }
            // The range reached may be in the way once the offset has risen.
            cursors[next].2 = from + cursor as u32;
            settled = if at == before { settled + 1 } else { 1 };
            next = if next + 1 == cursors.len() { 0 } else { next + 1 };
        }
        self.cursors = cursors;
        at
    }
}

/// How many ranges end at or below an address: by doubling, then halving.
fn skip(ranges: &[(u64, u64)], at: u64) -> usize {
    let mut reach = 1;
    while reach <= ranges.len() && ranges[reach - 1].1 <= at {
        reach *= 2;
    }
    let low = reach / 2;
    low + ranges[low..ranges.len().min(reach)].partition_point(|r| r.1 <= at)
}
