//! Which bytes of which tensors are the same value, by views and parts: each value of a piece of memory counts once, and two
//! different ones alive at a step never lie in one byte (but where one takes the other's place right then).

use std::collections::BTreeSet;

use super::carries_value;
use crate::problem::{Problem, Share, TensorId};

/// A range of bytes, and the tensors that hold it.
pub(super) struct Value {
    pub(super) bytes: u64,
    pub(super) holders: Vec<TensorId>,
}

/// Rounds over all shares at most; each carries the ends of ranges one share further.
const ROUNDS: usize = 32;

/// All values, as far as these shares tell; none where ranges would have to be cut too small.
///
/// `even` says which tensors begin at the storage alignment whatever shares are taken; their sizes are padded.
pub(super) fn values(problem: &Problem, shares: &[&Share], even: &[bool]) -> Option<Vec<Value>> {
    let size = |t: TensorId| {
        let bytes = problem.tensor(t).size;
        if even[t.index()] { problem.padded(bytes) } else { bytes }
    };
    let ties: Vec<&&Share> = shares.iter().filter(|s| carries_value(s.kind) && size(s.inner) > 0).collect();
    let mut cuts: Vec<BTreeSet<u64>> = problem.tensor_ids().map(|t| BTreeSet::from([0, size(t)])).collect();
    let most = 8 * cuts.len() + 10_000;
    let mut settled = false;
    for round in 0..ROUNDS {
        let before: usize = cuts.iter().map(BTreeSet::len).sum();
        if before > most {
            return None;
        }
        let mut carry = |s: &Share| {
            let out: Vec<u64> = cuts[s.inner.index()].iter().map(|c| c + s.offset).collect();
            cuts[s.outer.index()].extend(out);
            let range = s.offset..=s.offset + size(s.inner);
            let back: Vec<u64> = cuts[s.outer.index()].range(range).map(|c| c - s.offset).collect();
            cuts[s.inner.index()].extend(back);
        };
        if round % 2 == 0 {
            ties.iter().for_each(|s| carry(s));
        } else {
            ties.iter().rev().for_each(|s| carry(s));
        }
        if cuts.iter().map(BTreeSet::len).sum::<usize>() == before {
            settled = true;
            break;
        }
    }
    if !settled {
        return None;
    }
    let cuts: Vec<Vec<u64>> = cuts.into_iter().map(|c| c.into_iter().collect()).collect();
    let mut first = vec![0usize];
    for c in &cuts {
        first.push(first[first.len() - 1] + c.len() - 1);
    }
    let mut root: Vec<usize> = (0..first[cuts.len()]).collect();
    for s in &ties {
        let (inner, outer) = (&cuts[s.inner.index()], &cuts[s.outer.index()]);
        let at = first[s.outer.index()] + outer.partition_point(|c| *c < s.offset);
        for k in 0..inner.len() - 1 {
            let (a, b) = (top(&mut root, first[s.inner.index()] + k), top(&mut root, at + k));
            root[a.max(b)] = a.min(b);
        }
    }
    let mut out: Vec<Value> = Vec::new();
    let mut slot = vec![usize::MAX; root.len()];
    for (t, c) in cuts.iter().enumerate() {
        for (k, ends) in c.windows(2).enumerate() {
            let r = top(&mut root, first[t] + k);
            if slot[r] == usize::MAX {
                slot[r] = out.len();
                out.push(Value { bytes: ends[1] - ends[0], holders: Vec::new() });
            }
            let holders = &mut out[slot[r]].holders;
            if holders.last() != Some(&TensorId(t as u32)) {
                holders.push(TensorId(t as u32));
            }
        }
    }
    Some(out)
}

fn top(root: &mut [usize], mut i: usize) -> usize {
    while root[i] != i {
        root[i] = root[root[i]];
        i = root[i];
    }
    i
}
