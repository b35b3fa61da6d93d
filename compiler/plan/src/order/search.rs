//! Exact order search within a segment: is there an order whose peak is no higher than a target?
//!
//! Depth first over the sets of ops done (down-sets), each looked at once. Two rules of dominance, both from M being
//! submodular (what a set of ops adds to memory never grows when more is done before): a ready op that fits the target
//! and adds nothing is run at once, and so is a chain, each op of it made ready by the one before, that ends no higher
//! than it began and fits the target all along (a "valley" in the sense of Liu, SIAM J. Algebraic Discrete Methods 1987,
//! which Kayaaslan, Lambert, Marchal and Uçar, TCS 2018, extend to series-parallel graphs). So only ops that leave memory
//! higher are branched on. The target is raised to the least load that was in the way until an order is found; that order
//! is optimal.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use super::model::{Model, State};
use crate::random::{AsIs, Random};

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// An order with its peak, which is optimal if nothing was cut short.
    Order(Vec<u32>),
    /// No order reaches the target; none is below this.
    AtLeast(u64),
    /// The states ran out.
    Unknown,
}

/// Looks for an order of a segment's ops with a peak of at most `target`, from a state in which all before it is done.
pub(crate) struct Search<'m, 's> {
    model: &'m Model,
    state: &'s mut State<'m>,
    target: u64,
    /// Least load that did not fit.
    next: u64,
    ready: Vec<u32>,
    /// Segment of each op, and which one this is.
    segment_of: &'s [u32],
    segment: u32,
    path: Vec<(u32, u64)>,
    key: u128,
    seen: HashSet<u128, BuildHasherDefault<AsIs>>,
    count: usize,
    /// States looked at.
    pub(crate) states: u64,
    limit: u64,
}

impl<'m, 's> Search<'m, 's> {
    /// A search over these ops, all of whose other predecessors are done.
    pub(crate) fn new(model: &'m Model, state: &'s mut State<'m>, ops: &[u32], segment_of: &'s [u32]) -> Self {
        let segment = ops.first().map_or(0, |o| segment_of[*o as usize]);
        let ready = ops.iter().copied().filter(|o| state.waiting[*o as usize] == 0).collect();
        Search {
            model,
            state,
            target: 0,
            next: u64::MAX,
            ready,
            segment_of,
            segment,
            path: Vec::new(),
            key: 0,
            seen: HashSet::default(),
            count: ops.len(),
            states: 0,
            limit: 0,
        }
    }

    /// Searches with one target.
    pub(crate) fn run(&mut self, target: u64, states: u64) -> Found {
        self.target = target;
        self.next = u64::MAX;
        self.seen.clear();
        self.limit = self.states + states;
        let found = self.depth_first();
        let order = self.path.iter().map(|p| p.0).collect();
        self.rewind(0);
        match found {
            Some(true) => Found::Order(order),
            Some(false) => Found::AtLeast(self.next),
            None => Found::Unknown,
        }
    }

    /// One order without a target: what is free, then always what leaves the least memory.
    pub(crate) fn descend(&mut self) -> Vec<u32> {
        self.target = u64::MAX;
        loop {
            while self.free_op() || self.free_chain() {}
            let best = self.ready.iter().copied().min_by_key(|o| {
                let (during, after) = self.state.weigh(*o as usize);
                (after, during, *o)
            });
            match best {
                Some(o) => self.step(o),
                None => break,
            }
        }
        let order = self.path.iter().map(|p| p.0).collect();
        self.rewind(0);
        order
    }

    fn depth_first(&mut self) -> Option<bool> {
        // Each frame: length of the path where it began, and the choices left, best last.
        let mut frames: Vec<(usize, Vec<u32>)> = Vec::new();
        match self.enter()? {
            Entered::Complete => return Some(true),
            Entered::Dead => return Some(false),
            Entered::Choices(c) => frames.push((self.path.len(), c)),
        }
        while let Some((mark, choices)) = frames.last_mut() {
            let mark = *mark;
            let Some(op) = choices.pop() else {
                frames.pop();
                continue;
            };
            self.rewind(mark);
            self.step(op);
            match self.enter()? {
                Entered::Complete => return Some(true),
                Entered::Dead => {}
                Entered::Choices(c) => frames.push((self.path.len(), c)),
            }
        }
        Some(false)
    }

    /// Runs all that is free to run, and lists what to branch on.
    fn enter(&mut self) -> Option<Entered> {
        while self.free_op() || self.free_chain() {}
        if self.path.len() == self.count {
            return Some(Entered::Complete);
        }
        if !self.seen.insert(self.key) {
            return Some(Entered::Dead);
        }
        self.states += 1;
        if self.states > self.limit {
            return None;
        }
        let mut choices: Vec<(u64, u64, u32)> = Vec::with_capacity(self.ready.len());
        for o in &self.ready {
            let (during, after) = self.state.weigh(*o as usize);
            if during <= self.target {
                choices.push((after, during, *o));
            } else {
                self.next = self.next.min(during);
            }
        }
        // The least memory afterwards is tried first, so it comes last.
        choices.sort_unstable_by(|a, b| b.cmp(a));
        Some(Entered::Choices(choices.into_iter().map(|c| c.2).collect()))
    }

    /// Runs one ready op that fits and leaves memory no higher.
    fn free_op(&mut self) -> bool {
        let memory = self.state.memory;
        let free = self.ready.iter().copied().find(|o| {
            let (during, after) = self.state.weigh(*o as usize);
            during <= self.target && after <= memory
        });
        if let Some(o) = free {
            self.step(o);
        }
        free.is_some()
    }

    /// Runs one chain that fits and ends no higher than it began.
    fn free_chain(&mut self) -> bool {
        let memory = self.state.memory;
        let mark = self.path.len();
        for i in 0..self.ready.len() {
            let mut op = self.ready[i];
            loop {
                let (during, after) = self.state.weigh(op as usize);
                if during > self.target {
                    self.next = self.next.min(during);
                    break;
                }
                self.step(op);
                if after <= memory {
                    return true;
                }
                // Only a chain: the op must have made exactly one other ready.
                let model = self.model;
                let mut made = model.succs[op as usize]
                    .iter()
                    .filter(|s| self.state.waiting[**s as usize] == 0 && self.segment_of[**s as usize] == self.segment);
                match (made.next(), made.next()) {
                    (Some(next), None) => op = *next,
                    _ => break,
                }
            }
            self.rewind(mark);
        }
        false
    }

    fn step(&mut self, op: u32) {
        let before = self.state.memory;
        self.state.run(op as usize);
        self.path.push((op, before));
        self.key ^= noise(op);
        if let Some(at) = self.ready.iter().position(|o| *o == op) {
            self.ready.remove(at);
        }
        for s in &self.model.succs[op as usize] {
            if self.state.waiting[*s as usize] == 0 && self.segment_of[*s as usize] == self.segment {
                self.ready.push(*s);
            }
        }
        self.ready.sort_unstable();
    }

    fn rewind(&mut self, mark: usize) {
        if self.path.len() == mark {
            return;
        }
        while self.path.len() > mark {
            let Some((op, before)) = self.path.pop() else { break };
            let model = self.model;
            self.ready.retain(|o| !model.succs[op as usize].contains(o));
            self.state.back(op as usize, before);
            self.key ^= noise(op);
            self.ready.push(op);
        }
        self.ready.sort_unstable();
    }
}

enum Entered {
    Complete,
    Dead,
    Choices(Vec<u32>),
}

fn noise(op: u32) -> u128 {
    Random::new(u64::from(op) ^ 0x5bd1_e995_0000_0000).wide()
}
