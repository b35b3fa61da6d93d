//! The fewest bytes that can be in the arena while one op runs, as a minimum cut.
//!
//! Every byte of every tensor stands for a value; shares say which bytes hold the same one. Ranges of such bytes that the
//! same tensors hold are counted once, from when the first of these tensors is made until the last is done with.

use std::collections::BTreeSet;

use petgraph::algo::dinics;
use petgraph::graph::{DiGraph, NodeIndex};

use super::carries_value;
use super::outside::{links, reached};
use super::values::{Tied, Value, even, sizes, tied};
use crate::problem::{Home, OpId, Problem, Share, ShareKind, TensorId};

/// A capacity above the sum of all sizes.
const UNCUT: u64 = 1 << 62;

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
fn values(problem: &Problem, counted: &[TensorId]) -> (Vec<Value>, u64) {
    let n = problem.tensors().len();
    let shares: Vec<&Share> = problem.shares().iter().collect();
    let kept = |s: &Share| problem.tensor(s.outer).output || problem.tensor(s.outer).pinned;
    let ever = |s: &&Share| carries_value(s.kind) || !kept(s);
    let ties = links(problem, shares.iter().copied().filter(ever));
    // Nothing takes a place in read-only memory, but views may lie in it.
    let mut outside = vec![false; n];
    for t in (0..n).filter(|t| problem.tensors()[*t].home == Home::Writable) {
        if !outside[t] {
            reached(t, &ties, &mut outside);
        }
    }
    let sizes = sizes(problem, &even(problem, &shares));
    let mut room = 0;
    let mut inside = vec![false; n];
    for t in counted {
        if inside[t.index()] {
            continue;
        }
        for m in reached(t.index(), &ties, &mut inside) {
            outside[m] = false;
            room += if problem.tensors()[m].home == Home::Writable { sizes[m] } else { 0 };
        }
    }
    let mut out = Vec::new();
    for Tied { members, values } in tied(problem, &shares, &sizes) {
        let read_only = members.iter().any(|m| problem.tensors()[*m].home == Home::ReadOnly);
        let real = || members.iter().filter(|m| sizes[**m] > 0);
        if read_only || outside[members[0]] || real().count() == 0 {
            continue;
        }
        out.extend(values.unwrap_or_else(|| {
            // All that is sure is that some tensor of them is alive.
            let bytes = members.iter().map(|m| sizes[*m]).min().unwrap_or(0);
            vec![Value { bytes, holders: members.iter().map(|m| TensorId(*m as u32)).collect() }]
        }));
    }
    (out, room)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Towards {
    Ancestors,
    Descendants,
}

/// The ops that must run before or after an op, itself excluded.
fn reach(problem: &Problem, from: OpId, towards: Towards) -> Vec<bool> {
    let n = problem.ops().len();
    let mut next: Vec<Vec<OpId>> = vec![Vec::new(); n];
    let mut link = |a: OpId, b: OpId| match towards {
        Towards::Ancestors => next[b.index()].push(a),
        Towards::Descendants => next[a.index()].push(b),
    };
    for o in problem.op_ids() {
        for t in &problem.op(o).inputs {
            if let Some(p) = problem.producer(*t) {
                link(p, o);
            }
        }
    }
    for (a, b) in problem.edges() {
        link(*a, *b);
    }
    let mut seen = vec![false; n];
    let mut stack = next[from.index()].clone();
    while let Some(o) = stack.pop() {
        if !std::mem::replace(&mut seen[o.index()], true) {
            stack.extend(&next[o.index()]);
        }
    }
    seen
}
