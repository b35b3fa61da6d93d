//! An order becomes a plan: shares are chosen, blocks placed, and every tensor gets its place.

use crate::choose::choose;
use crate::lifetime::Lives;
use crate::limits::Objective;
use crate::place::{Block, PlaceLimits, Placement, max_load, place};
use crate::problem::{OpId, Problem};
use crate::sharing::{Blocks, Sharing};
use crate::solution::{Place, Solution};
use crate::solve::PlanError;

/// A plan that may become the answer.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) solution: Solution,
    /// Bytes alive at the worst step.
    pub(crate) peak: u64,
    /// Bytes of the arena.
    pub(crate) arena: u64,
    /// How the blocks were placed.
    pub(crate) method: String,
}

impl Candidate {
    /// What is compared: smaller is better.
    pub(crate) fn key(&self, objective: Objective) -> (u64, u64) {
        match objective {
            Objective::Arena => (self.arena, self.peak),
            Objective::Peak => (self.peak, self.arena),
        }
    }
}

/// Chooses shares and places the blocks; no peak can be below `bound`.
pub(crate) fn evaluate(
    problem: &Problem,
    order: Vec<OpId>,
    bound: u64,
    limits: &PlaceLimits,
) -> Result<Candidate, PlanError> {
    let lives = Lives::new(problem, &order);
    let sharing = choose(problem, &lives, bound)?;
    let blocks = Blocks::new(problem, &lives, &sharing);
    let placed = place(&blocks.blocks, limits);
    let peak = max_load(&blocks.blocks);
    let arena = problem.padded(placed.placement.height);
    let solution = solution(problem, order, &sharing, &blocks, &placed.placement);
    Ok(Candidate { solution, peak, arena, method: placed.method })
}

/// The blocks of an order with the shares that would be chosen for it.
pub(crate) fn shares_of(problem: &Problem, order: &[OpId]) -> Result<Vec<Block>, PlanError> {
    let lives = Lives::new(problem, order);
    let sharing = choose(problem, &lives, 0)?;
    Ok(Blocks::new(problem, &lives, &sharing).blocks)
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
