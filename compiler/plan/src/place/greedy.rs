//! Greedy placement: one block after another at the lowest offset where it fits beside those placed before it.

use super::index::{Index, Placed};
use super::{Block, Placement};

/// Places blocks in the sequence given, each as low as it can go beside those placed before it.
pub fn greedy(blocks: &[Block], sequence: &[usize]) -> Placement {
    let mut stack = Stack::new(blocks);
    for &b in sequence {
        stack.place(b);
    }
    Placement::new(blocks, stack.offsets)
}

/// Blocks placed so far.
#[derive(Clone, Debug)]
pub(crate) struct Stack<'b> {
    blocks: &'b [Block],
    /// Pieces of each block with their lives in compressed instants; bytes are relative to the block.
    pieces: Vec<Vec<Placed>>,
    index: Index,
    /// Offset of each block; meaningless for those not placed.
    pub(crate) offsets: Vec<u64>,
    /// Where in each list a search for a place stands; kept to save allocations.
    cursors: Vec<(u32, u32, u32)>,
}

impl<'b> Stack<'b> {
    /// Nothing placed.
    pub(crate) fn new(blocks: &'b [Block]) -> Self {
        let mut times: Vec<u64> = blocks.iter().flat_map(|b| &b.pieces).flat_map(|p| [p.lower, p.upper]).collect();
        times.sort_unstable();
        times.dedup();
        let instant = |t: u64| times.binary_search(&t).unwrap_or(0) as u32;
        let pieces = blocks
            .iter()
            .enumerate()
            .map(|(b, block)| {
                let real = block.pieces.iter().filter(|p| p.size > 0 && p.lower < p.upper);
                real.map(|p| Placed {
                    from: p.offset,
                    to: p.offset + p.size,
                    lower: instant(p.lower),
                    upper: instant(p.upper),
                    block: b as u32,
                })
                .collect()
            })
            .collect();
        let pieces: Vec<Vec<Placed>> = pieces;
        let mut births = vec![0; times.len()];
        for p in pieces.iter().flatten() {
            births[p.lower as usize] += 1;
        }
        Stack { blocks, pieces, index: Index::new(&births), offsets: vec![0; blocks.len()], cursors: Vec::new() }
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
        for p in &self.pieces[b] {
            self.index.insert(Placed { from: p.from + at, to: p.to + at, ..*p });
        }
    }

    /// The lowest offset of a block that clashes with nothing placed.
    ///
    /// Each piece has a cursor in each stretch it touches; the offset rises past whatever is in the way until no cursor
    /// moves. Cursors only move forward, so the cost is the length of the lists.
    pub(crate) fn lowest(&mut self, b: usize) -> u64 {
        let mut cursors = std::mem::take(&mut self.cursors);
        cursors.clear();
        for (i, p) in self.pieces[b].iter().enumerate() {
            cursors.extend(self.index.stretches(p).map(|s| (i as u32, s as u32, 0)));
        }
        let block = &self.blocks[b];
        let mut at = block.align_up(0);
        let mut settled = 0;
        let mut next = 0;
        while settled < cursors.len() {
            let (i, s, from) = cursors[next];
            let p = &self.pieces[b][i as usize];
            let list = self.index.list(s as usize);
            let mut cursor = from as usize;
            let before = at;
            while let Some(q) = list.get(cursor) {
                if q.from >= at + p.to {
                    break;
                }
                if q.to > at + p.from && q.lower < p.upper && p.lower < q.upper {
                    at = block.align_up(q.to - p.from);
                }
                cursor += 1;
            }
            cursors[next].2 = cursor as u32;
            settled = if at == before { settled + 1 } else { 1 };
            next = if next + 1 == cursors.len() { 0 } else { next + 1 };
        }
        self.cursors = cursors;
        at
    }
}
