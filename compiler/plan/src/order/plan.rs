//! From a problem to an order with a proven bound: cut, bound, search, improve.

use super::Simple;
use super::cut::least_at;
use super::decide::Found;
use super::model::Model;
use super::parts::{Parts, Shape};
use super::state::{State, profile};
use super::windows;
use crate::limits::Clock;
use crate::problem::{OpId, Problem};
use crate::random::Random;

/// Edges looked at by all cut bounds together.
const CUT_WORK: u64 = 60_000_000;
/// Bounds raised step by step before what is left is halved.
const STEPS: u64 = 6;

/// Limits of the order search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OrderLimits {
    /// States in all.
    pub(crate) states: u64,
    /// No order needs to be below this.
    pub(crate) enough: u64,
    /// When to stop, if ever.
    pub(crate) clock: Clock,
}

/// Why no order is below a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// It was known before.
    Given,
    /// So much is alive while this op runs, whatever is done before.
    Cut(OpId),
    /// A search over the orders of these ops.
    Search(Vec<OpId>),
}

/// An order, how it was found, and what is known of all orders, as the model counts.
#[derive(Clone, Debug)]
pub(crate) struct Ordered {
    /// The order.
    pub(crate) order: Vec<OpId>,
    /// No order has a lower peak.
    pub(crate) lower_bound: u64,
    /// Why.
    pub(crate) proof: Proof,
    /// States looked at.
    pub(crate) states: u64,
    /// How it was found.
    pub(crate) method: String,
    parts: Parts,
}

impl Ordered {
    /// Another order whose peak is at most `target`, or as low as the best; where chance finds none, a segment keeps its own.
    pub(crate) fn vary(&self, target: u64, random: &mut Random) -> Vec<OpId> {
        let mut parts = self.parts.clone();
        for shape in &mut parts.shapes {
            let goal = target.saturating_sub(shape.base).max(shape.peak);
            let order = shape.both.wander(goal, random);
            if profile(&mut State::new(&shape.both.forward), &order).into_iter().max().unwrap_or(0) <= goal {
                shape.order = order;
            }
        }
        parts.order().into_iter().map(OpId).collect()
    }
}

/// Finds an order, none worse than the `simple` ones; `bound` is a lower bound known before.
pub(crate) fn plan(
    problem: &Problem,
    model: &Model,
    simple: &[(Simple, Vec<OpId>)],
    bound: u64,
    limits: &OrderLimits,
) -> Ordered {
    let mut parts = Parts::new(problem, model, simple);
    let mut proof = Proof::Given;
    let mut lower = bound;
    let alone = parts.parts.iter().filter(|p| p.shape.is_none()).max_by_key(|p| (p.alone, std::cmp::Reverse(p.ops[0])));
    if let Some(p) = alone.filter(|p| p.alone > lower) {
        (lower, proof) = (p.alone, Proof::Cut(OpId(p.ops[0])));
    }
    for shape in &mut parts.shapes {
        greedy(shape, lower.max(limits.enough));
    }
    if limits.states > 0
        && let Some((bytes, op)) = cut_bound(&parts, lower)
    {
        (lower, proof) = (bytes, Proof::Cut(op));
    }
    let target = lower.max(limits.enough);
    if limits.states > 0 {
        attack(&mut parts.shapes, target, limits);
    }
    let proven = parts.bound();
    if proven > lower {
        lower = proven;
        let of = |p: &&super::parts::Part| p.shape.is_some_and(|s| parts.shapes[s].bound + p.base == proven);
        let ops = parts.parts.iter().find(of).map(|p| p.ops.iter().map(|o| OpId(*o)).collect());
        proof = Proof::Search(ops.unwrap_or_default());
    }
    let states = parts.shapes.iter().map(|s| s.states).sum();
    Ordered {
        order: parts.order().into_iter().map(OpId).collect(),
        lower_bound: lower,
        proof,
        states,
        method: method(&parts, states),
        parts,
    }
}

fn method(parts: &Parts, states: u64) -> String {
    let worst = parts.shapes.iter().max_by_key(|s| s.peak + s.base).map_or("", |s| s.method);
    let states = if states > 0 { format!(" ({states} states)") } else { String::new() };
    match (parts.parts.len(), parts.shapes.len()) {
        // Segments of one op alone.
        (_, 0) => "no choice of order".into(),
        (1, _) => format!("{worst}{states}"),
        (n, shapes) => format!("{n} segments, {shapes} of them ordered, {worst}{states}"),
    }
}

/// One descent of the search from each end.
fn greedy(shape: &mut Shape, target: u64) {
    let mut goals = vec![target.saturating_sub(shape.base), shape.peak.saturating_sub(1), u64::MAX];
    goals.dedup();
    for goal in goals {
        if shape.peak + shape.base <= target {
            return;
        }
        for order in shape.both.descend(goal) {
            shape.offer(order, "greedy valleys");
        }
    }
}

/// The best cut bound above `lower`, with its op. An op that some order runs with no more than the bound cannot raise it.
fn cut_bound(parts: &Parts, lower: u64) -> Option<(u64, OpId)> {
    // The part of each shape with the most beside it says most.
    let mut worst = vec![None; parts.shapes.len()];
    for (i, p) in parts.parts.iter().enumerate() {
        if let Some(s) = p.shape
            && worst[s].is_none_or(|w: usize| parts.parts[w].base < p.base)
        {
            worst[s] = Some(i);
        }
    }
    let mut candidates: Vec<(u64, usize, u32)> = Vec::new();
    for (s, part) in worst.iter().enumerate() {
        let Some(part) = *part else { continue };
        let seen = parts.shapes[s].seen.iter().enumerate();
        candidates.extend(seen.map(|(o, most)| (most + parts.parts[part].base, part, o as u32)));
    }
    candidates.sort_unstable_by_key(|c| (std::cmp::Reverse(c.0), c.1, c.2));
    let mut best = None;
    let (mut bound, mut work) = (lower, 0);
    for (most, part, op) in candidates {
        if most <= bound || work > CUT_WORK {
            break;
        }
        let part = &parts.parts[part];
        let Some(shape) = part.shape else { continue };
        let bytes = least_at(&parts.shapes[shape].both.forward, op, &mut work) + part.base;
        if bytes > bound {
            bound = bytes;
            best = Some((bytes, OpId(part.ops[op as usize])));
        }
    }
    best
}

/// Searches all shapes that are above the target, on as many threads as there are cores; each has its own share of the
/// states, so that the answer does not depend on the threads.
fn attack(shapes: &mut [Shape], target: u64, limits: &OrderLimits) {
    let mut open: Vec<&mut Shape> = shapes.iter_mut().filter(|s| s.peak + s.base > target).collect();
    let share = limits.states / open.len().max(1) as u64;
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get()).min(open.len()).max(1);
    let mut lanes: Vec<Vec<&mut Shape>> = (0..threads).map(|_| Vec::new()).collect();
    open.sort_by_key(|s| std::cmp::Reverse(s.both.forward.len()));
    for (i, shape) in open.into_iter().enumerate() {
        lanes[i % threads].push(shape);
    }
    std::thread::scope(|scope| {
        for lane in lanes {
            scope.spawn(move || {
                for shape in lane {
                    let goal = target.saturating_sub(shape.base);
                    settle(shape, goal, share, &limits.clock);
                }
            });
        }
    });
}

/// Finds the best order of one shape that is worth having: the bound rises from `goal` and the peak falls until they meet.
fn settle(shape: &mut Shape, goal: u64, states: u64, clock: &Clock) {
    let mut left = states;
    let mut steps = 0;
    // What is asked is at least `low`; below that nothing is to be found, or nothing is worth finding.
    let (mut low, mut proven) = (goal, true);
    while low < shape.peak && left > 0 && !clock.over() {
        let ask = if steps < STEPS && proven { low } else { low + (shape.peak - low) / 2 };
        steps += 1;
        // Finding is quick where it is possible at all; most states are kept for what comes after.
        let share = if ask + 1 < shape.peak { left / 4 } else { left };
        let (found, spent) = shape.both.decide(ask, share, clock);
        left = left.saturating_sub(spent.max(1));
        shape.states += spent;
        match found {
            Found::Order(order) => {
                shape.offer(order, "search over down-sets");
            }
            Found::AtLeast(bound) => {
                let bound = bound.min(shape.peak);
                shape.bound = shape.bound.max(bound);
                low = bound;
                proven = true;
            }
            Found::Unknown => {
                low = ask + 1;
                proven = false;
            }
        }
    }
    if shape.peak > goal.max(shape.bound) {
        let mut left = states / 4;
        let order = shape.order.clone();
        let order = windows::improve(&shape.both.forward, order, goal.max(shape.bound), &mut left, clock);
        shape.offer(order, "windows searched anew");
    }
}
