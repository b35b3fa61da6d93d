//! Order, shares and places together: where the arena is above the bound, other orders with as low a peak and other choices
//! of shares are tried, since some of them leave no gaps.

mod memory;
#[cfg(test)]
mod tests;
mod together;

use std::collections::BTreeSet;

use crate::evaluate::{Candidate, Posed};
use crate::limits::{Clock, Effort, Limits, Objective};
use crate::order::plan::Ordered;
use crate::place::PlaceLimits;
use crate::problem::{Problem, ShareId, ShareKind};
use crate::random::Random;
use crate::solve::PlanError;

/// Blocks placed by all quick placements together, about.
const EFFORT: usize = 100_000;

/// Looks for a plan with an arena below the one at hand, until it is `enough`: first by many quick placements, then by
/// thorough ones of the best.
pub(crate) fn improve(
    problem: &Problem,
    ordered: &Ordered,
    first: Candidate,
    enough: u64,
    limits: &Limits,
    clock: &Clock,
) -> Result<Candidate, PlanError> {
    let thorough = limits.place(clock.0);
    let mut best = first.clone();
    if limits.objective == Objective::Arena && limits.effort == Effort::Search && first.arena > enough {
        let fits = together::fits(problem);
        // Most gaps are closed by a few variations; those that are left, by the search that chooses all at once.
        let effort = if fits { EFFORT / 32 } else { EFFORT };
        best = vary(problem, ordered, best, effort, enough, limits, clock)?;
        if fits
            && best.arena > enough
            && let Some(found) = together::search(problem, ordered, best.arena, enough, clock)
            && let Some(better) = candidate(problem, ordered, found, enough)?
            && better.arena < best.arena
        {
            best = better;
        }
    }
    let mut tries = vec![best.clone()];
    if best.arena < first.arena {
        tries.push(first);
    }
    for candidate in tries {
        if best.arena <= enough || candidate.posed.peak() >= best.arena || clock.over() {
            continue;
        }
        let again = candidate.posed.place(problem, &thorough);
        if again.key(limits.objective) < best.key(limits.objective) {
            best = again;
        }
    }
    Ok(best)
}

/// What was found together as a candidate; none if its shares cannot be taken.
fn candidate(
    problem: &Problem,
    ordered: &Ordered,
    found: together::Found,
    bound: u64,
) -> Result<Option<Candidate>, PlanError> {
    // Shares outside the arena are chosen as ever.
    let within = |s: &ShareId| {
        let s = problem.share(*s);
        [s.inner, s.outer].iter().all(|t| memory::in_arena(problem, *t))
    };
    let without = problem.share_ids().filter(|s| within(s) && found.taken.binary_search(s).is_err()).collect();
    let posed = Posed::new(problem, found.order, bound, &without, ordered.method.clone())?;
    let all = found.taken.iter().all(|s| posed.chosen.taken.binary_search(s).is_ok());
    Ok(all.then(|| posed.placed(problem, &found.address, "order, shares and addresses searched together")))
}

fn vary(
    problem: &Problem,
    ordered: &Ordered,
    mut best: Candidate,
    mut effort: usize,
    enough: u64,
    limits: &Limits,
    clock: &Clock,
) -> Result<Candidate, PlanError> {
    let quick = PlaceLimits { nodes: limits.place_nodes.min(3_000), moves: 0, ..limits.place(clock.0) };
    let mut random = Random::new(0x6a6f_696e);
    let mut without: BTreeSet<ShareId> = BTreeSet::new();
    let cost = problem.tensors().len() + problem.ops().len() / 4 + 1;
    for round in 0..limits.rounds {
        if best.arena <= enough || effort < cost || clock.over() {
            break;
        }
        effort -= cost;
        let mut trial = without.clone();
        let order = if round % 2 == 0 {
            ordered.vary(best.arena - 1, &mut random)
        } else {
            toggle(problem, &best, &mut trial, &mut random);
            best.posed.order.clone()
        };
        let posed = Posed::new(problem, order, enough, &trial, format!("{}, varied", ordered.method))?;
        if posed.peak() >= best.arena {
            continue;
        }
        let candidate = posed.place(problem, &quick);
        if candidate.arena < best.arena {
            best = candidate;
            without = trial;
        }
    }
    Ok(best)
}

/// Refuses a few shares more, or allows a few again.
fn toggle(problem: &Problem, base: &Candidate, without: &mut BTreeSet<ShareId>, random: &mut Random) {
    let optional: Vec<ShareId> = base
        .posed
        .chosen
        .taken
        .iter()
        .copied()
        .filter(|s| !problem.share(*s).required && problem.share(*s).kind != ShareKind::View)
        .collect();
    for _ in 0..1 + random.bits() % 3 {
        let back = random.bits().is_multiple_of(3);
        if back && !without.is_empty() {
            let at = random.bits() as usize % without.len();
            if let Some(s) = without.iter().nth(at).copied() {
                without.remove(&s);
            }
        } else if !optional.is_empty() {
            without.insert(optional[random.bits() as usize % optional.len()]);
        }
    }
}
