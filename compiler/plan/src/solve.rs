//! The way from a problem to a plan with its certificate.

use std::collections::BTreeSet;
use std::time::Instant;

use crate::bound;
use crate::choose::required;
use crate::evaluate::{Candidate, Posed};
use crate::joint;
use crate::lifetime::Lives;
use crate::limits::{Clock, Effort, Limits, Objective};
use crate::order::atoms::Outside;
use crate::order::model::{Count, Model};
use crate::order::plan::{OrderLimits, Ordered, Proof, plan};
use crate::order::simple::all as all_simple;
use crate::order::{Simple, simple};
use crate::place::{Block, PlaceLimits};
use crate::problem::{Problem, TensorId};
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
    let clock = Clock(limits.time.map(|t| Instant::now() + t));
    let (step_bound, step_witness) = bound::lower_bound(problem);
    let states = match limits.effort {
        Effort::Search => limits.order_states,
        Effort::Heuristic => 0,
    };
    let order_limits = OrderLimits { states, enough: limits.capacity.unwrap_or(0), clock };
    let likely = Model::new(problem, Count::Likely);
    let simple = all_simple(problem);
    let ordered = plan(problem, &likely, &simple, step_bound, &order_limits);
    // Where the model is no more than a guess, the bound needs the one that never counts too much.
    let at_most = Model::new(problem, Count::AtMost);
    let other = (at_most != likely).then(|| plan(problem, &at_most, &simple, step_bound, &order_limits));
    let bounded = other.as_ref().unwrap_or(&ordered);
    let bound = bounded.lower_bound;
    let all = BTreeSet::new();
    let mut posed = vec![Posed::new(problem, ordered.order.clone(), bound, &all, ordered.method.clone())?];
    if let Some(o) = &other {
        posed.push(Posed::new(problem, o.order.clone(), bound, &all, o.method.clone())?);
    }
    let mut file_order_peak = 0;
    for (rule, order) in &simple {
        let p = Posed::new(problem, order.clone(), bound, &all, rule.name())?;
        if *rule == Simple::File {
            file_order_peak = p.peak();
        }
        posed.push(p);
    }
    let mut enough = bound.max(limits.capacity.unwrap_or(0));
    let best = best_of(problem, posed, enough, limits, &clock)?;
    let mut bound = bound;
    let mut witness = witness(bounded, step_witness, &[]);
    if best.arena > enough && states > 0 {
        let lives = Lives::new(problem, &best.posed.order);
        let outside = Outside::new(problem);
        let counted = outside.worth_counting(problem, &lives);
        let room = outside.bytes(problem, &counted);
        if !counted.is_empty() {
            let model = Model::counting(problem, Count::AtMost, &counted);
            let limits = OrderLimits { enough: enough + room, ..order_limits };
            let counting = plan(problem, &model, &simple, bound + room, &limits);
            if counting.lower_bound > bound + room {
                bound = counting.lower_bound - room;
                witness = self::witness(&counting, Witness::None, &counted);
            }
        }
        enough = enough.max(bound);
    }
    let best = joint::improve(problem, &ordered, best, enough, limits, &clock)?;
    let certificate = Certificate {
        peak: best.posed.peak(),
        arena: best.arena,
        lower_bound: bound,
        witness,
        method: best.method.clone(),
    };
    Ok(Planned { solution: best.solution(problem), certificate, file_order_peak, no_reuse: no_reuse(problem)? })
}

/// What proves the bound of an order search, if it does better than what was `given`.
fn witness(ordered: &Ordered, given: Witness, counted: &[TensorId]) -> Witness {
    match &ordered.proof {
        Proof::Given => given,
        Proof::Cut(op) => Witness::Cut { op: *op, outside: counted.to_vec() },
        Proof::Search(ops) => Witness::Exhaustive {
            method: "depth first over down-sets, from both ends".to_string(),
            states: ordered.states,
            ops: ops.clone(),
        },
    }
}

/// Places orders quickly by their peaks, the lowest first, as long as one might still be better than the best.
fn best_of(
    problem: &Problem,
    mut posed: Vec<Posed>,
    enough: u64,
    limits: &Limits,
    clock: &Clock,
) -> Result<Candidate, PlanError> {
    let quick = simple_limits(limits, clock);
    posed.sort_by_key(Posed::peak);
    let mut posed = posed.into_iter();
    let Some(first) = posed.next() else { unreachable!("at least one order was posed") };
    // A short search closes most gaps that are there at all.
    let mut best = first.place(problem, &PlaceLimits { nodes: limits.place_nodes.min(4_000), ..quick.clone() });
    for p in posed {
        let hopeless = match limits.objective {
            Objective::Arena => p.peak() >= best.arena,
            Objective::Peak => p.peak() > best.posed.peak(),
        };
        if hopeless || best.arena <= enough {
            continue;
        }
        let candidate = p.place(problem, &quick);
        if candidate.key(limits.objective) < best.key(limits.objective) {
            best = candidate;
        }
    }
    Ok(best)
}

/// How simple orders are placed.
fn simple_limits(limits: &Limits, clock: &Clock) -> PlaceLimits {
    PlaceLimits { nodes: 0, moves: 0, ..limits.place(clock.0) }
}

/// The peak and the arena of a simple order, with shares and offsets chosen as for any other.
///
/// # Errors
/// Only where required shares contradict each other.
pub fn simple_arena(problem: &Problem, rule: Simple, limits: &Limits) -> Result<(u64, u64), PlanError> {
    let clock = Clock(limits.time.map(|t| Instant::now() + t));
    let posed = Posed::new(problem, simple(problem, rule), 0, &BTreeSet::new(), rule.name())?;
    let candidate = posed.place(problem, &simple_limits(limits, &clock));
    Ok((candidate.posed.peak(), candidate.arena))
}

fn no_reuse(problem: &Problem) -> Result<u64, PlanError> {
    let lives = Lives::new(problem, problem.file_order());
    let sharing = required(problem, &lives)?;
    let blocks = Blocks::new(problem, &lives, &sharing);
    let (tied, work) = blocks.blocks.split_at(blocks.group_of_block.len());
    Ok(tied.iter().map(Block::extent).sum::<u64>() + work.iter().map(Block::extent).max().unwrap_or(0))
}
