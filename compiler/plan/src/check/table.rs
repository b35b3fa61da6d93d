//! The check of a placement of a table.

use std::collections::BTreeMap;

use super::small::{Below, below};
use super::{BoundCheck, Violation};
use crate::place::{Block, Piece, Placed};

/// Verifies that no two buffers share a byte at one time, that the height is what is claimed, and the bound: by the largest
/// load, for a few rectangles by trying everything. A bound that neither reaches is taken on trust.
///
/// # Errors
/// The first thing found wrong, naming the two buffers.
pub fn check_placement(ids: &[String], blocks: &[Block], placed: &Placed) -> Result<BoundCheck, Violation> {
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
    let mut alive: Vec<Vec<&Piece>> = vec![Vec::new(); blocks.len()];
    let (mut now, mut load) = (0u64, 0u64);
    for (time, born, b, i) in events {
        let before = covered(&mut alive[b]);
        match born {
            true => alive[b].push(&blocks[b].pieces[i]),
            false => alive[b].retain(|p| !std::ptr::eq(*p, &blocks[b].pieces[i])),
        }
        now = now - before + covered(&mut alive[b]);
        load = load.max(now);
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
    bound(ids, blocks, placed.lower_bound, load)
}

/// Bytes that at least one of these pieces of a block covers.
fn covered(pieces: &mut [&Piece]) -> u64 {
    pieces.sort_unstable_by_key(|p| p.offset);
    let (mut sum, mut end) = (0, 0);
    for p in pieces.iter() {
        sum += (p.offset + p.size).saturating_sub(end.max(p.offset));
        end = end.max(p.offset + p.size);
    }
    sum
}

fn bound(ids: &[String], blocks: &[Block], claimed: u64, load: u64) -> Result<BoundCheck, Violation> {
    if claimed <= load {
        return Ok(BoundCheck::Verified);
    }
    match below(blocks, claimed) {
        Below::None => Ok(BoundCheck::Verified),
        Below::Unknown => Ok(BoundCheck::TakenOnTrust),
        Below::Some(sequence, found) => {
            let order = sequence.iter().map(|b| format!("'{}'", ids[*b])).collect::<Vec<_>>().join(", ");
            Err(Violation::Lower { claimed, found, order })
        }
    }
}
