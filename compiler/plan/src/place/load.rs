//! Bytes alive over time.

use super::{Block, Piece};

/// Bytes alive from each time at which they change, ascending in time; pieces of one block that overlap count once.
pub fn load(blocks: &[Block]) -> Vec<(u64, u64)> {
    let mut changes: Vec<(u64, i128)> = Vec::new();
    for b in blocks {
        if let [p] = b.pieces[..] {
            if p.size > 0 && p.lower < p.upper {
                changes.push((p.lower, p.size as i128));
                changes.push((p.upper, -(p.size as i128)));
            }
        } else {
            union(&b.pieces, &mut changes);
        }
    }
    changes.sort_unstable_by_key(|c| c.0);
    let mut out: Vec<(u64, u64)> = Vec::new();
    let mut now: i128 = 0;
    for (time, change) in changes {
        now += change;
        match out.last_mut() {
            Some(l) if l.0 == time => l.1 = now.max(0) as u64,
            _ => out.push((time, now.max(0) as u64)),
        }
    }
    out
}

/// The most bytes ever alive at once: no placement needs less.
pub fn max_load(blocks: &[Block]) -> u64 {
    load(blocks).into_iter().map(|l| l.1).max().unwrap_or(0)
}

/// Changes of the bytes covered by at least one of the pieces.
fn union(pieces: &[Piece], changes: &mut Vec<(u64, i128)>) {
    let mut times: Vec<u64> = pieces.iter().flat_map(|p| [p.lower, p.upper]).collect();
    times.sort_unstable();
    times.dedup();
    let mut before: i128 = 0;
    let mut alive: Vec<Piece> = Vec::new();
    let mut by_lower: Vec<Piece> = pieces.to_vec();
    by_lower.sort_unstable_by_key(|p| std::cmp::Reverse(p.lower));
    for time in times {
        alive.retain(|p| p.upper > time);
        while by_lower.last().is_some_and(|p| p.lower <= time) {
            alive.extend(by_lower.pop().filter(|p| p.upper > time));
        }
        alive.sort_unstable_by_key(|p| p.offset);
        let (mut covered, mut end) = (0i128, 0u64);
        for p in &alive {
            let from = p.offset.max(end);
            let to = p.offset + p.size;
            if to > from {
                covered += (to - from) as i128;
                end = to;
            }
        }
        if covered != before {
            changes.push((time, covered - before));
            before = covered;
        }
    }
}
