//! The check of a placement of a table.

use std::collections::BTreeMap;

use super::Violation;
use crate::place::{Block, Placed};

/// Verifies that no two buffers share a byte at one time and that the height and a bound by load are what is claimed.
///
/// # Errors
/// The first thing found wrong, naming the two buffers.
pub fn check_placement(ids: &[String], blocks: &[Block], placed: &Placed) -> Result<(), Violation> {
    let offsets = &placed.placement.offsets;
    if offsets.len() != blocks.len() {
        return Err(Violation::Length { what: "offsets", found: offsets.len(), expected: blocks.len() });
    }
    // (time, born, block, piece): deaths come first at one time, since lives are half open.
    let mut events: Vec<(u64, bool, usize, usize)> = Vec::new();
    let mut height = 0;
    for (b, block) in blocks.iter().enumerate() {
        if offsets[b] % block.align != block.phase % block.align && !block.pieces.is_empty() {
            return Err(Violation::Misaligned { tensor: ids[b].clone(), offset: offsets[b], align: block.align });
        }
        for (i, p) in block.pieces.iter().enumerate() {
            let end = offsets[b].checked_add(p.offset).and_then(|o| o.checked_add(p.size));
            height = height.max(end.ok_or_else(|| Violation::Outside { tensor: ids[b].clone() })?);
            if p.size > 0 && p.lower < p.upper {
                events.push((p.lower, true, b, i));
                events.push((p.upper, false, b, i));
            }
        }
    }
    if height != placed.placement.height {
        return Err(Violation::Arena { claimed: placed.placement.height, found: height });
    }
    if placed.lower_bound > height {
        return Err(Violation::BoundAbovePlan { bound: placed.lower_bound, arena: height });
    }
    events.sort_unstable();
    // First byte to end and block; pieces of one block may overlap, so each has a place of its own.
    let mut held: BTreeMap<(u64, usize, usize), u64> = BTreeMap::new();
    for (time, born, b, i) in events {
        let from = offsets[b] + blocks[b].pieces[i].offset;
        let to = from + blocks[b].pieces[i].size;
        if !born {
            held.remove(&(from, b, i));
            continue;
        }
        // What is held never overlaps but for pieces of one block, so the nearest of another block below decides.
        let below = held.range(..(from, 0, 0)).rev().find(|e| e.0.1 != b).filter(|e| *e.1 > from);
        let clash = below.or_else(|| held.range((from, 0, 0)..(to, 0, 0)).find(|e| e.0.1 != b));
        if let Some(((at, other, _), _)) = clash {
            let (first, second) = (b.min(*other), b.max(*other));
            return Err(Violation::Clash {
                first: ids[first].clone(),
                second: ids[second].clone(),
                step: time,
                op: format!("time {time}"),
                at: from.max(*at),
            });
        }
        held.insert((from, b, i), to);
    }
    Ok(())
}
