//! Loops of one nest.

use super::stage::Env;
use super::value::{Lanes, Val};
use crate::affine::Space;
use crate::explicit::V;
use crate::ir::IterKind;
use crate::schedule::{Action, LoopNest, NestPlan};

/// What emission of one nest needs.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    pub(crate) nest: &'a LoopNest,
    pub(crate) plan: NestPlan,
    pub(crate) space: &'a Space,
    pub(crate) first: usize,
}

impl<'c> Env<'_, '_, 'c> {
    pub(crate) fn nest(&self, nest: &LoopNest, plan: NestPlan, outer: &[V<'c>], lanes: Option<Lanes<'c>>) {
        let space = self.stage.loops.space(nest);
        let first = outer.len();
        let site = Site { nest, plan, space: &space, first };
        let mut iters = outer.to_vec();
        iters.resize(first + nest.iters.len(), self.b.index(0));
        // Reductions run innermost; a vectorised parallel iterator just around them.
        let vector = match plan {
            NestPlan::Parallel(i) => Some(i),
            NestPlan::Plain | NestPlan::Run => None,
        };
        let plain: Vec<usize> = (first..iters.len())
            .filter(|i| nest.iters[*i - first].kind != IterKind::Reduction && Some(*i) != vector)
            .collect();
        self.plain_loops(site, &plain, vector, &mut iters, lanes);
    }

    pub(crate) fn plain_loops(
        &self,
        site: Site<'_>,
        left: &[usize],
        vector: Option<usize>,
        iters: &mut Vec<V<'c>>,
        lanes: Option<Lanes<'c>>,
    ) {
        let b = self.b;
        let extent = |i: usize| b.size(&site.nest.iters[i - site.first].extent, &self.sizes);
        if let [i, rest @ ..] = left {
            b.for_(b.index(0), extent(*i), 1, |_, at| {
                iters[*i] = at;
                self.plain_loops(site, rest, vector, iters, lanes);
            });
            return;
        }
        let Some(v) = vector else { return self.innermost(site, iters, lanes) };
        let (count, end) = (self.stage.lanes, extent(v));
        let rest = b.rem_u(end, b.index(i64::from(count)));
        let whole = b.sub(end, rest);
        b.for_(b.index(0), whole, i64::from(count), |_, at| {
            iters[v] = at;
            self.innermost(site, iters, Some(Lanes { iter: v, count, active: None }));
        });
        b.when(b.cmp(crate::explicit::Cmp::Gt, rest, b.index(0)), |_| {
            iters[v] = whole;
            self.innermost(site, iters, Some(Lanes { iter: v, count, active: Some(rest) }));
        });
    }

    /// Reductions if there are any, else the body.
    fn innermost(&self, site: Site<'_>, iters: &mut Vec<V<'c>>, lanes: Option<Lanes<'c>>) {
        if site.nest.actions.iter().any(|a| matches!(a, Action::Reduce { .. })) {
            return self.reductions(site, iters, lanes);
        }
        debug_assert!(site.nest.iters.iter().all(|i| i.kind != IterKind::Reduction));
        let values = self.body(site, iters, lanes);
        self.stores(site, &values, iters, lanes);
    }

    /// The actions that store in every iteration.
    pub(crate) fn stores(&self, site: Site<'_>, values: &[Val<'c>], iters: &[V<'c>], lanes: Option<Lanes<'c>>) {
        for a in &site.nest.actions {
            match a {
                Action::Store { to, value, when } => {
                    self.store(site, to, values[value.0], when.map(|w| values[w.0]), iters, lanes);
                }
                Action::StoreAt { to, index, value, when } => {
                    let index: Vec<Val<'c>> = index.iter().map(|i| values[i.0]).collect();
                    self.store_at(*to, &index, values[value.0], when.map(|w| values[w.0]), lanes);
                }
                Action::Reduce { .. } => {}
            }
        }
    }
}
