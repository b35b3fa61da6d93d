//! Which optional shares to take under an order.
//!
//! Most shares only help, so they are taken in the order of their steps. Where they contradict each other (a view that
//! keeps its base from being overwritten, a part of two concatenations) those that were refused are tried first, one at a
//! time, as long as that lowers the peak.

use crate::lifetime::Lives;
use crate::place::max_load;
use crate::problem::{Problem, ShareId};
use crate::sharing::{Blocks, Sharing};
use crate::solve::PlanError;

/// Refused shares tried first in one round, at most.
const TRIES: usize = 24;
/// Shares taken anew by all tries together, about.
const EFFORT: usize = 400_000;

/// Takes shares so that the peak is low; stops at `bound`, below which no peak can be.
pub(crate) fn choose<'p>(problem: &'p Problem, lives: &'p Lives, bound: u64) -> Result<Sharing<'p>, PlanError> {
    let mut sequence: Vec<ShareId> = problem.share_ids().filter(|s| !problem.share(*s).required).collect();
    sequence.sort_by_key(|s| (lives.step[problem.share(*s).op.index()], *s));
    let (mut best, mut peak) = take(problem, lives, &sequence)?;
    let mut effort = EFFORT;
    while peak > bound && effort > 0 {
        let taken = best.taken();
        let refused: Vec<ShareId> = sequence.iter().copied().filter(|s| taken.binary_search(s).is_err()).collect();
        let mut better = None;
        for s in refused.into_iter().take(TRIES) {
            effort = effort.saturating_sub(sequence.len());
            if effort == 0 {
                break;
            }
            let mut trial = vec![s];
            trial.extend(sequence.iter().copied().filter(|x| *x != s));
            let (sharing, load) = take(problem, lives, &trial)?;
            if load < peak {
                better = Some((sharing, load, trial));
                break;
            }
        }
        let Some((sharing, load, trial)) = better else { break };
        (best, peak, sequence) = (sharing, load, trial);
    }
    Ok(best)
}

fn take<'p>(problem: &'p Problem, lives: &'p Lives, sequence: &[ShareId]) -> Result<(Sharing<'p>, u64), PlanError> {
    let mut sharing = required(problem, lives)?;
    for s in sequence {
        sharing.try_take(*s);
    }
    let peak = max_load(&Blocks::new(problem, lives, &sharing).blocks);
    Ok((sharing, peak))
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
