//! Exact placement: can the blocks be placed below a given height?
//!
//! The search fills a skyline from below. In a valley (a run of sections at one floor, between higher ones) it picks the
//! section with the fewest choices and branches on what lies on its floor: a cell of one of the blocks that fit there, or
//! nothing, in which case the floor rises to the next address at which a cell could lie. Every placement can be pushed down
//! until each block rests on another, so nothing is missed. As in MiniMalloc (Moffitt, ASPLOS 2023) a section fails as soon
//! as its floor and the bytes still to be placed in it exceed the height (section inference), floors rise to the lowest
//! address that any of their cells could take, and runs of sections that no unplaced block connects are solved apart. Beyond
//! it: branching on the scarcest section instead of on the lowest buffer, which needs no dominance rule; blocks of several
//! rectangles, whose upper cells float while the gaps below them stay open; and a table of skylines known to fail, kept
//! across restarts, in which blocks of one shape stand for each other.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use super::cells::Cells;
use super::skyline::Skyline;
use crate::random::{AsIs, Random};

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Offsets in units.
    Placed(Vec<u64>),
    /// No placement is that low.
    Impossible,
    /// The nodes ran out.
    Unknown,
}

/// Which block is tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Preference {
    /// Longest life in sections, then size.
    Longest,
    /// Most bytes times sections.
    Area,
    /// Largest size.
    Size,
    /// The one whose sections are fullest, then area.
    Load,
}

impl Preference {
    /// All of them, in the sequence tried.
    pub(crate) const ALL: [Preference; 4] = [Preference::Longest, Preference::Area, Preference::Load, Preference::Size];
}

/// A search for one height; the table of failures is kept between runs.
pub(crate) struct Search<'c> {
    state: Skyline<'c>,
    /// Rank of each block among the choices: lower is tried first.
    rank: Vec<u64>,
    /// Choices that lie on each section's floor, as of when it was last fresh.
    ways: Vec<u32>,
    failed: HashSet<u128, BuildHasherDefault<AsIs>>,
    /// Nodes visited by all runs.
    pub(crate) nodes: u64,
    limit: u64,
}

enum Stop {
    Failed,
    OutOfNodes,
}

impl<'c> Search<'c> {
    /// A search for placements no higher than `height` units.
    pub(crate) fn new(cells: &'c Cells, height: u64) -> Self {
        Search {
            state: Skyline::new(cells, height),
            rank: vec![0; cells.len()],
            ways: vec![0; cells.loads.len()],
            failed: HashSet::default(),
            nodes: 0,
            limit: 0,
        }
    }

    /// Runs with at most `nodes` more nodes; a `shuffle` other than 0 disturbs the preference, each in its own way.
    pub(crate) fn run(&mut self, preference: Preference, shuffle: u64, nodes: u64) -> Outcome {
        let cells = self.state.cells;
        let load = |b: u32| cells.loads[cells.span(b)].iter().copied().max().unwrap_or(0);
        let key = |b: u32| {
            let (size, length) = (cells.extent[b as usize], cells.span(b).len() as u64);
            let area: u64 = cells.of(b).iter().map(|c| c.size).sum();
            match preference {
                Preference::Longest => (length, size, 0),
                Preference::Area => (area, size, 0),
                Preference::Size => (size, length, 0),
                Preference::Load => (load(b), area, size),
            }
        };
        let mut ids: Vec<u32> = (0..cells.len() as u32).collect();
        ids.sort_by_key(|b| (std::cmp::Reverse(key(*b)), *b));
        // Shuffled, a block moves by up to a third of the list.
        let reach = if shuffle == 0 { 1 } else { ids.len() as u64 / 3 + 1 };
        self.run_ranked(&ids, shuffle, reach, nodes)
    }

    /// Runs with the blocks in the sequence of another placement, disturbed.
    pub(crate) fn run_like(&mut self, offsets: &[u64], shuffle: u64, nodes: u64) -> Outcome {
        let mut ids: Vec<u32> = (0..offsets.len() as u32).collect();
        ids.sort_by_key(|b| (offsets[*b as usize], *b));
        let reach = ids.len() as u64 / 8 + 1;
        self.run_ranked(&ids, shuffle, reach, nodes)
    }

    fn run_ranked(&mut self, ids: &[u32], shuffle: u64, reach: u64, nodes: u64) -> Outcome {
        let mut random = Random::new(shuffle);
        for (r, b) in ids.iter().enumerate() {
            self.rank[*b as usize] = r as u64 + random.bits() % reach;
        }
        self.limit = self.nodes + nodes;
        let m = self.ways.len();
        let result = if self.state.begin() { self.split(0, m) } else { Err(Stop::Failed) };
        let outcome = match result {
            Ok(()) => Outcome::Placed(self.state.offset.clone()),
            Err(Stop::Failed) => Outcome::Impossible,
            Err(Stop::OutOfNodes) => Outcome::Unknown,
        };
        self.state.undo(0);
        outcome
    }

    /// Solves the runs of sections of [from, to) that no unplaced block connects, each on its own.
    fn split(&mut self, from: usize, to: usize) -> Result<(), Stop> {
        let mut parts: Vec<(u64, usize, usize)> = Vec::new();
        let mut s = from;
        while s < to {
            let start = s;
            s += 1;
            while s < to && self.state.bridge[s] > 0 {
                s += 1;
            }
            let open = (start..s).filter(|s| self.state.left[*s] > 0);
            if let Some(slack) = open.map(|s| self.state.slack(s)).min() {
                parts.push((slack, start, s));
            }
        }
        // The tightest first: it is the likeliest to fail.
        parts.sort_unstable();
        for (_, start, end) in parts {
            self.part(start, end)?;
        }
        Ok(())
    }

    /// Solves one connected run of sections.
    fn part(&mut self, from: usize, to: usize) -> Result<(), Stop> {
        self.nodes += 1;
        if self.nodes > self.limit {
            return Err(Stop::OutOfNodes);
        }
        let key = self.state.key(from, to);
        if self.failed.contains(&key) {
            return Err(Stop::Failed);
        }
        let Some(section) = self.scarcest(from, to) else {
            self.failed.insert(key);
            return Err(Stop::Failed);
        };
        let mut choices: Vec<u32> = self.choices(section).collect();
        choices.sort_unstable_by_key(|b| self.rank[*b as usize]);
        let mark = self.state.mark();
        let mut tried: Vec<u32> = Vec::new();
        for b in choices {
            let shape = self.state.cells.shape[b as usize];
            if tried.contains(&shape) {
                continue;
            }
            tried.push(shape);
            if self.state.place(b) {
                match self.split(from, to) {
                    Err(Stop::Failed) => {}
                    other => return other,
                }
            }
            self.state.undo(mark);
        }
        if let Some(level) = self.next_level(section)
            && self.state.leave_empty(section, level)
        {
            match self.split(from, to) {
                Err(Stop::Failed) => {}
                other => return other,
            }
        }
        self.state.undo(mark);
        self.failed.insert(key);
        Err(Stop::Failed)
    }

    /// Blocks that can have a cell on the floor of a section.
    fn choices(&self, section: usize) -> impl Iterator<Item = u32> + '_ {
        let floor = self.state.floor[section];
        let entries = self.state.unplaced(section).iter();
        entries.filter(move |e| self.state.lowest[e.block as usize] + e.offset == floor).map(|e| e.block)
    }

    /// The section of a valley with the fewest ways to go on; none if one has no way at all.
    fn scarcest(&mut self, from: usize, to: usize) -> Option<usize> {
        let mut best: Option<((u32, u64), usize)> = None;
        let floor = |me: &Self, s: usize| if me.state.left[s] == 0 { u64::MAX } else { me.state.floor[s] };
        let mut s = from;
        while s < to {
            let here = floor(self, s);
            let start = s;
            while s < to && floor(self, s) == here {
                s += 1;
            }
            let valley = (start == from || floor(self, start - 1) > here) && (s == to || floor(self, s) > here);
            if !valley || here == u64::MAX {
                continue;
            }
            for t in start..s {
                if self.state.stale.take(t) {
                    self.ways[t] = self.choices(t).count() as u32;
                }
                let slack = self.state.slack(t);
                let ways = self.ways[t] + u32::from(slack > 0);
                if ways == 0 {
                    return None;
                }
                let score = (ways, slack);
                if best.is_none_or(|(b, _)| score < b) {
                    best = Some((score, t));
                    if ways == 1 {
                        return Some(t);
                    }
                }
            }
        }
        best.map(|b| b.1)
    }

    /// The lowest address above the floor at which a cell could lie in a section if nothing lies on the floor itself. The
    /// block must rest on something, which is there already or is a block still to come.
    fn next_level(&self, section: usize) -> Option<u64> {
        let state = &self.state;
        let floor = state.floor[section];
        if state.slack(section) == 0 {
            return None;
        }
        let mut level = u64::MAX;
        // Per section from this one to both sides: the lowest end on which a rectangle of it and this section could rest.
        let mut ends: Vec<Option<u64>> = vec![None; self.ways.len()];
        for e in state.unplaced(section) {
            let low = state.lowest[e.block as usize];
            let start = if low + e.offset > floor { low } else { self.next_start(e.block, section, &mut ends) };
            level = level.min(start.saturating_add(e.offset));
        }
        (level < u64::MAX).then_some(level)
    }

    /// A bound from below on the offsets of a block above its lowest one, if it lies lowest in a section.
    fn next_start(&self, b: u32, section: usize, ends: &mut [Option<u64>]) -> u64 {
        let (state, cells) = (&self.state, self.state.cells);
        let low = state.lowest[b as usize];
        // What now ends too low to carry the block may yet rise.
        let above = |end: u64| cells.align_up(b, end.max(low + 1));
        let mut next = u64::MAX;
        for q in cells.of(b) {
            let t = q.section as usize;
            if cells.flat[b as usize] {
                next = next.min(*ends[t].get_or_insert_with(|| self.lowest_end(t, section)));
            } else {
                for c in state.unplaced(t).iter().filter(|c| c.block != b) {
                    let end = state.lowest[c.block as usize] + c.offset + state.size(c);
                    next = next.min(above(end.saturating_sub(q.offset)));
                }
            }
            for end in state.float_ends(t).filter(|end| *end > low + q.offset) {
                next = next.min(above(end - q.offset));
            }
        }
        if next == u64::MAX { next } else { above(next) }
    }

    /// The lowest end in section `t` of any block that could carry a rectangle which lies lowest in `section`. Another
    /// rectangle that holds both sections could not: it would lie lower in `section` too.
    fn lowest_end(&self, t: usize, section: usize) -> u64 {
        let (state, cells) = (&self.state, self.state.cells);
        let over = |b: u32| cells.flat[b as usize] && cells.span(b).contains(&section);
        let others = state.unplaced(t).iter().filter(|c| !over(c.block));
        others.map(|c| state.lowest[c.block as usize] + c.offset + state.size(c)).min().unwrap_or(u64::MAX)
    }
}
