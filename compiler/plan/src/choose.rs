//! Which optional shares to take under an order.
//!
//! Most shares only help, so they are taken in the order of their steps. Where they contradict each other (a view that
//! keeps its base from being overwritten, a part of two concatenations) those that were refused are tried first, one at a
//! time, as long as that lowers the peak.

use std::collections::BTreeSet;

use crate::lifetime::Lives;
use crate::place::load;
use crate::problem::{Problem, ShareId};
use crate::sharing::{Blocks, Sharing};
use crate::solve::PlanError;

/// Refused shares tried first in one round, at most.
const TRIES: usize = 24;
/// Shares taken anew by all tries together, about.
const EFFORT: usize = 400_000;

/// A choice of shares.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    /// Those taken, ascending.
    pub(crate) taken: Vec<ShareId>,
    /// What is left to place.
    pub(crate) blocks: Blocks,
    /// Bytes alive at the worst step.
    pub(crate) peak: u64,
    /// The first such step.
    worst: u64,
}

/// Takes shares so that the peak is low; stops at `bound`, below which no peak can be. Those in `without` are not taken.
pub(crate) fn choose(
    problem: &Problem,
    lives: &Lives,
    bound: u64,
    without: &BTreeSet<ShareId>,
) -> Result<Chosen, PlanError> {
    let optional = |s: &ShareId| !problem.share(*s).required && !without.contains(s);
    let mut sequence: Vec<ShareId> = problem.share_ids().filter(optional).collect();
    sequence.sort_by_key(|s| (lives.step[problem.share(*s).op.index()], *s));
    let mut best = take(problem, lives, &sequence, without)?;
    let mut effort = EFFORT;
    while best.peak > bound && effort > 0 {
        // A share can only matter where one of its tensors is alive at the worst step.
        let matters = |s: &ShareId| {
            let s = problem.share(*s);
            [s.inner, s.outer].into_iter().any(|t| {
                let (from, to) = lives.range(t);
                (u64::from(from)..u64::from(to)).contains(&best.worst)
            })
        };
        let refused = sequence.iter().copied().filter(|s| best.taken.binary_search(s).is_err());
        let tries: Vec<ShareId> = refused.filter(matters).take(TRIES).collect();
        let mut better = None;
        for s in tries {
            effort = effort.saturating_sub(sequence.len());
            if effort == 0 {
                break;
            }
            let mut trial = vec![s];
            trial.extend(sequence.iter().copied().filter(|x| *x != s));
            let chosen = take(problem, lives, &trial, without)?;
            if chosen.peak < best.peak {
                better = Some((chosen, trial));
                break;
            }
        }
        let Some(found) = better else { break };
        (best, sequence) = found;
    }
    Ok(best)
}

fn take(
    problem: &Problem,
    lives: &Lives,
    sequence: &[ShareId],
    without: &BTreeSet<ShareId>,
) -> Result<Chosen, PlanError> {
    let mut sharing = required(problem, lives)?;
    sharing.rule_out(without);
    for s in sequence {
        sharing.try_take(*s);
    }
    let blocks = Blocks::new(problem, lives, &sharing);
    let worst = load(&blocks.blocks).into_iter().max_by_key(|l| (l.1, std::cmp::Reverse(l.0)));
    let (worst, peak) = worst.unwrap_or((0, 0));
    Ok(Chosen { taken: sharing.taken(), blocks, peak, worst })
}

/// The shares that every plan takes.
pub(crate) fn required<'p>(problem: &'p Problem, lives: &'p Lives) -> Result<Sharing<'p>, PlanError> {
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
