//! What an order costs, as the order search sees it.
//!
//! Where tensors may lie in each other (views, parts of a concatenation) their bytes are cut into *atoms*, ranges that the
//! same tensors cover. An atom is alive from the first of its makers to the last of its users, so the bytes alive depend
//! only on the set S of ops done: M(S) is the sum over the atoms with a maker in S and a user outside S. M is submodular,
//! which the search and the bounds rest on. Where shares are optional the model takes all of them, so it never counts more
//! than a plan needs; where they contradict each other it takes the first (or, for bounds, counts less).

use crate::problem::{Home, Problem, ShareKind, TensorId};

/// How to count where shares contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// As a plan would, more or less.
    Likely,
    /// Never more than any plan.
    AtMost,
}

/// A problem as ops and atoms.
#[derive(Clone, Debug, PartialEq)]
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
    /// How many ops use each atom; one more if it is kept to the end.
    pub(crate) users: Vec<u32>,
    /// Atoms there before the first op.
    pub(crate) initial: Vec<u32>,
    /// Workspace of each op, padded.
    pub(crate) workspace: Vec<u64>,
    /// For each op which outputs may take which inputs' places.
    pub(crate) swaps: Vec<Vec<Swap>>,
}

/// An output that may take an input's place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Swap {
    /// The atom that dies with the input.
    pub(crate) old: u32,
    /// The output, to tell the outputs of one op apart.
    pub(crate) output: u32,
    /// Bytes saved.
    pub(crate) saved: u64,
}

impl Model {
    /// The model of a problem.
    pub(crate) fn new(problem: &Problem, count: Count) -> Self {
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
            bytes: Vec::new(),
            makes: vec![Vec::new(); n],
            uses: vec![Vec::new(); n],
            users: Vec::new(),
            initial: Vec::new(),
            workspace: problem.ops().iter().map(|o| problem.padded(o.workspace)).collect(),
            swaps: vec![Vec::new(); n],
        };
        let layout = Layout::new(problem, count);
        let atoms = model.cut(problem, &layout, count);
        model.add_swaps(problem, &atoms);
        model
    }

    /// How many ops.
    pub(crate) fn len(&self) -> usize {
        self.preds.len()
    }

    /// Cuts each component into atoms; returns the atoms of each tensor.
    fn cut(&mut self, problem: &Problem, layout: &Layout, count: Count) -> Vec<Vec<u32>> {
        let mut atoms = vec![Vec::new(); problem.tensors().len()];
        for component in &layout.components {
            let members: Vec<TensorId> =
                component.members.iter().copied().filter(|t| problem.tensor(*t).size > 0).collect();
            if component.external || members.is_empty() {
                continue;
            }
            if !component.agrees && count == Count::AtMost {
                let least = members.iter().map(|t| problem.tensor(*t).size).min().unwrap_or(0);
                let atom = self.atom(problem, problem.padded(least), &members);
                members.iter().for_each(|t| atoms[t.index()].push(atom));
                continue;
            }
            let unit = problem.storage_align() as i64;
            let base = members.iter().map(|t| layout.position[t.index()]).min().unwrap_or(0);
            // Padding outward is exact where every member starts at the alignment; elsewhere it could count too much.
            let aligned = members.iter().all(|t| (layout.position[t.index()] - base) % unit == 0);
            let range = |t: TensorId| {
                let from = layout.position[t.index()] - base;
                let to = from + problem.tensor(t).size as i64;
                (from, if aligned { (to + unit - 1) / unit * unit } else { to })
            };
            let mut cuts: Vec<i64> = members.iter().flat_map(|t| [range(*t).0, range(*t).1]).collect();
            cuts.sort_unstable();
            cuts.dedup();
            for pair in cuts.windows(2) {
                let around: Vec<TensorId> =
                    members.iter().copied().filter(|t| range(*t).0 <= pair[0] && pair[1] <= range(*t).1).collect();
                if around.is_empty() {
                    continue;
                }
                let atom = self.atom(problem, (pair[1] - pair[0]) as u64, &around);
                around.iter().for_each(|t| atoms[t.index()].push(atom));
            }
        }
        for list in self.uses.iter_mut().chain(&mut self.makes) {
            list.sort_unstable();
            list.dedup();
        }
        for atom in self.uses.iter().flatten() {
            self.users[*atom as usize] += 1;
        }
        atoms
    }

    fn atom(&mut self, problem: &Problem, bytes: u64, around: &[TensorId]) -> u32 {
        let id = self.bytes.len() as u32;
        self.bytes.push(bytes);
        let kept = around.iter().any(|t| problem.tensor(*t).output || problem.tensor(*t).pinned);
        self.users.push(u32::from(kept));
        if around.iter().any(|t| problem.tensor(*t).input || problem.tensor(*t).pinned) {
            self.initial.push(id);
        }
        for t in around {
            if let Some(p) = problem.producer(*t) {
                self.makes[p.index()].push(id);
                self.uses[p.index()].push(id);
            }
            for c in problem.consumers(*t) {
                self.uses[c.index()].push(id);
            }
        }
        id
    }

    /// An output may take an input's place once the input itself has no reader left, even if a view of it lives on: the
    /// view might be a copy instead. Each such input gets an atom of no bytes that dies with its last reader.
    fn add_swaps(&mut self, problem: &Problem, atoms: &[Vec<u32>]) {
        let mut life = vec![None; problem.tensors().len()];
        for s in problem.shares().iter().filter(|s| s.kind == ShareKind::InPlace) {
            let outer = problem.tensor(s.outer);
            let (old, new) = (&atoms[s.outer.index()], &atoms[s.inner.index()]);
            if old.is_empty() || new.is_empty() || outer.output || outer.pinned {
                continue;
            }
            let sum = |list: &[u32]| list.iter().map(|a| self.bytes[*a as usize]).sum::<u64>();
            let saved = sum(old).min(sum(new));
            let old = *life[s.outer.index()].get_or_insert_with(|| {
                let id = self.bytes.len() as u32;
                self.bytes.push(0);
                self.users.push(0);
                for o in problem.consumers(s.outer).iter().copied().chain(problem.producer(s.outer)) {
                    self.uses[o.index()].push(id);
                    self.users[id as usize] += 1;
                }
                id
            });
            self.swaps[s.op.index()].push(Swap { old, output: s.inner.0, saved });
        }
    }
}

/// Tensors that shares of equal value may tie together, and where they would lie in each other.
struct Layout {
    position: Vec<i64>,
    components: Vec<Component>,
}

struct Component {
    members: Vec<TensorId>,
    /// Whether all shares within agree on positions.
    agrees: bool,
    /// Whether it lies (or may lie) outside the arena.
    external: bool,
}

impl Layout {
    fn new(problem: &Problem, count: Count) -> Self {
        let n = problem.tensors().len();
        let mut ties = Ties { parent: (0..n as u32).collect(), distance: vec![0; n] };
        let mut quarrels = Vec::new();
        let mut shares: Vec<_> = problem.shares().iter().filter(|s| s.kind != ShareKind::InPlace).collect();
        shares.sort_by_key(|s| !s.required);
        for s in shares {
            if !ties.tie(s.inner.0, s.outer.0, s.offset as i64) {
                quarrels.push(s.inner.0);
            }
        }
        let mut slot = vec![usize::MAX; n];
        let mut components: Vec<Component> = Vec::new();
        let (mut position, mut of) = (vec![0; n], vec![0; n]);
        for t in problem.tensor_ids() {
            let (root, at) = ties.find(t.0);
            if slot[root as usize] == usize::MAX {
                slot[root as usize] = components.len();
                components.push(Component { members: Vec::new(), agrees: true, external: false });
            }
            of[t.index()] = slot[root as usize];
            position[t.index()] = at;
            let component = &mut components[slot[root as usize]];
            component.members.push(t);
            component.external |= problem.tensor(t).home != Home::Arena;
        }
        for q in quarrels {
            components[of[q as usize]].agrees = false;
        }
        spread_outside(problem, count, &of, &mut components);
        Layout { position, components }
    }
}

/// What an output outside the arena may take the place of may lie outside itself.
fn spread_outside(problem: &Problem, count: Count, of: &[usize], components: &mut [Component]) {
    let mut filled = vec![false; problem.tensors().len()];
    loop {
        let mut changed = false;
        for s in problem.shares().iter().rev().filter(|s| s.kind == ShareKind::InPlace) {
            let (outer, inner) = (of[s.outer.index()], of[s.inner.index()]);
            let x = problem.tensor(s.outer);
            let taken = filled[s.inner.index()] && count == Count::Likely;
            if components[inner].external && !components[outer].external && !x.output && !x.pinned && !taken {
                components[outer].external = true;
                filled[s.inner.index()] = true;
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

struct Ties {
    parent: Vec<u32>,
    distance: Vec<i64>,
}

impl Ties {
    fn find(&self, mut t: u32) -> (u32, i64) {
        let mut at = 0;
        while self.parent[t as usize] != t {
            at += self.distance[t as usize];
            t = self.parent[t as usize];
        }
        (t, at)
    }

    /// Ties `inner` at `offset` bytes into `outer`; false if they are tied otherwise already.
    fn tie(&mut self, inner: u32, outer: u32, offset: i64) -> bool {
        let ((ri, pi), (ro, po)) = (self.find(inner), self.find(outer));
        if ri == ro {
            return pi == po + offset;
        }
        self.parent[ri as usize] = ro;
        self.distance[ri as usize] = po + offset - pi;
        true
    }
}

/// The largest saving of each output; ops have few.
#[derive(Default)]
struct SmallPairs {
    pairs: Vec<(u32, u64)>,
    sum: u64,
}

impl SmallPairs {
    fn raise(&mut self, output: u32, saved: u64) {
        match self.pairs.iter_mut().find(|p| p.0 == output) {
            Some(p) => {
                self.sum += saved.saturating_sub(p.1);
                p.1 = p.1.max(saved);
            }
            None => {
                self.pairs.push((output, saved));
                self.sum += saved;
            }
        }
    }
}

/// A set of ops done, and what is alive after them.
#[derive(Clone, Debug)]
pub(crate) struct State<'m> {
    model: &'m Model,
    /// Makers of each atom done; initial atoms begin at 1.
    made: Vec<u32>,
    /// Users of each atom not yet done.
    left: Vec<u32>,
    /// Bytes alive.
    pub(crate) memory: u64,
    /// Direct predecessors of each op not yet done.
    pub(crate) waiting: Vec<u32>,
    /// Ops done.
    pub(crate) done: Vec<bool>,
}

impl<'m> State<'m> {
    /// Nothing done.
    pub(crate) fn new(model: &'m Model) -> Self {
        let mut made = vec![0; model.bytes.len()];
        let mut memory = 0;
        for a in &model.initial {
            made[*a as usize] = 1;
            if model.users[*a as usize] > 0 {
                memory += model.bytes[*a as usize];
            }
        }
        State {
            model,
            made,
            left: model.users.clone(),
            memory,
            waiting: model.preds.iter().map(|p| p.len() as u32).collect(),
            done: vec![false; model.len()],
        }
    }

    /// Bytes alive while an op runs next, and after it.
    pub(crate) fn weigh(&self, op: usize) -> (u64, u64) {
        let m = self.model;
        let born: u64 = m.makes[op].iter().filter(|a| self.made[**a as usize] == 0).map(|a| m.bytes[*a as usize]).sum();
        let dead: u64 = m.uses[op].iter().filter(|a| self.left[**a as usize] == 1).map(|a| m.bytes[*a as usize]).sum();
        let full = self.memory + born;
        (full + m.workspace[op] - self.saved(op).min(born), full - dead)
    }

    /// Whether an atom has been made.
    pub(crate) fn alive(&self, atom: u32) -> bool {
        self.made[atom as usize] > 0
    }

    /// Users of an atom not yet done.
    pub(crate) fn left_of(&self, atom: u32) -> u32 {
        self.left[atom as usize]
    }

    /// Bytes that outputs save by taking the places of inputs that die.
    fn saved(&self, op: usize) -> u64 {
        let swaps = &self.model.swaps[op];
        if swaps.is_empty() {
            return 0;
        }
        // The best input of each output; that two outputs may want one input is left to the plan.
        let mut best: SmallPairs = SmallPairs::default();
        for s in swaps {
            if self.left[s.old as usize] == 1 {
                best.raise(s.output, s.saved);
            }
        }
        best.sum
    }

    /// Does an op; says how many bytes are alive while it runs.
    pub(crate) fn run(&mut self, op: usize) -> u64 {
        let (during, after) = self.weigh(op);
        let m = self.model;
        for a in &m.makes[op] {
            self.made[*a as usize] += 1;
        }
        for a in &m.uses[op] {
            self.left[*a as usize] -= 1;
        }
        self.memory = after;
        self.done[op] = true;
        for s in &m.succs[op] {
            self.waiting[*s as usize] -= 1;
        }
        during
    }

    /// Takes back the op done last; `before` is the memory there was before it.
    pub(crate) fn back(&mut self, op: usize, before: u64) {
        let m = self.model;
        for a in &m.makes[op] {
            self.made[*a as usize] -= 1;
        }
        for a in &m.uses[op] {
            self.left[*a as usize] += 1;
        }
        self.memory = before;
        self.done[op] = false;
        for s in &m.succs[op] {
            self.waiting[*s as usize] += 1;
        }
    }
}
