//! Bytes that are surely held while an op runs, whatever came before it in an order of the searched ops.

use std::collections::BTreeSet;

use super::outside::{Outside, links, reached};
use super::repeat::Past;
use super::values::{Value, even, sizes, tied};
use crate::problem::{OpId, Problem, Share, ShareKind, TensorId};

/// Which shares the cost supposes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shares {
    /// All that could help: never more bytes than any plan.
    All,
    /// The required ones alone: the bytes of a real plan.
    Required,
}

/// A tensor that counts; times are sets of the searched ops as bits.
struct Item {
    /// Surely made once one of these ran; `u64::MAX` if it is there from the start.
    made: u64,
    /// Surely needed as long as one of these has not run.
    needed: u64,
    kept: bool,
    producer: Option<OpId>,
    /// What it needs by itself: one value may stand in it twice.
    bytes: u64,
}

/// An output that may take an input's place.
struct Swap {
    component: usize,
    saved: u64,
    /// The input dies there only if none of these is yet to run.
    others: u64,
}

/// The cost of each step.
pub(super) struct Cost {
    items: Vec<Item>,
    /// Values by component, each with its holders among the items. Components are what any shares tie: their bytes are padded
    /// in common, since two tensors of one may meet within one unit.
    components: Vec<Vec<(u64, Vec<u32>)>>,
    /// By searched op: for each output, the swaps it has to choose from.
    swaps: Vec<Vec<Vec<Swap>>>,
    workspace: Vec<u64>,
    unit: u64,
    /// With the required shares: whether the cost is that of a real plan.
    pub(super) exact: bool,
}

impl Cost {
    /// The cost for the ops of `past`, of the tensors that `counted` picks; none where values are cut too small.
    pub(super) fn new(
        problem: &Problem,
        past: &Past,
        shares: Shares,
        counted: &dyn Fn(TensorId) -> bool,
    ) -> Option<Self> {
        let counts = |s: &&Share| shares == Shares::All || s.required;
        let taken: Vec<&Share> = problem.shares().iter().filter(counts).collect();
        let n = problem.tensors().len();
        let outside = Outside::new(problem, &taken);
        let ties = links(problem, taken.iter().copied());
        let even = even(problem, &taken);
        let mut component = vec![0; n];
        let mut seen = vec![false; n];
        let mut count = 0;
        for t in 0..n {
            if !seen[t] {
                reached(t, &ties, &mut seen).into_iter().for_each(|m| component[m] = count);
                count += 1;
            }
        }
        let mut cost = Cost {
            items: Vec::new(),
            components: Vec::new(),
            swaps: Vec::new(),
            workspace: past.searched.iter().map(|o| problem.padded(problem.op(*o).workspace)).collect(),
            unit: problem.storage_align(),
            exact: even.iter().all(|e| *e) && !problem.tensor_ids().any(|t| brief(problem, t)),
        };
        let mut item = vec![None; n];
        for t in problem.tensor_ids().filter(|t| counted(*t) && !outside.may_be(t.index())) {
            let new = Item::new(problem, past, t);
            if new.made != 0 && (new.kept || new.needed != 0 || problem.producer(t).is_some()) {
                item[t.index()] = Some(cost.items.len() as u32);
                cost.items.push(new);
            }
        }
        let mut slot = vec![usize::MAX; count];
        let tied: Option<Vec<Vec<Value>>> =
            tied(problem, &taken, &sizes(problem, &even)).into_iter().map(|t| t.values).collect();
        for v in tied?.into_iter().flatten() {
            let holders: Vec<u32> = v.holders.iter().filter_map(|t| item[t.index()]).collect();
            if holders.is_empty() {
                continue;
            }
            let at = &mut slot[component[v.holders[0].index()]];
            if *at == usize::MAX {
                *at = cost.components.len();
                cost.components.push(Vec::new());
            }
            cost.components[*at].push((v.bytes, holders));
        }
        cost.exact &= shares == Shares::Required && flat(problem, &taken, &outside, &cost.components);
        for (bit, o) in past.searched.iter().enumerate() {
            let options = |y: &TensorId| -> Vec<Swap> {
                let into_y = |s: &&&Share| s.kind == ShareKind::InPlace && s.op == *o && s.inner == *y;
                let dies = |x: TensorId| {
                    let later = |c: &OpId| c != o && past.ancestors[c.index()] >> bit & 1 == 1;
                    let kept = problem.tensor(x).output || problem.tensor(x).pinned;
                    !kept && !outside.may_be(x.index()) && !problem.consumers(x).iter().any(later)
                };
                let saved = problem.tensor(*y).size;
                let saved = if even[y.index()] { problem.padded(saved) } else { saved };
                let swap = |s: &&Share| Swap {
                    component: slot[component[y.index()]],
                    saved,
                    others: needed(problem, past, s.outer) & !(1 << bit),
                };
                let place = |_: &&&Share| item[y.index()].is_some() && slot[component[y.index()]] != usize::MAX;
                taken.iter().filter(into_y).filter(|s| dies(s.outer)).filter(place).map(swap).collect()
            };
            let outputs = if shares == Shares::All { &problem.op(*o).outputs[..] } else { &[] };
            cost.swaps.push(outputs.iter().map(options).filter(|l| !l.is_empty()).collect());
        }
        Some(cost)
    }

    /// How much there is to look at in a step.
    pub(super) fn size(&self) -> u64 {
        1 + self.items.len() as u64 + self.components.iter().flatten().map(|v| v.1.len() as u64).sum::<u64>()
    }

    /// Bytes while an op runs after these.
    pub(super) fn step(&self, past: &Past, done: u64, bit: usize) -> u64 {
        let (now, op) = (1u64 << bit, past.searched[bit]);
        let during = |i: &Item| i.made(done | now) && (i.later(done) || i.producer == Some(op));
        if self.swaps[bit].is_empty() {
            return self.workspace[bit] + self.held(during, &[]);
        }
        let mut saved = vec![0u64; self.components.len()];
        for options in &self.swaps[bit] {
            if let Some(s) = options.iter().find(|s| s.others & !done == 0) {
                saved[s.component] += s.saved;
            }
        }
        // However much is saved, what was there before and what is left after are there at once.
        let before = |i: &Item| i.made(done) && i.later(done);
        let after = |i: &Item| i.made(done | now) && i.later(done | now);
        let least = self.held(during, &saved).max(self.held(before, &[])).max(self.held(after, &[]));
        self.workspace[bit] + least
    }

    /// The bytes of the values that these tensors hold, less what is saved by component.
    fn held(&self, alive: impl Fn(&Item) -> bool, saved: &[u64]) -> u64 {
        let alive: Vec<bool> = self.items.iter().map(alive).collect();
        let one = |(c, component): (usize, &Vec<(u64, Vec<u32>)>)| {
            let values = component.iter().filter(|v| v.1.iter().any(|i| alive[*i as usize]));
            let bytes = values.map(|v| v.0).sum::<u64>().saturating_sub(saved.get(c).copied().unwrap_or(0));
            let single = component.iter().flat_map(|v| &v.1).map(|i| *i as usize).filter(|i| alive[*i]);
            let bytes = bytes.max(single.map(|i| self.items[i].bytes).max().unwrap_or(0));
            bytes.div_ceil(self.unit) * self.unit
        };
        self.components.iter().enumerate().map(one).sum()
    }
}

/// The bytes that these tensors, all surely alive, need while the op runs, in any order and with any shares.
pub(super) fn at_step(problem: &Problem, past: &Past, op: OpId, tensors: &BTreeSet<TensorId>) -> u64 {
    if let Some(cost) = Cost::new(problem, past, Shares::All, &|t| tensors.contains(&t)) {
        return cost.step(past, 0, 0);
    }
    // Of tensors that any shares tie the largest is all that is sure.
    let ties = links(problem, problem.shares().iter());
    let mut seen = vec![false; problem.tensors().len()];
    let mut bytes = problem.padded(problem.op(op).workspace);
    for t in tensors {
        if !seen[t.index()] {
            let members = reached(t.index(), &ties, &mut seen);
            if members.iter().all(|m| problem.tensors()[*m].home == crate::problem::Home::Arena) {
                let named = members.iter().filter(|m| tensors.contains(&TensorId(**m as u32)));
                bytes += problem.padded(named.map(|m| problem.tensors()[*m].size).max().unwrap_or(0));
            }
        }
    }
    bytes
}

impl Item {
    fn new(problem: &Problem, past: &Past, t: TensorId) -> Self {
        let tensor = problem.tensor(t);
        Item {
            made: match problem.producer(t) {
                Some(p) if !tensor.pinned => past.descendants[p.index()],
                _ => u64::MAX,
            },
            needed: needed(problem, past, t),
            kept: tensor.output || tensor.pinned,
            producer: problem.producer(t),
            bytes: tensor.size,
        }
    }

    /// Whether it is surely there once these ran.
    fn made(&self, done: u64) -> bool {
        self.made & done != 0 || self.made == u64::MAX
    }

    /// Whether it is surely needed after these.
    fn later(&self, done: u64) -> bool {
        self.kept || self.needed & !done != 0
    }
}

/// The searched ops that come before a reader of the tensor, or are one.
fn needed(problem: &Problem, past: &Past, t: TensorId) -> u64 {
    problem.consumers(t).iter().fold(0, |all, c| all | past.ancestors[c.index()])
}

/// A graph input that nobody reads is there in the first step only, which sets of ops cannot say.
fn brief(problem: &Problem, t: TensorId) -> bool {
    let tensor = problem.tensor(t);
    let unread = problem.consumers(t).is_empty() && problem.producer(t).is_none();
    unread && tensor.size > 0 && !tensor.output && !tensor.pinned
}

/// Whether each tied tensor holds one value in each place: then any order may take these shares.
fn flat(problem: &Problem, taken: &[&Share], outside: &Outside, components: &[Vec<(u64, Vec<u32>)>]) -> bool {
    let values: u64 = components.iter().flatten().map(|v| v.0).sum();
    let inner: BTreeSet<TensorId> = taken.iter().map(|s| s.inner).collect();
    // If every tensor that lies in another lies in one alone, the outermost ones hold everything.
    let once = inner.len() == taken.len();
    let outermost = problem.tensor_ids().filter(|t| !inner.contains(t) && !outside.may_be(t.index()));
    once && values == outermost.map(|t| problem.padded(problem.tensor(t).size)).sum::<u64>()
}
