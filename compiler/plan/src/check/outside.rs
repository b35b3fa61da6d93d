//! Which tensors may lie outside the arena in some plan.

use super::carries_value;
use crate::problem::{Home, Problem, Share, ShareKind};

/// Sets of tensors that views and parts tie, and why each may leave the arena.
pub(super) struct Outside {
    set: Vec<usize>,
    reason: Vec<Reason>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reason {
    Inside,
    /// A member may only be read, and so may what else lies in its memory.
    ReadOnly,
    /// A tensor may lie where one outside takes its place; nothing else takes the place of a single one.
    Swapped,
    Writable,
}

impl Outside {
    pub(super) fn new(problem: &Problem, shares: &[&Share]) -> Self {
        let n = problem.tensors().len();
        let links = links(problem, shares.iter().copied().filter(|s| carries_value(s.kind)));
        let mut seen = vec![false; n];
        let mut this = Outside { set: vec![0; n], reason: Vec::new() };
        let mut single = Vec::new();
        for t in 0..n {
            if seen[t] {
                continue;
            }
            let members = reached(t, &links, &mut seen);
            let any = |home: Home| members.iter().any(|m| problem.tensors()[*m].home == home);
            members.iter().for_each(|m| this.set[*m] = this.reason.len());
            single.push(members.len() == 1);
            this.reason.push(match (any(Home::Writable), any(Home::ReadOnly)) {
                (true, _) => Reason::Writable,
                (false, true) => Reason::ReadOnly,
                (false, false) => Reason::Inside,
            });
        }
        let swaps: Vec<&&Share> = shares
            .iter()
            .filter(|s| s.kind == ShareKind::InPlace)
            .filter(|s| !problem.tensor(s.outer).output && !problem.tensor(s.outer).pinned)
            .collect();
        // Backwards first, since what is overwritten comes earlier than what overwrites it.
        let mut changed = true;
        while changed {
            changed = false;
            for s in swaps.iter().rev() {
                let (new, old) = (this.set[s.inner.index()], this.set[s.outer.index()]);
                if this.reason[new] != Reason::Inside && this.reason[old] == Reason::Inside {
                    this.reason[old] = if single[old] { Reason::Swapped } else { Reason::Writable };
                    changed = true;
                }
                if this.reason[old] == Reason::Writable && this.reason[new] == Reason::Inside {
                    this.reason[new] = Reason::Writable;
                    changed = true;
                }
            }
        }
        this
    }

    /// Whether some plan may put the tensor outside.
    pub(super) fn may_be(&self, t: usize) -> bool {
        self.reason[self.set[t]] != Reason::Inside
    }
}

/// The tensors that shares tie to each.
pub(super) fn links<'s>(problem: &Problem, shares: impl Iterator<Item = &'s Share>) -> Vec<Vec<usize>> {
    let mut links = vec![Vec::new(); problem.tensors().len()];
    for s in shares {
        links[s.inner.index()].push(s.outer.index());
        links[s.outer.index()].push(s.inner.index());
    }
    links
}

/// All that links reach, the start included.
pub(super) fn reached(start: usize, links: &[Vec<usize>], seen: &mut [bool]) -> Vec<usize> {
    seen[start] = true;
    let mut list = vec![start];
    let mut at = 0;
    while let Some(t) = list.get(at).copied() {
        at += 1;
        for next in &links[t] {
            if !std::mem::replace(&mut seen[*next], true) {
                list.push(*next);
            }
        }
    }
    list
}
