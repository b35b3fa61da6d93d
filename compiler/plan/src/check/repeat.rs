//! Exhaustive witnesses searched again: can the ops run so that no step needs as many bytes as are claimed?
//!
//! Plain reachability over the sets of ops done, with neither dominance nor bounds: from the empty set on, any op may run
//! whose ancestors are done and whose step stays below the claim. If the full set is not reached, the claim is true.

use std::collections::HashMap;

use super::Violation;
use super::cost::{Cost, Shares};
use crate::problem::{OpId, Problem, ShareKind};
use crate::solution::{Certificate, Witness};

/// How far a lower bound was verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundCheck {
    /// The checker proved it anew.
    Verified,
    /// It rests on a search too large for the checker to repeat.
    TakenOnTrust,
}

impl BoundCheck {
    /// `verified` or `taken on trust`.
    pub fn label(self) -> &'static str {
        match self {
            BoundCheck::Verified => "verified",
            BoundCheck::TakenOnTrust => "taken on trust",
        }
    }
}

impl std::fmt::Display for BoundCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.label())
    }
}

/// Tensors looked at in one search; a fraction of a second.
const WORK: u64 = 40_000_000;

/// Whether a bound whose witness fits together is proven or taken on trust.
///
/// # Errors
/// A real order of a small problem that beats an exhaustive witness.
pub(super) fn bound(problem: &Problem, order: &[OpId], certificate: &Certificate) -> Result<BoundCheck, Violation> {
    let Witness::Exhaustive { ops, .. } = &certificate.witness else { return Ok(BoundCheck::Verified) };
    let claimed = certificate.lower_bound;
    if claimed == 0 {
        return Ok(BoundCheck::Verified);
    }
    if ops.is_empty() {
        return Err(Violation::Bound { claimed, proven: 0 });
    }
    // Sets of ops are the bits of a word.
    if ops.len() > 64 {
        return Ok(BoundCheck::TakenOnTrust);
    }
    let past = Past::new(problem, order, ops);
    let Some(least) = Cost::new(problem, &past, Shares::All, &|_| true) else { return Ok(BoundCheck::TakenOnTrust) };
    match search(&least, &past, claimed) {
        Found::Nothing => return Ok(BoundCheck::Verified),
        Found::TooMuch => return Ok(BoundCheck::TakenOnTrust),
        Found::Order(..) => {}
    }
    // Some order looks cheaper if every share helps. With the required shares alone its cost is that of a real plan.
    let forced = problem.shares().iter().any(|s| s.required && s.kind == ShareKind::InPlace);
    if ops.len() == problem.ops().len()
        && !forced
        && let Some(real) = Cost::new(problem, &past, Shares::Required, &|_| true)
        && real.exact
        && let Found::Order(path, found) = search(&real, &past, claimed)
    {
        let names = path.iter().take(6).map(|s| format!("'{}'", problem.op(ops[*s]).name)).collect::<Vec<_>>();
        let order = names.join(", ") + if path.len() > 6 { ", ..." } else { "" };
        return Err(Violation::Beaten { claimed, found, order });
    }
    Ok(BoundCheck::TakenOnTrust)
}

/// Which of the searched ops are ancestors and which descendants of each op of the problem, itself included, as bits.
pub(super) struct Past {
    pub(super) ancestors: Vec<u64>,
    pub(super) descendants: Vec<u64>,
    pub(super) searched: Vec<OpId>,
}

impl Past {
    pub(super) fn new(problem: &Problem, order: &[OpId], ops: &[OpId]) -> Self {
        let n = problem.ops().len();
        let mut own = vec![0u64; n];
        for (bit, o) in ops.iter().enumerate() {
            own[o.index()] = 1 << bit;
        }
        let preds = problem.predecessors();
        let (mut ancestors, mut descendants) = (own.clone(), own);
        for o in order {
            for p in &preds[o.index()] {
                ancestors[o.index()] |= ancestors[p.index()];
            }
        }
        for o in order.iter().rev() {
            for p in &preds[o.index()] {
                descendants[p.index()] |= descendants[o.index()];
            }
        }
        Past { ancestors, descendants, searched: ops.to_vec() }
    }
}

enum Found {
    /// No order stays below.
    Nothing,
    /// This one does, with the bytes of its worst step.
    Order(Vec<usize>, u64),
    /// The search did not end within its limit.
    TooMuch,
}

/// Looks for an order all of whose steps stay below `claimed`.
fn search(cost: &Cost, past: &Past, claimed: u64) -> Found {
    let n = past.searched.len();
    let all = if n == 64 { u64::MAX } else { (1 << n) - 1 };
    let mut work = 0;
    // Ops done, to the last of them and the bytes of the worst step.
    let mut known: HashMap<u64, (usize, u64)> = HashMap::from([(0, (0, 0))]);
    let mut layer = vec![0u64];
    for _ in 0..n {
        let mut next = Vec::new();
        for done in layer {
            let worst = known[&done].1;
            for bit in (0..n).filter(|b| done >> b & 1 == 0) {
                let before = past.ancestors[past.searched[bit].index()] & !(1 << bit);
                if before & !done != 0 {
                    continue;
                }
                work += cost.size();
                let bytes = cost.step(past, done, bit);
                if bytes >= claimed {
                    continue;
                }
                known.entry(done | 1 << bit).or_insert_with(|| {
                    next.push(done | 1 << bit);
                    (bit, worst.max(bytes))
                });
            }
            if work > WORK {
                return Found::TooMuch;
            }
        }
        layer = next;
    }
    let Some((_, worst)) = known.get(&all) else { return Found::Nothing };
    let mut path = Vec::new();
    let mut at = all;
    while let Some((bit, _)) = known.get(&at).filter(|_| at != 0) {
        path.push(*bit);
        at &= !(1 << bit);
    }
    path.reverse();
    Found::Order(path, *worst)
}
