//! Addresses in use, by spans of time: a segment tree over the sections.
//!
//! Each node keeps two sets of disjoint address ranges: *cover*, what is in use in all of its span by rectangles put there
//! as a whole, and *any*, what is in use at some time of its span. Whatever a rectangle meets is in *any* of the few nodes
//! that make up its life or in *cover* of a node above these. Ranges that touch are joined, so where little is lost the
//! sets stay short, and a place is found in about the logarithm of the sections.

use std::ops::Range;

/// Disjoint ranges that do not touch, ascending.
type Ranges = Vec<(u64, u64)>;

/// The tree: node 1 is the root, the children of node k are 2k and 2k + 1, and section s is leaf `leaves + s`.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    leaves: usize,
    cover: Vec<Ranges>,
    any: Vec<Ranges>,
    /// Kept to save allocations.
    nodes: Vec<(usize, bool)>,
}

/// One of the sets of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    Cover(u32),
    Any(u32),
}

impl Index {
    /// Nothing in use in so many sections.
    pub(crate) fn new(sections: usize) -> Self {
        let leaves = sections.next_power_of_two();
        Index { leaves, cover: vec![Vec::new(); 2 * leaves], any: vec![Vec::new(); 2 * leaves], nodes: Vec::new() }
    }

    /// Forgets all, but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.cover.iter_mut().chain(&mut self.any).for_each(Vec::clear);
    }

    /// Calls with the nodes that make up a life (true) and with all nodes above them (false), each once.
    fn walk(&self, life: Range<u32>, mut visit: impl FnMut(usize, bool)) {
        if life.is_empty() {
            return;
        }
        let (mut l, mut r) = (life.start as usize + self.leaves, life.end as usize + self.leaves);
        let (mut first, mut last) = (l, r - 1);
        while l < r {
            if l & 1 == 1 {
                visit(l, true);
                l += 1;
            }
            if r & 1 == 1 {
                r -= 1;
                visit(r, true);
            }
            l /= 2;
            r /= 2;
        }
        // What lies above a part also lies above the first or the last leaf; a node on these ways is above a part exactly
        // if its span is not within the life.
        let mut width = 1;
        while first > 1 {
            first /= 2;
            last /= 2;
            width *= 2;
            let outside = |node: usize| {
                let from = (node * width) as u64 - self.leaves as u64;
                from < u64::from(life.start) || from + width as u64 > u64::from(life.end)
            };
            if outside(first) {
                visit(first, false);
            }
            if last != first && outside(last) {
                visit(last, false);
            }
        }
    }

    /// Adds the sets that say what a rectangle with this life meets.
    pub(crate) fn sets(&self, life: Range<u32>, mut found: impl FnMut(Set)) {
        self.walk(life, |node, part| {
            let (set, ranges) =
                if part { (Set::Any(node as u32), &self.any) } else { (Set::Cover(node as u32), &self.cover) };
            if !ranges[node].is_empty() {
                found(set);
            }
        });
    }

    /// The ranges of a set.
    pub(crate) fn ranges(&self, set: Set) -> &[(u64, u64)] {
        match set {
            Set::Cover(node) => &self.cover[node as usize],
            Set::Any(node) => &self.any[node as usize],
        }
    }

    /// Puts a rectangle.
    pub(crate) fn insert(&mut self, life: Range<u32>, range: (u64, u64)) {
        let mut nodes = std::mem::take(&mut self.nodes);
        self.walk(life, |node, part| nodes.push((node, part)));
        for (node, part) in nodes.drain(..) {
            add(&mut self.any[node], range);
            if part {
                add(&mut self.cover[node], range);
            }
        }
        self.nodes = nodes;
    }
}

/// Adds a range to a set.
fn add(set: &mut Ranges, (from, to): (u64, u64)) {
    let start = set.partition_point(|r| r.1 < from);
    let end = start + set[start..].partition_point(|r| r.0 <= to);
    if start == end {
        set.insert(start, (from, to));
        return;
    }
    set[start] = (from.min(set[start].0), to.max(set[end - 1].1));
    set.drain(start + 1..end);
}
