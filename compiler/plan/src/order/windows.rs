//! Improving an order where it is worst: a window of it around its peak is ordered anew by the exact search, for as long as
//! that helps (large-neighbourhood search).

use super::decide::{Both, Found};
use super::local::{Places, local};
use super::model::Model;
use super::state::State;
use crate::limits::Clock;

/// Sizes of windows, tried in this order.
const SIZES: [usize; 5] = [12, 24, 48, 96, 192];
/// States for one window.
const STATES: u64 = 4_000;

/// Lowers an order's peak towards `target`; `states` is what may be spent and what is left afterwards.
pub(crate) fn improve(model: &Model, mut order: Vec<u32>, target: u64, states: &mut u64, clock: &Clock) -> Vec<u32> {
    let mut places = Places::new(model, &order);
    let (mut before, mut loads) = replay(model, &order);
    loop {
        let peak = loads.iter().copied().max().unwrap_or(0);
        if peak <= target || *states == 0 || clock.over() {
            return order;
        }
        let worst = loads.iter().position(|l| *l == peak).unwrap_or(0);
        let Some((from, found)) = better(model, &places, &order, &before, worst, peak, target, states) else {
            return order;
        };
        order[from..from + found.len()].copy_from_slice(&found);
        places.renew(model, from, &found);
        // Before and after the window nothing has changed.
        let mut state = State::new(model);
        for o in &order[..from] {
            state.run(*o as usize, |_| ());
        }
        for (i, o) in found.iter().enumerate() {
            before[from + i] = state.memory;
            loads[from + i] = state.run(*o as usize, |_| ());
        }
    }
}

fn replay(model: &Model, order: &[u32]) -> (Vec<u64>, Vec<u64>) {
    let mut state = State::new(model);
    order.iter().map(|o| (state.memory, state.run(*o as usize, |_| ()))).unzip()
}

/// A window around a place with an order of its ops that is below the peak.
#[allow(clippy::too_many_arguments, reason = "the state of one search, read only")]
fn better(
    model: &Model,
    places: &Places,
    order: &[u32],
    before: &[u64],
    worst: usize,
    peak: u64,
    target: u64,
    states: &mut u64,
) -> Option<(usize, Vec<u32>)> {
    let mut last = 0;
    for size in SIZES {
        let size = size.min(order.len());
        if size == last {
            break;
        }
        last = size;
        for lead in [size / 2, size * 7 / 8, size / 8] {
            let from = worst.saturating_sub(lead).min(order.len() - size);
            let ops = &order[from..from + size];
            let model = local(model, places, from, ops);
            let base = before[from] - State::new(&model).memory;
            let both = Both::new(model);
            for goal in [target, peak - 1] {
                let Some(goal) = goal.checked_sub(base) else { continue };
                let (found, spent) = both.decide(goal, STATES.min(*states), &Clock::none());
                *states = states.saturating_sub(spent.max(size as u64 / 8 + 1));
                if let Found::Order(found) = found {
                    return Some((from, found.into_iter().map(|o| ops[o as usize]).collect()));
                }
                if *states == 0 {
                    return None;
                }
            }
        }
    }
    None
}
