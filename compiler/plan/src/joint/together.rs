//! Order, shares and addresses in one search: an op at a time, each output at once at an address, straight onto the inputs
//! that it may share bytes with where they lie right.
//!
//! Depth first and greedy: the op and the address that leave the fewest bytes come first, chance decides between equals, and
//! no state is met twice. A search that goes astray is soon begun anew (Gomes, Selman and Kautz, AAAI 1998). It finds plans
//! below a ceiling where they are not rare; it proves nothing.

use std::collections::HashSet;

use super::memory::{Memory, Related, Spot, in_arena, plain};
use crate::limits::Clock;
use crate::order::plan::Ordered;
use crate::problem::{OpId, Problem, ShareId, TensorId};
use crate::random::Random;

/// Larger graphs are not searched.
const MOST_OPS: usize = 1_500;
/// States looked at before a search begins anew.
const STATES: u64 = 2_000;
/// Searches below the lowest ceiling, which is worth the most, and below each other one.
const FIRST_STARTS: u64 = 24;
const STARTS: u64 = 16;
/// What is between a ceiling that was met and one that was not, as a share, is not halved further.
const PRECISION: u64 = 400;

/// A plan found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The order.
    pub(super) order: Vec<OpId>,
    /// The shares that hold, ascending.
    pub(super) taken: Vec<ShareId>,
    /// Address of each tensor that needs bytes of the arena.
    pub(super) address: Vec<Option<u64>>,
    /// Bytes of the arena.
    pub(super) height: u64,
}

/// Whether problems of this kind and size are searched.
pub(super) fn fits(problem: &Problem) -> bool {
    problem.ops().len() <= MOST_OPS && plain(problem)
}

/// Looks for a plan lower than `arena`: of `enough` bytes, else below ceilings that halve what is between. Half of the searches
/// choose the order too, half follow orders as low as the best.
pub(super) fn search(problem: &Problem, ordered: &Ordered, arena: u64, enough: u64, clock: &Clock) -> Option<Found> {
    let unit = problem.storage_align();
    let related = Related::new(problem);
    let mut random = Random::new(0x746f_6765);
    let (mut low, mut high, mut ceiling) = (enough, arena, enough);
    let (mut best, mut starts) = (None, FIRST_STARTS);
    while high > low {
        let mut found = None;
        for start in 0..starts {
            let fixed = (start % 2 == 1).then(|| ordered.vary(ceiling, &mut random));
            found = Search::new(problem, &related, ceiling, fixed, &mut random, *clock).run();
            if found.is_some() || clock.over() {
                break;
            }
        }
        match found {
            Some(f) => {
                high = f.height;
                best = Some(f);
            }
            None => low = ceiling,
        }
        starts = STARTS;
        let between = high.saturating_sub(low);
        ceiling = (low + between / 2).next_multiple_of(unit);
        if clock.over() || between <= high / PRECISION || ceiling <= low || ceiling >= high {
            break;
        }
    }
    best
}

struct Search<'p, 'r> {
    problem: &'p Problem,
    related: &'p Related,
    ceiling: u64,
    random: &'r mut Random,
    /// States met.
    seen: HashSet<u64>,
    /// Ops run, with the shares that hold where their outputs were put.
    path: Vec<(OpId, Vec<ShareId>)>,
    /// The order to follow, if it is not free.
    fixed: Option<Vec<OpId>>,
    /// States left to look at.
    left: u64,
    clock: Clock,
}

/// An op run next, with its outputs' places.
struct Move {
    op: OpId,
    spots: Vec<(TensorId, Spot)>,
    /// Bytes more in use afterwards.
    cost: i64,
}

impl<'p, 'r> Search<'p, 'r> {
    fn new(
        problem: &'p Problem,
        related: &'p Related,
        ceiling: u64,
        fixed: Option<Vec<OpId>>,
        random: &'r mut Random,
        clock: Clock,
    ) -> Self {
        Search { problem, related, ceiling, random, seen: HashSet::new(), path: Vec::new(), fixed, left: STATES, clock }
    }

    fn run(mut self) -> Option<Found> {
        let preds = self.problem.predecessors();
        let mut successors = vec![Vec::new(); preds.len()];
        for (o, list) in preds.iter().enumerate() {
            list.iter().for_each(|p| successors[p.index()].push(OpId(o as u32)));
        }
        let mut waiting: Vec<u32> = preds.iter().map(|l| l.len() as u32).collect();
        let ready: Vec<OpId> = self.problem.op_ids().filter(|o| waiting[o.index()] == 0).collect();
        let memory = Memory::new(self.problem, self.related);
        let end = self.step(&memory, &ready, &mut waiting, &successors)?;
        let mut taken: Vec<ShareId> = self.path.iter().flat_map(|p| p.1.iter().copied()).collect();
        taken.sort_unstable();
        let order = self.path.iter().map(|p| p.0).collect();
        Some(Found { order, taken, address: end.address, height: self.problem.padded(end.height) })
    }

    /// Runs what is left; the arena at the end if that went well.
    fn step(
        &mut self,
        memory: &Memory<'p>,
        ready: &[OpId],
        waiting: &mut [u32],
        successors: &[Vec<OpId>],
    ) -> Option<Memory<'p>> {
        if ready.is_empty() {
            return Some(memory.clone());
        }
        if !self.seen.insert(memory.name) || self.left == 0 || self.clock.over() {
            return None;
        }
        self.left -= 1;
        for m in self.moves(memory, ready) {
            let mut next = memory.clone();
            m.spots.iter().for_each(|(t, s)| next.put(*t, s.at));
            next.finish(m.op);
            let mut then: Vec<OpId> = ready.iter().copied().filter(|o| *o != m.op).collect();
            for s in &successors[m.op.index()] {
                waiting[s.index()] -= 1;
                if waiting[s.index()] == 0 {
                    then.push(*s);
                }
            }
            self.path.push((m.op, m.spots.into_iter().flat_map(|s| s.1.shares).collect()));
            if let Some(end) = self.step(&next, &then, waiting, successors) {
                return Some(end);
            }
            self.path.pop();
            successors[m.op.index()].iter().for_each(|s| waiting[s.index()] += 1);
        }
        None
    }

    /// What may come next, the most promising first.
    fn moves(&mut self, memory: &Memory<'_>, ready: &[OpId]) -> Vec<Move> {
        let mut moves = Vec::new();
        let next = self.fixed.as_ref().map(|f| f[self.path.len()]);
        for op in ready.iter().filter(|o| next.is_none_or(|n| n == **o)) {
            let mut outputs = self.problem.op(*op).outputs.iter().copied().filter(|t| in_arena(self.problem, *t));
            let freed = memory.freed(*op) as i64;
            let Some(first) = outputs.next() else {
                moves.push((Move { op: *op, spots: Vec::new(), cost: -freed }, 0));
                continue;
            };
            let rest: Vec<TensorId> = outputs.collect();
            'spots: for spot in memory.places(*op, first, self.ceiling) {
                let mut cost = spot.fresh as i64 - freed;
                let mut spots = vec![(first, spot)];
                let mut after = memory.clone();
                if !rest.is_empty() {
                    after.put(first, spots[0].1.at);
                }
                for t in &rest {
                    let least = after.places(*op, *t, self.ceiling).into_iter().min_by_key(|s| (s.fresh, s.at));
                    let Some(spot) = least else { continue 'spots };
                    after.put(*t, spot.at);
                    cost += spot.fresh as i64;
                    spots.push((*t, spot));
                }
                moves.push((Move { op: *op, spots, cost }, self.random.bits()));
            }
        }
        moves.sort_by_key(|m| (m.0.cost, m.1));
        moves.into_iter().map(|m| m.0).collect()
    }
}
