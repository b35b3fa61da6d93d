//! The way from a problem to a plan with its certificate.

use std::time::Instant;

use crate::bound;
use crate::choose::required;
use crate::evaluate::{Candidate, evaluate};
use crate::lifetime::Lives;
use crate::limits::{Clock, Effort, Limits};
use crate::order::model::{Count, Model};
use crate::order::plan::{OrderLimits, Proof, plan};
use crate::order::{Simple, simple};
use crate::place::{Block, PlaceLimits};
use crate::problem::Problem;
use crate::sharing::Blocks;
use crate::solution::{Certificate, Solution, Witness};

/// A plan, its certificate, and what it is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The plan.
    pub solution: Solution,
    /// How good it is.
    pub certificate: Certificate,
    /// Bytes alive at the worst step of the file's order.
    pub file_order_peak: u64,
    /// Bytes if every tensor had memory of its own, with views as views, and the largest workspace beside them.
    pub no_reuse: u64,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A required share clashes with another.
    #[error(
        "tensors '{inner}' and '{outer}' must share memory at op '{op}', but other shares or later readers forbid it"
    )]
    Share {
        /// Tensor inside.
        inner: String,
        /// Tensor around it.
        outer: String,
        /// Op that relates them.
        op: String,
    },
}

/// Plans a problem: order, shares, offsets, and a certificate.
///
/// # Errors
/// Only where required shares contradict each other.
pub fn solve(problem: &Problem, limits: &Limits) -> Result<Planned, PlanError> {
    let until = limits.time.map(|t| Instant::now() + t);
    let (step_bound, step_witness) = bound::lower_bound(problem);
    let mut file_order_peak = 0;
    let mut best: Option<(Candidate, String)> = None;
    let mut offer = |candidate: Candidate, name: String| {
        if best.as_ref().is_none_or(|(b, _)| candidate.key(limits.objective) < b.key(limits.objective)) {
            best = Some((candidate, name));
        }
    };
    let quick = PlaceLimits { nodes: 0, moves: 0, ..limits.place(until) };
    for rule in Simple::ALL {
        let candidate = evaluate(problem, simple(problem, rule), step_bound, &quick)?;
        if rule == Simple::File {
            file_order_peak = candidate.peak;
        }
        offer(candidate, rule.name().to_string());
    }
    let states = match limits.effort {
        Effort::Search => limits.order_states,
        Effort::Heuristic => 0,
    };
    let order_limits = OrderLimits { states, enough: limits.capacity.unwrap_or(0), clock: Clock(until) };
    let likely = Model::new(problem, Count::Likely);
    let ordered = plan(problem, &likely, step_bound, &order_limits);
    let candidate = evaluate(problem, ordered.order.clone(), ordered.lower_bound, &limits.place(until))?;
    offer(candidate, ordered.method.clone());
    // Where the model is no more than a guess, the bound needs the one that never counts too much.
    let at_most = Model::new(problem, Count::AtMost);
    let bounded = if at_most == likely { ordered } else { plan(problem, &at_most, step_bound, &order_limits) };
    let Some((candidate, order_method)) = best else { unreachable!("at least one order was offered") };
    let witness = match bounded.proof {
        Proof::Given => step_witness,
        Proof::Cut(op) => Witness::Cut { op },
        Proof::Search(ops) => Witness::Exhaustive {
            method: "depth first over down-sets, from both ends".to_string(),
            states: bounded.states,
            ops,
        },
    };
    let certificate = Certificate {
        peak: candidate.peak,
        arena: candidate.arena,
        lower_bound: bounded.lower_bound,
        witness,
        method: format!("{order_method}; {}", candidate.method),
    };
    Ok(Planned { solution: candidate.solution, certificate, file_order_peak, no_reuse: no_reuse(problem)? })
}

fn no_reuse(problem: &Problem) -> Result<u64, PlanError> {
    let lives = Lives::new(problem, problem.file_order());
    let sharing = required(problem, &lives)?;
    let blocks = Blocks::new(problem, &lives, &sharing);
    let (tied, work) = blocks.blocks.split_at(blocks.group_of_block.len());
    Ok(tied.iter().map(Block::extent).sum::<u64>() + work.iter().map(Block::extent).max().unwrap_or(0))
}
