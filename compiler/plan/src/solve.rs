//! The way from a problem to a plan with its certificate.

use std::time::Duration;

use crate::bound;
use crate::lifetime::Lives;
use crate::order::{Simple, simple};
use crate::place::{Block, Placement, greedy, max_load};
use crate::problem::{OpId, Problem};
use crate::sharing::{Blocks, Sharing};
use crate::solution::{Certificate, Place, Solution};

/// What to make small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// The bytes of the arena.
    #[default]
    Arena,
    /// The bytes alive at the worst step; the placement is then only as good as a quick one.
    Peak,
}

/// How hard to try.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// Search for proven optima within the limits.
    #[default]
    Search,
    /// Heuristics alone.
    Heuristic,
}

/// Limits of the search: counts, so that the same limits always give the same answer, and a time only where the user sets one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// What to make small.
    pub objective: Objective,
    /// How hard to try.
    pub effort: Effort,
    /// States of the order search.
    pub order_states: u64,
    /// Nodes of the placement search.
    pub place_nodes: u64,
    /// Rounds of improvement of large orders and placements.
    pub rounds: u64,
    /// Stop searching after this long; answers then depend on the machine.
    pub time: Option<Duration>,
    /// Stop as soon as the arena is no larger than this.
    pub capacity: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            objective: Objective::Arena,
            effort: Effort::Search,
            order_states: 2_000_000,
            place_nodes: 2_000_000,
            rounds: 1_000,
            time: None,
            capacity: None,
        }
    }
}

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
    let (lower_bound, witness) = bound::lower_bound(problem);
    let mut best: Option<(Candidate, Simple)> = None;
    let mut file_order_peak = 0;
    for rule in Simple::ALL {
        let candidate = evaluate(problem, simple(problem, rule))?;
        if rule == Simple::File {
            file_order_peak = candidate.peak;
        }
        if best.as_ref().is_none_or(|(b, _)| candidate.key(limits.objective) < b.key(limits.objective)) {
            best = Some((candidate, rule));
        }
    }
    let Some((candidate, rule)) = best else { unreachable!("there is at least one simple rule") };
    let certificate = Certificate {
        peak: candidate.peak,
        arena: candidate.arena,
        lower_bound,
        witness,
        method: format!("{}, greedy by size", rule.name()),
    };
    Ok(Planned { solution: candidate.solution, certificate, file_order_peak, no_reuse: no_reuse(problem)? })
}

struct Candidate {
    solution: Solution,
    peak: u64,
    arena: u64,
}

impl Candidate {
    fn key(&self, objective: Objective) -> (u64, u64) {
        match objective {
            Objective::Arena => (self.arena, self.peak),
            Objective::Peak => (self.peak, self.arena),
        }
    }
}

/// Takes what shares it can, in the order of the steps, and places the blocks.
fn evaluate(problem: &Problem, order: Vec<OpId>) -> Result<Candidate, PlanError> {
    let lives = Lives::new(problem, &order);
    let mut sharing = required(problem, &lives)?;
    let mut optional: Vec<_> = problem.share_ids().filter(|s| !problem.share(*s).required).collect();
    optional.sort_by_key(|s| (lives.step[problem.share(*s).op.index()], *s));
    for s in optional {
        sharing.try_take(s);
    }
    let blocks = Blocks::new(problem, &lives, &sharing);
    let placement = quick(&blocks.blocks);
    let peak = max_load(&blocks.blocks);
    let arena = problem.padded(placement.height);
    Ok(Candidate { solution: solution(problem, order, &sharing, &blocks, &placement), peak, arena })
}

fn required<'p>(problem: &'p Problem, lives: &'p Lives) -> Result<Sharing<'p>, PlanError> {
    let mut sharing = Sharing::new(problem, lives);
    sharing.take_required().map_err(|s| {
        let s = problem.share(s);
        PlanError::Share {
            inner: problem.tensor(s.inner).name.clone(),
            outer: problem.tensor(s.outer).name.clone(),
            op: problem.op(s.op).name.clone(),
        }
    })?;
    Ok(sharing)
}

/// The best of a few greedy sequences.
fn quick(blocks: &[Block]) -> Placement {
    let ids = || (0..blocks.len()).collect::<Vec<_>>();
    let mut by_size = ids();
    by_size.sort_by_key(|b| (std::cmp::Reverse(blocks[*b].extent()), *b));
    let mut by_area = ids();
    by_area.sort_by_key(|b| (std::cmp::Reverse(blocks[*b].area()), *b));
    let mut by_length = ids();
    by_length.sort_by_key(|b| (std::cmp::Reverse(blocks[*b].upper() - blocks[*b].lower()), *b));
    let mut by_time = ids();
    by_time.sort_by_key(|b| (blocks[*b].lower(), std::cmp::Reverse(blocks[*b].extent()), *b));
    let mut best = greedy(blocks, &by_size);
    for sequence in [by_area, by_length, by_time] {
        let next = greedy(blocks, &sequence);
        if next.height < best.height {
            best = next;
        }
    }
    best
}

fn solution(
    problem: &Problem,
    order: Vec<OpId>,
    sharing: &Sharing<'_>,
    blocks: &Blocks,
    placement: &Placement,
) -> Solution {
    let mut places = vec![Place::Arena(0); problem.tensors().len()];
    for group in blocks.groups.iter() {
        if let Some(of) = group.external {
            for (t, offset) in &group.members {
                places[t.index()] = Place::External { of, offset: *offset };
            }
        }
    }
    for (b, g) in blocks.group_of_block.iter().enumerate() {
        for (t, offset) in &blocks.groups[*g].members {
            places[t.index()] = Place::Arena(placement.offsets[b] + offset);
        }
    }
    let mut workspaces = vec![0; problem.ops().len()];
    for (w, op) in blocks.workspace_op.iter().enumerate() {
        workspaces[op.index()] = placement.offsets[blocks.group_of_block.len() + w];
    }
    Solution { order, places, workspaces, taken: sharing.taken() }
}

fn no_reuse(problem: &Problem) -> Result<u64, PlanError> {
    let lives = Lives::new(problem, problem.file_order());
    let sharing = required(problem, &lives)?;
    let blocks = Blocks::new(problem, &lives, &sharing);
    let (tied, work) = blocks.blocks.split_at(blocks.group_of_block.len());
    Ok(tied.iter().map(Block::extent).sum::<u64>() + work.iter().map(Block::extent).max().unwrap_or(0))
}
