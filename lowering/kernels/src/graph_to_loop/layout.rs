//! How the dims of a value lie on the outer iterators.

use neap_optable::{Dim, GraphOp, Node, ValueId};

use super::region::{Lowering, parallel};
use crate::ir::{Index, Iter};

/// What addresses one dim of a value inside one outer iteration.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Slot {
    /// An expression of the outer iterators: one element.
    Fixed(Index),
    /// The whole dim.
    Free,
}

/// One slot a dim.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout(pub(super) Vec<Slot>);

impl Layout {
    /// All dims free.
    pub(super) fn free(rank: usize) -> Self {
        Layout(vec![Slot::Free; rank])
    }

    /// All dims fixed.
    pub(super) fn fixed(index: Vec<Index>) -> Self {
        Layout(index.into_iter().map(Slot::Fixed).collect())
    }

    /// The whole index, free dims addressed by `free` in order.
    pub(super) fn index(&self, free: &[Index]) -> Vec<Index> {
        let mut free = free.iter();
        let of = |s: &Slot| match s {
            Slot::Fixed(i) => i.clone(),
            Slot::Free => free.next().expect("one index a free dim").clone(),
        };
        self.0.iter().map(of).collect()
    }

    /// The free ones of a shape's dims.
    pub(super) fn free_dims(&self, dims: &[Dim]) -> Vec<Dim> {
        self.0.iter().zip(dims).filter(|(s, _)| **s == Slot::Free).map(|(_, d)| d.clone()).collect()
    }

    /// Parallel iterators over the free dims that are not 1, numbered from `first`, and the index of every free dim.
    pub(super) fn own_iters(&self, dims: &[Dim], first: usize) -> (Vec<Iter>, Vec<Index>) {
        iterate(&self.free_dims(dims), first)
    }

    /// Whether some dim is fixed by this outer iterator.
    pub(super) fn fixes(&self, iter: usize) -> bool {
        self.0.iter().any(|s| matches!(s, Slot::Fixed(i) if i.mentions(iter)))
    }

    /// The free part of an index, if its fixed part is this layout's.
    pub(super) fn matching(&self, index: &[Index]) -> Option<Vec<Index>> {
        let mut free = vec![];
        for (s, i) in self.0.iter().zip(index) {
            match s {
                Slot::Free => free.push(i.clone()),
                Slot::Fixed(f) if f == i => {}
                Slot::Fixed(_) => return None,
            }
        }
        Some(free)
    }
}

/// Parallel iterators, numbered from `first`, over the dims that are not 1, and one index a dim.
pub(super) fn iterate(dims: &[Dim], first: usize) -> (Vec<Iter>, Vec<Index>) {
    let mut iters = vec![];
    let mut index = vec![];
    for d in dims {
        if d.as_const() == Some(1) {
            index.push(Index::zero());
        } else {
            index.push(Index::Iter(first + iters.len()));
            iters.push(parallel(d));
        }
    }
    (iters, index)
}

impl<'a> Lowering<'a> {
    /// Rows: outer iterators over the dims not in `axes`, the layout of a value of this shape, and its free dims in order.
    pub(super) fn rows(
        &mut self,
        node: &'a Node,
        v: ValueId,
        axes: &[usize],
    ) -> Result<(Layout, Vec<Dim>), super::Unlowerable> {
        let dims = &self.ty(v).dims;
        let kept: Vec<Dim> = (0..dims.len()).filter(|d| !axes.contains(d)).map(|d| dims[d].clone()).collect();
        let (outer, index) = iterate(&kept, 0);
        let mut index = index.into_iter();
        let own = (0..dims.len())
            .map(|d| if axes.contains(&d) { Slot::Free } else { Slot::Fixed(index.next().expect("one a kept dim")) })
            .collect();
        let own = Layout(own);
        let layout = match self.layout_of(v) {
            // A producer in the region fixed the rows, perhaps of another shape; they have to leave the same dims free.
            Some(l) => {
                let same = l.0.iter().zip(&own.0).zip(dims).all(|((a, b), d)| {
                    d.as_const() == Some(1)
                        || matches!((a, b), (Slot::Free, Slot::Free) | (Slot::Fixed(_), Slot::Fixed(_)))
                });
                let covered =
                    (0..self.outer().len()).all(|i| l.fixes(i) || self.outer()[i].extent.as_const() == Some(1));
                if !same || !covered {
                    return Err(self.refuse(node, "iterates over other rows than an earlier member of its fusion"));
                }
                // Dims of size 1 may differ in kind; the axes of this op decide.
                Layout(
                    l.0.iter()
                        .zip(&own.0)
                        .map(|(a, b)| match (a, b) {
                            (_, Slot::Free) => Slot::Free,
                            (Slot::Free, Slot::Fixed(_)) => Slot::Fixed(Index::zero()),
                            (Slot::Fixed(_), Slot::Fixed(_)) => a.clone(),
                        })
                        .collect(),
                )
            }
            None => {
                self.set_outer(node, outer)?;
                self.want(v, &own);
                own
            }
        };
        let free = layout.free_dims(dims);
        Ok((layout, free))
    }

    /// Notes the layout of a value and, as far as index maps can be inverted, of what it is computed from.
    pub(super) fn want(&mut self, v: ValueId, layout: &Layout) {
        if self.layouts.contains_key(&v) {
            return;
        }
        self.layouts.insert(v, layout.clone());
        let Some(n) = self.producer(v) else { return };
        match n.op {
            GraphOp::Unary | GraphOp::Binary | GraphOp::Compare | GraphOp::Select | GraphOp::Cast => {
                for i in &n.inputs {
                    self.want(*i, layout);
                }
            }
            GraphOp::Transpose => {
                let perm = n.attrs.get_ints("permutation");
                let mut slots = layout.0.clone();
                for (i, p) in perm.iter().enumerate() {
                    slots[*p as usize] = layout.0[i].clone();
                }
                self.want(n.inputs[0], &Layout(slots));
            }
            _ => {}
        }
    }

    /// The layout of a value under the outer iterators, if it follows from the nests so far.
    pub(super) fn layout_of(&mut self, v: ValueId) -> Option<Layout> {
        if let Some(l) = self.layouts.get(&v) {
            return Some(l.clone());
        }
        let n = self.producer(v)?;
        let layout = match n.op {
            GraphOp::Unary | GraphOp::Binary | GraphOp::Compare | GraphOp::Select | GraphOp::Cast => {
                let found: Vec<Layout> = n.inputs.iter().filter_map(|i| self.layout_of(*i)).collect();
                let fixed =
                    |l: &Layout| l.0.iter().filter(|s| matches!(s, Slot::Fixed(i) if i.deepest().is_some())).count();
                found.into_iter().max_by_key(fixed)?
            }
            GraphOp::Transpose => {
                let l = self.layout_of(n.inputs[0])?;
                Layout(n.attrs.get_ints("permutation").iter().map(|p| l.0[*p as usize].clone()).collect())
            }
            GraphOp::Broadcast => {
                let l = self.layout_of(n.inputs[0])?;
                let (from, to) = (&self.ty(n.inputs[0]).dims, &self.ty(v).dims);
                let lead = to.len() - from.len();
                let slot = |i: usize| match i.checked_sub(lead) {
                    Some(j) if from[j] == to[i] => l.0[j].clone(),
                    _ => Slot::Free,
                };
                Layout((0..to.len()).map(slot).collect())
            }
            GraphOp::Reshape => self.reshaped_layout(n, v)?,
            GraphOp::Slice => {
                let l = self.layout_of(n.inputs[0])?;
                let (from, to) = (&self.ty(n.inputs[0]).dims, &self.ty(v).dims);
                let whole = |i: usize| from[i] == to[i] && n.attrs.get_ints("steps")[i] > 0;
                if (0..to.len()).any(|i| l.0[i] != Slot::Free && !whole(i)) {
                    return None;
                }
                l
            }
            _ => return None,
        };
        self.layouts.insert(v, layout.clone());
        Some(layout)
    }

    /// Reshapes keep a layout if all dims are fixed, or if the free ones are a trailing part that the reshape leaves alone.
    fn reshaped_layout(&mut self, n: &Node, v: ValueId) -> Option<Layout> {
        let l = self.layout_of(n.inputs[0])?;
        let (from, to) = (&self.ty(n.inputs[0]).dims, &self.ty(v).dims);
        let lead = l.0.iter().take_while(|s| matches!(s, Slot::Fixed(_))).count();
        if l.0[lead..].iter().any(|s| *s != Slot::Free) {
            return None;
        }
        let product = |d: &[Dim]| d.iter().fold(Dim::constant(1), |a, b| a.mul(b));
        let rows = product(&from[..lead]);
        let split = (0..=to.len()).find(|s| product(&to[..*s]) == rows && (lead < from.len() || *s == to.len()))?;
        let fixed: Vec<Index> = l.0[..lead]
            .iter()
            .map(|s| match s {
                Slot::Fixed(i) => i.clone(),
                Slot::Free => Index::zero(),
            })
            .collect();
        let space = self.space();
        let index = space.delinearise(&space.linear(&fixed, &from[..lead]), &to[..split]);
        let mut slots: Vec<Slot> = index.into_iter().map(Slot::Fixed).collect();
        slots.resize(to.len(), Slot::Free);
        Some(Layout(slots))
    }
}
