//! Wrong plans: each is refused, and the refusal names the two tensors or ops.

mod support;

use neap_plan::{BoundCheck, Home, Limits, Op, OpId, Place, Planned, Problem, ShareId, ShareKind, Tensor, TensorId};
use neap_plan::{Violation, Witness, solve};
use proptest::prelude::*;
use support::attack::Attack;
use support::random::{self, Dice};
use support::replay::replay;

fn planned(seed: u64) -> (Problem, Planned) {
    let problem = random::problem(seed, 7, true);
    let planned = solve(&problem, &Limits::default()).unwrap();
    (problem, planned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn plans_run(seed in 0u64..100_000) {
        let (problem, planned) = planned(seed);
        let a = Attack::new(&problem, &planned, seed);
        prop_assert!(a.check().is_ok());
        prop_assert_eq!(replay(&problem, &planned.solution), Ok(()));
    }

    #[test]
    fn orders(seed in 0u64..100_000, pick in any::<prop::sample::Index>()) {
        let (problem, planned) = planned(seed);
        let n = problem.ops().len();
        let (i, j) = (pick.index(n), pick.index(n * n) / n);
        let mut a = Attack::new(&problem, &planned, seed);
        let name = |o: OpId| problem.op(o).name.as_str();
        // One op in another's stead: that one stands twice and the other not at all.
        let (lost, kept) = (a.solution.order[i], a.solution.order[j]);
        if i != j {
            a.solution.order[i] = kept;
            a.refused(&[name(kept)], "an op twice");
        }
        a.solution.order.remove(i);
        a.refused(&[name(lost)], "an op missing");
        a.solution.order.insert(i, OpId(n as u32 + 3));
        a.refused(&[], "an unknown op");
        // Two ops the wrong way round.
        for (o, before) in problem.predecessors().iter().enumerate() {
            for b in before {
                let mut a = Attack::new(&problem, &planned, seed);
                let (x, y) = (a.step(*b), a.step(OpId(o as u32)));
                a.solution.order.swap(x, y);
                match a.refused(&[], "ops the wrong way round") {
                    Violation::Order { first, second } => {
                        let find = |n: &str| problem.op_ids().find(|o| name(*o) == n).unwrap();
                        let (first, second) = (find(&first), find(&second));
                        prop_assert!(problem.predecessors()[second.index()].contains(&first));
                        prop_assert!(a.step(first) > a.step(second));
                    }
                    other => prop_assert!(false, "{}", other),
                }
            }
        }
    }

    #[test]
    fn lists(seed in 0u64..100_000) {
        let (problem, planned) = planned(seed);
        let fresh = || Attack::new(&problem, &planned, seed);
        let mut a = fresh();
        a.solution.places.pop();
        a.refused(&[], "places cut short");
        let mut a = fresh();
        a.solution.places.push(Place::Arena(0));
        a.refused(&[], "a place too many");
        let mut a = fresh();
        a.solution.workspaces.pop();
        a.refused(&[], "workspaces cut short");
        let mut a = fresh();
        a.solution.taken.push(ShareId(problem.shares().len() as u32));
        a.refused(&[], "an unknown share");
        for (i, id) in planned.solution.taken.iter().enumerate() {
            let mut a = fresh();
            a.solution.taken.insert(i, *id);
            a.refused(&[], "a share twice");
        }
    }

    #[test]
    fn overlaps(seed in 0u64..100_000) {
        // Pairs alive together that no share may bring together: pinned ones and outputs among them.
        let (problem, planned) = planned(seed);
        let a = Attack::new(&problem, &planned, seed);
        for x in a.placed() {
            for y in a.placed() {
                let ((x0, x1), (y0, y1)) = (a.life(x), a.life(y));
                if x0.max(y0) < x1.min(y1) && !a.related(x, y) {
                    Attack::new(&problem, &planned, seed).collide(x, y, "two tensors in one place");
                }
            }
        }
        // A workspace on what its op reads or makes.
        for o in problem.op_ids().filter(|o| problem.op(*o).workspace > 0) {
            for t in problem.op(o).inputs.iter().chain(&problem.op(o).outputs).filter(|t| a.placed().contains(t)) {
                let mut a = Attack::new(&problem, &planned, seed);
                let Place::Arena(at) = a.solution.places[t.index()] else { continue };
                let start = at / problem.storage_align() * problem.storage_align();
                if start + problem.op(o).workspace <= at {
                    continue;
                }
                a.solution.workspaces[o.index()] = start;
                a.settle();
                let name = format!("workspace of {}", problem.op(o).name);
                let e = a.refused(&[&name], "a workspace on a tensor");
                prop_assert!(matches!(e, Violation::Clash { .. }), "{}", e);
            }
        }
    }

    #[test]
    fn shares(seed in 0u64..100_000) {
        let (problem, planned) = planned(seed);
        let fresh = || Attack::new(&problem, &planned, seed);
        for id in problem.share_ids() {
            let s = *problem.share(id);
            let (inner, outer) = (problem.tensor(s.inner), problem.tensor(s.outer));
            let names = [inner.name.as_str(), outer.name.as_str()];
            let twin = |i: &ShareId| (problem.share(*i).inner, problem.share(*i).outer) == (s.inner, s.outer);
            let mut a = fresh();
            if let Ok(at) = a.solution.taken.binary_search(&id) {
                // Still in one place, but no share says so; another chain of shares may.
                a.solution.taken.remove(at);
                let tied = a.solution.taken.iter().any(twin);
                let arena = matches!(a.solution.places[s.inner.index()], Place::Arena(_));
                if !tied && arena && inner.size > 0 {
                    a.settle();
                    match a.refused(&[], "a share no longer taken") {
                        Violation::Clash { .. } | Violation::Peak { .. } | Violation::Misaligned { .. } => {}
                        other => prop_assert!(false, "{}", other),
                    }
                }
                // Taken, but a byte apart.
                let mut a = fresh();
                a.solution.places[s.inner.index()] = match a.solution.places[s.inner.index()] {
                    Place::Arena(at) => Place::Arena(at + problem.storage_align()),
                    Place::External { of, offset } => Place::External { of, offset: offset + 1 },
                };
                a.settle();
                match a.refused(&[], "a share taken apart") {
                    Violation::ShareApart { .. } => {}
                    Violation::Outside { tensor } | Violation::Home { tensor } => prop_assert_eq!(&tensor, names[0]),
                    other => prop_assert!(false, "{}", other),
                }
            } else {
                // Not taken and now claimed, where it lies: apart, or over what still lives.
                let Err(at) = a.solution.taken.binary_search(&id) else { unreachable!() };
                a.solution.taken.insert(at, id);
                if a.check().is_ok() {
                    prop_assert_eq!(replay(&problem, &a.solution), Ok(()));
                }
                // An input overwritten while it is needed.
                if s.kind == ShareKind::InPlace && a.life(s.outer).1 > a.step(s.op) + 1 {
                    a.solution.places[s.inner.index()] = a.solution.places[s.outer.index()];
                    a.settle();
                    match a.refused(&[], "an input overwritten too early") {
                        Violation::Overwritten { .. } => drop(a.refused(&names, "an input overwritten too early")),
                        Violation::ShareApart { .. } | Violation::Home { .. } | Violation::ReadOnly { .. } => {}
                        other => prop_assert!(false, "{}", other),
                    }
                }
            }
        }
    }

    #[test]
    fn memory_outside(seed in 0u64..100_000) {
        let (problem, planned) = planned(seed);
        for t in problem.tensor_ids() {
            let tensor = problem.tensor(t);
            let mut a = Attack::new(&problem, &planned, seed);
            if tensor.home == Home::Arena {
                let nowhere = TensorId(problem.tensors().len() as u32);
                a.solution.places[t.index()] = Place::External { of: nowhere, offset: 0 };
                a.refused(&[&tensor.name], "memory of nobody");
                a.solution.places[t.index()] = Place::External { of: t, offset: 0 };
                a.refused(&[&tensor.name], "memory of a tensor in the arena");
                if let Some(e) = problem.tensor_ids().find(|e| problem.tensor(*e).home != Home::Arena) {
                    let memory = problem.tensor(e);
                    let offset = memory.size + 1 - tensor.size.min(memory.size);
                    a.solution.places[t.index()] = Place::External { of: e, offset };
                    a.refused(&[&tensor.name], "past the end of memory outside");
                }
            } else {
                a.solution.places[t.index()] = Place::Arena(0);
                a.refused(&[&tensor.name], "memory outside moved into the arena");
                a.solution.places[t.index()] = Place::External { of: t, offset: 1 };
                a.refused(&[&tensor.name], "memory outside moved");
            }
        }
    }

    #[test]
    fn sizes(seed in 0u64..100_000) {
        // The plan of a problem whose tensor, or workspace, was smaller.
        let (problem, planned) = planned(seed);
        let mut dice = Dice::new(seed);
        let which = dice.below(problem.tensors().len() as u64) as usize;
        let op = dice.below(problem.ops().len() as u64) as usize;
        for workspace in [false, true] {
            let mut b = Problem::builder();
            b.storage_align(problem.storage_align());
            for (i, t) in problem.tensors().iter().enumerate() {
                let more = if i == which && !workspace { problem.storage_align() } else { 0 };
                b.tensor(Tensor { size: t.size + more, ..t.clone() });
            }
            for (i, o) in problem.ops().iter().enumerate() {
                let more = if i == op && workspace { problem.storage_align() } else { 0 };
                b.op(Op { workspace: o.workspace + more, ..o.clone() });
            }
            for s in problem.shares() {
                b.share(*s);
            }
            problem.edges().iter().for_each(|(x, y)| b.edge(*x, *y));
            let Ok(larger) = b.build() else { continue };
            let mut a = Attack::new(&larger, &planned, seed);
            a.believe();
            if replay(&larger, &planned.solution).is_err() {
                a.refused(&[], "a plan for smaller sizes");
            }
        }
    }

    #[test]
    fn figures(seed in 0u64..100_000, by in 1u64..9) {
        let (problem, planned) = planned(seed);
        let unit = problem.storage_align();
        let fresh = || Attack::new(&problem, &planned, seed);
        for (peak, arena) in [(by, 0), (0, by)] {
            let mut a = fresh();
            a.certificate.peak += peak;
            a.certificate.arena += arena;
            a.refused(&[], "a figure too large");
            let mut a = fresh();
            if let (Some(p), Some(m)) =
                (a.certificate.peak.checked_sub(peak), a.certificate.arena.checked_sub(arena))
            {
                (a.certificate.peak, a.certificate.arena) = (p, m);
                a.refused(&[], "a figure too small");
            }
        }
        let mut a = fresh();
        a.certificate.lower_bound = a.certificate.arena + by;
        a.refused(&[], "a bound above the plan");
        // Everything `by` higher: a legal plan that is worse, with a bound that says it is not.
        let mut a = fresh();
        if planned.certificate.arena > 0 {
            for p in &mut a.solution.places {
                if let Place::Arena(at) = p {
                    *at += by * unit;
                }
            }
            a.solution.workspaces.iter_mut().for_each(|w| *w += by * unit);
            let bound = planned.certificate.lower_bound;
            a.settle();
            prop_assert!(a.check().is_ok());
            for witness in witnesses(&problem, &planned.certificate.witness) {
                let before = Attack::new(&problem, &planned, seed);
                a.certificate.witness = witness;
                a.certificate.lower_bound = a.certificate.arena;
                let searched = matches!(a.certificate.witness, Witness::Exhaustive { .. });
                let plain = problem.shares().is_empty() && problem.tensors().iter().all(|t| !t.input);
                if !searched || plain || a.certificate.lower_bound > before.certificate.arena + by * unit {
                    a.refused(&[], "a bound that is not proven");
                } else if bound == planned.certificate.arena {
                    // Shares and idle inputs may keep the checker from finding the better order; it must not call it proven.
                    prop_assert!(a.check() != Ok(BoundCheck::Verified));
                }
            }
        }
    }

    #[test]
    fn witnesses_of_steps(seed in 0u64..100_000) {
        let (problem, planned) = planned(seed);
        let mut a = Attack::new(&problem, &planned, seed);
        let ops = problem.op_ids().collect::<Vec<_>>();
        for o in &ops {
            let all: Vec<TensorId> = problem.tensor_ids().collect();
            a.certificate.witness = Witness::Step { op: *o, tensors: all.clone() };
            for t in all {
                // A tensor that lives only before or after the op in this very order cannot be alive there in every order.
                let (from, to) = a.life(t);
                if !(from..to).contains(&a.step(*o)) {
                    a.certificate.witness = Witness::Step { op: *o, tensors: vec![t] };
                    a.refused(&[a.name(t), &problem.op(*o).name], "a tensor that is not alive");
                }
                a.certificate.witness = Witness::Step { op: *o, tensors: vec![t, t] };
                a.refused(&[], "a tensor twice");
            }
            a.certificate.witness = Witness::Step { op: OpId(ops.len() as u32), tensors: vec![] };
            a.refused(&[], "an unknown op");
            a.certificate.witness = Witness::Step { op: *o, tensors: vec![TensorId(problem.tensors().len() as u32)] };
            a.refused(&[], "an unknown tensor");
            let again = vec![*o, *o];
            a.certificate.witness = Witness::Exhaustive { method: "m".into(), states: 1, ops: again };
            a.refused(&[], "an op twice in a witness");
        }
        if a.certificate.lower_bound > 0 {
            for witness in [Witness::None, Witness::Exhaustive { method: "m".into(), states: 1, ops: vec![] }] {
                a.certificate.witness = witness;
                a.refused(&[], "a bound without a witness");
            }
        }
    }

    #[test]
    fn whatever_is_accepted_runs(seed in 0u64..1_000_000, changes in 1usize..5) {
        let (problem, planned) = planned(seed % 20_000);
        let mut a = Attack::new(&problem, &planned, seed);
        for _ in 0..changes {
            a.disturb();
        }
        a.believe();
        if a.check().is_ok() {
            prop_assert_eq!(replay(&problem, &a.solution), Ok(()));
        }
    }
}

/// Ways to claim a bound: the plan's own, and a search of everything.
fn witnesses(problem: &Problem, own: &Witness) -> Vec<Witness> {
    let ops = problem.op_ids().collect();
    vec![own.clone(), Witness::None, Witness::Exhaustive { method: "by hand".into(), states: 1, ops }]
}

#[test]
fn alignment_is_checked() {
    let mut b = Problem::builder();
    b.storage_align(16);
    let x = b.tensor(Tensor::new("x", 48).align(64));
    let y = b.tensor(Tensor::new("y", 16).output());
    b.op(Op::new("f").outputs([x]).workspace(16));
    b.op(Op::new("g").inputs([x]).outputs([y]));
    let problem = b.build().unwrap();
    let planned = solve(&problem, &Limits::default()).unwrap();
    for by in [1, 8, 16, 32] {
        let mut a = Attack::new(&problem, &planned, 0);
        a.solution.places[x.index()] = Place::Arena(by);
        a.solution.workspaces[0] = 128;
        a.settle();
        let e = a.refused(&["x"], "a tensor off its alignment");
        assert!(matches!(e, Violation::Misaligned { align: 64, .. }), "{e}");
        if by < 16 {
            let mut a = Attack::new(&problem, &planned, 0);
            a.solution.workspaces[0] = 128 + by;
            a.settle();
            a.refused(&["workspace of f"], "a workspace off the storage's alignment");
            let mut a = Attack::new(&problem, &planned, 0);
            a.solution.places[y.index()] = Place::Arena(256 + by);
            a.settle();
            a.refused(&["y"], "a tensor off the storage's alignment");
        }
    }
    // Offsets so large that their sums overflow.
    for huge in [u64::MAX, u64::MAX - 47, u64::MAX - 63] {
        let mut a = Attack::new(&problem, &planned, 0);
        a.solution.places[x.index()] = Place::Arena(huge);
        a.refused(&[], "an offset past all memory");
        a.solution.places[x.index()] = Place::External { of: y, offset: huge };
        a.refused(&["x"], "an offset past all memory");
        a.solution.workspaces[0] = huge;
        a.refused(&[], "an offset past all memory");
    }
}

#[test]
fn small_bounds_are_searched_again() {
    let mut tally = [0; 2];
    for seed in 0..2_000 {
        let problem = random::problem(seed, 7, seed % 2 == 0);
        let planned = solve(&problem, &Limits::default()).unwrap();
        let bound = Attack::new(&problem, &planned, seed).check().unwrap();
        if matches!(planned.certificate.witness, Witness::Exhaustive { .. }) {
            tally[usize::from(bound == BoundCheck::Verified)] += 1;
        } else {
            assert_eq!(bound, BoundCheck::Verified);
        }
    }
    assert!(tally[1] >= 60 && tally[0] * 30 <= tally[1], "on trust, verified: {tally:?}");
}

#[test]
fn no_step_proves_more_than_is_needed() {
    // The worst step of every small problem, all tensors alive there named, and one unit more claimed than the least arena.
    for seed in 0..600 {
        let problem = random::problem(seed, 4, true);
        let planned = solve(&problem, &Limits::default()).unwrap();
        let least = support::brute::least_arena(&problem);
        let mut a = Attack::new(&problem, &planned, seed);
        for p in &mut a.solution.places {
            if let Place::Arena(at) = p {
                *at += 64;
            }
        }
        a.solution.workspaces.iter_mut().for_each(|w| *w += 64);
        a.settle();
        for op in problem.op_ids() {
            a.certificate.lower_bound = 0;
            let mut alive = Vec::new();
            for t in problem.tensor_ids() {
                a.certificate.witness = Witness::Step { op, tensors: vec![t] };
                if a.check().is_ok() {
                    alive.push(t);
                }
            }
            a.certificate.witness = Witness::Step { op, tensors: alive };
            a.certificate.lower_bound = least + problem.storage_align();
            a.refused(&[], "a bound above what is needed");
        }
    }
}

#[test]
fn bytes_of_two_tensors_in_one_unit_count_once() {
    let mut b = Problem::builder();
    b.storage_align(2);
    let p = b.tensor(Tensor::new("p", 1).input());
    let x = b.tensor(Tensor::new("x", 3).input());
    let y = b.tensor(Tensor::new("y", 2));
    let w = b.tensor(Tensor::new("w", 3));
    let f = b.op(Op::new("f").inputs([x]).outputs([y]));
    b.in_place(f, x, y);
    let cat = b.op(Op::new("cat").inputs([p, y]).outputs([w]));
    b.into_whole(cat, p, w, 0);
    b.into_whole(cat, y, w, 1);
    let problem = b.build().unwrap();
    let planned = solve(&problem, &Limits::default()).unwrap();
    assert_eq!((planned.certificate.arena, planned.certificate.lower_bound), (4, 4));
    let mut a = Attack::new(&problem, &planned, 0);
    for at in &mut a.solution.places {
        if let Place::Arena(at) = at {
            *at += 2;
        }
    }
    a.settle();
    a.certificate.lower_bound = 6;
    a.certificate.witness = Witness::Step { op: f, tensors: vec![p, x, y] };
    a.refused(&[], "padding counted twice");
}
