//! Smaller scratch where the plan's peak is: there its bytes count, everywhere else they lie in memory that is free anyway.
//!
//! A contraction packs panels into its scratch, as many as a part of the second-level cache holds. With less it takes the
//! contracted axis in shorter blocks, which costs time and changes no bit. Only the few launches at the peak are touched.

use neap_kernels::schedule::{Schedule, schedule};
use neap_kernels::scheduled::{Facts, Scheduled};
use neap_plan::{Op, Place, Planned, Problem};
use neap_spec::CpuTarget;

use crate::compile::pose::{Posed, Work};
use crate::compile::units::{Root, Unit, scratch};

/// The smallest second-level cache that is pretended, bytes: below it, kernels get several times slower and scratch, by
/// then some 8 KB, hardly shrinks.
const LEAST: u64 = 32 << 10;

/// Schedules units anew whose scratch lifts the peak. Returns what they were: position and old schedule.
pub fn tighten(
    units: &mut [Unit],
    posed: &Posed,
    planned: &Planned,
    target: &CpuTarget,
) -> Vec<(usize, Scheduled<Schedule>)> {
    let work = |op: &Op| posed.problem.padded(op.workspace);
    let loads: Vec<u64> = loads(&posed.problem, planned);
    let scratch = |i: usize| match posed.work[i] {
        Work::All(u) => units[u].scratch(),
        Work::Stage(..) | Work::Nothing => 0,
    };
    let bare: Vec<u64> =
        loads.iter().zip(posed.problem.ops()).enumerate().map(|(i, (l, op))| l + work(op) - scratch(i)).collect();
    let floor = bare.iter().copied().max().unwrap_or(0);
    let over: Vec<(usize, u64)> = (0..bare.len())
        .filter_map(|i| match posed.work[i] {
            Work::All(u) if bare[i] + scratch(i) > floor => Some((u, floor - bare[i])),
            _ => None,
        })
        .collect();
    let mut old = vec![];
    for (u, spare) in over {
        if let Some(smaller) = smaller(&units[u], spare, target) {
            old.push((u, std::mem::replace(&mut units[u].scheduled, smaller)));
        }
    }
    old
}

/// A schedule that needs less scratch: at most `spare` bytes if there is one, else the least.
fn smaller(u: &Unit, spare: u64, target: &CpuTarget) -> Option<Scheduled<Schedule>> {
    let facts = Facts { constant_inputs: u.inputs.iter().map(|r| matches!(r, Root::Weight(_))).collect() };
    let mut best: Option<Scheduled<Schedule>> = None;
    let mut l2 = target.l2 / 2;
    while l2 >= LEAST {
        let s = schedule(&u.scheduled.kernel, &facts, &CpuTarget { l2, ..target.clone() });
        let (old, least) = (&u.scheduled, best.as_ref().unwrap_or(&u.scheduled));
        // Constants have been laid out for the old one.
        let fits = s.packed == old.packed && s.in_place == old.in_place && s.shared == old.shared;
        if fits && scratch(&s) < scratch(least) {
            let enough = scratch(&s) <= spare;
            best = Some(s);
            if enough {
                break;
            }
        }
        l2 /= 2;
    }
    best
}

/// Bytes of the arena that tensors hold while each op runs.
fn loads(problem: &Problem, planned: &Planned) -> Vec<u64> {
    let solution = &planned.solution;
    let mut step = vec![0; problem.ops().len()];
    for (s, op) in solution.order.iter().enumerate() {
        step[op.index()] = s;
    }
    let (mut born, mut dies) = (vec![vec![]; step.len()], vec![vec![]; step.len()]);
    for t in problem.tensor_ids() {
        if let (Place::Arena(at), Some(maker)) = (solution.places[t.index()], problem.producer(t)) {
            let first = step[maker.index()];
            let last = problem.consumers(t).iter().map(|o| step[o.index()]).fold(first, usize::max);
            let range = (at, problem.padded(at + problem.tensor(t).size));
            born[first].push(range);
            dies[last].push(range);
        }
    }
    let mut alive: std::collections::BTreeMap<(u64, u64), usize> = std::collections::BTreeMap::new();
    let mut loads = vec![0; step.len()];
    for (s, op) in solution.order.iter().enumerate() {
        for range in &born[s] {
            *alive.entry(*range).or_insert(0) += 1;
        }
        let mut end = 0;
        for (from, to) in alive.keys() {
            loads[op.index()] += to.saturating_sub((*from).max(end));
            end = end.max(*to);
        }
        for range in &dies[s] {
            if let Some(n) = alive.get_mut(range) {
                *n -= 1;
                if *n == 0 {
                    alive.remove(range);
                }
            }
        }
    }
    loads
}
