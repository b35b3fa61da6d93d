//! Bytes over time: no two values in one byte at one step, and how many bytes are held at once.

use std::collections::BTreeMap;

use super::Violation;
use super::ties::Ties;
use crate::problem::{Problem, TensorId};
use crate::solution::{Place, Solution};

/// What is held: disjoint ranges by memory and first byte, each with its end and the items that cover it without a gap.
type Held = BTreeMap<(Option<TensorId>, u64), (u64, Vec<Item>)>;

/// A tensor (by id) or, past all tensors, a workspace (by op).
type Item = usize;

struct Bytes {
    /// Which memory: the arena, or a tensor outside it.
    memory: Option<TensorId>,
    from: u64,
    to: u64,
}

fn bytes(problem: &Problem, solution: &Solution, item: Item) -> Bytes {
    let tensors = problem.tensors().len();
    if item < tensors {
        let size = problem.tensors()[item].size;
        match solution.places[item] {
            Place::Arena(from) => Bytes { memory: None, from, to: from + size },
            Place::External { of, offset } => Bytes { memory: Some(of), from: offset, to: offset + size },
        }
    } else {
        let from = solution.workspaces[item - tensors];
        Bytes { memory: None, from, to: from + problem.ops()[item - tensors].workspace }
    }
}

/// Births and deaths by step.
fn events(problem: &Problem, step: &[u64], alive: &[(u64, u64)]) -> (Vec<Vec<Item>>, Vec<Vec<Item>>) {
    let steps = step.len().max(1) + 1;
    let (mut born, mut dies) = (vec![Vec::new(); steps], vec![Vec::new(); steps]);
    for (t, (from, to)) in alive.iter().enumerate() {
        if problem.tensors()[t].size > 0 {
            born[*from as usize].push(t);
            dies[*to as usize - 1].push(t);
        }
    }
    for (o, op) in problem.ops().iter().enumerate() {
        if op.workspace > 0 {
            let item = problem.tensors().len() + o;
            born[step[o] as usize].push(item);
            dies[step[o] as usize].push(item);
        }
    }
    (born, dies)
}

/// Replays all steps.
pub(super) fn no_clash(
    problem: &Problem,
    solution: &Solution,
    step: &[u64],
    alive: &[(u64, u64)],
    ties: &Ties,
) -> Result<(), Violation> {
    let (born, dies) = events(problem, step, alive);
    let mut held = Held::new();
    for (s, (born, dies)) in born.iter().zip(&dies).enumerate() {
        for item in born {
            let b = bytes(problem, solution, *item);
            let (mut from, mut to, mut items) = (b.from, b.to, vec![*item]);
            // Ranges are disjoint, so at most one starts before `from` and reaches into it.
            let mut touched: Vec<(Option<TensorId>, u64)> =
                held.range((b.memory, b.from)..(b.memory, b.to)).map(|e| *e.0).collect();
            if let Some((key, value)) = held.range(..(b.memory, b.from)).next_back()
                && key.0 == b.memory
                && value.0 > b.from
            {
                touched.push(*key);
            }
            for key in touched {
                let Some((end, others)) = held.remove(&key) else { continue };
                for other in &others {
                    may_touch(problem, solution, step, alive, ties, *item, *other, s as u64)?;
                }
                from = from.min(key.1);
                to = to.max(end);
                items.extend(others);
            }
            held.insert((b.memory, from), (to, items));
        }
        for item in dies {
            let b = bytes(problem, solution, *item);
            let Some(key) = held.range(..=(b.memory, b.from)).next_back().map(|e| *e.0) else { continue };
            let Some((_, mut items)) = held.remove(&key) else { continue };
            items.retain(|i| i != item);
            regroup(problem, solution, items, &mut held);
        }
    }
    Ok(())
}

/// Puts items back as disjoint ranges.
fn regroup(problem: &Problem, solution: &Solution, mut items: Vec<Item>, held: &mut Held) {
    items.sort_unstable_by_key(|i| bytes(problem, solution, *i).from);
    let mut run: Option<(u64, u64, Vec<Item>)> = None;
    let mut memory = None;
    for i in items {
        let b = bytes(problem, solution, i);
        memory = b.memory;
        match &mut run {
            Some((_, to, list)) if b.from < *to => {
                *to = (*to).max(b.to);
                list.push(i);
            }
            _ => {
                if let Some((from, to, list)) = run.replace((b.from, b.to, vec![i])) {
                    held.insert((memory, from), (to, list));
                }
            }
        }
    }
    if let Some((from, to, list)) = run {
        held.insert((memory, from), (to, list));
    }
}

/// Two items alive at one step: they may touch only as the same value, or as a tensor and what takes its place right then.
#[allow(clippy::too_many_arguments, reason = "the state of the replay, read only")]
fn may_touch(
    problem: &Problem,
    solution: &Solution,
    step: &[u64],
    alive: &[(u64, u64)],
    ties: &Ties,
    a: Item,
    b: Item,
    s: u64,
) -> Result<(), Violation> {
    let (ba, bb) = (bytes(problem, solution, a), bytes(problem, solution, b));
    let (low, high) = (ba.from.max(bb.from), ba.to.min(bb.to));
    if low >= high {
        return Ok(());
    }
    let tensors = problem.tensors().len();
    if a < tensors && b < tensors {
        let takes = |old: Item, new: Item| {
            ties.successor[old].contains(&TensorId(new as u32)) && alive[old].1 == alive[new].0 + 1
        };
        if takes(a, b) || takes(b, a) || same_bytes(problem, solution, ties, a, b, (low, high)) {
            return Ok(());
        }
    }
    let name = |i: Item| {
        if i < tensors {
            problem.tensors()[i].name.clone()
        } else {
            format!("workspace of {}", problem.ops()[i - tensors].name)
        }
    };
    let op = step.iter().position(|x| *x == s).map(|o| problem.ops()[o].name.clone()).unwrap_or_default();
    Err(Violation::Clash { first: name(a.min(b)), second: name(a.max(b)), step: s, op, at: low })
}

/// Whether for each byte of the range taken shares lead from one tensor to the other through tensors that hold it. Where the
/// whole range goes no way at once, it is halved at an end of a tensor that is in the way.
fn same_bytes(problem: &Problem, solution: &Solution, ties: &Ties, a: Item, b: Item, (low, high): (u64, u64)) -> bool {
    let mut open = vec![(low, high)];
    while let Some((low, high)) = open.pop() {
        match walk(problem, solution, ties, a, b, (low, high)) {
            Walk::Arrived => {}
            Walk::Cut(at) => open.extend([(low, at), (at, high)]),
            Walk::Stuck => return false,
        }
    }
    true
}

enum Walk {
    Arrived,
    /// A tensor on the way ends, or begins, within the range.
    Cut(u64),
    Stuck,
}

fn walk(problem: &Problem, solution: &Solution, ties: &Ties, a: Item, b: Item, (low, high): (u64, u64)) -> Walk {
    let mut seen = std::collections::HashSet::from([a]);
    let mut stack = vec![a];
    let mut cut = None;
    while let Some(t) = stack.pop() {
        if t == b {
            return Walk::Arrived;
        }
        for n in &ties.same[t] {
            let r = bytes(problem, solution, n.index());
            if r.from <= low && high <= r.to {
                if seen.insert(n.index()) {
                    stack.push(n.index());
                }
            } else if r.from < high && low < r.to {
                cut = cut.or(Some(if low < r.from { r.from } else { r.to }));
            }
        }
    }
    cut.map_or(Walk::Stuck, Walk::Cut)
}

/// The most bytes held at one step: each tied group's bytes padded outward to the storage alignment and counted once.
pub(super) fn peak(problem: &Problem, solution: &Solution, step: &[u64], alive: &[(u64, u64)], ties: &Ties) -> u64 {
    let (born, dies) = events(problem, step, alive);
    let unit = problem.storage_align();
    let tensors = problem.tensors().len();
    let mut members: Vec<Vec<(u64, u64, Item)>> = vec![Vec::new(); tensors];
    let mut covered = vec![0u64; tensors];
    let (mut now, mut peak) = (0u64, 0u64);
    let mut update = |item: Item, enters: Enters, now: &mut u64| {
        let b = bytes(problem, solution, item);
        if b.memory.is_some() {
            return;
        }
        let padded = (b.from / unit * unit, b.to.div_ceil(unit) * unit, item);
        if item >= tensors {
            let size = padded.1 - padded.0;
            *now = if enters == Enters::Yes { *now + size } else { *now - size };
            return;
        }
        let group = ties.root[item] as usize;
        let list = &mut members[group];
        match list.binary_search(&padded) {
            Ok(at) => drop(list.remove(at)),
            Err(at) => list.insert(at, padded),
        }
        let (mut bytes, mut end) = (0, 0);
        for (from, to, _) in list.iter() {
            bytes += to.saturating_sub(end.max(*from));
            end = end.max(*to);
        }
        *now = *now - covered[group] + bytes;
        covered[group] = bytes;
    };
    for (born, dies) in born.iter().zip(&dies) {
        for item in born {
            update(*item, Enters::Yes, &mut now);
        }
        peak = peak.max(now);
        for item in dies {
            update(*item, Enters::No, &mut now);
        }
    }
    peak
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Enters {
    Yes,
    No,
}
