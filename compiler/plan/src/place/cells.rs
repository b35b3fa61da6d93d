//! A placement problem as the exact search sees it: sections of time, and for each block the cells it holds in them.
//!
//! A section is an instant at which a maximal set of rectangles is alive. Whatever is alive at any other instant is alive at
//! one of these too, so nothing else constrains a placement (the maximal cliques of an interval graph; at most as many as
//! rectangles).

use super::Block;
use super::sections::maximal;

/// Bytes of a block in one section; a block's cells in one section do not touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Cell {
    /// Which section.
    pub(crate) section: u32,
    /// Units from the block's start.
    pub(crate) offset: u64,
    /// Units.
    pub(crate) size: u64,
}

/// Blocks over sections. Lengths are in units.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    /// Cells of all blocks, block by block, ascending.
    pub(crate) cells: Vec<Cell>,
    /// First cell of each block, and the end.
    pub(crate) first: Vec<u32>,
    /// Sections that a block reaches from and to (exclusive); it need not hold a cell in each.
    pub(crate) hull: Vec<(u32, u32)>,
    /// Length of each block.
    pub(crate) extent: Vec<u64>,
    /// Alignment and phase of each block.
    pub(crate) align: Vec<(u64, u64)>,
    /// Whether the block is a plain rectangle.
    pub(crate) flat: Vec<bool>,
    /// A number for each block, the same for blocks of one shape.
    pub(crate) shape: Vec<u32>,
    /// Units alive in each section.
    pub(crate) loads: Vec<u64>,
    /// Bytes in a unit: the greatest common divisor of all sizes, offsets and alignments.
    pub(crate) unit: u64,
}

impl Cells {
    /// The cells of blocks of which each has an extent; none where one has no time to live in.
    pub(crate) fn new(blocks: &[Block]) -> Option<Self> {
        let real = |b: &Block| b.pieces.iter().copied().filter(|p| p.size > 0 && p.lower < p.upper).collect::<Vec<_>>();
        let pieces: Vec<Vec<super::Piece>> = blocks.iter().map(real).collect();
        let mut unit = 0;
        for (b, list) in blocks.iter().zip(&pieces) {
            if list.is_empty() {
                return None;
            }
            // An alignment of 1 asks for nothing: offsets are sums of sizes anyway.
            if b.align > 1 {
                unit = gcd(gcd(unit, b.align), b.phase % b.align);
            }
            for p in list {
                unit = gcd(gcd(unit, p.size), p.offset);
            }
            unit = gcd(unit, b.extent());
        }
        let unit = unit.max(1);
        let lives: Vec<(u64, u64)> = pieces.iter().flatten().map(|p| (p.lower, p.upper)).collect();
        let (low, high, count) = maximal(&lives);
        let mut me = Cells {
            cells: Vec::new(),
            first: vec![0],
            hull: Vec::new(),
            extent: blocks.iter().map(|b| b.extent() / unit).collect(),
            align: blocks.iter().map(|b| ((b.align / unit).max(1), b.phase % b.align / unit)).collect(),
            flat: Vec::new(),
            shape: Vec::new(),
            loads: vec![0; count],
            unit,
        };
        let mut piece = 0;
        for list in &pieces {
            let mut own: Vec<Cell> = Vec::new();
            for p in list {
                for section in low[piece]..high[piece] {
                    own.push(Cell { section, offset: p.offset / unit, size: p.size / unit });
                }
                piece += 1;
            }
            me.push(own);
        }
        let mut kinds = std::collections::BTreeMap::new();
        for b in 0..blocks.len() {
            let next = kinds.len() as u32;
            let kind = (me.of(b as u32).to_vec(), me.align[b], me.extent[b]);
            me.shape.push(*kinds.entry(kind).or_insert(next));
        }
        Some(me)
    }

    fn push(&mut self, mut own: Vec<Cell>) {
        own.sort_unstable();
        let mut joined: Vec<Cell> = Vec::with_capacity(own.len());
        for c in own {
            match joined.last_mut() {
                Some(l) if l.section == c.section && c.offset <= l.offset + l.size => {
                    l.size = l.size.max(c.offset + c.size - l.offset);
                }
                _ => joined.push(c),
            }
        }
        let (from, to) = (joined[0].section, joined[joined.len() - 1].section + 1);
        let extent = self.extent[self.hull.len()];
        let plain = joined.iter().all(|c| c.offset == 0 && c.size == extent);
        self.flat.push(plain && joined.len() == (to - from) as usize);
        self.hull.push((from, to));
        for c in &joined {
            self.loads[c.section as usize] += c.size;
        }
        self.cells.extend(joined);
        self.first.push(self.cells.len() as u32);
    }

    /// How many blocks.
    pub(crate) fn len(&self) -> usize {
        self.hull.len()
    }

    /// Indices of a block's cells.
    pub(crate) fn range(&self, b: u32) -> std::ops::Range<usize> {
        self.first[b as usize] as usize..self.first[b as usize + 1] as usize
    }

    /// The cells of a block.
    pub(crate) fn of(&self, b: u32) -> &[Cell] {
        &self.cells[self.range(b)]
    }

    /// The sections from a block's first to its last.
    pub(crate) fn span(&self, b: u32) -> std::ops::Range<usize> {
        let (from, to) = self.hull[b as usize];
        from as usize..to as usize
    }

    /// The least legal offset of a block that is at least `at`.
    pub(crate) fn align_up(&self, b: u32, at: u64) -> u64 {
        let (align, phase) = self.align[b as usize];
        if align == 1 {
            return at;
        }
        at + phase.wrapping_sub(at) % align
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
