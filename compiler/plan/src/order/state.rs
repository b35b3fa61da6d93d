//! A set of ops done, and what is alive after them.

use super::model::Model;

/// What running an op next would do to the bytes alive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weight {
    /// Bytes more while it runs.
    pub(crate) rise: u64,
    /// Bytes more, or fewer, after it.
    pub(crate) delta: i64,
}

/// A set of ops done.
#[derive(Clone, Debug)]
pub(crate) struct State<'m> {
    model: &'m Model,
    /// Makers of each atom done; initial atoms begin at 1.
    made: Vec<u32>,
    /// Users of each atom not yet done; one more for kept ones.
    left: Vec<u32>,
    /// Sum of the ids of those users.
    rest: Vec<u64>,
    /// Bytes alive.
    pub(crate) memory: u64,
    /// Direct predecessors of each op not yet done.
    pub(crate) waiting: Vec<u32>,
}

impl<'m> State<'m> {
    /// Nothing done.
    pub(crate) fn new(model: &'m Model) -> Self {
        let atoms = 0..model.bytes.len();
        let left: Vec<u32> = atoms.clone().map(|a| model.users[a].len() as u32 + u32::from(model.kept[a])).collect();
        State {
            model,
            made: model.initial.iter().map(|i| u32::from(*i)).collect(),
            rest: model.users.iter().map(|u| u.iter().map(|o| u64::from(*o)).sum()).collect(),
            memory: atoms.filter(|a| model.initial[*a] && left[*a] > 0).map(|a| model.bytes[a]).sum(),
            left,
            waiting: model.preds.iter().map(|p| p.len() as u32).collect(),
        }
    }

    /// What an op would do.
    pub(crate) fn weigh(&self, op: usize) -> Weight {
        let m = self.model;
        let born: u64 = m.makes[op].iter().filter(|a| self.made[**a as usize] == 0).map(|a| m.bytes[*a as usize]).sum();
        let dead: u64 = m.uses[op].iter().filter(|a| self.left[**a as usize] == 1).map(|a| m.bytes[*a as usize]).sum();
        // While an op runs there is at least what was before it and what is after it, whichever way time runs.
        let saved = self.saved(op).min(born).min(dead);
        Weight { rise: born + m.workspace[op] - saved, delta: born as i64 - dead as i64 }
    }

    /// Bytes that outputs save by taking the places of inputs that die: the best input of each output. That two outputs
    /// may want one input is left to the plan.
    fn saved(&self, op: usize) -> u64 {
        let swaps = &self.model.swaps[op];
        let dies = |a: u32| if self.model.reversed { self.made[a as usize] == 0 } else { self.left[a as usize] == 1 };
        let best = |output: u32| swaps.iter().filter(|s| s.output == output && dies(s.old)).map(|s| s.saved).max();
        let first = |i: usize| !swaps[..i].iter().any(|s| s.output == swaps[i].output);
        (0..swaps.len()).filter(|i| first(*i)).filter_map(|i| best(swaps[i].output)).sum()
    }

    /// Whether an atom has been made.
    pub(crate) fn is_made(&self, atom: u32) -> bool {
        self.made[atom as usize] > 0
    }

    /// Does an op; says how many bytes are alive while it runs. `touched` hears of each op whose weight may have changed.
    pub(crate) fn run(&mut self, op: usize, mut touched: impl FnMut(u32)) -> u64 {
        let w = self.weigh(op);
        let m = self.model;
        for a in &m.makes[op] {
            let made = &mut self.made[*a as usize];
            *made += 1;
            if *made == 1 {
                m.makers[*a as usize].iter().for_each(|o| touched(*o));
            }
        }
        for a in &m.uses[op] {
            let a = *a as usize;
            self.left[a] -= 1;
            self.rest[a] -= op as u64;
            if self.left[a] == 1 && !m.kept[a] {
                touched(self.rest[a] as u32);
            }
        }
        let during = self.memory + w.rise;
        self.memory = (self.memory as i64 + w.delta) as u64;
        for s in &m.succs[op] {
            self.waiting[*s as usize] -= 1;
        }
        during
    }

    /// Takes back the op done last; `before` is the memory there was before it.
    pub(crate) fn back(&mut self, op: usize, before: u64, mut touched: impl FnMut(u32)) {
        let m = self.model;
        for a in &m.makes[op] {
            let made = &mut self.made[*a as usize];
            *made -= 1;
            if *made == 0 {
                m.makers[*a as usize].iter().for_each(|o| touched(*o));
            }
        }
        for a in &m.uses[op] {
            let a = *a as usize;
            if self.left[a] == 1 && !m.kept[a] {
                touched(self.rest[a] as u32);
            }
            self.left[a] += 1;
            self.rest[a] += op as u64;
        }
        self.memory = before;
        for s in &m.succs[op] {
            self.waiting[*s as usize] += 1;
        }
    }
}

/// Bytes alive while each op of an order runs.
pub(crate) fn profile(state: &mut State<'_>, order: &[u32]) -> Vec<u64> {
    order.iter().map(|o| state.run(*o as usize, |_| ())).collect()
}
