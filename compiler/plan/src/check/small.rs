//! Small tables placed in every way that matters.
//!
//! Some lowest placement has no block that could be lower. Its blocks in the order of their offsets each lie on a block that
//! came before, or at the bottom; so dropping the blocks one by one, in every sequence of rising offsets, finds it.

use crate::place::Block;

/// Drops tried at most.
const DROPS: u64 = 2_000_000;

/// What the search says of a height.
pub(super) enum Below {
    /// No placement is below it.
    None,
    /// This sequence of blocks is, with its height.
    Some(Vec<usize>, u64),
    /// Not known.
    Unknown,
}

/// Whether any placement is below a height.
pub(super) fn below(blocks: &[Block], height: u64) -> Below {
    let real: Vec<usize> = (0..blocks.len()).filter(|b| !blocks[*b].pieces.is_empty()).collect();
    let rectangles = real.iter().all(|b| blocks[*b].pieces.len() == 1 && blocks[*b].pieces[0].offset == 0);
    if !rectangles || real.len() > 16 {
        return Below::Unknown;
    }
    let mut search = Search { blocks, real, height, placed: Vec::new(), drops: 0 };
    match search.go((0, 0)) {
        true => Below::Some(search.placed.iter().map(|p| p.0).collect(), search.top()),
        false if search.drops > DROPS => Below::Unknown,
        false => Below::None,
    }
}

struct Search<'b> {
    blocks: &'b [Block],
    real: Vec<usize>,
    height: u64,
    /// Block and offset, in sequence.
    placed: Vec<(usize, u64)>,
    drops: u64,
}

impl Search<'_> {
    fn top(&self) -> u64 {
        self.placed.iter().map(|(b, at)| at + self.blocks[*b].pieces[0].size).max().unwrap_or(0)
    }

    /// Drops the rest, none before `last`, the offset and number of the block dropped last.
    fn go(&mut self, last: (u64, usize)) -> bool {
        if self.placed.len() == self.real.len() {
            return true;
        }
        for i in 0..self.real.len() {
            let b = self.real[i];
            if self.placed.iter().any(|p| p.0 == b) {
                continue;
            }
            self.drops += 1;
            if self.drops > DROPS {
                return false;
            }
            let at = self.drop(b);
            let first = self.placed.is_empty();
            if (!first && (at, b) < last) || at + self.blocks[b].pieces[0].size >= self.height {
                continue;
            }
            self.placed.push((b, at));
            if self.go((at, b)) {
                return true;
            }
            self.placed.pop();
        }
        false
    }

    /// Where a block comes to lie on those below it.
    fn drop(&self, b: usize) -> u64 {
        let (block, mine) = (&self.blocks[b], &self.blocks[b].pieces[0]);
        let rest = self
            .placed
            .iter()
            .map(|(other, at)| (&self.blocks[*other].pieces[0], *at))
            .filter(|(other, _)| mine.lower < other.upper && other.lower < mine.upper)
            .map(|(other, at)| at + other.size)
            .max()
            .unwrap_or(0);
        let phase = block.phase % block.align;
        let over = (rest % block.align + block.align - phase) % block.align;
        if over == 0 { rest } else { rest + block.align - over }
    }
}
