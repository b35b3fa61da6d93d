//! Small graphs through the whole way: build, solve, check.

use neap_plan::{Home, Limits, Op, Place, Problem, Tensor, check, solve};

/// x -> relu -> reshape -> two branches -> concat -> out.
fn small() -> Problem {
    let mut b = Problem::builder();
    let x = b.tensor(Tensor::new("x", 1000).input().home(Home::ReadOnly));
    let a = b.tensor(Tensor::new("a", 1000));
    let r = b.tensor(Tensor::new("r", 1000));
    let v = b.tensor(Tensor::new("v", 1000));
    let p = b.tensor(Tensor::new("p", 300));
    let q = b.tensor(Tensor::new("q", 200));
    let c = b.tensor(Tensor::new("c", 500));
    let y = b.tensor(Tensor::new("y", 500).output().home(Home::Writable));
    b.op(Op::new("conv").inputs([x]).outputs([a]).workspace(64));
    let relu = b.op(Op::new("relu").inputs([a]).outputs([r]));
    b.in_place(relu, a, r);
    let reshape = b.op(Op::new("reshape").inputs([r]).outputs([v]));
    b.view(reshape, v, r, 0);
    b.op(Op::new("left").inputs([v]).outputs([p]));
    b.op(Op::new("right").inputs([v]).outputs([q]));
    let concat = b.op(Op::new("concat").inputs([p, q]).outputs([c]));
    b.into_whole(concat, p, c, 0);
    b.into_whole(concat, q, c, 300);
    let exp = b.op(Op::new("exp").inputs([c]).outputs([y]));
    b.in_place(exp, c, y);
    b.build().unwrap()
}

#[test]
fn shares_reach_the_callers_memory() {
    let problem = small();
    let planned = solve(&problem, &Limits::default()).unwrap();
    check(&problem, &planned.solution, &planned.certificate).unwrap();
    // a, r and v are one block; p, q, c lie in the caller's output; conv needs its workspace beside a.
    assert_eq!(planned.certificate.arena, 1064);
    assert!(planned.certificate.optimal(), "{:?}", planned.certificate);
    assert_eq!(planned.solution.places[4], Place::External { of: neap_plan::TensorId(7), offset: 0 });
    assert_eq!(planned.no_reuse, 1000 + 1000 + 300 + 200 + 500 + 64);
}

#[test]
fn mistakes_are_named() {
    let line = |f: &dyn Fn(&mut neap_plan::ProblemBuilder)| {
        let mut b = Problem::builder();
        f(&mut b);
        b.build().unwrap_err().to_string()
    };
    let cycle = line(&|b| {
        let (s, t) = (b.tensor(Tensor::new("s", 1)), b.tensor(Tensor::new("t", 1)));
        b.op(Op::new("f").inputs([s]).outputs([t]));
        b.op(Op::new("g").inputs([t]).outputs([s]));
    });
    assert_eq!(cycle, "the ops form a cycle through 'f', 'g'; no order can run them");
    let twice = line(&|b| {
        let t = b.tensor(Tensor::new("t", 1));
        b.op(Op::new("f").outputs([t]));
        b.op(Op::new("g").outputs([t]));
    });
    assert_eq!(twice, "tensor 't' is made by op 'f' and again by op 'g'");
    let big = line(&|b| {
        b.tensor(Tensor::new("t", u64::MAX).input());
    });
    assert!(big.contains("past 2^62"), "{big}");
}

#[test]
fn a_long_chain_in_place() {
    let mut b = Problem::builder();
    b.storage_align(64);
    let mut last = b.tensor(Tensor::new("in", 4096).input().home(Home::ReadOnly));
    for i in 0..50_000 {
        let t = Tensor::new(format!("t{i}"), 4096);
        let next = b.tensor(if i == 49_999 { t.output().home(Home::Writable) } else { t });
        let op = b.op(Op::new(format!("op{i}")).inputs([last]).outputs([next]));
        if i > 0 {
            b.in_place(op, last, next);
        }
        last = next;
    }
    let problem = b.build().unwrap();
    let planned = solve(&problem, &Limits::default()).unwrap();
    check(&problem, &planned.solution, &planned.certificate).unwrap();
    assert_eq!(planned.certificate.arena, 0);
}
