//! Files in and out: problems survive their text, and whatever is wrong with a file gets one line.

mod support;

use neap_plan::formats::csv::{self, Interval};
use neap_plan::formats::json;
use neap_plan::place::{PlaceLimits, place};
use neap_plan::{BoundCheck, check_placement};
use proptest::prelude::*;
use support::random;

proptest! {
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

#[test]
fn small_tables_are_placed_again() {
    // Two that never meet lie between a third that meets both: any placement needs 6 though the load is 5.
    let text = "id,lower,upper,size\na,0,2,2\nb,1,4,2\nc,3,6,2\nd,0,6,1\ne,2,3,2\n";
    let table = csv::read(text, Interval::HalfOpen).unwrap();
    let mut placed = place(&table.blocks, &PlaceLimits::default());
    assert_eq!(check_placement(&table.ids, &table.blocks, &placed), Ok(BoundCheck::Verified));
    // The same one byte higher, and a bound that says it has to be.
    placed.placement.offsets.iter_mut().for_each(|o| *o += 1);
    placed.placement.height += 1;
    placed.lower_bound = placed.placement.height;
    let line = check_placement(&table.ids, &table.blocks, &placed).unwrap_err().to_string();
    assert!(line.contains("'a', ") && line.contains("need 5"), "{line}");
}
