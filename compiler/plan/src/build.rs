//! From a builder to a checked problem: every mistake is one clear line that names the op or tensor.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::problem::{Home, Op, OpId, Problem, ProblemBuilder, Share, ShareKind, Tensor, TensorId};

/// All sizes and workspaces together stay below this, so that no sum of theirs can overflow.
pub const MAX_TOTAL_BYTES: u64 = 1 << 62;

/// Why a problem is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", self.before())]
pub struct ProblemError {
    message: String,
    /// Line and column of a file, from 1; no column where a whole line is at fault.
    place: Option<(usize, Option<usize>)>,
}

impl ProblemError {
    /// An error of one line, whatever the names in it hold.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        let message: String = message.into();
        let plain = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
        let (mut line, mut rest) = (String::new(), message.chars());
        line.extend(rest.by_ref().take(500).map(plain));
        if rest.next().is_some() {
            line.push_str(" ...");
        }
        ProblemError { message: line, place: None }
    }

    /// The same error at a place of a file.
    pub(crate) fn at(self, line: usize, column: Option<usize>) -> Self {
        ProblemError { place: Some((line, column)), ..self }
    }

    /// As compilers write it, after the file's name: `table.csv:3: ...`, `problem.json:2:36: ...`.
    pub fn in_file(&self, file: impl std::fmt::Display) -> String {
        match self.place {
            Some((line, Some(column))) => format!("{file}:{line}:{column}: {}", self.message),
            Some((line, None)) => format!("{file}:{line}: {}", self.message),
            None => format!("{file}: {}", self.message),
        }
    }

    fn before(&self) -> String {
        match self.place {
            Some((line, Some(column))) => format!("line {line}, column {column}: "),
            Some((line, None)) => format!("line {line}: "),
            None => String::new(),
        }
    }
}

impl ProblemBuilder {
    /// Checks everything and makes the problem.
    ///
    /// # Errors
    /// Unknown ids, a tensor made twice or read before anybody makes it, a cycle, alignments that are no power of two,
    /// sizes whose sum passes [`MAX_TOTAL_BYTES`], shares that do not fit their op.
    pub fn build(self) -> Result<Problem, ProblemError> {
        let ProblemBuilder { mut ops, mut tensors, shares, mut edges, storage_align } = self;
        let storage_align = storage_align.max(1);
        if ops.len() >= u32::MAX as usize || tensors.len() >= u32::MAX as usize || shares.len() >= u32::MAX as usize {
            return Err(ProblemError::new("a problem holds at most 2^32 - 2 ops, tensors and shares"));
        }
        check_sizes(&ops, &mut tensors, storage_align)?;
        let producer = producers(&ops, &tensors)?;
        let consumers = consumers(&ops, tensors.len());
        for op in &mut ops {
            op.outputs.shrink_to_fit();
        }
        for s in &shares {
            check_share(s, &ops, &tensors)?;
        }
        for (a, b) in &edges {
            for id in [a, b] {
                if id.index() >= ops.len() {
                    return Err(ProblemError::new(format!(
                        "order edge to op {}, but there are {} ops",
                        id.0,
                        ops.len()
                    )));
                }
            }
            if a == b {
                return Err(ProblemError::new(format!("op '{}' has an order edge to itself", ops[a.index()].name)));
            }
        }
        add_in_place_edges(&shares, &consumers, &mut edges);
        edges.sort_unstable();
        edges.dedup();
        let mut problem =
            Problem { ops, tensors, shares, edges, storage_align, producer, consumers, file_order: Vec::new() };
        problem.file_order = topological(&problem)?;
        Ok(problem)
    }
}

fn check_sizes(ops: &[Op], tensors: &mut [Tensor], storage_align: u64) -> Result<(), ProblemError> {
    if !storage_align.is_power_of_two() || storage_align > 1 << 30 {
        return Err(ProblemError::new(format!("storage alignment {storage_align} is no power of two up to 2^30")));
    }
    let mut total: u64 = 0;
    let too_much = |what: &str, name: &str, bytes: u64| {
        ProblemError::new(format!(
            "{what} '{name}' of {bytes} bytes takes the sum of all sizes past 2^62; check its size"
        ))
    };
    for t in tensors.iter_mut() {
        t.align = t.align.max(1);
        if !t.align.is_power_of_two() || t.align > 1 << 30 {
            return Err(ProblemError::new(format!(
                "tensor '{}': alignment {} is no power of two up to 2^30",
                t.name, t.align
            )));
        }
        if t.pinned && t.home != Home::Arena {
            return Err(ProblemError::new(format!(
                "tensor '{}' is pinned but lies outside the arena; drop one of the two",
                t.name
            )));
        }
        if t.home == Home::ReadOnly && !t.input {
            return Err(ProblemError::new(format!(
                "tensor '{}' lies in read-only memory but is no graph input, so nobody could write it",
                t.name
            )));
        }
        let slack = storage_align.max(t.align);
        total = t
            .size
            .checked_add(slack)
            .and_then(|b| total.checked_add(b))
            .filter(|b| *b <= MAX_TOTAL_BYTES)
            .ok_or_else(|| too_much("tensor", &t.name, t.size))?;
    }
    for op in ops.iter().filter(|o| o.workspace > 0) {
        total = op
            .workspace
            .checked_add(storage_align)
            .and_then(|b| total.checked_add(b))
            .filter(|b| *b <= MAX_TOTAL_BYTES)
            .ok_or_else(|| too_much("workspace of op", &op.name, op.workspace))?;
    }
    let mut time: u64 = 0;
    for op in ops {
        time = time.checked_add(op.time).filter(|t| *t <= MAX_TOTAL_BYTES).ok_or_else(|| {
            ProblemError::new(format!("op '{}' of time {} takes the sum of all times past 2^62", op.name, op.time))
        })?;
    }
    Ok(())
}

fn producers(ops: &[Op], tensors: &[Tensor]) -> Result<Vec<Option<OpId>>, ProblemError> {
    let mut producer: Vec<Option<OpId>> = vec![None; tensors.len()];
    let known = |op: &Op, t: TensorId| {
        tensors.get(t.index()).ok_or_else(|| {
            ProblemError::new(format!("op '{}' names tensor {}, but there are {} tensors", op.name, t.0, tensors.len()))
        })
    };
    for (o, op) in ops.iter().enumerate() {
        for t in &op.outputs {
            let tensor = known(op, *t)?;
            if let Some(first) = producer[t.index()] {
                return Err(ProblemError::new(format!(
                    "tensor '{}' is made by op '{}' and again by op '{}'",
                    tensor.name,
                    ops[first.index()].name,
                    op.name
                )));
            }
            if tensor.input {
                return Err(ProblemError::new(format!(
                    "tensor '{}' is a graph input, but op '{}' makes it",
                    tensor.name, op.name
                )));
            }
            producer[t.index()] = Some(OpId(o as u32));
        }
    }
    for op in ops {
        for t in &op.inputs {
            let tensor = known(op, *t)?;
            if producer[t.index()].is_none() && !tensor.input {
                return Err(ProblemError::new(format!(
                    "op '{}' reads tensor '{}', which no op makes; mark it as an input or add the op",
                    op.name, tensor.name
                )));
            }
        }
    }
    for (t, tensor) in tensors.iter().enumerate() {
        if producer[t].is_none() && !tensor.input {
            return Err(ProblemError::new(format!(
                "tensor '{}' is made by no op and is no graph input; mark it as an input or drop it",
                tensor.name
            )));
        }
    }
    Ok(producer)
}

fn consumers(ops: &[Op], tensors: usize) -> Vec<Vec<OpId>> {
    let mut consumers: Vec<Vec<OpId>> = vec![Vec::new(); tensors];
    for (o, op) in ops.iter().enumerate() {
        for t in &op.inputs {
            let list = &mut consumers[t.index()];
            if list.last() != Some(&OpId(o as u32)) {
                list.push(OpId(o as u32));
            }
        }
    }
    consumers
}

fn check_share(s: &Share, ops: &[Op], tensors: &[Tensor]) -> Result<(), ProblemError> {
    let Some(op) = ops.get(s.op.index()) else {
        return Err(ProblemError::new(format!("a share names op {}, but there are {} ops", s.op.0, ops.len())));
    };
    let (Some(inner), Some(outer)) = (tensors.get(s.inner.index()), tensors.get(s.outer.index())) else {
        return Err(ProblemError::new(format!(
            "a share of op '{}' names a tensor past the {} there are",
            op.name,
            tensors.len()
        )));
    };
    let what = format!("share of '{}' and '{}' at op '{}'", inner.name, outer.name, op.name);
    let (made, read, word) = match s.kind {
        ShareKind::View | ShareKind::InPlace => (s.inner, s.outer, "inner"),
        ShareKind::Into => (s.outer, s.inner, "outer"),
    };
    if !op.outputs.contains(&made) || !op.inputs.contains(&read) {
        return Err(ProblemError::new(format!("{what}: the op must make the {word} tensor and read the other")));
    }
    if s.kind == ShareKind::InPlace {
        if s.offset != 0 {
            return Err(ProblemError::new(format!("{what}: an in-place share has offset 0, not {}", s.offset)));
        }
        if inner.size > outer.size {
            return Err(ProblemError::new(format!(
                "{what}: '{}' has {} bytes and cannot take the place of the {} bytes of '{}'",
                inner.name, inner.size, outer.size, outer.name
            )));
        }
        if outer.home == Home::ReadOnly || outer.pinned {
            return Err(ProblemError::new(format!(
                "{what}: '{}' is read-only or pinned and cannot be overwritten",
                outer.name
            )));
        }
    } else if s.offset.checked_add(inner.size).is_none_or(|end| end > outer.size) {
        return Err(ProblemError::new(format!(
            "{what}: bytes {} to {} + {} reach past the {} bytes of '{}'",
            s.offset, s.offset, inner.size, outer.size, outer.name
        )));
    }
    Ok(())
}

/// A required in-place share overwrites its input, so all other readers of the input and of its views come first.
fn add_in_place_edges(shares: &[Share], consumers: &[Vec<OpId>], edges: &mut Vec<(OpId, OpId)>) {
    let mut views: Vec<Vec<TensorId>> = vec![Vec::new(); consumers.len()];
    for v in shares.iter().filter(|v| v.required && v.kind == ShareKind::View) {
        views[v.outer.index()].push(v.inner);
    }
    let mut met = vec![usize::MAX; consumers.len()];
    for (i, s) in shares.iter().enumerate().filter(|s| s.1.required && s.1.kind == ShareKind::InPlace) {
        let mut stack = vec![s.outer];
        while let Some(t) = stack.pop() {
            if std::mem::replace(&mut met[t.index()], i) == i {
                continue;
            }
            edges.extend(consumers[t.index()].iter().filter(|c| **c != s.op).map(|c| (*c, s.op)));
            stack.extend(&views[t.index()]);
        }
    }
}

/// The topological order nearest to the order of the file: always the first op of the file that may run.
fn topological(problem: &Problem) -> Result<Vec<OpId>, ProblemError> {
    let preds = problem.predecessors();
    let mut waiting: Vec<usize> = preds.iter().map(Vec::len).collect();
    let mut successors: Vec<Vec<OpId>> = vec![Vec::new(); preds.len()];
    for (o, list) in preds.iter().enumerate() {
        for p in list {
            successors[p.index()].push(OpId(o as u32));
        }
    }
    let mut ready: BinaryHeap<Reverse<OpId>> =
        problem.op_ids().filter(|o| waiting[o.index()] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(preds.len());
    while let Some(Reverse(o)) = ready.pop() {
        order.push(o);
        for s in &successors[o.index()] {
            waiting[s.index()] -= 1;
            if waiting[s.index()] == 0 {
                ready.push(Reverse(*s));
            }
        }
    }
    if order.len() == preds.len() { Ok(order) } else { Err(cycle(problem, &preds)) }
}

fn cycle(problem: &Problem, preds: &[Vec<OpId>]) -> ProblemError {
    let mut graph: DiGraph<OpId, ()> = DiGraph::new();
    let nodes: Vec<NodeIndex> = problem.op_ids().map(|o| graph.add_node(o)).collect();
    for (o, list) in preds.iter().enumerate() {
        for p in list {
            graph.add_edge(nodes[p.index()], nodes[o], ());
        }
    }
    let knot =
        tarjan_scc(&graph).into_iter().find(|c| c.len() > 1 || graph.contains_edge(c[0], c[0])).unwrap_or_default();
    let mut names: Vec<&str> = knot.iter().map(|n| problem.op(graph[*n]).name.as_str()).collect();
    names.sort_unstable();
    let shown = names.iter().take(5).map(|n| format!("'{n}'")).collect::<Vec<_>>().join(", ");
    let more = if names.len() > 5 { format!(" and {} more", names.len() - 5) } else { String::new() };
    ProblemError::new(format!("the ops form a cycle through {shown}{more}; no order can run them"))
}
