//! The orders that others use, as baselines and as first answers.

use std::collections::VecDeque;

use crate::problem::{Home, OpId, Problem, TensorId};

/// A simple way to order a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simple {
    /// The order of the file.
    File,
    /// Depth first from the outputs, larger inputs first.
    Dfs,
    /// First ready, first run.
    Bfs,
    /// Least peak memory first: among ready ops that stay below the peak so far the one that leaves the fewest bytes
    /// alive, else the one that needs the fewest while it runs (PyTorch Inductor's `topological_sort_lpmf`).
    Lpmf,
}

impl Simple {
    /// All of them.
    pub const ALL: [Simple; 4] = [Simple::File, Simple::Dfs, Simple::Bfs, Simple::Lpmf];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Simple::File => "file order",
            Simple::Dfs => "depth first",
            Simple::Bfs => "breadth first",
            Simple::Lpmf => "least peak memory first",
        }
    }
}

/// All simple orders.
pub(crate) fn all(problem: &Problem) -> Vec<(Simple, Vec<OpId>)> {
    Simple::ALL.map(|rule| (rule, simple(problem, rule))).into()
}

/// The order by a simple rule.
pub fn simple(problem: &Problem, rule: Simple) -> Vec<OpId> {
    match rule {
        Simple::File => problem.file_order().to_vec(),
        Simple::Dfs => dfs(problem),
        Simple::Bfs => bfs(problem),
        Simple::Lpmf => lpmf(problem),
    }
}

fn successors(preds: &[Vec<OpId>]) -> Vec<Vec<OpId>> {
    let mut out = vec![Vec::new(); preds.len()];
    for (o, list) in preds.iter().enumerate() {
        for p in list {
            out[p.index()].push(OpId(o as u32));
        }
    }
    out
}

fn dfs(problem: &Problem) -> Vec<OpId> {
    let preds = problem.predecessors();
    let made = |o: OpId| -> u64 { problem.op(o).outputs.iter().map(|t| problem.tensor(*t).size).sum() };
    let mut has_successor = vec![false; preds.len()];
    for p in preds.iter().flatten() {
        has_successor[p.index()] = true;
    }
    let mut done = vec![false; preds.len()];
    let mut order = Vec::with_capacity(preds.len());
    // An entry is an op and whether its predecessors were already pushed.
    let mut stack: Vec<(OpId, bool)> =
        problem.op_ids().rev().filter(|o| !has_successor[o.index()]).map(|o| (o, false)).collect();
    while let Some((o, ready)) = stack.pop() {
        if done[o.index()] {
            continue;
        }
        if ready {
            done[o.index()] = true;
            order.push(o);
            continue;
        }
        stack.push((o, true));
        let mut first: Vec<OpId> = preds[o.index()].iter().copied().filter(|p| !done[p.index()]).collect();
        first.sort_by_key(|p| (made(*p), std::cmp::Reverse(*p)));
        stack.extend(first.into_iter().map(|p| (p, false)));
    }
    order
}

fn bfs(problem: &Problem) -> Vec<OpId> {
    let preds = problem.predecessors();
    let succs = successors(&preds);
    let mut waiting: Vec<usize> = preds.iter().map(Vec::len).collect();
    let mut queue: VecDeque<OpId> = problem.op_ids().filter(|o| waiting[o.index()] == 0).collect();
    let mut order = Vec::with_capacity(preds.len());
    while let Some(o) = queue.pop_front() {
        order.push(o);
        for s in &succs[o.index()] {
            waiting[s.index()] -= 1;
            if waiting[s.index()] == 0 {
                queue.push_back(*s);
            }
        }
    }
    order
}

fn lpmf(problem: &Problem) -> Vec<OpId> {
    let preds = problem.predecessors();
    let succs = successors(&preds);
    let size = |t: TensorId| if problem.tensor(t).home == Home::Arena { problem.tensor(t).size } else { 0 };
    let mut waiting: Vec<usize> = preds.iter().map(Vec::len).collect();
    let mut readers: Vec<usize> = problem.tensor_ids().map(|t| problem.consumers(t).len()).collect();
    let mut ready: Vec<OpId> = problem.op_ids().filter(|o| waiting[o.index()] == 0).collect();
    let mut live: u64 = problem.tensor_ids().filter(|t| problem.tensor(*t).input).map(size).sum();
    let mut peak = live;
    let mut order = Vec::with_capacity(preds.len());
    // Bytes while an op runs and bytes after it.
    let weigh = |o: OpId, live: u64, readers: &[usize]| -> (u64, u64) {
        let op = problem.op(o);
        let mut during = live + op.outputs.iter().map(|t| size(*t)).sum::<u64>();
        let mut inputs = op.inputs.clone();
        inputs.sort_unstable();
        inputs.dedup();
        let kept = |t: &TensorId| problem.tensor(*t).output || problem.tensor(*t).pinned;
        let freed: u64 = inputs.iter().filter(|t| readers[t.index()] == 1 && !kept(t)).map(|t| size(*t)).sum();
        let unused: u64 = op.outputs.iter().filter(|t| readers[t.index()] == 0 && !kept(t)).map(|t| size(*t)).sum();
        let after = during - freed.min(during) - unused.min(during - freed.min(during));
        during += op.workspace;
        (during, after)
    };
    while !ready.is_empty() {
        let best = (0..ready.len())
            .min_by_key(|i| {
                let (during, after) = weigh(ready[*i], live, &readers);
                if during <= peak { (0, after, ready[*i]) } else { (1, during, ready[*i]) }
            })
            .unwrap_or(0);
        let o = ready.swap_remove(best);
        let (during, after) = weigh(o, live, &readers);
        peak = peak.max(during);
        live = after;
        let mut inputs = problem.op(o).inputs.clone();
        inputs.sort_unstable();
        inputs.dedup();
        for t in inputs {
            readers[t.index()] -= 1;
        }
        order.push(o);
        for s in &succs[o.index()] {
            waiting[s.index()] -= 1;
            if waiting[s.index()] == 0 {
                ready.push(*s);
            }
        }
    }
    order
}
