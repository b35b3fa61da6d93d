//! Placement: blocks with known lives get offsets in one arena.
//!
//! [`place`] is the way in: greedy sequences, their improvement, then the exact search, each only as far as the one before
//! left something to gain.

mod cells;
mod exact;
mod greedy;
mod improve;
mod index;
mod ladder;
mod load;
mod reinsert;
mod sections;
mod skyline;
mod solve;
pub mod synthetic;
#[cfg(test)]
mod tests;

pub use greedy::greedy;
pub use load::{load, max_load};
pub use solve::{PlaceLimits, Placed, Proof, place};

/// A rectangle of time and bytes within a block: alive on [lower, upper), at [offset, offset + size) of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Piece {
    /// First time.
    pub lower: u64,
    /// Time after the last.
    pub upper: u64,
    /// Bytes from the block's start.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
}

/// What is placed as one: rectangles at fixed distances. Most blocks have one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// Rectangles by time; they may overlap each other.
    pub pieces: Vec<Piece>,
    /// The block's offset is `phase` modulo this power of two.
    pub align: u64,
    /// See `align`.
    pub phase: u64,
}

impl Block {
    /// A block of rectangles: sorted, and those that continue each other joined.
    pub fn new(mut pieces: Vec<Piece>, align: u64, phase: u64) -> Self {
        pieces.sort_unstable_by_key(|p| (p.offset, p.size, p.lower, p.upper));
        let mut joined: Vec<Piece> = Vec::with_capacity(pieces.len());
        for p in pieces {
            match joined.last_mut() {
                Some(l) if (l.offset, l.size) == (p.offset, p.size) && p.lower <= l.upper => {
                    l.upper = l.upper.max(p.upper)
                }
                _ => joined.push(p),
            }
        }
        joined.sort_unstable();
        Block { pieces: joined, align: align.max(1), phase }
    }

    /// A block of one rectangle.
    pub fn rectangle(lower: u64, upper: u64, size: u64, align: u64) -> Self {
        Block { pieces: vec![Piece { lower, upper, offset: 0, size }], align: align.max(1), phase: 0 }
    }

    /// First time any of it is alive.
    pub fn lower(&self) -> u64 {
        self.pieces.iter().map(|p| p.lower).min().unwrap_or(0)
    }

    /// Time after the last.
    pub fn upper(&self) -> u64 {
        self.pieces.iter().map(|p| p.upper).max().unwrap_or(0)
    }

    /// Bytes from its start to its end.
    pub fn extent(&self) -> u64 {
        self.pieces.iter().map(|p| p.offset + p.size).max().unwrap_or(0)
    }

    /// Bytes times time, overlaps counted twice.
    pub fn area(&self) -> u128 {
        self.pieces.iter().map(|p| p.size as u128 * (p.upper - p.lower) as u128).sum()
    }

    /// The least legal offset that is at least `at`.
    pub fn align_up(&self, at: u64) -> u64 {
        let rest = at.wrapping_sub(self.phase) & (self.align - 1);
        if rest == 0 { at } else { at + (self.align - rest) }
    }
}

/// Offsets of blocks and the bytes they need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Offset of each block.
    pub offsets: Vec<u64>,
    /// Largest end.
    pub height: u64,
}

impl Placement {
    /// Offsets with their height.
    pub fn new(blocks: &[Block], offsets: Vec<u64>) -> Self {
        let height = blocks.iter().zip(&offsets).map(|(b, o)| o + b.extent()).max().unwrap_or(0);
        Placement { offsets, height }
    }
}
