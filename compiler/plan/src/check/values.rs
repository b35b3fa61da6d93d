//! Which bytes of which tensors are the same value, by views and parts: each value of a piece of memory counts once, and two
//! different ones alive at a step never lie in one byte (but where one takes the other's place right then).

use std::collections::{BTreeSet, HashMap};

use super::carries_value;
use super::outside::{links, reached};
use crate::problem::{Problem, Share, TensorId};

/// A range of bytes, and the tensors that hold it.
pub(super) struct Value {
    pub(super) bytes: u64,
    pub(super) holders: Vec<TensorId>,
}

/// Tensors that shares of equal value tie.
pub(super) struct Tied {
    /// They, ascending from the first found; a tensor of no bytes may be among them.
    pub(super) members: Vec<usize>,
    /// Their bytes by value; none where these would have to be cut too small.
    pub(super) values: Option<Vec<Value>>,
}

/// Which tensors begin at the storage alignment whichever of these shares are taken.
pub(super) fn even(problem: &Problem, shares: &[&Share]) -> Vec<bool> {
    let ties = links(problem, shares.iter().copied());
    let mut odd = vec![false; problem.tensors().len()];
    for s in shares.iter().filter(|s| s.offset % problem.storage_align() != 0) {
        if !odd[s.inner.index()] {
            reached(s.inner.index(), &ties, &mut odd);
        }
    }
    odd.into_iter().map(|o| !o).collect()
}

/// The bytes of each tensor as plans count them: in whole units of the storage alignment where it is [`even`].
pub(super) fn sizes(problem: &Problem, even: &[bool]) -> Vec<u64> {
    let size = |(t, even): (&crate::problem::Tensor, &bool)| if *even { problem.padded(t.size) } else { t.size };
    problem.tensors().iter().zip(even).map(size).collect()
}

/// All tensors by what ties them, with their values as far as these shares tell.
pub(super) fn tied(problem: &Problem, shares: &[&Share], sizes: &[u64]) -> Vec<Tied> {
    let n = sizes.len();
    let mut ties: Vec<Vec<(usize, i128)>> = vec![Vec::new(); n];
    for s in shares.iter().filter(|s| carries_value(s.kind)) {
        ties[s.inner.index()].push((s.outer.index(), s.offset as i128));
        ties[s.outer.index()].push((s.inner.index(), -(s.offset as i128)));
    }
    let plain = links(problem, shares.iter().copied().filter(|s| carries_value(s.kind)));
    let mut seen = vec![false; n];
    let mut out = Vec::new();
    for t in 0..n {
        if !seen[t] {
            let members = reached(t, &plain, &mut seen);
            let values = split(sizes, &members, &ties);
            out.push(Tied { members, values });
        }
    }
    out
}

/// Splits tied tensors at every end of a shared range until all shares map whole pieces to whole pieces.
fn split(sizes: &[u64], members: &[usize], ties: &[Vec<(usize, i128)>]) -> Option<Vec<Value>> {
    let mut ends: HashMap<usize, BTreeSet<i128>> = HashMap::new();
    let mut work = Vec::new();
    for t in members.iter().filter(|t| sizes[**t] > 0) {
        work.push((*t, 0));
        work.push((*t, sizes[*t] as i128));
    }
    let mut count = 0;
    while let Some((t, at)) = work.pop() {
        if !ends.entry(t).or_default().insert(at) {
            continue;
        }
        count += 1;
        if count > 64 * members.len() + 4096 {
            return None;
        }
        for (u, by) in &ties[t] {
            if (0..=sizes[*u] as i128).contains(&(at + by)) {
                work.push((*u, at + by));
            }
        }
    }
    // Pieces that are the same, by walking from each in turn.
    let mut seen: BTreeSet<(usize, i128)> = BTreeSet::new();
    let mut out = Vec::new();
    for t in members {
        let cuts: Vec<i128> = ends.get(t).map(|e| e.iter().copied().collect()).unwrap_or_default();
        for pair in cuts.windows(2) {
            if !seen.insert((*t, pair[0])) {
                continue;
            }
            let bytes = pair[1] - pair[0];
            let mut holders = BTreeSet::from([TensorId(*t as u32)]);
            let mut stack = vec![(*t, pair[0])];
            while let Some((u, at)) = stack.pop() {
                for (v, by) in &ties[u] {
                    let there = at + by;
                    if there >= 0 && there + bytes <= sizes[*v] as i128 && seen.insert((*v, there)) {
                        holders.insert(TensorId(*v as u32));
                        stack.push((*v, there));
                    }
                }
            }
            out.push(Value { bytes: bytes as u64, holders: holders.into_iter().collect() });
        }
    }
    Some(out)
}
