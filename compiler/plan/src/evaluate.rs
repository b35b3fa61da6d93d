//! An order becomes a plan: shares are chosen, blocks placed, and every tensor gets its place.

use std::collections::BTreeSet;

use crate::choose::{Chosen, choose};
use crate::lifetime::Lives;
use crate::limits::Objective;
use crate::place::{Block, PlaceLimits, Placement, place};
use crate::problem::{OpId, Problem, ShareId, TensorId};
use crate::sharing::Blocks;
use crate::solution::{Place, Solution};
use crate::solve::PlanError;

/// An order with its shares: all but the offsets.
#[derive(Clone, Debug)]
pub(crate) struct Posed {
    pub(crate) order: Vec<OpId>,
    pub(crate) chosen: Chosen,
    /// Where the order came from.
    pub(crate) method: String,
}

/// A plan that may become the answer.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) posed: Posed,
    placement: Placement,
    /// Bytes of the arena.
    pub(crate) arena: u64,
    /// How order and offsets were found.
    pub(crate) method: String,
}

impl Posed {
    /// Chooses shares for an order, none of those in `without`; no peak can be below `bound`.
    pub(crate) fn new(
        problem: &Problem,
        order: Vec<OpId>,
        bound: u64,
        without: &BTreeSet<ShareId>,
        method: impl Into<String>,
    ) -> Result<Self, PlanError> {
        let lives = Lives::new(problem, &order);
        let chosen = choose(problem, &lives, bound, without)?;
        Ok(Posed { order, chosen, method: method.into() })
    }

    /// Bytes alive at the worst step.
    pub(crate) fn peak(&self) -> u64 {
        self.chosen.peak
    }

    /// Places the blocks.
    pub(crate) fn place(self, problem: &Problem, limits: &PlaceLimits) -> Candidate {
        let placed = place(&self.chosen.blocks.blocks, limits);
        let arena = problem.padded(placed.placement.height);
        let method = format!("{}; {}", self.method, placed.method);
        Candidate { posed: self, placement: placed.placement, arena, method }
    }

    /// Places the blocks where their tensors are said to lie; there are no workspaces.
    pub(crate) fn placed(self, problem: &Problem, address: &[Option<u64>], how: &str) -> Candidate {
        let Blocks { blocks, groups, group_of_block, .. } = &self.chosen.blocks;
        let offset = |g: &usize| {
            let at = |m: &(TensorId, u64)| address[m.0.index()].map(|a| a.saturating_sub(m.1));
            groups[*g].members.iter().find_map(at).unwrap_or(0)
        };
        let placement = Placement::new(blocks, group_of_block.iter().map(offset).collect());
        let arena = problem.padded(placement.height);
        let method = format!("{}; {how}", self.method);
        Candidate { posed: self, placement, arena, method }
    }
}

impl Candidate {
    /// What is compared: smaller is better.
    pub(crate) fn key(&self, objective: Objective) -> (u64, u64) {
        match objective {
            Objective::Arena => (self.arena, self.posed.peak()),
            Objective::Peak => (self.posed.peak(), self.arena),
        }
    }

    /// The plan itself.
    pub(crate) fn solution(self, problem: &Problem) -> Solution {
        let blocks: &Blocks = &self.posed.chosen.blocks;
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
                places[t.index()] = Place::Arena(self.placement.offsets[b] + offset);
            }
        }
        let mut workspaces = vec![0; problem.ops().len()];
        for (w, op) in blocks.workspace_op.iter().enumerate() {
            workspaces[op.index()] = self.placement.offsets[blocks.group_of_block.len() + w];
        }
        Solution { order: self.posed.order, places, workspaces, taken: self.posed.chosen.taken }
    }
}

/// The blocks of an order with the shares that would be chosen for it.
pub(crate) fn shares_of(problem: &Problem, order: &[OpId]) -> Result<Vec<Block>, PlanError> {
    let lives = Lives::new(problem, order);
    Ok(choose(problem, &lives, 0, &BTreeSet::new())?.blocks.blocks)
}
