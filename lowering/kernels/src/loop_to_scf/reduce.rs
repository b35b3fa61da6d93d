//! Reduction loops: accumulators carried through, lanes combined by halving.

use neap_optable::DType;

use super::combine::{fold, fold_arg, start};
use super::nest::Site;
use super::stage::Env;
use super::value::{Lanes, Val};
use crate::explicit::{Elem, V};
use crate::ir::{Combine, IterKind, OpId};
use crate::scalar;
use crate::schedule::{ACCUMULATORS, Action, LANES, NestPlan, Place, RUN_FOR_ACCUMULATORS};

struct Reduction<'a> {
    to: &'a Place,
    combine: Combine,
    value: OpId,
    second: Option<OpId>,
    /// Of the elements.
    dtype: DType,
}

impl<'c> Env<'_, '_, 'c> {
    pub(crate) fn reductions(&self, site: Site<'_>, iters: &mut Vec<V<'c>>, lanes: Option<Lanes<'c>>) {
        let types = scalar::dtypes_of(&site.nest.ops, |i| self.dtype(site.nest.reads[i].buffer), |id| self.dtype(id));
        let all: Vec<Reduction<'_>> = site
            .nest
            .actions
            .iter()
            .filter_map(|a| match a {
                Action::Reduce { to, combine, value, second } => {
                    Some(Reduction { to, combine: *combine, value: *value, second: *second, dtype: types[value.0] })
                }
                Action::Store { .. } | Action::StoreAt { .. } => None,
            })
            .collect();
        let axes: Vec<usize> = (site.first..iters.len())
            .filter(|i| site.nest.iters[*i - site.first].kind == IterKind::Reduction)
            .collect();
        if site.plan == NestPlan::Run {
            return self.run(site, &all, &axes, iters);
        }
        let b = self.b;
        let count = lanes.map_or(0, |l| l.count);
        let init: Vec<V<'c>> = all.iter().flat_map(|r| start(b, r.combine, r.dtype, count)).collect();
        let done = self.sequential(site, &all, &axes, init, iters, lanes);
        let mut at = 0;
        for r in &all {
            // An arg-reduction holds its value, then its index.
            let arg = matches!(r.combine, Combine::Arg(..));
            let v = done[at + usize::from(arg)];
            at += 1 + usize::from(arg);
            let v = if count == 0 { Val::One(v) } else { Val::Many(v) };
            self.store(site, r.to, v, None, iters, lanes);
        }
    }

    /// In row-major order of the reduced iterators.
    fn sequential(
        &self,
        site: Site<'_>,
        all: &[Reduction<'_>],
        axes: &[usize],
        acc: Vec<V<'c>>,
        iters: &mut Vec<V<'c>>,
        lanes: Option<Lanes<'c>>,
    ) -> Vec<V<'c>> {
        let b = self.b;
        if let [i, rest @ ..] = axes {
            let end = b.size(&site.nest.iters[*i - site.first].extent, &self.sizes);
            return b.for_iter(b.index(0), end, 1, &acc, |_, at, acc| {
                iters[*i] = at;
                self.sequential(site, all, rest, acc.to_vec(), iters, lanes)
            });
        }
        let values = self.body(site, iters, lanes);
        self.stores(site, &values, iters, lanes);
        let get = |o: OpId| match lanes {
            None => values[o.0].lane(b, 0),
            Some(l) => values[o.0].many(b, l.count),
        };
        let mut out = vec![];
        let mut at = 0;
        for r in all {
            if let Combine::Arg(kind, last) = r.combine {
                let index = iters.last().copied().unwrap_or(b.index(0));
                let index = b.index_cast(index, Elem::I64);
                out.extend(fold_arg(b, (kind, last), r.dtype, &acc[at..at + 2], get(r.value), index));
                at += 2;
            } else {
                out.push(fold(b, r.combine, r.dtype, acc[at], get(r.value), r.second.map(get)));
                at += 1;
            }
        }
        out
    }

    /// Along the innermost run in lanes; see [`crate::schedule::lane_rule`].
    fn run(&self, site: Site<'_>, all: &[Reduction<'_>], axes: &[usize], iters: &mut Vec<V<'c>>) {
        let b = self.b;
        let (run, outer) = axes.split_last().expect("a run is a reduction iterator");
        let extent = site.nest.iters[*run - site.first].extent.as_const().expect("the length of a run is known");
        let accumulators = if extent >= RUN_FOR_ACCUMULATORS { ACCUMULATORS } else { 1 };
        let mut init = vec![];
        for r in all {
            for _ in 0..accumulators {
                init.extend(start(b, r.combine, r.dtype, LANES));
            }
        }
        let done = self.run_outer(site, all, outer, (*run, extent, accumulators), init, iters);
        for (r, acc) in all.iter().zip(done.chunks(accumulators as usize)) {
            let both = |x, y| fold(b, r.combine, r.dtype, x, y, None);
            let mut left = acc.to_vec();
            while left.len() > 1 {
                let half = left.len() / 2;
                left = (0..half).map(|i| both(left[i], left[i + half])).collect();
            }
            let mut v = left[0];
            let mut n = i64::from(LANES) / 2;
            while n > 1 {
                let part = |from: i64| b.shuffle(v, v, &(from..from + n).collect::<Vec<_>>());
                v = both(part(0), part(n));
                n /= 2;
            }
            let v = both(b.extract(v, 0), b.extract(v, 1));
            self.store(site, r.to, Val::One(v), None, iters, None);
        }
    }

    fn run_outer(
        &self,
        site: Site<'_>,
        all: &[Reduction<'_>],
        outer: &[usize],
        run: (usize, u64, u32),
        acc: Vec<V<'c>>,
        iters: &mut Vec<V<'c>>,
    ) -> Vec<V<'c>> {
        let b = self.b;
        if let [i, rest @ ..] = outer {
            let end = b.size(&site.nest.iters[*i - site.first].extent, &self.sizes);
            return b.for_iter(b.index(0), end, 1, &acc, |_, at, acc| {
                iters[*i] = at;
                self.run_outer(site, all, rest, run, acc.to_vec(), iters)
            });
        }
        let (axis, extent, accumulators) = run;
        let lanes = u64::from(LANES);
        let step = lanes * u64::from(accumulators);
        let whole = extent / step * step;
        let mut acc = b.for_iter(b.index(0), b.index(whole as i64), step as i64, &acc, |b, at, acc| {
            let mut acc = acc.to_vec();
            for a in 0..accumulators {
                iters[axis] = b.add(at, b.index(i64::from(a * LANES)));
                self.run_step(site, all, axis, (a, accumulators), None, &mut acc, iters);
            }
            acc
        });
        let mut at = whole;
        for a in 0..accumulators {
            if at >= extent {
                break;
            }
            iters[axis] = b.index(at as i64);
            let active = (extent - at < lanes).then(|| b.index((extent - at) as i64));
            self.run_step(site, all, axis, (a, accumulators), active, &mut acc, iters);
            at += lanes;
        }
        acc
    }

    /// One vector of the run into accumulator `a` of each reduction.
    #[allow(clippy::too_many_arguments, reason = "one place in one loop")]
    fn run_step(
        &self,
        site: Site<'_>,
        all: &[Reduction<'_>],
        axis: usize,
        (a, accumulators): (u32, u32),
        active: Option<V<'c>>,
        acc: &mut [V<'c>],
        iters: &[V<'c>],
    ) {
        let b = self.b;
        let lanes = Some(Lanes { iter: axis, count: LANES, active });
        let values = self.body(site, iters, lanes);
        self.stores(site, &values, iters, lanes);
        for (i, r) in all.iter().enumerate() {
            let slot = &mut acc[i * accumulators as usize + a as usize];
            let next = fold(b, r.combine, r.dtype, *slot, values[r.value.0].many(b, LANES), None);
            // Lanes past the end keep what they have.
            *slot = match active {
                None => next,
                Some(n) => b.select(b.create_mask(n, LANES), next, *slot),
            };
        }
    }
}
