//! Orders of well-known networks: never worse than the simple ones, capacities honoured, the same each time.

mod support;

use neap_plan::order::Simple;
use neap_plan::{Limits, Problem, Witness, check, simple_arena, solve};
use support::nets;

fn networks() -> Vec<(&'static str, Problem)> {
    vec![
        ("resnet", nets::resnet(&[3, 4, 6, 3], 224)),
        ("densenet", nets::densenet(&[6, 12, 24, 16], 32)),
        ("inception", nets::inception()),
        ("unet", nets::unet(64, 256, 4)),
        ("hrnet", nets::hrnet(32)),
        ("nasnet", nets::nasnet(2)),
        ("amoebanet", nets::amoebanet(2)),
        ("transformer", nets::transformer(4, 128, 768, 12)),
        ("moe", nets::moe(2, 8)),
        ("training chain", nets::training_chain(34)),
        ("training resnet", nets::training_resnet(&[3, 4, 6, 3])),
        ("er", nets::randwire(nets::Wiring::Er(0.2), 32, 3, 1)),
        ("ba", nets::randwire(nets::Wiring::Ba(5), 32, 3, 1)),
        ("ws", nets::randwire(nets::Wiring::Ws(4, 0.75), 32, 3, 1)),
    ]
}

#[test]
fn networks_are_proven_and_no_simple_order_is_better() {
    let limits = Limits::default();
    for (name, problem) in networks() {
        let planned = solve(&problem, &limits).unwrap();
        check(&problem, &planned.solution, &planned.certificate).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(planned.certificate.optimal(), "{name}: {:?}", planned.certificate);
        for rule in Simple::ALL {
            let (peak, arena) = simple_arena(&problem, rule, &limits).unwrap();
            assert!(peak <= arena && planned.certificate.arena <= arena, "{name}: {}", rule.name());
        }
    }
}

#[test]
fn capacities_are_met_or_proven_out_of_reach() {
    for (name, problem) in networks() {
        let least = solve(&problem, &Limits::default()).unwrap().certificate.arena;
        let fits = Limits { capacity: Some(least), ..Limits::default() };
        assert!(solve(&problem, &fits).unwrap().certificate.arena <= least, "{name}");
        let small = Limits { capacity: Some(least - 64), ..Limits::default() };
        let planned = solve(&problem, &small).unwrap();
        check(&problem, &planned.solution, &planned.certificate).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(planned.certificate.lower_bound > least - 64, "{name}: {:?}", planned.certificate);
        let ample = Limits { capacity: Some(4 * least), ..Limits::default() };
        assert!(solve(&problem, &ample).unwrap().certificate.arena <= 4 * least, "{name}");
    }
}

#[test]
fn the_same_limits_give_the_same_plan() {
    let problem = nets::swiftnet();
    let limits = Limits { order_states: 5_000, place_nodes: 5_000, rounds: 40, ..Limits::default() };
    assert_eq!(solve(&problem, &limits).unwrap(), solve(&problem, &limits).unwrap());
}

#[test]
fn false_cuts_are_refused() {
    let mut cuts = 0;
    for (name, problem) in networks() {
        let mut planned = solve(&problem, &Limits::default()).unwrap();
        let Witness::Cut { op, .. } = &mut planned.certificate.witness else { continue };
        // The last op needs far less.
        op.0 = problem.ops().len() as u32 - 1;
        let error = check(&problem, &planned.solution, &planned.certificate).unwrap_err().to_string();
        assert!(error.starts_with("the witness proves"), "{name}: {error}");
        cuts += 1;
    }
    assert!(cuts > 1, "{cuts} bounds by cuts");
}
