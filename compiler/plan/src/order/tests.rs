//! Every part of the order search against trying all orders and all down-sets, on small random problems.

#![allow(clippy::unwrap_used, reason = "a test")]

use super::cut::least_at;
use super::decide::{Both, Found};
use super::local::{Places, local};
use super::model::{Count, Model};
use super::plan::{OrderLimits, Proof, plan};
use super::state::{State, profile};
use super::windows;
use crate::limits::Clock;
use crate::support;

fn models() -> impl Iterator<Item = (u64, Model)> {
    (0..3000u64).map(|seed| {
        let problem = support::random::problem(seed, 8, seed % 3 != 0);
        let count = if seed % 2 == 0 { Count::Likely } else { Count::AtMost };
        (seed, Model::new(&problem, count))
    })
}

/// Calls with every order and its loads.
fn orders(
    state: &mut State<'_>,
    model: &Model,
    order: &mut Vec<u32>,
    loads: &mut Vec<u64>,
    f: &mut impl FnMut(&[u32], &[u64]),
) {
    if order.len() == model.len() {
        return f(order, loads);
    }
    for o in 0..model.len() as u32 {
        if state.waiting[o as usize] == 0 && !order.contains(&o) {
            let before = state.memory;
            loads.push(state.run(o as usize, |_| ()));
            order.push(o);
            orders(state, model, order, loads, f);
            order.pop();
            loads.pop();
            state.back(o as usize, before, |_| ());
        }
    }
}

/// The least peak, and for each op the least load while it runs in any order.
fn brute(model: &Model) -> (u64, Vec<u64>) {
    let mut best = u64::MAX;
    let mut least = vec![u64::MAX; model.len()];
    orders(&mut State::new(model), model, &mut Vec::new(), &mut Vec::new(), &mut |order, loads| {
        best = best.min(loads.iter().copied().max().unwrap_or(0));
        for (o, l) in order.iter().zip(loads) {
            least[*o as usize] = least[*o as usize].min(*l);
        }
    });
    (best, least)
}

#[test]
fn searches_from_both_ends_are_exact() {
    for (seed, model) in models() {
        let (best, least) = brute(&model);
        let both = Both::new(model.clone());
        let clock = Clock::none();
        // Every target below the best is refused with a bound that is not above it; the best itself is found.
        let mut target = least.iter().copied().max().unwrap_or(0).min(best.saturating_sub(1));
        let mut raised = 0;
        loop {
            match both.decide(target, u64::MAX, &clock).0 {
                Found::Order(order) => {
                    let peak = profile(&mut State::new(&model), &order).into_iter().max().unwrap_or(0);
                    assert!(peak <= target && peak == best, "seed {seed}: {peak} at {target}, best {best}");
                    break;
                }
                Found::AtLeast(bound) => {
                    assert!(bound > target && bound <= best, "seed {seed}: bound {bound} at {target}, best {best}");
                    target = bound;
                }
                Found::Unknown => panic!("seed {seed}: without limits all is known"),
            }
            raised += 1;
            assert!(raised < 1000, "seed {seed}");
        }
        for order in both.descend(best) {
            assert!(profile(&mut State::new(&model), &order).into_iter().max().unwrap_or(0) >= best, "seed {seed}");
        }
    }
}

#[test]
fn cuts_are_the_least_over_all_down_sets() {
    let (mut equal, mut all) = (0, 0);
    for (seed, model) in models() {
        let (_, least) = brute(&model);
        for (o, least) in least.iter().enumerate() {
            let cut = least_at(&model, o as u32, &mut 0);
            assert!(cut <= *least, "seed {seed} op {o}: cut {cut} above {least}");
            equal += u64::from(cut == *least);
            all += 1;
        }
    }
    // Two outputs may want one input's place, and an output may lie in what is there already: there a cut grants more.
    assert!(equal * 100 >= all * 99, "{equal} of {all}");
}

#[test]
fn mirrored_models_weigh_the_same() {
    for (seed, model) in models().take(500) {
        let mirror = model.reversed();
        orders(&mut State::new(&model), &model, &mut Vec::new(), &mut Vec::new(), &mut |order, loads| {
            let back: Vec<u32> = order.iter().rev().copied().collect();
            let mut seen = profile(&mut State::new(&mirror), &back);
            seen.reverse();
            assert_eq!(seen, loads, "seed {seed}");
        });
    }
}

#[test]
fn stretches_weigh_what_they_weigh_in_the_whole() {
    for (seed, model) in models().take(500) {
        orders(&mut State::new(&model), &model, &mut Vec::new(), &mut Vec::new(), &mut |order, loads| {
            let places = Places::new(&model, order);
            let (from, to) = (order.len() / 3, order.len() - order.len() / 4);
            let stretch = local(&model, &places, from, &order[from..to]);
            let mut state = State::new(&model);
            profile(&mut state, &order[..from]);
            let mut inner = State::new(&stretch);
            let base = state.memory - inner.memory;
            let ops: Vec<u32> = (0..stretch.len() as u32).collect();
            let seen: Vec<u64> = profile(&mut inner, &ops).into_iter().map(|l| l + base).collect();
            assert_eq!(seen, loads[from..to], "seed {seed}");
        });
    }
}

#[test]
fn windows_only_improve() {
    let (mut worse, mut best_found) = (0, 0);
    for (seed, model) in models().filter(|m| m.1.len() > 4) {
        let (best, _) = brute(&model);
        let mut first = None;
        orders(&mut State::new(&model), &model, &mut Vec::new(), &mut Vec::new(), &mut |order, loads| {
            let peak = loads.iter().copied().max().unwrap_or(0);
            if first.as_ref().is_none_or(|(p, _)| peak > *p) {
                first = Some((peak, order.to_vec()));
            }
        });
        let (peak, order) = first.unwrap();
        let order = windows::improve(&model, order, best, &mut 100_000, &Clock::none());
        let after = profile(&mut State::new(&model), &order).into_iter().max().unwrap_or(0);
        assert!(best <= after && after <= peak, "seed {seed}");
        worse += u64::from(peak > best);
        best_found += u64::from(peak > best && after == best);
    }
    assert_eq!(best_found, worse, "windows as large as the graph find the best");
}

#[test]
fn plans_of_segments_are_exact() {
    let clock = Clock::none();
    for seed in 0..3000u64 {
        let problem = support::random::problem(seed, 8, seed % 3 != 0);
        let model = Model::new(&problem, Count::AtMost);
        let (best, _) = brute(&model);
        let limits = OrderLimits { states: 100_000, enough: 0, clock };
        let ordered = plan(&problem, &model, &super::simple::all(&problem), 0, &limits);
        let order: Vec<u32> = ordered.order.iter().map(|o| o.0).collect();
        let peak = profile(&mut State::new(&model), &order).into_iter().max().unwrap_or(0);
        assert_eq!((peak, ordered.lower_bound), (best, best), "seed {seed}");
        assert!(ordered.proof != Proof::Given || best == 0, "seed {seed}");
        // What is enough is proven to be out of reach, or reached.
        let limits = OrderLimits { enough: best + best / 4, ..limits };
        let ordered = plan(&problem, &model, &super::simple::all(&problem), 0, &limits);
        let order: Vec<u32> = ordered.order.iter().map(|o| o.0).collect();
        let peak = profile(&mut State::new(&model), &order).into_iter().max().unwrap_or(0);
        assert!(peak <= best + best / 4 && ordered.lower_bound <= best, "seed {seed}");
    }
}

#[test]
fn equal_layers_are_searched_once() {
    let limits = OrderLimits { states: 1_000_000, enough: 0, clock: Clock::none() };
    let plan = |layers| {
        let problem = support::nets::moe(layers, 8);
        let model = Model::new(&problem, Count::Likely);
        plan(&problem, &model, &super::simple::all(&problem), 0, &limits)
    };
    let (few, many) = (plan(2), plan(96));
    assert!(few.states > 0, "no search was needed");
    assert_eq!((few.states, few.lower_bound), (many.states, many.lower_bound));
}
