//! The bytes of tensors by value: what views and parts of concatenations would hold in common if every share were taken.
//!
//! A share says that a range of one tensor's bytes is a range of another's. Cutting all tensors at the ends of such ranges,
//! and at what those cuts mean elsewhere, leaves pieces; pieces that are the same by some chain of shares are one *atom*.
//! At any step of any plan the atoms alive are different values, so they lie in different bytes.

use std::collections::BTreeSet;

use petgraph::unionfind::UnionFind;

use crate::lifetime::Lives;
use crate::problem::{Home, Problem, Share, ShareKind, TensorId};

use super::model::Count;

/// A name for each tensor, the same for those that a chain of these shares links.
pub(crate) fn linked<'s>(problem: &Problem, shares: impl IntoIterator<Item = &'s Share>) -> Vec<u32> {
    let mut sets = UnionFind::<u32>::new(problem.tensors().len());
    for s in shares {
        sets.union(s.inner.0, s.outer.0);
    }
    sets.into_labeling()
}

/// Bytes that the same tensors hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Atom {
    pub(crate) bytes: u64,
    /// The tensors that hold it, ascending.
    pub(crate) around: Vec<TensorId>,
}

/// Pieces of one component, beyond so many for each member, are not told apart.
const MOST_PIECES: usize = 64;

/// The atoms of all tensors that lie in the arena in every plan (or, with [`Count::Likely`], most likely).
///
/// Those of the sets in `counted` (see [`Outside`]) are atoms too wherever they lie.
pub(crate) fn atoms(problem: &Problem, count: Count, counted: &[TensorId]) -> Vec<Atom> {
    let n = problem.tensors().len();
    let mut shares: Vec<&Share> = problem.shares().iter().filter(|s| s.kind != ShareKind::InPlace).collect();
    if count == Count::Likely {
        shares.sort_by_key(|s| !s.required);
        let mut ties = Ties { parent: (0..n as u32).collect(), distance: vec![0; n] };
        shares.retain(|s| ties.tie(s.inner.0, s.outer.0, s.offset as i64));
    }
    let of = linked(problem, shares.iter().copied());
    let mut outside = outside(problem, count, &of);
    if !counted.is_empty() {
        let sets = Outside::new(problem);
        let chosen = sets.chosen(counted);
        for t in problem.tensor_ids().filter(|t| chosen[sets.of[t.index()] as usize]) {
            outside[of[t.index()] as usize] = false;
        }
        for t in problem.tensor_ids().filter(|t| problem.tensor(*t).home == Home::ReadOnly) {
            outside[of[t.index()] as usize] = true;
        }
    }
    let aligned = aligned(problem);
    let mut members: Vec<Vec<TensorId>> = vec![Vec::new(); n];
    for t in problem.tensor_ids().filter(|t| problem.tensor(*t).size > 0 && !outside[of[t.index()] as usize]) {
        members[of[t.index()] as usize].push(t);
    }
    let mut ties: Vec<Vec<&Share>> = vec![Vec::new(); n];
    for s in shares {
        ties[of[s.inner.index()] as usize].push(s);
    }
    let mut local = vec![0; n];
    let mut out = Vec::new();
    for (members, ties) in members.into_iter().zip(&ties) {
        let Some(first) = members.first() else { continue };
        let unit = if aligned[first.index()] { problem.storage_align() } else { 1 };
        let size = |t: TensorId| problem.tensor(t).size.next_multiple_of(unit);
        if let [only] = members[..] {
            out.push(Atom { bytes: size(only), around: vec![only] });
            continue;
        }
        members.iter().enumerate().for_each(|(i, t)| local[t.index()] = i);
        match pieces(&members, ties, &local, size) {
            Some(atoms) => out.extend(atoms),
            None if count == Count::AtMost => {
                let bytes = members.iter().map(|t| size(*t)).min().unwrap_or(0);
                out.push(Atom { bytes, around: members });
            }
            None => out.extend(members.iter().map(|t| Atom { bytes: size(*t), around: vec![*t] })),
        }
    }
    out
}

/// Cuts one component; none if that leaves too many pieces.
fn pieces(members: &[TensorId], ties: &[&Share], local: &[usize], size: impl Fn(TensorId) -> u64) -> Option<Vec<Atom>> {
    let mut cuts: Vec<BTreeSet<u64>> = members.iter().map(|t| BTreeSet::from([0, size(*t)])).collect();
    let mut by_member: Vec<Vec<usize>> = vec![Vec::new(); members.len()];
    let live: Vec<&&Share> = ties.iter().filter(|s| size(s.inner) > 0).collect();
    for (i, s) in live.iter().enumerate() {
        by_member[local[s.inner.index()]].push(i);
        by_member[local[s.outer.index()]].push(i);
    }
    let mut work: Vec<(usize, u64)> =
        cuts.iter().enumerate().flat_map(|(m, c)| c.iter().map(move |at| (m, *at))).collect();
    let mut total = work.len();
    while let Some((m, at)) = work.pop() {
        for i in &by_member[m] {
            let s = live[*i];
            let (inner, outer) = (local[s.inner.index()], local[s.outer.index()]);
            let size = size(s.inner);
            let mut cut = |m: usize, at: u64| {
                if cuts[m].insert(at) {
                    work.push((m, at));
                    total += 1;
                }
            };
            if m == inner {
                cut(outer, at + s.offset);
            }
            if m == outer && (s.offset..=s.offset + size).contains(&at) {
                cut(inner, at - s.offset);
            }
        }
        if total > MOST_PIECES * members.len() + 4096 {
            return None;
        }
    }
    let cuts: Vec<Vec<u64>> = cuts.into_iter().map(|c| c.into_iter().collect()).collect();
    let mut first = vec![0];
    for c in &cuts {
        first.push(first[first.len() - 1] + c.len() - 1);
    }
    let mut same = UnionFind::<usize>::new(first[members.len()]);
    for s in live {
        let (inner, outer) = (local[s.inner.index()], local[s.outer.index()]);
        let at = cuts[outer].partition_point(|c| *c < s.offset);
        for k in 0..cuts[inner].len() - 1 {
            same.union(first[inner] + k, first[outer] + at + k);
        }
    }
    let label = same.into_labeling();
    let mut slot = vec![usize::MAX; label.len()];
    let mut out: Vec<Atom> = Vec::new();
    for (m, c) in cuts.iter().enumerate() {
        for k in 0..c.len() - 1 {
            let l = label[first[m] + k];
            if slot[l] == usize::MAX {
                slot[l] = out.len();
                out.push(Atom { bytes: c[k + 1] - c[k], around: Vec::new() });
            }
            let around = &mut out[slot[l]].around;
            if around.last() != Some(&members[m]) {
                around.push(members[m]);
            }
        }
    }
    Some(out)
}

/// For each tensor whether all that shares may tie to it starts at the storage alignment; then bytes are counted in whole
/// units of it, as plans count them.
fn aligned(problem: &Problem) -> Vec<bool> {
    let of = linked(problem, problem.shares());
    let mut odd = vec![false; of.len()];
    for s in problem.shares() {
        odd[of[s.inner.index()] as usize] |= s.offset % problem.storage_align() != 0;
    }
    of.iter().map(|o| !odd[*o as usize]).collect()
}

/// Sets of tensors that shares may ever tie together. What of a set does not lie in the arena lies in its tensors outside, so
/// all that is alive of it, less their bytes, is in the arena.
#[derive(Clone, Debug)]
pub(crate) struct Outside {
    /// Set of each tensor.
    pub(crate) of: Vec<u32>,
    sizes: Vec<u64>,
}

impl Outside {
    pub(crate) fn new(problem: &Problem) -> Self {
        let kept = |s: &&Share| problem.tensor(s.outer).output || problem.tensor(s.outer).pinned;
        let ever = problem.shares().iter().filter(|s| s.kind != ShareKind::InPlace || !kept(s));
        let aligned = aligned(problem);
        let size = |t: TensorId| {
            let size = problem.tensor(t).size;
            if aligned[t.index()] { problem.padded(size) } else { size }
        };
        Outside { of: linked(problem, ever), sizes: problem.tensor_ids().map(size).collect() }
    }

    fn chosen(&self, counted: &[TensorId]) -> Vec<bool> {
        let mut chosen = vec![false; self.of.len()];
        for t in counted {
            chosen[self.of[t.index()] as usize] = true;
        }
        chosen
    }

    /// Bytes outside the arena in the sets of these tensors.
    pub(crate) fn bytes(&self, problem: &Problem, counted: &[TensorId]) -> u64 {
        let chosen = self.chosen(counted);
        let writable = problem.tensor_ids().filter(|t| problem.tensor(*t).home == Home::Writable);
        let within = writable.filter(|t| chosen[self.of[t.index()] as usize]);
        within.map(|t| self.sizes[t.index()]).sum()
    }

    /// One outside tensor of each set that has more alive at some step than lies outside.
    pub(crate) fn worth_counting(&self, problem: &Problem, lives: &Lives) -> Vec<TensorId> {
        let mut changes: Vec<(u32, i64, u32)> = Vec::new();
        let mut room = vec![0u64; self.of.len()];
        let mut first = vec![None; self.of.len()];
        for t in problem.tensor_ids().filter(|t| problem.tensor(*t).home != Home::ReadOnly) {
            let set = self.of[t.index()];
            let (from, to) = lives.range(t);
            let size = self.sizes[t.index()];
            changes.extend([(from, size as i64, set), (to, -(size as i64), set)]);
            if problem.tensor(t).home == Home::Writable {
                room[set as usize] += size;
                first[set as usize] = first[set as usize].or(Some(t));
            }
        }
        changes.sort_unstable();
        let (mut alive, mut most) = (vec![0i64; self.of.len()], vec![0i64; self.of.len()]);
        for (_, change, set) in changes {
            let set = set as usize;
            alive[set] += change;
            most[set] = most[set].max(alive[set]);
        }
        (0..self.of.len()).filter(|s| most[*s] as u64 > room[*s]).filter_map(|s| first[s]).collect()
    }
}

/// The components that lie, or may lie, outside the arena: those of outside tensors, and by in-place shares that may ever be
/// taken what takes a place in them or has its place taken by them.
fn outside(problem: &Problem, count: Count, of: &[u32]) -> Vec<bool> {
    let n = problem.tensors().len();
    let mut outside = vec![false; n];
    let mut writable = vec![false; n];
    for t in problem.tensor_ids() {
        let tensor = problem.tensor(t);
        outside[of[t.index()] as usize] |= tensor.home != Home::Arena;
        writable[of[t.index()] as usize] |= tensor.home == Home::Writable;
    }
    let swaps: Vec<&Share> = problem
        .shares()
        .iter()
        .filter(|s| s.kind == ShareKind::InPlace)
        .filter(|s| !problem.tensor(s.outer).output && !problem.tensor(s.outer).pinned)
        .collect();
    let mut by_set: Vec<Vec<u32>> = vec![Vec::new(); n];
    for (i, s) in swaps.iter().enumerate() {
        by_set[of[s.inner.index()] as usize].push(i as u32);
        by_set[of[s.outer.index()] as usize].push(i as u32);
    }
    // A plan can give each place to one tensor only; a bound must allow for all.
    let mut taken = vec![false; n];
    let mut work: Vec<u32> = (0..n as u32).filter(|c| writable[*c as usize]).rev().collect();
    while let Some(c) = work.pop() {
        for i in by_set[c as usize].iter().rev() {
            let s = swaps[*i as usize];
            let (inner, outer) = (of[s.inner.index()], of[s.outer.index()]);
            let (from, other) = if inner == c { (s.inner, outer) } else { (s.outer, inner) };
            if writable[other as usize] || (count == Count::Likely && taken[from.index()]) {
                continue;
            }
            taken[from.index()] = true;
            writable[other as usize] = true;
            outside[other as usize] = true;
            work.push(other);
        }
    }
    outside
}

struct Ties {
    parent: Vec<u32>,
    distance: Vec<i64>,
}

impl Ties {
    /// Root and position from it; links are halved on the way.
    fn find(&mut self, mut t: u32) -> (u32, i64) {
        let mut at = 0;
        while self.parent[t as usize] != t {
            let p = self.parent[t as usize];
            if self.parent[p as usize] != p {
                self.distance[t as usize] += self.distance[p as usize];
                self.parent[t as usize] = self.parent[p as usize];
            }
            at += self.distance[t as usize];
            t = self.parent[t as usize];
        }
        (t, at)
    }

    /// Ties `inner` at `offset` bytes into `outer`; false if they are tied otherwise already.
    fn tie(&mut self, inner: u32, outer: u32, offset: i64) -> bool {
        let ((ri, pi), (ro, po)) = (self.find(inner), self.find(outer));
        if ri == ro {
            return pi == po + offset;
        }
        self.parent[ri as usize] = ro;
        self.distance[ri as usize] = po + offset - pi;
        true
    }
}
