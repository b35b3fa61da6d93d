//! One stage: its range, the iterators that a unit stands for, the blocks of the vectorised axis.

use std::cell::RefCell;
use std::collections::HashMap;

use melior::Context;
use melior::ir::Module;

use super::value::{Lanes, Val};
use crate::affine::{Affine, Space};
use crate::explicit::{self, Buf, BufferArg, BuildError, Builder, Elem, Sizes, StageArgs, V, build_stage};
use crate::ir::{BufferId, Index, IterKind, Kernel};
use crate::schedule::{LoopStage, Schedule, scratch_elements};
use crate::scheduled::{Scheduled, Stage, StageBuffer};

/// What emission of one stage needs everywhere.
pub(crate) struct Env<'s, 'b, 'c> {
    pub(crate) b: &'b Builder<'c>,
    pub(crate) kernel: &'s Kernel,
    pub(crate) stage: &'s LoopStage,
    pub(crate) masked: bool,
    pub(crate) buffers: HashMap<BufferId, Buf<'c>>,
    pub(crate) sizes: Sizes<'c>,
    /// Temporaries that are values, in the current outer iteration.
    pub(crate) values: RefCell<HashMap<BufferId, Val<'c>>>,
}

pub(crate) fn emit<'c>(
    cx: &'c Context,
    module: &Module<'c>,
    s: &Scheduled<Schedule>,
    masked: bool,
    stage: &LoopStage,
    description: &Stage,
) -> Result<(), BuildError> {
    let kernel = &s.kernel;
    let inputs = kernel.buffers.iter().filter(|b| b.role == crate::ir::Role::In).count();
    let shares = |id: BufferId| s.in_place.iter().any(|(i, o)| *i == id.0 || inputs + *o == id.0);
    let arguments: Vec<BufferId> = description
        .buffers
        .iter()
        .filter_map(|(b, _)| match b {
            StageBuffer::Arg(id) => Some(*id),
            StageBuffer::Shared(_) => None,
        })
        .collect();
    let signature = explicit::Stage {
        name: &description.function,
        buffers: arguments
            .iter()
            .map(|id| BufferArg { elem: Elem::of(kernel.buffers[id.0].dtype), noalias: !shares(*id) })
            .collect(),
        dims: kernel.sizes.len(),
    };
    build_stage(cx, module, &signature, |b, args| {
        let mut buffers: HashMap<BufferId, Buf<'c>> =
            arguments.iter().copied().zip(args.buffers.iter().copied()).collect();
        let width = if stage.axis.is_some() { i64::from(stage.lanes) } else { 1 };
        for (t, at) in &stage.scratch {
            let elements = scratch_elements(kernel, *t) as i64 * width;
            let elem = Elem::of(kernel.buffers[t.0].dtype);
            buffers.insert(*t, b.view(args.scratch, b.index(*at as i64), elem, b.index(elements)));
        }
        let sizes = Sizes::new(&kernel.sizes, &args.dims);
        let env = Env { b, kernel, stage, masked, buffers, sizes, values: RefCell::default() };
        env.range(&args);
    })
}

impl<'s, 'c> Env<'s, '_, 'c> {
    fn range(&self, args: &StageArgs<'c>) {
        self.b.for_(args.begin, args.end, 1, |_, unit| self.unit(unit));
    }

    /// One unit of the range.
    pub(crate) fn unit(&self, unit: V<'c>) {
        let (b, mut rest) = (self.b, unit);
        let Some(v) = self.stage.axis else {
            return self.steps(&mut self.rows(rest), None);
        };
        let extent = b.size(&self.stage.loops.outer[v].extent, &self.sizes);
        let blocks = b.div_ceil(extent, self.stage.block as i64);
        let alone = self.stage.loops.outer.iter().enumerate().all(|(i, o)| i == v || o.kind != IterKind::Parallel);
        let block = match blocks.known() {
            Some(1) => b.index(0),
            _ if alone => rest,
            _ => {
                let block = b.rem_u(rest, blocks);
                rest = b.div_u(rest, blocks);
                block
            }
        };
        self.axis(v, block, extent, &self.rows(rest));
    }

    /// The outer iterators of a row of the range; the axis and the sequential ones are left 0.
    pub(crate) fn rows(&self, row: V<'c>) -> Vec<V<'c>> {
        let (b, outer) = (self.b, &self.stage.loops.outer);
        let mut iters = vec![b.index(0); outer.len()];
        let mut rest = row;
        let rows = (0..outer.len()).filter(|i| outer[*i].kind == IterKind::Parallel && Some(*i) != self.stage.axis);
        for (n, i) in rows.collect::<Vec<_>>().into_iter().enumerate().rev() {
            if n == 0 {
                iters[i] = rest;
            } else {
                let size = b.size(&outer[i].extent, &self.sizes);
                iters[i] = b.rem_u(rest, size);
                rest = b.div_u(rest, size);
            }
        }
        iters
    }

    /// One block of the axis: whole vectors, then the rest.
    fn axis(&self, v: usize, block: V<'c>, extent: V<'c>, iters: &[V<'c>]) {
        let (b, lanes) = (self.b, i64::from(self.stage.lanes));
        let from = b.mul(block, b.index(self.stage.block as i64));
        let to = b.min(b.add(from, b.index(self.stage.block as i64)), extent);
        let rest = b.rem_u(extent, b.index(lanes));
        // Blocks are whole vectors, so only the last one, which ends at the extent, has a rest.
        let whole = b.sub(extent, rest);
        let main = b.min(to, whole);
        b.for_(from, main, lanes, |_, at| {
            let mut iters = iters.to_vec();
            iters[v] = at;
            self.steps(&mut iters, Some(Lanes { iter: v, count: self.stage.lanes, active: None }));
        });
        if rest.known() == Some(0) {
            return;
        }
        let has_rest = b.cmp(explicit::Cmp::Gt, to, whole);
        b.when(has_rest, |_| {
            let mut iters = iters.to_vec();
            iters[v] = whole;
            self.steps(&mut iters, Some(Lanes { iter: v, count: self.stage.lanes, active: Some(rest) }));
        });
    }

    /// The sequential outer iterators, then the nests.
    fn steps(&self, iters: &mut Vec<V<'c>>, lanes: Option<Lanes<'c>>) {
        let outer = &self.stage.loops.outer;
        let first = outer.iter().position(|i| i.kind != IterKind::Parallel).unwrap_or(outer.len());
        self.step(first, iters, lanes);
    }

    fn step(&self, at: usize, iters: &mut Vec<V<'c>>, lanes: Option<Lanes<'c>>) {
        let (b, outer) = (self.b, &self.stage.loops.outer);
        if at < outer.len() {
            b.for_(b.index(0), b.size(&outer[at].extent, &self.sizes), 1, |_, i| {
                iters[at] = i;
                self.step(at + 1, iters, lanes);
            });
            return;
        }
        self.values.borrow_mut().clear();
        for (n, plan) in self.stage.loops.nests.iter().zip(&self.stage.nests) {
            self.nest(n, *plan, iters, lanes);
        }
    }

    /// An index expression: terms of outer iterators first, so that what is constant in inner loops is one value.
    pub(crate) fn affine(&self, a: &Affine, space: &Space, iters: &[V<'c>]) -> V<'c> {
        let b = self.b;
        let mut terms: Vec<_> = a.terms.iter().collect();
        terms.sort_by_key(|(atom, _)| atom.deepest());
        let mut sum = b.index(0);
        for (atom, c) in terms {
            sum = b.add(sum, b.mul(self.index(atom, space, iters), b.size(c, &self.sizes)));
        }
        b.add(sum, b.size(&a.constant, &self.sizes))
    }

    fn index(&self, i: &Index, space: &Space, iters: &[V<'c>]) -> V<'c> {
        let b = self.b;
        match i {
            Index::Size(d) => b.size(d, &self.sizes),
            Index::Iter(i) => iters[*i],
            Index::Add(x, y) => b.add(self.index(x, space, iters), self.index(y, space, iters)),
            Index::Mul(x, d) => b.mul(self.index(x, space, iters), b.size(d, &self.sizes)),
            Index::FloorDiv(x, d) | Index::Mod(x, d) => {
                let not_negative = space.upper(&space.affine(x)).is_some();
                let (x, d) = (self.index(x, space, iters), b.size(d, &self.sizes));
                let floor = matches!(i, Index::FloorDiv(..));
                match (floor, not_negative) {
                    (true, true) => b.div_u(x, d),
                    (false, true) => b.rem_u(x, d),
                    (true, false) => b.floor_div(x, d),
                    (false, false) => b.sub(x, b.mul(b.floor_div(x, d), d)),
                }
            }
        }
    }
}
