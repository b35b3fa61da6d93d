//! Exact placement: can the buffers be placed below a given height?
//!
//! The search fills a skyline from below. In a valley (a run of sections at one floor, between higher ones) it picks the
//! section with the fewest choices and branches on what lies on its floor: one of the buffers that fit into the valley, or
//! nothing, in which case the floor rises to the next height at which a buffer could find support. Every placement can be
//! pushed down until each buffer rests on another, so nothing is missed. As in MiniMalloc (Moffitt, ASPLOS 2023) a section
//! fails as soon as its floor and the bytes still to be placed in it exceed the height (section inference), floors rise to
//! the lowest place any of their buffers could take, and runs of sections that no unplaced buffer connects are solved
//! apart. Beyond it: branching on the scarcest section instead of on the lowest buffer, which needs no dominance rule, and
//! a table of skylines known to fail, kept across restarts.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use super::sections::Sections;
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

/// Which buffer is tried first.
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
pub(crate) struct Search<'s> {
    sections: &'s Sections,
    height: u64,
    /// Rank of each buffer among the choices: lower is tried first.
    rank: Vec<u64>,
    floor: Vec<u64>,
    /// Units still to be placed in each section.
    rest: Vec<u64>,
    /// Buffers still to be placed in each section.
    left: Vec<u32>,
    /// Unplaced buffers alive in both this section and the one before.
    bridge: Vec<u32>,
    /// Lowest possible offset of each unplaced buffer.
    lowest: Vec<u64>,
    offset: Vec<u64>,
    placed: Vec<bool>,
    trail: Vec<Change>,
    dirty: Vec<u32>,
    is_dirty: Vec<bool>,
    /// Choices that lie on each section's floor; `u32::MAX` where not counted since the last change.
    ways: Vec<u32>,
    /// Combined noise of the unplaced buffers that begin in each section.
    set_hash: Vec<u128>,
    failed: HashSet<u128, BuildHasherDefault<AsIs>>,
    noise: Vec<u128>,
    /// Nodes visited by all runs.
    pub(crate) nodes: u64,
    limit: u64,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Floor(u32, u64),
    Lowest(u32, u64),
    Placed(u32),
}

enum Stop {
    Failed,
    OutOfNodes,
}

impl<'s> Search<'s> {
    /// A search for placements no higher than `height` units.
    pub(crate) fn new(sections: &'s Sections, height: u64) -> Self {
        let (n, m) = (sections.len(), sections.alive.len());
        let mut bridge = vec![0; m + 1];
        for b in 0..n as u32 {
            for s in sections.span(b).skip(1) {
                bridge[s] += 1;
            }
        }
        let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
        let noise: Vec<u128> = (0..n).map(|_| random.wide()).collect();
        let mut set_hash = vec![0; m];
        for b in 0..n {
            set_hash[sections.low[b] as usize] ^= noise[b];
        }
        Search {
            sections,
            height,
            rank: vec![0; n],
            floor: vec![0; m],
            rest: sections.loads(),
            left: sections.alive.iter().map(|l| l.len() as u32).collect(),
            bridge,
            lowest: vec![0; n],
            offset: vec![0; n],
            placed: vec![false; n],
            trail: Vec::new(),
            dirty: Vec::new(),
            is_dirty: vec![false; m],
            ways: vec![u32::MAX; m],
            set_hash,
            failed: HashSet::default(),
            noise,
            nodes: 0,
            limit: 0,
        }
    }

    /// Runs with at most `nodes` more nodes; a `shuffle` other than 0 disturbs the preference, each in its own way.
    pub(crate) fn run(&mut self, preference: Preference, shuffle: u64, nodes: u64) -> Outcome {
        self.rank = self.ranks(preference, shuffle);
        self.limit = self.nodes + nodes;
        let m = self.floor.len();
        let result = if self.rest.iter().any(|r| *r > self.height) { Err(Stop::Failed) } else { self.split(0, m) };
        match result {
            Ok(()) => Outcome::Placed(self.offset.clone()),
            Err(stop) => {
                self.undo(0);
                match stop {
                    Stop::Failed => Outcome::Impossible,
                    Stop::OutOfNodes => Outcome::Unknown,
                }
            }
        }
    }

    fn ranks(&self, preference: Preference, shuffle: u64) -> Vec<u64> {
        let s = self.sections;
        let loads = s.loads();
        let mut ids: Vec<u32> = (0..s.len() as u32).collect();
        let load = |b: u32| loads[s.span(b)].iter().copied().max().unwrap_or(0);
        let area = |b: u32| s.size[b as usize] * s.span(b).len() as u64;
        ids.sort_by_key(|b| {
            let (size, length) = (s.size[*b as usize], s.span(*b).len() as u64);
            let key = match preference {
                Preference::Longest => (length, size, 0),
                Preference::Area => (area(*b), size, 0),
                Preference::Size => (size, length, 0),
                Preference::Load => (load(*b), area(*b), size),
            };
            (std::cmp::Reverse(key), *b)
        });
        let mut rank = vec![0; ids.len()];
        // Shuffled, a buffer moves by up to a third of the list.
        let reach = if shuffle == 0 { 1 } else { ids.len() as u64 / 3 + 1 };
        let mut random = Random::new(shuffle);
        for (r, b) in ids.into_iter().enumerate() {
            rank[b as usize] = r as u64 + random.bits() % reach;
        }
        rank
    }

    /// Solves the runs of sections of [from, to) that no unplaced buffer connects, each on its own.
    fn split(&mut self, from: usize, to: usize) -> Result<(), Stop> {
        let mut parts: Vec<(u64, usize, usize)> = Vec::new();
        let mut s = from;
        while s < to {
            if self.left[s] == 0 {
                s += 1;
                continue;
            }
            let start = s;
            s += 1;
            while s < to && self.bridge[s] > 0 {
                s += 1;
            }
            let slack =
                (start..s).map(|s| self.height - self.floor[s].min(self.height) - self.rest[s].min(self.height)).min();
            parts.push((slack.unwrap_or(0), start, s));
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
        let key = self.key(from, to);
        if self.failed.contains(&key) {
            return Err(Stop::Failed);
        }
        let Some(section) = self.scarcest(from, to) else {
            self.failed.insert(key);
            return Err(Stop::Failed);
        };
        let floor = self.floor[section];
        let mut choices: Vec<u32> = self.unplaced(section).filter(|b| self.lowest[*b as usize] == floor).collect();
        choices.sort_unstable_by_key(|b| self.rank[*b as usize]);
        let mark = self.trail.len();
        for b in choices {
            if self.place(b) {
                match self.split(from, to) {
                    Ok(()) => return Ok(()),
                    Err(Stop::OutOfNodes) => return Err(Stop::OutOfNodes),
                    Err(Stop::Failed) => {}
                }
            }
            self.undo(mark);
        }
        if let Some(level) = self.next_level(section)
            && self.rise(section, level)
            && self.settle()
        {
            match self.split(from, to) {
                Ok(()) => return Ok(()),
                Err(Stop::OutOfNodes) => return Err(Stop::OutOfNodes),
                Err(Stop::Failed) => {}
            }
        }
        self.clear_dirty();
        self.undo(mark);
        self.failed.insert(key);
        Err(Stop::Failed)
    }

    fn unplaced(&self, section: usize) -> impl Iterator<Item = u32> + use<'_> {
        self.sections.alive[section].iter().copied().filter(|b| !self.placed[*b as usize])
    }

    /// The section of a valley with the fewest ways to go on; none if one has no way at all.
    fn scarcest(&mut self, from: usize, to: usize) -> Option<usize> {
        let mut best: Option<((u32, u64), usize)> = None;
        let mut s = from;
        while s < to {
            let floor = self.floor[s];
            let start = s;
            while s < to && self.floor[s] == floor {
                s += 1;
            }
            let valley = (start == from || self.floor[start - 1] > floor) && (s == to || self.floor[s] > floor);
            if !valley {
                continue;
            }
            for t in start..s {
                if self.ways[t] == u32::MAX {
                    self.ways[t] = self.unplaced(t).filter(|b| self.lowest[*b as usize] == floor).count() as u32;
                }
                let mut ways = self.ways[t];
                let slack = self.height - floor - self.rest[t];
                if slack > 0 {
                    ways += 1;
                }
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

    /// The lowest height at which a buffer could lie in a section whose floor is left empty: each must rest on something
    /// above the floor, which is there already or is a buffer of the valley that does not reach into the section.
    fn next_level(&self, section: usize) -> Option<u64> {
        let floor = self.floor[section];
        if floor + self.rest[section] >= self.height {
            return None;
        }
        let mut level = u64::MAX;
        for b in self.unplaced(section) {
            if self.lowest[b as usize] > floor {
                level = level.min(self.lowest[b as usize]);
                continue;
            }
            for s in self.sections.span(b) {
                for c in self.unplaced(s) {
                    let beside = self.sections.high[c as usize] as usize <= section
                        || self.sections.low[c as usize] as usize > section;
                    if beside && self.lowest[c as usize] == floor {
                        level = level.min(floor + self.sections.size[c as usize]);
                    }
                }
            }
        }
        (level < u64::MAX && level + self.rest[section] <= self.height).then_some(level)
    }

    /// Puts a buffer at its lowest offset; says whether all sections can still be filled.
    fn place(&mut self, b: u32) -> bool {
        let offset = self.lowest[b as usize];
        let size = self.sections.size[b as usize];
        self.placed[b as usize] = true;
        self.offset[b as usize] = offset;
        self.trail.push(Change::Placed(b));
        for s in self.sections.span(b) {
            self.rest[s] -= size;
            self.left[s] -= 1;
            self.ways[s] = u32::MAX;
        }
        self.set_hash[self.sections.low[b as usize] as usize] ^= self.noise[b as usize];
        for s in self.sections.span(b).skip(1) {
            self.bridge[s] -= 1;
        }
        let mut fits = true;
        for s in self.sections.span(b) {
            fits = fits && self.rise(s, offset + size);
        }
        let fits = fits && self.settle();
        self.clear_dirty();
        fits
    }

    /// Lifts a floor and what lies above it.
    fn rise(&mut self, s: usize, level: u64) -> bool {
        self.trail.push(Change::Floor(s as u32, self.floor[s]));
        self.floor[s] = level;
        self.ways[s] = u32::MAX;
        if self.left[s] == 0 {
            return true;
        }
        if level + self.rest[s] > self.height {
            return false;
        }
        let sections = self.sections;
        for &b in &sections.alive[s] {
            if !self.placed[b as usize] && self.lowest[b as usize] < level {
                self.trail.push(Change::Lowest(b, self.lowest[b as usize]));
                self.lowest[b as usize] = level;
                for t in sections.span(b) {
                    self.ways[t] = u32::MAX;
                    if !self.is_dirty[t] {
                        self.is_dirty[t] = true;
                        self.dirty.push(t as u32);
                    }
                }
            }
        }
        true
    }

    /// Lifts each floor to the lowest offset that any of its buffers could take, until nothing moves.
    fn settle(&mut self) -> bool {
        while let Some(s) = self.dirty.pop() {
            let s = s as usize;
            self.is_dirty[s] = false;
            if self.left[s] == 0 {
                continue;
            }
            let level = self.unplaced(s).map(|b| self.lowest[b as usize]).min().unwrap_or(0);
            if level > self.floor[s] && !self.rise(s, level) {
                return false;
            }
        }
        true
    }

    fn clear_dirty(&mut self) {
        for s in self.dirty.drain(..) {
            self.is_dirty[s as usize] = false;
        }
    }

    fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            match self.trail.pop() {
                Some(Change::Floor(s, old)) => {
                    self.floor[s as usize] = old;
                    self.ways[s as usize] = u32::MAX;
                }
                Some(Change::Lowest(b, old)) => {
                    self.lowest[b as usize] = old;
                    for s in self.sections.span(b) {
                        self.ways[s] = u32::MAX;
                    }
                }
                Some(Change::Placed(b)) => {
                    self.placed[b as usize] = false;
                    let size = self.sections.size[b as usize];
                    for s in self.sections.span(b) {
                        self.rest[s] += size;
                        self.left[s] += 1;
                        self.ways[s] = u32::MAX;
                    }
                    self.set_hash[self.sections.low[b as usize] as usize] ^= self.noise[b as usize];
                    for s in self.sections.span(b).skip(1) {
                        self.bridge[s] += 1;
                    }
                }
                None => {}
            }
        }
    }

    /// What decides the fate of a run of sections: its floors and its unplaced buffers.
    fn key(&self, from: usize, to: usize) -> u128 {
        let mut key = Random::new((from as u64) << 32 | to as u64).wide();
        for s in from..to {
            key ^= self.set_hash[s];
            key = key.wrapping_add(Random::new((s as u64) << 48 ^ self.floor[s]).wide());
        }
        key
    }
}
