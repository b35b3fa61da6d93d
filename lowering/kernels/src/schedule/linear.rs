//! Nests with row-major offsets instead of index tuples, and adjacent iterators merged where memory allows.

use neap_optable::Dim;

use crate::affine::{Affine, Space};
use crate::ir::{Access, Buffer, BufferId, Combine, Effect, Index, Iter, Kernel, Nest, OpId, Scalar, ScalarOp};

/// An access as an element offset.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Which buffer.
    pub buffer: BufferId,
    /// Element offset.
    pub offset: Affine,
    /// Indices that may fall outside [0, size), with what a read gives there.
    pub guards: Vec<(Affine, Dim)>,
    /// What a read outside gives.
    pub outside: Option<Scalar>,
}

/// As [`Effect`].
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "as in `ir::Effect`")]
pub enum Action {
    Store { to: Place, value: OpId, when: Option<OpId> },
    StoreAt { to: BufferId, index: Vec<OpId>, value: OpId, when: Option<OpId> },
    Reduce { to: Place, combine: Combine, value: OpId, second: Option<OpId> },
}

/// As [`Nest`].
#[derive(Clone, Debug, PartialEq)]
pub struct LoopNest {
    /// Own iterators.
    pub iters: Vec<Iter>,
    /// Reads.
    pub reads: Vec<Place>,
    /// Scalar body.
    pub ops: Vec<ScalarOp>,
    /// Results.
    pub actions: Vec<Action>,
}

/// Nests under shared outer iterators.
#[derive(Clone, Debug, PartialEq)]
pub struct Loops {
    /// Outer iterators, parallel ones first.
    pub outer: Vec<Iter>,
    /// Nests in order.
    pub nests: Vec<LoopNest>,
}

impl Loops {
    /// Nests of a kernel under the given outer iterators.
    pub fn new(kernel: &Kernel, outer: &[Iter], nests: &[Nest]) -> Self {
        let nests = nests.iter().map(|n| linear_nest(n, outer, &kernel.buffers)).collect();
        let mut loops = Loops { outer: outer.to_vec(), nests };
        loops.merge();
        loops
    }

    /// All iterators in the scope of a nest.
    pub fn space(&self, nest: &LoopNest) -> Space {
        Space::new(&self.outer, &nest.iters)
    }

    /// Merges adjacent iterators of one kind that all accesses step through as one.
    fn merge(&mut self) {
        let mut i = 0;
        while i + 1 < self.outer.len() {
            let (a, b) = (&self.outer[i], &self.outer[i + 1]);
            if a.kind == b.kind && self.nests.iter().all(|n| n.merges(i, &b.extent)) {
                let extent = a.extent.mul(&b.extent);
                self.outer.remove(i);
                self.outer[i].extent = extent;
                self.nests.iter_mut().for_each(|n| n.renumber(i));
            } else {
                i += 1;
            }
        }
        let first = self.outer.len();
        for n in &mut self.nests {
            let mut i = 0;
            while i + 1 < n.iters.len() {
                let (a, b) = (&n.iters[i], &n.iters[i + 1]);
                // The index that an arg-reduction finds is that of its one iterator.
                let arg = n.actions.iter().any(|a| matches!(a, Action::Reduce { combine: Combine::Arg(..), .. }));
                if a.kind == b.kind && !arg && n.merges(first + i, &b.extent) {
                    let extent = a.extent.mul(&b.extent);
                    n.iters.remove(i);
                    n.iters[i].extent = extent;
                    n.renumber(first + i);
                } else {
                    i += 1;
                }
            }
        }
    }
}

fn linear_nest(n: &Nest, outer: &[Iter], buffers: &[Buffer]) -> LoopNest {
    let space = Space::new(outer, &n.iters);
    let place = |a: &Access| {
        let buffer = &buffers[a.buffer.0];
        let mut guards = vec![];
        if a.outside.is_some() {
            for (i, d) in a.index.iter().zip(&buffer.dims) {
                let i = space.affine(i);
                if !space.inside(&i, d) {
                    guards.push((i, d.clone()));
                }
            }
        }
        Place { buffer: a.buffer, offset: space.offset(a, buffer), guards, outside: a.outside }
    };
    let action = |e: &Effect| match e {
        Effect::Store { to, value, when } => Action::Store { to: place(to), value: *value, when: *when },
        Effect::StoreAt { to, index, value, when } => {
            Action::StoreAt { to: *to, index: index.clone(), value: *value, when: *when }
        }
        Effect::Reduce { to, combine, value, second } => {
            Action::Reduce { to: place(to), combine: *combine, value: *value, second: *second }
        }
    };
    LoopNest {
        iters: n.iters.clone(),
        reads: n.reads.iter().map(place).collect(),
        ops: n.ops.clone(),
        actions: n.effects.iter().map(action).collect(),
    }
}

impl LoopNest {
    /// Reads and mapped destinations.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.reads.iter().chain(self.actions.iter().filter_map(|a| match a {
            Action::Store { to, .. } | Action::Reduce { to, .. } => Some(to),
            Action::StoreAt { .. } => None,
        }))
    }

    fn places_mut(&mut self) -> impl Iterator<Item = &mut Place> {
        self.reads.iter_mut().chain(self.actions.iter_mut().filter_map(|a| match a {
            Action::Store { to, .. } | Action::Reduce { to, .. } => Some(to),
            Action::StoreAt { .. } => None,
        }))
    }

    /// Whether iterators `i` and `i + 1`, the latter of the given extent, step through every access as one.
    fn merges(&self, i: usize, extent: &Dim) -> bool {
        let computed = self.ops.iter().any(|o| matches!(o, ScalarOp::Iter(j) if *j == i || *j == i + 1));
        !computed
            && self.places().all(|p| {
                let o = &p.offset;
                !o.opaque_in(i)
                    && !o.opaque_in(i + 1)
                    && o.coefficient(i) == o.coefficient(i + 1).mul(extent)
                    && p.guards.iter().all(|(g, _)| !g.mentions(i) && !g.mentions(i + 1))
            })
    }

    /// Iterators `i` and `i + 1` have become `i`: steps are those of the inner one, and later ones move up.
    fn renumber(&mut self, i: usize) {
        for p in self.places_mut() {
            p.offset.renumber(i);
            p.guards.iter_mut().for_each(|(g, _)| g.renumber(i));
        }
        for op in &mut self.ops {
            if let ScalarOp::Iter(j) = op
                && *j > i
            {
                *j -= 1;
            }
        }
    }
}

impl Place {
    /// Whether the place or its guards depend on an iterator.
    pub fn depends(&self, iter: usize) -> bool {
        self.offset.mentions(iter) || self.guards.iter().any(|(g, _)| g.mentions(iter))
    }
}

impl Affine {
    /// Whether an iterator occurs.
    pub fn mentions(&self, iter: usize) -> bool {
        self.terms.iter().any(|(a, _)| a.mentions(iter))
    }

    fn renumber(&mut self, i: usize) {
        self.terms.retain(|(a, _)| *a != Index::Iter(i));
        for (a, _) in &mut self.terms {
            a.renumber(i);
        }
        self.terms.sort();
    }
}

impl Index {
    fn renumber(&mut self, i: usize) {
        match self {
            Index::Size(_) => {}
            Index::Iter(j) => {
                if *j > i {
                    *j -= 1;
                }
            }
            Index::Add(a, b) => {
                a.renumber(i);
                b.renumber(i);
            }
            Index::Mul(a, _) | Index::FloorDiv(a, _) | Index::Mod(a, _) => a.renumber(i),
        }
    }
}
