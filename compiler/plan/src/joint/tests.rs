//! Plans found together against the checker, and networks on which nothing else found them.

#![allow(clippy::unwrap_used, reason = "a test")]

use super::{candidate, together};
use crate::limits::Clock;
use crate::order::model::{Count, Model};
use crate::order::plan::{OrderLimits, plan};
use crate::order::simple::all as all_simple;
use crate::problem::Problem;
use crate::solution::{Certificate, Witness};
use crate::{Limits, check, solve, support};

/// Searches below what all tensors need beside each other, and checks the plan found; its arena.
fn found(name: &str, problem: &Problem) -> Option<u64> {
    if !together::fits(problem) {
        return None;
    }
    let limits = OrderLimits { states: 10_000, enough: 0, clock: Clock::none() };
    let ordered = plan(problem, &Model::new(problem, Count::AtMost), &all_simple(problem), 0, &limits);
    let all = problem.tensors().iter().map(|t| problem.padded(t.size)).sum::<u64>() + problem.storage_align();
    let found = together::search(problem, &ordered, all, ordered.lower_bound, &Clock::none())?;
    let height = found.height;
    let candidate = candidate(problem, &ordered, found, 0).unwrap()?;
    // What may lie outside the arena does so only now.
    assert!(candidate.arena <= height, "{name}");
    let certificate = Certificate {
        peak: candidate.posed.peak(),
        arena: candidate.arena,
        lower_bound: 0,
        witness: Witness::None,
        method: candidate.method.clone(),
    };
    let solution = candidate.solution(problem);
    check(problem, &solution, &certificate).unwrap_or_else(|e| panic!("{name}: {e}\n{}", support::show(problem)));
    Some(height)
}

#[test]
fn plans_found_together_are_legal() {
    let mut count = 0;
    for seed in 0..4000 {
        let problem = support::random::problem(seed, 8, true);
        count += u32::from(found(&format!("seed {seed}"), &problem).is_some());
    }
    assert!(count > 300, "{count} of 4000");
    for (name, problem) in support::nets::all().into_iter().filter(|n| n.1.ops().len() < 300) {
        found(&name, &problem);
    }
}

/// Ten concatenations that share their parts: 13 maps high before order, shares and addresses were chosen together.
#[test]
fn concatenations_that_share_parts_share_memory() {
    let problem = support::nets::swiftnet();
    let planned = solve(&problem, &Limits::default()).unwrap();
    check(&problem, &planned.solution, &planned.certificate).unwrap();
    assert!(planned.certificate.gap() < 0.101, "{:?}", planned.certificate);
}
