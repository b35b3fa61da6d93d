//! The solvers against trying everything, on thousands of small random problems.

mod support;

use neap_plan::{Limits, check, solve};
use support::{brute, random, show};

fn compare(seeds: std::ops::Range<u64>, ops: u64, shares: bool) -> (u64, u64) {
    let (mut best, mut proven) = (0, 0);
    for seed in seeds {
        let problem = random::problem(seed, ops, shares);
        let planned = solve(&problem, &Limits::default()).unwrap();
        let c = &planned.certificate;
        check(&problem, &planned.solution, c)
            .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}\n{planned:?}", show(&problem)));
        let least = brute::least_arena(&problem);
        assert!(
            c.lower_bound <= least,
            "seed {seed}: bound {} above {least}\n{}\n{planned:?}",
            c.lower_bound,
            show(&problem)
        );
        assert!(c.arena >= least, "seed {seed}: arena {} below {least}\n{}\n{planned:?}", c.arena, show(&problem));
        best += u64::from(c.arena == least);
        proven += u64::from(c.optimal());
    }
    (best, proven)
}

#[test]
fn without_shares_nothing_is_lost() {
    let (best, proven) = compare(0..1500, 6, false);
    assert!(best == 1500 && proven >= 1460, "optimal in {best}, proven in {proven} of 1500");
}

#[test]
fn with_shares_little_is_lost() {
    let (best, proven) = compare(0..1000, 6, true);
    assert!(best >= 985 && proven >= 730, "optimal in {best}, proven in {proven} of 1000");
}
