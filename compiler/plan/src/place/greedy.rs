//! Greedy placement: blocks in a given sequence, each at the lowest offset where it fits.

use super::{Block, Placement};

/// Places blocks one after another in the sequence given, each as low as it can go beside those placed before it.
pub fn greedy(blocks: &[Block], sequence: &[usize]) -> Placement {
    let mut offsets = vec![0; blocks.len()];
    let mut placed: Vec<usize> = Vec::with_capacity(blocks.len());
    for &b in sequence {
        offsets[b] = lowest(blocks, b, &placed, &offsets);
        placed.push(b);
    }
    Placement::new(blocks, offsets)
}

/// The lowest offset of block `b` that clashes with none of those placed.
fn lowest(blocks: &[Block], b: usize, placed: &[usize], offsets: &[u64]) -> u64 {
    let block = &blocks[b];
    let (lower, upper) = (block.lower(), block.upper());
    // Offsets of the block forbidden by a placed piece: an open range (low, high) in signed bytes.
    let mut forbidden: Vec<(i128, i128)> = Vec::new();
    for &o in placed {
        let other = &blocks[o];
        if other.lower() >= upper || other.upper() <= lower {
            continue;
        }
        for q in &other.pieces {
            for p in &block.pieces {
                if p.lower < q.upper && q.lower < p.upper && p.size > 0 && q.size > 0 {
                    let (q0, q1) = ((offsets[o] + q.offset) as i128, (offsets[o] + q.offset + q.size) as i128);
                    forbidden.push((q0 - (p.offset + p.size) as i128, q1 - p.offset as i128));
                }
            }
        }
    }
    forbidden.sort_unstable();
    let mut at = block.align_up(0);
    for (low, high) in forbidden {
        if (at as i128) > low && (at as i128) < high {
            at = block.align_up(high as u64);
        }
    }
    at
}
