//! From a problem to an order with a proven bound: cut, search, improve.

use std::collections::HashMap;

use super::model::{Model, State};
use super::search::{Found, Search};
use super::segment::{Segment, segments};
use super::signature::signature;
use super::{Simple, simple};
use crate::problem::{OpId, Problem};

/// An order, how it was found, and what is known of all orders, as the model counts.
#[derive(Clone, Debug)]
pub(crate) struct Ordered {
    /// The order.
    pub(crate) order: Vec<OpId>,
    /// No order has a lower peak.
    pub(crate) lower_bound: u64,
    /// The ops of the segment whose search proved the bound; empty if the bound needs no search.
    pub(crate) proof: Vec<OpId>,
    /// States looked at.
    pub(crate) states: u64,
    /// How it was found.
    pub(crate) method: String,
}

/// One segment on its way.
struct Part {
    segment: Segment,
    /// Best order so far.
    order: Vec<u32>,
    peak: u64,
    /// Proven.
    bound: u64,
    states: u64,
    open: bool,
}

/// Finds an order; `bound` is a lower bound known before.
pub(crate) fn plan(problem: &Problem, model: &Model, bound: u64, states: u64) -> Ordered {
    let file: Vec<u32> = problem.file_order().iter().map(|o| o.0).collect();
    let cuts = segments(model, &file);
    let mut segment_of = vec![0; model.len()];
    for (i, cut) in cuts.iter().enumerate() {
        cut.ops.iter().for_each(|o| segment_of[*o as usize] = i as u32);
    }
    let mut parts = first_parts(problem, model, cuts);
    let count = parts.len();
    let mut method = improve_greedily(model, &mut parts, &segment_of);
    let mut target = parts.iter().map(|p| p.bound).max().unwrap_or(0).max(bound);
    let mut known: HashMap<(u128, u64), Known> = HashMap::new();
    let mut spent = 0;
    let mut searched = false;
    // The target only rises, so a part that is once below it needs nothing more.
    let mut state = State::new(model);
    for part in &mut parts {
        if part.open && part.peak > target {
            searched = true;
            let share = states.saturating_sub(spent);
            attack(model, &mut state, part, &segment_of, &mut target, share, &mut known);
            spent += part.states;
        }
        for o in &part.order {
            state.run(*o as usize);
        }
    }
    let proven = parts.iter().map(|p| p.bound).max().unwrap_or(0);
    let lower_bound = proven.max(bound);
    let proof = if proven > bound {
        let worst = parts.iter().find(|p| p.bound == proven);
        worst.map(|p| p.segment.ops.iter().map(|o| OpId(*o)).collect()).unwrap_or_default()
    } else {
        Vec::new()
    };
    if searched {
        method = format!("{count} segments, search over down-sets ({spent} states)");
    } else if count > 1 {
        method = format!("{count} segments, {method}");
    }
    let order: Vec<OpId> = parts.into_iter().flat_map(|p| p.order).map(OpId).collect();
    Ordered { order, lower_bound, proof, states: spent, method }
}

/// What is known of segments with one signature and one target above the memory at their start.
#[derive(Clone)]
enum Known {
    /// An order by positions in the segment.
    Order(Vec<u32>),
    /// Nothing below this above the start.
    AtLeast(u64),
    Unknown,
}

/// Searches one part with the target, raising it as far as it must, until an order is found or the states run out.
fn attack<'m>(
    model: &'m Model,
    state: &mut State<'m>,
    part: &mut Part,
    segment_of: &[u32],
    target: &mut u64,
    states: u64,
    known: &mut HashMap<(u128, u64), Known>,
) {
    let start = state.memory;
    let ops = part.segment.ops.clone();
    let sign = signature(model, state, &ops);
    let mut search: Option<Search<'m, '_>> = None;
    while part.peak > *target {
        let key = (sign, target.wrapping_sub(start));
        let answer = match known.get(&key) {
            Some(k) => k.clone(),
            None => {
                if search.is_none() {
                    // The state is lent to the search for as long as it lasts.
                    search = Some(Search::new(model, &mut *state, &ops, segment_of));
                }
                let Some(s) = search.as_mut() else { return };
                let left = states.saturating_sub(s.states);
                let found = s.run(*target, left);
                part.states = s.states;
                let answer = match found {
                    Found::Order(order) => {
                        let at: HashMap<u32, u32> = ops.iter().enumerate().map(|(i, o)| (*o, i as u32)).collect();
                        Known::Order(order.iter().map(|o| at[o]).collect())
                    }
                    Found::AtLeast(bound) => Known::AtLeast(bound.wrapping_sub(start)),
                    Found::Unknown => Known::Unknown,
                };
                known.insert(key, answer.clone());
                answer
            }
        };
        match answer {
            Known::Order(places) => {
                part.order = places.iter().map(|i| ops[*i as usize]).collect();
                part.peak = *target;
                part.open = false;
            }
            Known::AtLeast(bound) => {
                let bound = bound.wrapping_add(start).min(part.peak);
                part.bound = part.bound.max(bound);
                *target = (*target).max(bound);
            }
            Known::Unknown => {
                part.open = false;
                return;
            }
        }
    }
}

/// Parts with the best of the simple orders in each. Every order that obeys the edges passes the cuts, so the simple orders
/// can be compared segment by segment.
fn first_parts(problem: &Problem, model: &Model, cuts: Vec<Segment>) -> Vec<Part> {
    let mut parts: Vec<Part> = cuts
        .into_iter()
        .map(|segment| Part { segment, order: Vec::new(), peak: u64::MAX, bound: 0, states: 0, open: true })
        .collect();
    for rule in Simple::ALL {
        let order = simple(problem, rule);
        let mut state = State::new(model);
        let mut at = 0;
        for part in &mut parts {
            let ops = &order[at..at + part.segment.ops.len()];
            at += ops.len();
            let peak = ops.iter().map(|o| state.run(o.index())).max().unwrap_or(0);
            if peak < part.peak {
                part.peak = peak;
                part.order = ops.iter().map(|o| o.0).collect();
            }
        }
    }
    parts
}

/// One descent of the search in each part, without a target: what is free first, then what leaves the least.
fn improve_greedily(model: &Model, parts: &mut [Part], segment_of: &[u32]) -> String {
    let mut state = State::new(model);
    let mut better = false;
    for part in parts {
        if part.segment.ops.len() > 1 {
            let mut search = Search::new(model, &mut state, &part.segment.ops, segment_of);
            let order = search.descend();
            let peak = rehearse(&mut state, &order);
            if peak < part.peak {
                part.peak = peak;
                part.order = order;
                better = true;
            }
        }
        for o in &part.order {
            state.run(*o as usize);
        }
    }
    if better { "greedy valleys".into() } else { "best simple order".into() }
}

/// The peak of some ops run next; the state is left as it was.
fn rehearse(state: &mut State<'_>, order: &[u32]) -> u64 {
    let mut before = Vec::with_capacity(order.len());
    let mut peak = 0;
    for o in order {
        before.push(state.memory);
        peak = peak.max(state.run(*o as usize));
    }
    for (o, memory) in order.iter().zip(before).rev() {
        state.back(*o as usize, memory);
    }
    peak
}
