//! Which shares are taken, and what blocks of memory that leaves.
//!
//! Taken shares tie tensors to each other at fixed distances: a union-find whose links carry a distance. A share is taken
//! only if no two tied tensors then hold different values in one byte at one step.

use crate::lifetime::Lives;
use crate::place::{Block, Piece};
use crate::problem::{Home, Problem, Share, ShareId, ShareKind, TensorId};

/// Tensors tied together by taken shares.
#[derive(Clone, Debug)]
pub struct Sharing<'p> {
    problem: &'p Problem,
    lives: &'p Lives,
    parent: Vec<u32>,
    /// Address of a tensor less that of its parent.
    distance: Vec<i64>,
    /// Members of each root's group, by death.
    members: Vec<Vec<TensorId>>,
    groups: Vec<Group>,
    taken: Vec<ShareId>,
    /// Whether each share is taken.
    is_taken: Vec<bool>,
    /// Whether each share may be taken.
    allowed: Vec<bool>,
    /// Taken shares that carry a value, by tensor: the other tensor.
    values: Vec<Vec<TensorId>>,
    /// Shares by op, where several parts lie in one whole.
    parts: Vec<Vec<ShareId>>,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    /// The tensor outside the arena in whose memory the group lies.
    external: Option<TensorId>,
    /// The tensor that all others are views of, as long as there is one.
    top: Option<TensorId>,
    /// Strictest alignment of a member, and where that member lies modulo it, from the root.
    align: (i64, i64),
    /// Lowest byte and end of all members, from the root.
    extent: (i64, i64),
}

/// A group of tied tensors that lies in the arena, or in an external tensor.
#[derive(Clone, Debug)]
pub struct Tied {
    /// Each tensor and its byte offset in the group, the lowest being 0 (in the arena) or the external tensor's start.
    pub members: Vec<(TensorId, u64)>,
    /// The tensor outside the arena in whose memory they lie.
    pub external: Option<TensorId>,
}

impl<'p> Sharing<'p> {
    /// Nothing taken yet.
    pub fn new(problem: &'p Problem, lives: &'p Lives) -> Self {
        let n = problem.tensors().len();
        let groups = problem
            .tensor_ids()
            .map(|t| Group {
                external: (problem.tensor(t).home != Home::Arena).then_some(t),
                top: Some(t),
                align: (problem.tensor(t).align as i64, 0),
                extent: (0, problem.tensor(t).size as i64),
            })
            .collect();
        let mut parts = vec![Vec::new(); problem.ops().len()];
        for id in problem.share_ids().filter(|s| problem.share(*s).kind == ShareKind::Into) {
            parts[problem.share(id).op.index()].push(id);
        }
        Sharing {
            problem,
            lives,
            parent: (0..n as u32).collect(),
            distance: vec![0; n],
            members: problem.tensor_ids().map(|t| vec![t]).collect(),
            groups,
            taken: Vec::new(),
            is_taken: vec![false; problem.shares().len()],
            allowed: vec![true; problem.shares().len()],
            values: vec![Vec::new(); n],
            parts,
        }
    }

    /// Rules shares out.
    pub fn rule_out<'i>(&mut self, shares: impl IntoIterator<Item = &'i ShareId>) {
        shares.into_iter().for_each(|s| self.allowed[s.index()] = false);
    }

    /// Takes every required share; the first that cannot be taken comes back as the error.
    pub fn take_required(&mut self) -> Result<(), ShareId> {
        for pass in [ShareKind::View, ShareKind::Into, ShareKind::InPlace] {
            for id in self.problem.share_ids() {
                let s = self.problem.share(id);
                if s.required && s.kind == pass && !self.try_take(id) {
                    return Err(id);
                }
            }
        }
        Ok(())
    }

    /// Takes a share if that is legal, and says whether it did. Other parts of the same whole that lie right already are
    /// taken with it: parts of two wholes can lie in both only all at once.
    pub fn try_take(&mut self, id: ShareId) -> bool {
        if self.is_taken[id.index()] {
            return true;
        }
        let s = *self.problem.share(id);
        if s.kind == ShareKind::InPlace && self.lives.death[s.outer.index()] != self.lives.step[s.op.index()] + 1 {
            return false;
        }
        let (ri, pi) = self.find(s.inner);
        let (ro, po) = self.find(s.outer);
        let mut all = vec![id];
        if ri == ro {
            // Already tied: legal only if the distance agrees; an in-place pair may newly be allowed to touch.
            if pi != po + s.offset as i64 {
                return false;
            }
        } else {
            // Position of inner's root less that of outer's root.
            let shift = po + s.offset as i64 - pi;
            let Some(group) = self.merged(&s, ri, ro, shift) else { return false };
            if s.kind == ShareKind::Into {
                all.extend(self.parts[s.op.index()].iter().copied().filter(|p| {
                    let x = self.problem.share(*p);
                    let (r, at) = self.find(x.inner);
                    let free = *p != id && !self.is_taken[p.index()] && self.allowed[p.index()];
                    free && x.outer == s.outer && r == ri && at + shift == po + x.offset as i64
                }));
            }
            self.link(&all);
            if !self.compatible(&s, ri, ro, shift) {
                self.unlink(&all);
                return false;
            }
            self.join(ri, ro, shift, group);
            self.note(&all);
            return true;
        }
        self.link(&all);
        self.note(&all);
        true
    }

    fn note(&mut self, shares: &[ShareId]) {
        for id in shares {
            self.is_taken[id.index()] = true;
            self.taken.push(*id);
        }
    }

    fn link(&mut self, shares: &[ShareId]) {
        for s in shares.iter().map(|s| self.problem.share(*s)).filter(|s| s.kind != ShareKind::InPlace) {
            self.values[s.inner.index()].push(s.outer);
            self.values[s.outer.index()].push(s.inner);
        }
    }

    fn unlink(&mut self, shares: &[ShareId]) {
        for s in shares.iter().rev().map(|s| self.problem.share(*s)).filter(|s| s.kind != ShareKind::InPlace) {
            self.values[s.inner.index()].pop();
            self.values[s.outer.index()].pop();
        }
    }

    /// The shares taken, ascending.
    pub fn taken(&self) -> Vec<ShareId> {
        let mut taken = self.taken.clone();
        taken.sort_unstable();
        taken
    }

    /// All groups, in the order of their first tensor.
    pub fn groups(&self) -> Vec<Tied> {
        let mut out = Vec::new();
        let mut slot = vec![usize::MAX; self.parent.len()];
        for t in self.problem.tensor_ids() {
            let root = self.find(t).0 as usize;
            if slot[root] == usize::MAX {
                slot[root] = out.len();
                out.push(self.tied(root));
            }
        }
        out
    }

    fn tied(&self, root: usize) -> Tied {
        let external = self.groups[root].external;
        let placed: Vec<(TensorId, i64)> = self.members[root].iter().map(|t| (*t, self.find(*t).1)).collect();
        let base = match external {
            Some(e) => self.find(e).1,
            None => placed.iter().map(|m| m.1).min().unwrap_or(0),
        };
        let mut members: Vec<(TensorId, u64)> = placed.into_iter().map(|(t, p)| (t, (p - base) as u64)).collect();
        members.sort_unstable();
        Tied { members, external }
    }

    fn find(&self, t: TensorId) -> (u32, i64) {
        let (mut at, mut pos) = (t.0, 0);
        while self.parent[at as usize] != at {
            pos += self.distance[at as usize];
            at = self.parent[at as usize];
        }
        (at, pos)
    }

    /// What the merged group would be, or none where the memory outside the arena forbids it.
    fn merged(&self, s: &Share, inner: u32, outer: u32, shift: i64) -> Option<Group> {
        let (gi, go) = (self.groups[inner as usize], self.groups[outer as usize]);
        let pure_view = s.kind == ShareKind::View && gi.top == Some(s.inner) && go.top.is_some();
        let external = match (gi.external, go.external) {
            (Some(_), Some(_)) => return None,
            (a, b) => a.or(b),
        };
        if let Some(e) = external {
            let read_only = self.problem.tensor(e).home == Home::ReadOnly;
            if read_only && !(pure_view && go.external.is_some()) {
                return None;
            }
            let size = self.problem.tensor(e).size as i64;
            let start = self.find(e).1 + if gi.external.is_some() { shift } else { 0 };
            let fits = |g: &Group, by: i64| g.extent.0 + by >= start && g.extent.1 + by <= start + size;
            if !fits(&gi, shift) || !fits(&go, 0) {
                return None;
            }
        }
        // All members must be able to stand at their alignment at once.
        let inner_align = (gi.align.0, (gi.align.1 + shift).rem_euclid(gi.align.0));
        let (strict, loose) =
            if inner_align.0 > go.align.0 { (inner_align, go.align) } else { (go.align, inner_align) };
        if strict.1.rem_euclid(loose.0) != loose.1.rem_euclid(loose.0) {
            return None;
        }
        Some(Group {
            external,
            top: if pure_view { go.top } else { None },
            align: strict,
            extent: (go.extent.0.min(gi.extent.0 + shift), go.extent.1.max(gi.extent.1 + shift)),
        })
    }

    /// Whether no two tensors of the two groups would hold different values in one byte at one step.
    fn compatible(&self, s: &Share, inner: u32, outer: u32, shift: i64) -> bool {
        let (mi, mo) = (&self.members[inner as usize], &self.members[outer as usize]);
        if mi.len() <= mo.len() {
            mi.iter().all(|a| self.compatible_with(*a, mo, |a, b| self.may_meet(s, a, shift, b)))
        } else {
            mo.iter().all(|b| self.compatible_with(*b, mi, |b, a| self.may_meet(s, a, shift, b)))
        }
    }

    /// Checks a tensor against the members that are alive with it; members come by death, so the last ones come first.
    fn compatible_with(&self, t: TensorId, others: &[TensorId], may: impl Fn(TensorId, TensorId) -> bool) -> bool {
        let (birth, death) = self.lives.range(t);
        let alive = others.iter().rev().take_while(|o| self.lives.death[o.index()] > birth);
        alive.filter(|o| self.lives.birth[o.index()] < death).all(|o| may(t, *o))
    }

    /// Whether `a` of the inner group, moved by `shift`, and `b` of the outer group may be alive together.
    fn may_meet(&self, s: &Share, a: TensorId, shift: i64, b: TensorId) -> bool {
        let (pa, pb) = (self.find(a).1 + shift, self.find(b).1);
        let (low, high) = (pa.max(pb), (pa + self.size(a)).min(pb + self.size(b)));
        if low >= high {
            return true;
        }
        if s.kind == ShareKind::InPlace {
            let step = self.lives.step[s.op.index()];
            (a, b) == (s.inner, s.outer) && self.lives.common(a, b) == (step, step + 1)
        } else {
            let moved = self.find(s.inner).0;
            let place = |t: TensorId| match self.find(t) {
                (root, at) if root == moved => at + shift,
                (_, at) => at,
            };
            self.same_value(a, b, (low, high), place)
        }
    }

    /// Whether the two hold the same bytes there: for each byte shares lead from one to the other through tensors that hold
    /// it, not the same ones for all.
    fn same_value(&self, a: TensorId, b: TensorId, range: (i64, i64), place: impl Fn(TensorId) -> i64) -> bool {
        if self.values[a.index()].contains(&b) {
            return true;
        }
        // The bytes of each tensor reached so far; groups are small where this is needed at all.
        let mut reached: Vec<(TensorId, Ranges)> = vec![(a, Ranges::from(range))];
        let mut work = vec![(a, range)];
        while let Some((t, (from, to))) = work.pop() {
            if t == b {
                let (_, all) = reached.iter().find(|r| r.0 == b).unwrap_or(&reached[0]);
                if all.hold(range) {
                    return true;
                }
                continue;
            }
            for n in &self.values[t.index()] {
                let at = place(*n);
                let part = (from.max(at), to.min(at + self.size(*n)));
                if part.0 >= part.1 {
                    continue;
                }
                let slot = match reached.iter().position(|r| r.0 == *n) {
                    Some(i) => i,
                    None => {
                        reached.push((*n, Ranges::default()));
                        reached.len() - 1
                    }
                };
                if reached[slot].1.add(part) {
                    work.push((*n, part));
                }
            }
        }
        false
    }

    fn join(&mut self, inner: u32, outer: u32, shift: i64, group: Group) {
        let (small, large, by) = if self.members[inner as usize].len() <= self.members[outer as usize].len() {
            (inner, outer, shift)
        } else {
            (outer, inner, -shift)
        };
        self.parent[small as usize] = large;
        self.distance[small as usize] = by;
        let moved = std::mem::take(&mut self.members[small as usize]);
        let list = &mut self.members[large as usize];
        for t in moved {
            let death = self.lives.death[t.index()];
            let at = list.partition_point(|o| self.lives.death[o.index()] <= death);
            list.insert(at, t);
        }
        // The group was worked out from the outer root.
        let by = if large == outer { 0 } else { -shift };
        self.groups[large as usize] = Group {
            align: (group.align.0, (group.align.1 + by).rem_euclid(group.align.0)),
            extent: (group.extent.0 + by, group.extent.1 + by),
            ..group
        };
    }

    fn size(&self, t: TensorId) -> i64 {
        self.problem.tensor(t).size as i64
    }
}

/// Disjoint ranges of bytes, ascending.
#[derive(Clone, Debug, Default)]
struct Ranges(Vec<(i64, i64)>);

impl Ranges {
    fn from(range: (i64, i64)) -> Self {
        Ranges(vec![range])
    }

    fn hold(&self, range: (i64, i64)) -> bool {
        self.0.iter().any(|r| r.0 <= range.0 && range.1 <= r.1)
    }

    /// Adds a range; false if it was there already.
    fn add(&mut self, range: (i64, i64)) -> bool {
        if self.hold(range) {
            return false;
        }
        let (mut from, mut to) = range;
        self.0.retain(|r| {
            let apart = r.1 < from || to < r.0;
            if !apart {
                (from, to) = (from.min(r.0), to.max(r.1));
            }
            apart
        });
        let at = self.0.partition_point(|r| r.0 < from);
        self.0.insert(at, (from, to));
        true
    }
}

/// The blocks to place under an order: one for each tied group in the arena, then one for each workspace.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// The blocks.
    pub blocks: Vec<Block>,
    /// All groups; those outside the arena have no block.
    pub groups: Vec<Tied>,
    /// Group of each block, for the first blocks; the rest are workspaces.
    pub group_of_block: Vec<usize>,
    /// Op of each workspace block, in order.
    pub workspace_op: Vec<crate::problem::OpId>,
}

impl Blocks {
    /// The blocks of a state of sharing.
    pub fn new(problem: &Problem, lives: &Lives, sharing: &Sharing<'_>) -> Self {
        let groups = sharing.groups();
        let unit = problem.storage_align();
        let (mut blocks, mut group_of_block) = (Vec::new(), Vec::new());
        for (g, group) in groups.iter().enumerate() {
            if group.external.is_some() {
                continue;
            }
            blocks.push(tied_block(problem, lives, group, unit));
            group_of_block.push(g);
        }
        let mut workspace_op = Vec::new();
        for op in problem.op_ids() {
            let size = problem.padded(problem.op(op).workspace);
            if size > 0 {
                let step = lives.step[op.index()];
                blocks.push(Block::rectangle(step.into(), step as u64 + 1, size, unit));
                workspace_op.push(op);
            }
        }
        Blocks { blocks, groups, group_of_block, workspace_op }
    }
}

/// A group as a block: members padded outward to the storage alignment; touching pieces of one range are joined.
fn tied_block(problem: &Problem, lives: &Lives, group: &Tied, unit: u64) -> Block {
    let mut align = (unit, 0u64);
    let mut pieces: Vec<Piece> = Vec::with_capacity(group.members.len());
    for (t, offset) in &group.members {
        let tensor = problem.tensor(*t);
        if tensor.align > align.0 {
            align = (tensor.align, (tensor.align - offset % tensor.align) % tensor.align);
        }
        let (lower, upper) = lives.range(*t);
        let start = offset / unit * unit;
        let end = (offset + tensor.size).next_multiple_of(unit);
        if tensor.size > 0 {
            pieces.push(Piece { lower: lower.into(), upper: upper.into(), offset: start, size: end - start });
        }
    }
    Block::new(pieces, align.0, align.1)
}
