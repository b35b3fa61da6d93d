//! The arena while ops run: which tensors are alive, and where.

use crate::problem::{Home, OpId, Problem, Share, ShareId, ShareKind, TensorId};

/// A state of the arena.
#[derive(Clone, Debug)]
pub(super) struct Memory<'p> {
    problem: &'p Problem,
    related: &'p Related,
    /// Tensors alive in the arena by address: first byte, end, tensor.
    pub(super) alive: Vec<(u64, u64, TensorId)>,
    /// Readers left of each tensor.
    left: Vec<u32>,
    /// Address of each tensor that was put somewhere.
    pub(super) address: Vec<Option<u64>>,
    /// A name of what is done and where everything lies.
    pub(super) name: u64,
    /// Highest end so far.
    pub(super) height: u64,
}

/// Shares by op and by tensor.
#[derive(Clone, Debug)]
pub(super) struct Related {
    /// By op that relates two tensors in the arena.
    pub(super) at: Vec<Vec<ShareId>>,
    /// By part: where it may lie in wholes made later.
    wholes: Vec<Vec<ShareId>>,
    /// By whole: its parts.
    parts: Vec<Vec<ShareId>>,
}

impl Related {
    pub(super) fn new(problem: &Problem) -> Self {
        let n = problem.tensors().len();
        let mut me = Related {
            at: vec![Vec::new(); problem.ops().len()],
            wholes: vec![Vec::new(); n],
            parts: vec![Vec::new(); n],
        };
        for id in problem.share_ids() {
            let s = problem.share(id);
            if [s.inner, s.outer].iter().any(|t| !in_arena(problem, *t)) {
                continue;
            }
            me.at[s.op.index()].push(id);
            if s.kind == ShareKind::Into {
                me.wholes[s.inner.index()].push(id);
                me.parts[s.outer.index()].push(id);
            }
        }
        me
    }
}

/// Whether the tensor needs bytes of the arena, if only for want of other memory.
pub(super) fn in_arena(problem: &Problem, t: TensorId) -> bool {
    let tensor = problem.tensor(t);
    tensor.home == Home::Arena && tensor.size > 0
}

/// A number for a thing done or placed, spread over all bits.
fn scramble(a: u64, b: u64) -> u64 {
    let mut x = a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.wrapping_add(1).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^ (x >> 29)
}

impl<'p> Memory<'p> {
    /// Before the first op; graph inputs in the arena are not supported.
    pub(super) fn new(problem: &'p Problem, related: &'p Related) -> Self {
        let left = problem.tensor_ids().map(|t| problem.consumers(t).len() as u32).collect();
        let address = vec![None; problem.tensors().len()];
        Memory { problem, related, alive: Vec::new(), left, address, name: 0, height: 0 }
    }

    fn size(&self, t: TensorId) -> u64 {
        self.problem.padded(self.problem.tensor(t).size)
    }

    /// Where a tensor is alive.
    fn at(&self, t: TensorId) -> Option<u64> {
        self.address[t.index()].filter(|_| self.alive.iter().any(|a| a.2 == t))
    }

    /// Whether `t` has no reader but this op.
    fn dies(&self, t: TensorId) -> bool {
        let tensor = self.problem.tensor(t);
        self.left[t.index()] == 1 && !tensor.output && !tensor.pinned
    }

    /// Bytes that are free again after an op.
    pub(super) fn freed(&self, op: OpId) -> u64 {
        let op = self.problem.op(op);
        let mut seen = Vec::new();
        for t in op.inputs.iter().filter(|t| in_arena(self.problem, **t) && self.dies(**t)) {
            if !seen.contains(t) {
                seen.push(*t);
            }
        }
        seen.into_iter().map(|t| self.size(t)).sum()
    }

    /// The places an op's output may take below a ceiling, each with the bytes that were free before and the shares that
    /// hold there.
    pub(super) fn places(&self, op: OpId, output: TensorId, ceiling: u64) -> Vec<Spot> {
        let size = self.size(output);
        let align = self.problem.tensor(output).align.max(self.problem.storage_align());
        let mut wanted: Vec<u64> = Vec::new();
        // Onto what it is made of.
        for id in &self.related.at[op.index()] {
            let s = self.problem.share(*id);
            let (made, at) = match s.kind {
                ShareKind::Into => (s.outer, self.at(s.inner).and_then(|a| a.checked_sub(s.offset))),
                _ => (s.inner, self.at(s.outer).map(|a| a + s.offset)),
            };
            if made == output {
                wanted.extend(at);
            }
        }
        // Beside the other parts of what it will be a part of.
        for id in &self.related.wholes[output.index()] {
            let s = self.problem.share(*id);
            for other in &self.related.parts[s.outer.index()] {
                let o = self.problem.share(*other);
                if o.inner != output {
                    wanted.extend(self.at(o.inner).and_then(|a| (a + s.offset).checked_sub(o.offset)));
                }
            }
        }
        // At either end of what is free.
        let mut end = 0;
        let gaps = self.alive.iter().map(|a| (a.0, a.1)).chain([(ceiling, ceiling)]);
        for (from, to) in gaps {
            if from >= end + size {
                wanted.extend([end.next_multiple_of(align), (from - size) / align * align]);
            }
            end = end.max(to);
        }
        wanted.sort_unstable();
        wanted.dedup();
        wanted.retain(|at| at.is_multiple_of(align) && at.saturating_add(size) <= ceiling);
        wanted.into_iter().filter_map(|at| self.spot(op, output, at)).collect()
    }

    /// What it means to put an op's output there; none if that overwrites something.
    fn spot(&self, op: OpId, output: TensorId, at: u64) -> Option<Spot> {
        let end = at + self.size(output);
        let mut shares = Vec::new();
        let mut same: Vec<(u64, u64)> = Vec::new();
        for id in &self.related.at[op.index()] {
            let s = self.problem.share(*id);
            let (made, read) = if s.kind == ShareKind::Into { (s.outer, s.inner) } else { (s.inner, s.outer) };
            let Some(there) = self.at(read).filter(|_| made == output) else { continue };
            let fits = match s.kind {
                ShareKind::Into => there == at + s.offset,
                ShareKind::View => there + s.offset == at,
                ShareKind::InPlace => there == at && self.dies(read) && self.alone(read, there),
            };
            if fits {
                shares.push(*id);
                same.push(match s.kind {
                    ShareKind::View => (at, end),
                    _ => (there, there + self.size(read)),
                });
            }
        }
        let mut used = 0;
        let mut reach = at;
        for (from, to, _) in self.alive.iter().filter(|a| a.0 < end && at < a.1) {
            let (from, to) = ((*from).max(at), (*to).min(end));
            if !same.iter().any(|s| s.0 <= from && to <= s.1) {
                return None;
            }
            used += to.saturating_sub(from.max(reach));
            reach = reach.max(to);
        }
        Some(Spot { at, fresh: end - at - used, shares })
    }

    /// Whether nothing else lies in the bytes of a tensor that lies there.
    fn alone(&self, t: TensorId, at: u64) -> bool {
        let end = at + self.size(t);
        self.alive.iter().all(|a| a.2 == t || a.1 <= at || end <= a.0)
    }

    /// Puts a tensor somewhere.
    pub(super) fn put(&mut self, t: TensorId, at: u64) {
        let end = at + self.size(t);
        let slot = self.alive.partition_point(|a| (a.0, a.1, a.2) < (at, end, t));
        self.alive.insert(slot, (at, end, t));
        self.address[t.index()] = Some(at);
        self.height = self.height.max(end);
        self.name ^= scramble(u64::from(t.0), at);
    }

    /// The op is over: what it read last is gone.
    pub(super) fn finish(&mut self, op: OpId) {
        let o = self.problem.op(op);
        for (i, t) in o.inputs.iter().enumerate() {
            if !o.inputs[..i].contains(t) {
                let gone = self.dies(*t);
                self.left[t.index()] -= 1;
                if gone {
                    self.drop(*t);
                }
            }
        }
        for t in &o.outputs {
            let tensor = self.problem.tensor(*t);
            if self.left[t.index()] == 0 && !tensor.output && !tensor.pinned {
                self.drop(*t);
            }
        }
        self.name ^= scramble(u64::from(op.0), u64::MAX - 1);
    }

    fn drop(&mut self, t: TensorId) {
        if let Some(i) = self.alive.iter().position(|a| a.2 == t) {
            self.name ^= scramble(u64::from(t.0), self.alive[i].0);
            self.alive.remove(i);
        }
    }
}

/// A place for an op's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// Byte address.
    pub(super) at: u64,
    /// Bytes that were free before.
    pub(super) fresh: u64,
    /// The shares that hold there.
    pub(super) shares: Vec<ShareId>,
}

/// Whether the search knows all that the problem asks for.
pub(super) fn plain(problem: &Problem) -> bool {
    let arena = |s: &&Share| in_arena(problem, s.inner) && in_arena(problem, s.outer);
    let odd = |t: TensorId| {
        let tensor = problem.tensor(t);
        in_arena(problem, t) && (tensor.input || tensor.pinned)
    };
    problem.ops().iter().all(|o| o.workspace == 0)
        && !problem
            .shares()
            .iter()
            .filter(arena)
            .any(|s| s.required || !s.offset.is_multiple_of(problem.storage_align()))
        && !problem.tensor_ids().any(odd)
}
