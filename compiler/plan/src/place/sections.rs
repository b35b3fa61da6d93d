//! Time as the solvers see it: only the instants at which a maximal set of buffers is alive.
//!
//! The buffers alive at any other instant are all alive at one of these too, so nothing else constrains a placement
//! (the maximal cliques of an interval graph; at most as many as buffers).

use super::Block;

/// One-rectangle buffers over sections.
#[derive(Clone, Debug)]
pub(crate) struct Sections {
    /// First section of each buffer.
    pub(crate) low: Vec<u32>,
    /// Section after the last of each buffer.
    pub(crate) high: Vec<u32>,
    /// Size of each buffer, in units.
    pub(crate) size: Vec<u64>,
    /// Bytes in a unit: the greatest common divisor of all sizes and alignments.
    pub(crate) unit: u64,
    /// Buffers alive in each section.
    pub(crate) alive: Vec<Vec<u32>>,
}

impl Sections {
    /// Sections of blocks that all are one rectangle without alignment beyond their sizes' common divisor; none otherwise.
    pub(crate) fn new(blocks: &[Block]) -> Option<Self> {
        let mut unit = 0;
        for b in blocks {
            let [p] = b.pieces[..] else { return None };
            if p.size == 0 || p.lower >= p.upper || b.phase % b.align != 0 {
                return None;
            }
            unit = gcd(unit, p.size);
        }
        let unit = unit.max(1);
        if blocks.iter().any(|b| unit % b.align != 0) {
            return None;
        }
        let (low, high, count) = maximal(blocks);
        let mut alive = vec![Vec::new(); count];
        for b in 0..blocks.len() {
            for list in &mut alive[low[b] as usize..high[b] as usize] {
                list.push(b as u32);
            }
        }
        let size = blocks.iter().map(|b| b.pieces[0].size / unit).collect();
        Some(Sections { low, high, size, unit, alive })
    }

    /// How many buffers.
    pub(crate) fn len(&self) -> usize {
        self.size.len()
    }

    /// The sections of a buffer.
    pub(crate) fn span(&self, b: u32) -> std::ops::Range<usize> {
        self.low[b as usize] as usize..self.high[b as usize] as usize
    }

    /// Units alive in each section.
    pub(crate) fn loads(&self) -> Vec<u64> {
        self.alive.iter().map(|list| list.iter().map(|b| self.size[*b as usize]).sum()).collect()
    }
}

/// First and past-the-last maximal instant of each block, and how many there are: an instant is maximal when a block is
/// born right before it and one dies right after it.
fn maximal(blocks: &[Block]) -> (Vec<u32>, Vec<u32>, usize) {
    // (time, is birth, block); deaths come first at one time, since lives are half open.
    let mut events: Vec<(u64, bool, u32)> = Vec::with_capacity(blocks.len() * 2);
    for (b, block) in blocks.iter().enumerate() {
        events.push((block.lower(), true, b as u32));
        events.push((block.upper(), false, b as u32));
    }
    events.sort_unstable();
    let (mut low, mut high) = (vec![0; blocks.len()], vec![0; blocks.len()]);
    let mut section = 0;
    let mut grown = false;
    for (_, birth, b) in events {
        if birth {
            low[b as usize] = section;
            grown = true;
        } else {
            if grown {
                section += 1;
                grown = false;
            }
            high[b as usize] = section;
        }
    }
    (low, high, section as usize)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
