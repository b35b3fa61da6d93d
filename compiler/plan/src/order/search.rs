//! One direction of the exact order search: is there an order whose peak is no higher than a target?
//!
//! Depth first over the sets of ops done (down-sets), each looked at once. What is free is run at once: a chain, each op of
//! it made ready by the one before, that ends no higher than it began and fits the target all along (a "valley" in the
//! sense of Liu, SIAM J. Algebraic Discrete Methods 1987, which Kayaaslan, Lambert, Marchal and Uçar, TCS 2018, extend to
//! series-parallel graphs). That loses nothing: M being submodular, what a valley adds to memory never grows when more is
//! done before it, and none of its beginnings is lower than its end (but see `harms`). So only ops that leave memory higher are branched on.

use std::collections::{BTreeSet, HashSet};
use std::hash::BuildHasherDefault;

use super::model::Model;
use super::state::{State, Weight};
use crate::random::{AsIs, Random};

/// Ops looked ahead along a chain.
const LONGEST: usize = 64;
const NONE: u32 = u32::MAX;

/// What is known after some states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The path is an order of all ops allowed.
    Found,
    /// There is none.
    Impossible,
    /// Not known yet.
    Open,
}

/// A search from nothing done, over the ops allowed.
pub(crate) struct Search<'m> {
    model: &'m Model,
    state: State<'m>,
    allowed: Vec<bool>,
    /// How many are allowed.
    count: usize,
    target: u64,
    /// Least load that did not fit.
    pub(crate) next: u64,
    done: Vec<bool>,
    ready: Vec<bool>,
    weight: Vec<Weight>,
    /// Hill of the valley that begins at each ready op.
    hill: Vec<Option<u64>>,
    /// Ready ops by what they add.
    climbs: BTreeSet<(i64, u64, u32)>,
    /// Ready ops that begin a valley, by its hill.
    valleys: BTreeSet<(u64, u32)>,
    /// The ready op whose chain was seen to pass each op.
    chain_of: Vec<u32>,
    /// Ops whose weight may have changed.
    stale: Vec<u32>,
    is_stale: Vec<bool>,
    /// Ops done, with the memory before each.
    path: Vec<(u32, u64)>,
    key: u128,
    seen: HashSet<u128, BuildHasherDefault<AsIs>>,
    /// Where each branching began on the path, and the choices left there, best last.
    frames: Vec<(usize, Vec<u32>)>,
    started: bool,
    /// States looked at.
    pub(crate) states: u64,
}

impl<'m> Search<'m> {
    /// A search over all ops.
    pub(crate) fn new(model: &'m Model, target: u64) -> Self {
        let n = model.len();
        let mut search = Search {
            model,
            state: State::new(model),
            allowed: vec![true; n],
            count: n,
            target,
            next: u64::MAX,
            done: vec![false; n],
            ready: vec![false; n],
            weight: vec![Weight::default(); n],
            hill: vec![None; n],
            climbs: BTreeSet::new(),
            valleys: BTreeSet::new(),
            chain_of: vec![NONE; n],
            stale: Vec::new(),
            is_stale: vec![false; n],
            path: Vec::new(),
            key: 0,
            seen: HashSet::default(),
            frames: Vec::new(),
            started: false,
            states: 0,
        };
        for o in 0..n as u32 {
            if search.state.waiting[o as usize] == 0 {
                search.add(o);
            }
        }
        search
    }

    /// Leaves ops to the other direction, which has done them.
    pub(crate) fn forbid(&mut self, ops: impl IntoIterator<Item = u32>) {
        for o in ops {
            self.allowed[o as usize] = false;
            self.count -= 1;
            self.drop_ready(o);
            self.touch_chain(o);
        }
    }

    /// The ops done, in order.
    pub(crate) fn order(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.path.iter().map(|p| p.0)
    }

    /// Whether all ops allowed are done.
    pub(crate) fn complete(&self) -> bool {
        self.path.len() == self.count
    }

    /// Runs all valleys that fit.
    pub(crate) fn close(&mut self) {
        loop {
            self.refresh();
            let Some(&(hill, op)) = self.valleys.first() else { return };
            if self.state.memory + hill > self.target {
                self.next = self.next.min(self.state.memory + hill);
                return;
            }
            // What was seen may be older than the state.
            if self.look(op) == Some(hill) {
                self.run_valley(op);
            } else {
                self.mark(op);
            }
        }
    }

    /// Looks at so many more states.
    pub(crate) fn go_on(&mut self, states: u64) -> Verdict {
        let limit = self.states + states;
        if !self.started {
            self.started = true;
            match self.enter() {
                Entered::Complete => return Verdict::Found,
                Entered::Dead => return Verdict::Impossible,
                Entered::Choices(c) => self.frames.push((self.path.len(), c)),
            }
        }
        while self.states < limit {
            let Some((mark, choices)) = self.frames.last_mut() else { return Verdict::Impossible };
            let mark = *mark;
            let Some(op) = choices.pop() else {
                self.frames.pop();
                continue;
            };
            self.rewind(mark);
            self.step(op);
            match self.enter() {
                Entered::Complete => return Verdict::Found,
                Entered::Dead => {}
                Entered::Choices(c) => self.frames.push((self.path.len(), c)),
            }
        }
        Verdict::Open
    }

    /// One order without proof: what is free, then the least that fits, then what is least above the target.
    pub(crate) fn descend(&mut self) {
        loop {
            self.close();
            let fits = self.climbs.iter().find(|c| self.state.memory + c.1 <= self.target);
            let op = match fits {
                Some(c) => c.2,
                None => match self.climbs.iter().min_by_key(|c| (c.1, c.0, c.2)) {
                    Some(c) => c.2,
                    None => return,
                },
            };
            self.step(op);
        }
    }

    /// Like a descent, but any op that fits may come next, even before what is free.
    pub(crate) fn wander(&mut self, random: &mut Random) {
        loop {
            if random.bits().is_multiple_of(4) {
                self.refresh();
            } else {
                self.close();
            }
            let fits: Vec<u32> =
                self.climbs.iter().filter(|c| self.state.memory + c.1 <= self.target).take(4).map(|c| c.2).collect();
            let op = if fits.is_empty() {
                match self.climbs.iter().min_by_key(|c| (c.1, c.0, c.2)) {
                    Some(c) => c.2,
                    None => return,
                }
            } else {
                fits[random.bits() as usize % fits.len()]
            };
            self.step(op);
        }
    }

    /// Runs all that is free to run, and lists what to branch on.
    fn enter(&mut self) -> Entered {
        self.close();
        if self.complete() {
            return Entered::Complete;
        }
        self.states += 1;
        if !self.seen.insert(self.key) {
            return Entered::Dead;
        }
        let mut choices = Vec::with_capacity(self.climbs.len());
        for (_, rise, o) in &self.climbs {
            let during = self.state.memory + rise;
            if during <= self.target {
                choices.push(*o);
            } else {
                self.next = self.next.min(during);
            }
        }
        // The least memory afterwards is tried first, so it comes last.
        choices.reverse();
        Entered::Choices(choices)
    }

    fn run_valley(&mut self, op: u32) {
        let start = self.state.memory;
        let mut op = op;
        loop {
            self.step(op);
            if self.state.memory <= start {
                return;
            }
            match self.following(op) {
                Some(next) => op = next,
                None => return,
            }
        }
    }

    /// The hill of the first valley of the chain that begins at a ready op.
    fn look(&mut self, first: u32) -> Option<u64> {
        let start = self.state.memory;
        let (mut op, mut hill) = (first, 0);
        let mut passed: Vec<(u32, u64)> = Vec::new();
        let found = loop {
            if self.harms(op) {
                break None;
            }
            let before = self.state.memory;
            let during = self.state.run(op as usize, |_| ());
            hill = hill.max(during.saturating_sub(start));
            passed.push((op, before));
            self.chain_of[op as usize] = first;
            if self.state.memory <= start {
                break Some(hill);
            }
            match self.following(op) {
                Some(next) if passed.len() < LONGEST => op = next,
                _ => break None,
            }
        };
        for (op, before) in passed.into_iter().rev() {
            self.state.back(op as usize, before, |_| ());
        }
        found
    }

    /// Whether an op, run early, could take a place from another that saves more by it than dies. Forwards, doing more only
    /// ever lets more die; backwards, it may keep from dying what is not counted among the dead.
    fn harms(&self, op: u32) -> bool {
        let m = self.model;
        let loses = |a: &u32| {
            let hopes =
                |o: &u32| *o != op && !self.done[*o as usize] && m.swaps[*o as usize].iter().any(|s| s.old == *a);
            m.fragile[*a as usize] && !self.state.is_made(*a) && m.makers[*a as usize].iter().any(hopes)
        };
        m.reversed && m.makes[op as usize].iter().any(loses)
    }

    /// The op that goes on a chain after the op run last: of those it made ready the one that adds least.
    fn following(&self, op: u32) -> Option<u32> {
        let made = self.model.succs[op as usize]
            .iter()
            .copied()
            .filter(|s| self.state.waiting[*s as usize] == 0 && self.allowed[*s as usize]);
        let mut made = made.peekable();
        let first = made.next()?;
        if made.peek().is_none() {
            return Some(first);
        }
        let key = |o: &u32| {
            let w = self.state.weigh(*o as usize);
            (w.delta, w.rise, *o)
        };
        std::iter::once(first).chain(made).min_by_key(key)
    }

    fn mark(&mut self, op: u32) {
        if !std::mem::replace(&mut self.is_stale[op as usize], true) {
            self.stale.push(op);
        }
    }

    fn touch_chain(&mut self, op: u32) {
        let first = self.chain_of[op as usize];
        if first != NONE && self.ready[first as usize] {
            self.mark(first);
        }
    }

    /// Works out anew what may have changed.
    fn refresh(&mut self) {
        while let Some(op) = self.stale.pop() {
            self.is_stale[op as usize] = false;
            if self.ready[op as usize] {
                self.drop_ready(op);
                self.add_ready(op);
            } else {
                self.touch_chain(op);
            }
        }
    }

    fn add(&mut self, op: u32) {
        if self.allowed[op as usize] && !self.ready[op as usize] {
            self.ready[op as usize] = true;
            self.weight[op as usize] = Weight { rise: u64::MAX, delta: i64::MAX };
            self.mark(op);
        }
    }

    fn add_ready(&mut self, op: u32) {
        let w = self.state.weigh(op as usize);
        self.ready[op as usize] = true;
        self.weight[op as usize] = w;
        self.climbs.insert((w.delta, w.rise, op));
        self.hill[op as usize] = self.look(op);
        if let Some(h) = self.hill[op as usize] {
            self.valleys.insert((h, op));
        }
    }

    fn drop_ready(&mut self, op: u32) {
        if std::mem::replace(&mut self.ready[op as usize], false) {
            let w = self.weight[op as usize];
            self.climbs.remove(&(w.delta, w.rise, op));
            if let Some(h) = self.hill[op as usize].take() {
                self.valleys.remove(&(h, op));
            }
        }
    }

    fn step(&mut self, op: u32) {
        self.drop_ready(op);
        let before = self.state.memory;
        let (stale, is_stale) = (&mut self.stale, &mut self.is_stale);
        self.state.run(op as usize, |o| {
            if !std::mem::replace(&mut is_stale[o as usize], true) {
                stale.push(o);
            }
        });
        self.path.push((op, before));
        self.done[op as usize] = true;
        self.key ^= noise(op);
        for i in 0..self.model.succs[op as usize].len() {
            let s = self.model.succs[op as usize][i];
            match self.state.waiting[s as usize] {
                0 => self.add(s),
                // A chain that ended before it may now go on.
                1 => {
                    let preds = &self.model.preds[s as usize];
                    let last = preds.iter().copied().find(|p| !self.done[*p as usize]);
                    if let Some(p) = last {
                        self.touch_chain(p);
                    }
                }
                _ => {}
            }
        }
    }

    fn rewind(&mut self, mark: usize) {
        while self.path.len() > mark {
            let Some((op, before)) = self.path.pop() else { break };
            for i in 0..self.model.succs[op as usize].len() {
                let s = self.model.succs[op as usize][i];
                self.drop_ready(s);
            }
            let (stale, is_stale) = (&mut self.stale, &mut self.is_stale);
            self.state.back(op as usize, before, |o| {
                if !std::mem::replace(&mut is_stale[o as usize], true) {
                    stale.push(o);
                }
            });
            self.done[op as usize] = false;
            self.key ^= noise(op);
            self.add(op);
        }
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
