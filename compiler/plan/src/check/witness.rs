//! The lower bound's witness.

use std::collections::{BTreeSet, HashMap};

use super::{Violation, carries_value};
use crate::problem::{Home, OpId, Problem, ShareKind, TensorId};
use crate::solution::{Certificate, Witness};

/// Verifies that the bound holds for every plan.
pub(super) fn verify(problem: &Problem, certificate: &Certificate) -> Result<(), Violation> {
    let claimed = certificate.lower_bound;
    if claimed > certificate.arena {
        return Err(Violation::BoundAbovePlan { bound: claimed, arena: certificate.arena });
    }
    let proven = match &certificate.witness {
        Witness::None => 0,
        Witness::Step { op, tensors } => at_step(problem, *op, tensors)?,
        Witness::Cut { op, outside } => {
            if op.index() >= problem.ops().len() {
                return Err(Violation::WitnessName { what: format!("op {}", op.0) });
            }
            let writable = |t: &TensorId| problem.tensors().get(t.index()).is_some_and(|t| t.home == Home::Writable);
            if let Some(t) = outside.iter().find(|t| !writable(t)) {
                return Err(Violation::WitnessName { what: format!("writable tensor {}", t.0) });
            }
            super::cut::least_at(problem, *op, outside)
        }
        Witness::Exhaustive { ops, .. } => {
            let mut seen = BTreeSet::new();
            for o in ops {
                if o.index() >= problem.ops().len() || !seen.insert(*o) {
                    return Err(Violation::WitnessName { what: format!("op {}", o.0) });
                }
            }
            claimed
        }
    };
    if claimed > proven { Err(Violation::Bound { claimed, proven }) } else { Ok(()) }
}

/// The bytes that these tensors need while the op runs, in any order and with any shares.
fn at_step(problem: &Problem, op: OpId, tensors: &[TensorId]) -> Result<u64, Violation> {
    if op.index() >= problem.ops().len() {
        return Err(Violation::WitnessName { what: format!("op {}", op.0) });
    }
    let mut seen = BTreeSet::new();
    for t in tensors {
        if t.index() >= problem.tensors().len() || !seen.insert(*t) {
            return Err(Violation::WitnessName { what: format!("tensor {}", t.0) });
        }
    }
    let (before, after) = (reach(problem, op, Towards::Ancestors), reach(problem, op, Towards::Descendants));
    for t in tensors {
        if !surely_alive(problem, op, *t, &before, &after) {
            return Err(Violation::NotAlive {
                tensor: problem.tensor(*t).name.clone(),
                op: problem.op(op).name.clone(),
            });
        }
    }
    let layout = Layout::new(problem);
    let mut bytes = layout.least(problem, tensors);
    bytes = bytes.saturating_sub(in_place_saving(problem, op, tensors, &after));
    Ok(bytes + problem.padded(problem.op(op).workspace))
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Towards {
    Ancestors,
    Descendants,
}

/// The ops that must run before or after an op, itself excluded.
pub(super) fn reach(problem: &Problem, from: OpId, towards: Towards) -> Vec<bool> {
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

/// Whether every order keeps the tensor alive while the op runs.
fn surely_alive(problem: &Problem, op: OpId, t: TensorId, before: &[bool], after: &[bool]) -> bool {
    let tensor = problem.tensor(t);
    if tensor.pinned {
        return true;
    }
    let made = tensor.input || problem.producer(t).is_some_and(|p| p == op || before[p.index()]);
    let produced_here = problem.producer(t) == Some(op);
    let read = tensor.output || produced_here || problem.consumers(t).iter().any(|c| *c == op || after[c.index()]);
    made && read
}

/// Where tensors would lie in each other if every share that carries a value were taken.
struct Layout {
    /// Set of each tensor, and its position in it.
    of: Vec<(u32, i128)>,
    /// Whether the shares of a set agree with each other.
    agrees: Vec<bool>,
    /// Whether the set may leave the arena.
    external: Vec<bool>,
}

impl Layout {
    fn new(problem: &Problem) -> Self {
        let n = problem.tensors().len();
        let mut links: Vec<Vec<(TensorId, i128)>> = vec![Vec::new(); n];
        let mut ties: Vec<Vec<TensorId>> = vec![Vec::new(); n];
        for s in problem.shares() {
            if carries_value(s.kind) {
                links[s.outer.index()].push((s.inner, s.offset as i128));
                links[s.inner.index()].push((s.outer, -(s.offset as i128)));
            }
            ties[s.outer.index()].push(s.inner);
            ties[s.inner.index()].push(s.outer);
        }
        let mut of: Vec<Option<(u32, i128)>> = vec![None; n];
        let mut agrees = vec![true; n];
        for t in problem.tensor_ids() {
            if of[t.index()].is_some() {
                continue;
            }
            of[t.index()] = Some((t.0, 0));
            let mut stack = vec![(t, 0i128)];
            while let Some((u, at)) = stack.pop() {
                for (v, by) in &links[u.index()] {
                    match of[v.index()] {
                        None => {
                            of[v.index()] = Some((t.0, at + by));
                            stack.push((*v, at + by));
                        }
                        Some((_, p)) => agrees[t.index()] &= p == at + by,
                    }
                }
            }
        }
        // A tensor may leave the arena if any chain of shares, in place or not, leads to memory outside.
        let mut outside = vec![false; n];
        let mut stack: Vec<TensorId> =
            problem.tensor_ids().filter(|t| problem.tensor(*t).home != Home::Arena).collect();
        while let Some(t) = stack.pop() {
            if !std::mem::replace(&mut outside[t.index()], true) {
                stack.extend(&ties[t.index()]);
            }
        }
        let of: Vec<(u32, i128)> = of.into_iter().map(|o| o.unwrap_or((0, 0))).collect();
        let mut external = vec![false; n];
        for (t, o) in of.iter().enumerate() {
            external[o.0 as usize] |= outside[t];
        }
        Layout { of, agrees, external }
    }

    /// The least bytes that hold all these tensors at once: two tensors share a byte only where the layout says so.
    fn least(&self, problem: &Problem, tensors: &[TensorId]) -> u64 {
        let mut sets: HashMap<u32, Vec<(i128, i128)>> = HashMap::new();
        for t in tensors {
            let (set, at) = self.of[t.index()];
            if !self.external[set as usize] {
                sets.entry(set).or_default().push((at, at + problem.tensor(*t).size as i128));
            }
        }
        let mut bytes = 0;
        for (set, mut ranges) in sets {
            ranges.sort_unstable();
            let least = if self.agrees[set as usize] {
                let (mut sum, mut end) = (0, i128::MIN);
                for (from, to) in ranges {
                    sum += (to - from.max(end)).max(0);
                    end = end.max(to);
                }
                sum
            } else {
                ranges.iter().map(|r| r.1 - r.0).max().unwrap_or(0)
            };
            bytes += problem.padded(least as u64);
        }
        bytes
    }
}

/// The most bytes that outputs of the op can save by taking the place of its inputs.
fn in_place_saving(problem: &Problem, op: OpId, tensors: &[TensorId], after: &[bool]) -> u64 {
    let mut saving = 0;
    for y in tensors {
        let best = problem
            .shares()
            .iter()
            .filter(|s| s.kind == ShareKind::InPlace && s.op == op && s.inner == *y)
            .filter(|s| {
                let x = problem.tensor(s.outer);
                !x.output && !x.pinned && !problem.consumers(s.outer).iter().any(|c| after[c.index()])
            })
            .map(|s| problem.tensor(s.outer).size.min(problem.tensor(*y).size))
            .max();
        saving += problem.padded(best.unwrap_or(0));
    }
    saving
}
