//! The fewest bytes that can be in the arena while one op runs, as a minimum cut.
//!
//! Every byte of every tensor stands for a value; shares say which bytes hold the same one. Ranges of such bytes that the
//! same tensors hold are counted once, from when the first of these tensors is made until the last is done with.

use std::collections::{BTreeSet, HashMap};

use petgraph::algo::dinics;
use petgraph::graph::{DiGraph, NodeIndex};

use super::carries_value;
use super::witness::{Towards, reach};
use crate::problem::{Home, OpId, Problem, ShareKind, TensorId};

/// A capacity above the sum of all sizes.
const UNCUT: u64 = 1 << 62;

/// A range of bytes and the tensors that hold it.
struct Value {
    bytes: u64,
    holders: Vec<TensorId>,
}

/// The least over all down-sets that hold the op's ancestors and not the op. What may ever be tied to the tensors in
/// `outside` counts wherever it lies, less the memory outside the arena that it may lie in.
pub(super) fn least_at(problem: &Problem, op: OpId, outside: &[TensorId]) -> u64 {
    let (values, room) = values(problem, outside);
    let after = reach(problem, op, Towards::Descendants);
    let before = reach(problem, op, Towards::Ancestors);
    let held = |t: TensorId| values.iter().filter(|v| v.holders.contains(&t)).map(|v| v.bytes).sum::<u64>();
    // Each output takes the place of one input or of none; an input taken over has no other reader left.
    let mut choices: Vec<(u64, Vec<OpId>)> = vec![(0, Vec::new())];
    let mut at_once = 0;
    for y in &problem.op(op).outputs {
        let mut options: Vec<(u64, Vec<OpId>)> = vec![(0, Vec::new())];
        for s in problem.shares().iter().filter(|s| s.kind == ShareKind::InPlace && s.op == op && s.inner == *y) {
            let x = problem.tensor(s.outer);
            let others: Vec<OpId> = problem.consumers(s.outer).iter().copied().filter(|c| *c != op).collect();
            if !x.output && !x.pinned && !others.iter().any(|c| after[c.index()]) {
                options.push((held(s.outer).min(held(*y)), others));
            }
        }
        if choices.len() * options.len() > 64 {
            at_once += options.iter().map(|o| o.0).max().unwrap_or(0);
            continue;
        }
        choices = choices
            .iter()
            .flat_map(|(a, x)| options.iter().map(move |(b, y)| (a + b, [x.as_slice(), y.as_slice()].concat())))
            .collect();
    }
    let least = choices.into_iter().map(|(saved, done)| {
        let mut before = before.clone();
        for o in done {
            if !std::mem::replace(&mut before[o.index()], true) {
                let more = reach(problem, o, Towards::Ancestors);
                before.iter_mut().zip(more).for_each(|(b, m)| *b |= m);
            }
        }
        let (held, new) = cut(problem, Some(op), &values, &before, &after);
        let while_running = held - (saved + at_once).min(new);
        // All that is alive once the op has run is there while it runs.
        before[op.index()] = true;
        while_running.max(cut(problem, None, &values, &before, &after).0) + problem.padded(problem.op(op).workspace)
    });
    least.min().unwrap_or(0).saturating_sub(room)
}

/// The least bytes of values made and still needed, with what the running op alone makes of them.
fn cut(problem: &Problem, op: Option<OpId>, values: &[Value], before: &[bool], after: &[bool]) -> (u64, u64) {
    let mut graph: DiGraph<(), u64> = DiGraph::new();
    let (done, undone) = (graph.add_node(()), graph.add_node(()));
    // Ops on the side of `done` run before the op; those that must, or must not, stand for the ends themselves.
    let node: Vec<NodeIndex> = problem
        .op_ids()
        .map(|o| match (before[o.index()], Some(o) == op || after[o.index()]) {
            (true, _) => done,
            (_, true) => undone,
            _ => graph.add_node(()),
        })
        .collect();
    for (o, preds) in problem.predecessors().iter().enumerate() {
        for p in preds {
            if node[o] != undone && node[p.index()] != done && node[o] != node[p.index()] {
                graph.add_edge(node[o], node[p.index()], UNCUT);
            }
        }
    }
    let (mut sure, mut new) = (0, 0);
    for v in values {
        let mut makers = BTreeSet::new();
        let mut users = BTreeSet::new();
        let mut made_here = false;
        for t in &v.holders {
            let tensor = problem.tensor(*t);
            match problem.producer(*t) {
                Some(p) => {
                    made_here |= Some(p) == op;
                    makers.insert(node[p.index()]);
                    users.insert(node[p.index()]);
                }
                None => {
                    makers.insert(done);
                }
            }
            users.extend(problem.consumers(*t).iter().map(|c| node[c.index()]));
            if tensor.pinned {
                makers.insert(done);
            }
            if tensor.pinned || tensor.output {
                users.insert(undone);
            }
        }
        let there = makers.contains(&done);
        if made_here && !there {
            new += v.bytes;
        }
        if (there || made_here) && users.contains(&undone) {
            sure += v.bytes;
            continue;
        }
        makers.remove(&undone);
        users.remove(&done);
        if makers.is_empty() || users.is_empty() {
            continue;
        }
        let (from, to) = (graph.add_node(()), graph.add_node(()));
        graph.add_edge(from, to, v.bytes);
        if there {
            graph.add_edge(done, from, v.bytes);
        } else {
            for m in makers {
                graph.add_edge(m, from, v.bytes);
            }
        }
        if users.contains(&undone) {
            graph.add_edge(to, undone, v.bytes);
        } else {
            for u in users {
                graph.add_edge(to, u, v.bytes);
            }
        }
    }
    let crossing = dinics(&graph, done, undone).0;
    (sure + crossing, new)
}

/// All values in the arena, wherever shares let tensors lie, and those tied to `counted`; with the bytes of these outside.
fn values(problem: &Problem, counted_for: &[TensorId]) -> (Vec<Value>, u64) {
    let n = problem.tensors().len();
    let mut links: Vec<Vec<(TensorId, i128)>> = vec![Vec::new(); n];
    let mut any: Vec<Vec<TensorId>> = vec![Vec::new(); n];
    for s in problem.shares() {
        let by = s.offset as i128;
        if carries_value(s.kind) {
            links[s.inner.index()].push((s.outer, by));
            links[s.outer.index()].push((s.inner, -by));
        } else if problem.tensor(s.outer).output || problem.tensor(s.outer).pinned {
            continue;
        }
        any[s.inner.index()].push(s.outer);
        any[s.outer.index()].push(s.inner);
    }
    // Nothing takes a place in read-only memory, but views may lie in it.
    let mut outside = vec![false; n];
    let mut stack: Vec<TensorId> = problem.tensor_ids().filter(|t| problem.tensor(*t).home == Home::Writable).collect();
    while let Some(t) = stack.pop() {
        if !std::mem::replace(&mut outside[t.index()], true) {
            stack.extend(&any[t.index()]);
        }
    }
    let sizes = counted(problem);
    let mut room = 0;
    let mut seen = vec![false; n];
    stack.extend(counted_for);
    while let Some(t) = stack.pop() {
        if !std::mem::replace(&mut seen[t.index()], true) {
            outside[t.index()] = false;
            room += if problem.tensor(t).home == Home::Writable { sizes[t.index()] } else { 0 };
            stack.extend(&any[t.index()]);
        }
    }
    let mut seen = vec![false; n];
    stack.extend(problem.tensor_ids().filter(|t| problem.tensor(*t).home == Home::ReadOnly));
    while let Some(t) = stack.pop() {
        if !std::mem::replace(&mut seen[t.index()], true) {
            outside[t.index()] = true;
            stack.extend(links[t.index()].iter().map(|l| l.0));
        }
    }
    let mut out = Vec::new();
    let mut grouped = vec![false; n];
    for t in problem.tensor_ids() {
        if grouped[t.index()] || outside[t.index()] || problem.tensor(t).size == 0 {
            continue;
        }
        let group = group(t, &links, &mut grouped);
        split(&sizes, &group, &links, &mut out);
    }
    (out, room)
}

fn group(t: TensorId, links: &[Vec<(TensorId, i128)>], grouped: &mut [bool]) -> Vec<TensorId> {
    let mut group = vec![t];
    grouped[t.index()] = true;
    let mut i = 0;
    while let Some(t) = group.get(i).copied() {
        i += 1;
        for (u, _) in &links[t.index()] {
            if !std::mem::replace(&mut grouped[u.index()], true) {
                group.push(*u);
            }
        }
    }
    group
}

/// Splits the tensors of one group at every end of a shared range until all shares map whole pieces to whole pieces.
fn split(sizes: &[u64], group: &[TensorId], links: &[Vec<(TensorId, i128)>], out: &mut Vec<Value>) {
    let mut ends: HashMap<TensorId, BTreeSet<i128>> = HashMap::new();
    let mut work = Vec::new();
    for t in group {
        work.push((*t, 0));
        work.push((*t, sizes[t.index()] as i128));
    }
    let mut count = 0;
    while let Some((t, at)) = work.pop() {
        if !ends.entry(t).or_default().insert(at) {
            continue;
        }
        count += 1;
        if count > 64 * group.len() + 4096 {
            // Too many pieces: all that is sure is that some tensor of the group is alive.
            let bytes = group.iter().map(|t| sizes[t.index()]).min().unwrap_or(0);
            out.push(Value { bytes, holders: group.to_vec() });
            return;
        }
        for (u, by) in &links[t.index()] {
            if (0..=sizes[u.index()] as i128).contains(&(at + by)) {
                work.push((*u, at + by));
            }
        }
    }
    // Pieces that are the same, by walking from each in turn.
    let mut seen: BTreeSet<(TensorId, i128)> = BTreeSet::new();
    for t in group {
        let cuts: Vec<i128> = ends.get(t).map(|e| e.iter().copied().collect()).unwrap_or_default();
        for pair in cuts.windows(2) {
            if !seen.insert((*t, pair[0])) {
                continue;
            }
            let bytes = pair[1] - pair[0];
            let mut holders = BTreeSet::from([*t]);
            let mut stack = vec![(*t, pair[0])];
            while let Some((u, at)) = stack.pop() {
                for (v, by) in &links[u.index()] {
                    let there = at + by;
                    if there >= 0 && there + bytes <= sizes[v.index()] as i128 && seen.insert((*v, there)) {
                        holders.insert(*v);
                        stack.push((*v, there));
                    }
                }
            }
            out.push(Value { bytes: bytes as u64, holders: holders.into_iter().collect() });
        }
    }
}

/// The bytes of each tensor as plans count them: in whole units of the storage alignment where all that might ever be tied
/// to it starts at a multiple of that.
fn counted(problem: &Problem) -> Vec<u64> {
    let unit = problem.storage_align();
    let mut tied: Vec<Vec<TensorId>> = vec![Vec::new(); problem.tensors().len()];
    for s in problem.shares() {
        tied[s.inner.index()].push(s.outer);
        tied[s.outer.index()].push(s.inner);
    }
    let mut stack: Vec<TensorId> = problem.shares().iter().filter(|s| s.offset % unit != 0).map(|s| s.inner).collect();
    let mut odd = vec![false; problem.tensors().len()];
    while let Some(t) = stack.pop() {
        if !std::mem::replace(&mut odd[t.index()], true) {
            stack.extend(&tied[t.index()]);
        }
    }
    let size = |(t, odd): (usize, bool)| {
        let size = problem.tensors()[t].size;
        if odd { size } else { size.div_ceil(unit) * unit }
    };
    odd.into_iter().enumerate().map(size).collect()
}
