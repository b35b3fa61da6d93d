//! Wrong plans and bad files: each is refused, and says why.

mod support;

use neap_plan::formats::csv::{self, Interval};
use neap_plan::formats::json;
use neap_plan::place::{PlaceLimits, place};
use neap_plan::{Limits, OpId, Place, ShareId, check, check_placement, solve};
use proptest::prelude::*;
use support::random;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_wrong_plan_is_refused(seed in 0u64..5_000, kind in 0u8..9, pick in any::<prop::sample::Index>(), by in 1u64..5) {
        let problem = random::problem(seed, 6, true);
        let planned = solve(&problem, &Limits::default()).unwrap();
        let (mut s, mut c) = (planned.solution, planned.certificate);
        let n = s.order.len();
        let refused = match kind {
            0 => { s.order.pop(); true }
            1 => { let again = s.order[pick.index(n)]; s.order.push(again); true }
            2 => { s.order[0] = OpId(n as u32 + 7); true }
            3 => { s.places.pop(); true }
            4 => { c.arena += by; true }
            5 => { c.peak += by; true }
            6 => { c.lower_bound = c.arena + by; true }
            7 => { s.taken.push(ShareId(problem.shares().len() as u32)); true }
            _ => {
                // An op before one that it needs.
                s.order.reverse();
                problem.predecessors().iter().any(|p| !p.is_empty())
            }
        };
        prop_assert!(!refused || check(&problem, &s, &c).is_err());
    }

    #[test]
    fn overlaps_are_named(seed in 0u64..5_000) {
        // Everything at offset 0: legal only where no two values meet in the arena.
        let problem = random::problem(seed, 6, false);
        let planned = solve(&problem, &Limits::default()).unwrap();
        let mut s = planned.solution.clone();
        for p in &mut s.places {
            if matches!(p, Place::Arena(_)) {
                *p = Place::Arena(0);
            }
        }
        let mut c = planned.certificate.clone();
        let sizes = problem.tensors().iter().zip(&s.places).filter(|x| matches!(x.1, Place::Arena(_)));
        let tensors = sizes.map(|x| x.0.size).max().unwrap_or(0);
        let work = problem.ops().iter().zip(&s.workspaces).filter(|x| x.0.workspace > 0);
        c.arena = problem.padded(work.map(|x| x.1 + x.0.workspace).max().unwrap_or(0).max(tensors));
        c.lower_bound = 0;
        c.witness = neap_plan::Witness::None;
        if c.arena < c.peak {
            let e = check(&problem, &s, &c).unwrap_err().to_string();
            prop_assert!(e.contains("share bytes"), "{}", e);
        }
    }

    #[test]
    fn junk_never_panics(text in ".{0,200}") {
        let _ = json::read(&text);
        let _ = csv::read(&text, Interval::HalfOpen);
        let _ = csv::read(&format!("id,lower,upper,size\n{text}"), Interval::Open);
    }
}

#[test]
fn problems_survive_their_json() {
    for seed in 0..300 {
        let problem = random::problem(seed, 8, true);
        let text = json::write(&problem);
        assert_eq!(json::read(&text).unwrap(), problem, "seed {seed}");
        let cut = &text[..text.len() / 2];
        assert!(!json::read(cut).unwrap_err().to_string().contains('\n'));
    }
}

#[test]
fn bad_files_get_one_line_each() {
    let deep = "[".repeat(10_000_000);
    let cases: [(&str, &str); 8] = [
        ("", "no problem file"),
        (&deep, "no problem file"),
        (r#"{"tensors":[{"name":"a","size":-1,"input":true}],"ops":[]}"#, "size of 'a' is -1"),
        (r#"{"tensors":[{"name":"a","size":9223372036854775807,"input":true}],"ops":[]}"#, "past 2^62"),
        (
            r#"{"tensors":[{"name":"a","size":1,"input":true},{"name":"a","size":1,"input":true}],"ops":[]}"#,
            "two tensors",
        ),
        (r#"{"tensors":[],"ops":[{"name":"f"},{"name":"f"}]}"#, "two ops"),
        (r#"{"tensors":[],"ops":[{"name":"f","inputs":["x"]}]}"#, "names tensor 'x'"),
        (r#"{"tensors":[],"ops":[{"name":"f"},{"name":"g"}],"edges":[["f","g"],["g","f"]]}"#, "cycle through 'f', 'g'"),
    ];
    for (text, says) in cases {
        let line = json::read(text).unwrap_err().to_string();
        assert!(line.contains(says) && !line.contains('\n') && line.len() < 300, "{line}");
    }
    for (text, says) in [
        ("", "empty"),
        ("id,lower,upper\n", "no column 'size'"),
        ("id,lower,upper,size\na,0,1,-4\n", "line 2: size '-4'"),
        ("id,lower,upper,size\na,3,3,4\n", "not below"),
        ("id,lower,upper,size\na,0,1,4\na,0,1,4\n", "stands twice"),
        ("id,lower,upper,size\na,0,1,9223372036854775807\n", "past 2^62"),
        ("id,lower,upper,size\na,0\n", "2 cells under 4 columns"),
    ] {
        let line = csv::read(text, Interval::HalfOpen).unwrap_err().to_string();
        assert!(line.contains(says), "{line}");
    }
}

#[test]
fn wrong_placements_name_both_buffers() {
    let text = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n";
    let table = csv::read(text, Interval::HalfOpen).unwrap();
    let mut placed = place(&table.blocks, &PlaceLimits::default());
    assert_eq!((placed.placement.height, placed.lower_bound), (12, 12));
    check_placement(&table.ids, &table.blocks, &placed).unwrap();
    placed.placement.offsets = vec![0, 0, 4, 0, 6];
    placed.placement.height = 10;
    placed.lower_bound = 0;
    let line = check_placement(&table.ids, &table.blocks, &placed).unwrap_err().to_string();
    assert!(line.contains("'b3' and 'b5'"), "{line}");
}
