//! What an order costs, as the order search sees it.
//!
//! An atom (see [`super::atoms`]) is alive from the first of its makers to the last of its users, so the bytes alive depend
//! only on the set S of ops done: M(S) is the sum over the atoms with a maker in S and a user outside S. M is submodular,
//! which the search and the bounds rest on. Read backwards, users first, it is a model of the same kind.

use super::atoms::{Atom, atoms};
use crate::problem::{Problem, ShareKind, TensorId};

/// How to count where shares contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// As a plan would, more or less.
    Likely,
    /// Never more than any plan.
    AtMost,
}

/// A problem as ops and atoms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Model {
    /// Ops that come directly before each op.
    pub(crate) preds: Vec<Vec<u32>>,
    /// Ops that come directly after each op.
    pub(crate) succs: Vec<Vec<u32>>,
    /// Bytes of each atom.
    pub(crate) bytes: Vec<u64>,
    /// Atoms that each op makes, unless they are there already.
    pub(crate) makes: Vec<Vec<u32>>,
    /// Atoms that each op reads or makes, each once.
    pub(crate) uses: Vec<Vec<u32>>,
    /// Ops that make each atom.
    pub(crate) makers: Vec<Vec<u32>>,
    /// Ops that use each atom.
    pub(crate) users: Vec<Vec<u32>>,
    /// Atoms there before the first op.
    pub(crate) initial: Vec<bool>,
    /// Atoms kept to the end.
    pub(crate) kept: Vec<bool>,
    /// Atoms by whose deaths more can be saved than dies with them.
    pub(crate) fragile: Vec<bool>,
    /// Workspace of each op, padded.
    pub(crate) workspace: Vec<u64>,
    /// For each op which outputs may take which inputs' places.
    pub(crate) swaps: Vec<Vec<Swap>>,
    /// Whether time runs backwards.
    pub(crate) reversed: bool,
}

/// An output that may take an input's place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Swap {
    /// The atom that dies with the input; it may have no bytes.
    pub(crate) old: u32,
    /// The output, to tell the outputs of one op apart.
    pub(crate) output: u32,
    /// Bytes saved.
    pub(crate) saved: u64,
}

impl Model {
    /// The model of a problem.
    pub(crate) fn new(problem: &Problem, count: Count) -> Self {
        Model::counting(problem, count, &[])
    }

    /// The model of a problem that counts what is tied to these tensors wherever it lies.
    pub(crate) fn counting(problem: &Problem, count: Count, counted: &[TensorId]) -> Self {
        let n = problem.ops().len();
        let preds: Vec<Vec<u32>> =
            problem.predecessors().into_iter().map(|l| l.into_iter().map(|o| o.0).collect()).collect();
        let mut succs = vec![Vec::new(); n];
        for (o, list) in preds.iter().enumerate() {
            for p in list {
                succs[*p as usize].push(o as u32);
            }
        }
        let mut model = Model {
            preds,
            succs,
            makes: vec![Vec::new(); n],
            uses: vec![Vec::new(); n],
            workspace: problem.ops().iter().map(|o| problem.padded(o.workspace)).collect(),
            swaps: vec![Vec::new(); n],
            ..Model::default()
        };
        let mut of: Vec<Vec<u32>> = vec![Vec::new(); problem.tensors().len()];
        for atom in atoms(problem, count, counted) {
            let id = model.bytes.len() as u32;
            atom.around.iter().for_each(|t| of[t.index()].push(id));
            model.add(problem, &atom);
        }
        model.add_swaps(problem, &of);
        model.link();
        model
    }

    /// How many ops.
    pub(crate) fn len(&self) -> usize {
        self.preds.len()
    }

    /// The same with time running backwards: what was kept is there first, users come before makers.
    pub(crate) fn reversed(&self) -> Model {
        Model {
            preds: self.succs.clone(),
            succs: self.preds.clone(),
            bytes: self.bytes.clone(),
            makes: self.uses.clone(),
            uses: self.makes.clone(),
            makers: self.users.clone(),
            users: self.makers.clone(),
            initial: self.kept.clone(),
            kept: self.initial.clone(),
            fragile: self.fragile.clone(),
            workspace: self.workspace.clone(),
            swaps: self.swaps.clone(),
            reversed: !self.reversed,
        }
    }

    fn add(&mut self, problem: &Problem, atom: &Atom) {
        let id = self.bytes.len() as u32;
        self.bytes.push(atom.bytes);
        self.fragile.push(false);
        let tensors = || atom.around.iter().map(|t| problem.tensor(*t));
        self.kept.push(tensors().any(|t| t.output || t.pinned));
        self.initial.push(tensors().any(|t| t.input || t.pinned));
        for t in &atom.around {
            if let Some(p) = problem.producer(*t) {
                self.makes[p.index()].push(id);
                self.uses[p.index()].push(id);
            }
            for c in problem.consumers(*t) {
                self.uses[c.index()].push(id);
            }
        }
    }

    /// An output may take an input's place once the input itself has no reader left, even if a view of it lives on: the
    /// view might be a copy instead. Each such input gets an atom of no bytes that dies with its last reader.
    fn add_swaps(&mut self, problem: &Problem, of: &[Vec<u32>]) {
        let mut life = vec![None; problem.tensors().len()];
        let mut holders = vec![0u32; self.bytes.len()];
        of.iter().flatten().for_each(|a| holders[*a as usize] += 1);
        for s in problem.shares().iter().filter(|s| s.kind == ShareKind::InPlace) {
            let outer = problem.tensor(s.outer);
            let (old, new) = (&of[s.outer.index()], &of[s.inner.index()]);
            if old.is_empty() || new.is_empty() || outer.output || outer.pinned {
                continue;
            }
            let sum = |list: &[u32]| list.iter().map(|a| self.bytes[*a as usize]).sum::<u64>();
            let saved = sum(old).min(sum(new));
            let old = *life[s.outer.index()].get_or_insert_with(|| {
                let id = self.bytes.len() as u32;
                self.bytes.push(0);
                self.kept.push(false);
                self.fragile.push(false);
                self.initial.push(outer.input);
                for o in problem.consumers(s.outer).iter().copied().chain(problem.producer(s.outer)) {
                    self.uses[o.index()].push(id);
                }
                if let Some(p) = problem.producer(s.outer) {
                    self.makes[p.index()].push(id);
                }
                id
            });
            let again = self.swaps[s.op.index()].iter().any(|x| x.old == old && x.output != s.inner.0);
            let alone = of[s.outer.index()].iter().all(|a| holders[*a as usize] == 1);
            self.fragile[old as usize] |= again || !alone;
            self.swaps[s.op.index()].push(Swap { old, output: s.inner.0, saved });
        }
    }

    /// Fills the lists by atom from those by op.
    pub(crate) fn link(&mut self) {
        for list in self.uses.iter_mut().chain(&mut self.makes) {
            list.sort_unstable();
            list.dedup();
        }
        self.makers = vec![Vec::new(); self.bytes.len()];
        self.users = vec![Vec::new(); self.bytes.len()];
        for o in 0..self.len() {
            self.makes[o].iter().for_each(|a| self.makers[*a as usize].push(o as u32));
            self.uses[o].iter().for_each(|a| self.users[*a as usize].push(o as u32));
        }
    }
}
