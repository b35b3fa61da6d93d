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

/// A problem file with these tensors and ops.
fn file(tensors: &str, ops: &str) -> String {
    format!("{{\"tensors\":[{tensors}],\n\"ops\":[{ops}]}}")
}

/// All lines that do not say what they should, or are none.
fn wrong(lines: impl IntoIterator<Item = (String, &'static str)>) -> Vec<String> {
    let good = |line: &str, says: &str| line.contains(says) && !line.contains('\n') && line.len() < 300;
    lines.into_iter().filter(|(l, says)| !good(l, says)).map(|(l, says)| format!("no '{says}' in: {l}")).collect()
}

#[test]
fn bad_problem_files_get_one_line_each() {
    let x = r#"{"name":"x","size":1,"input":true}"#;
    let sized = |size: &str| file(&format!(r#"{{"name":"x","size":{size},"input":true}}"#), "");
    let op = |rest: &str| file(x, &format!(r#"{{"name":"f"{rest}}}"#));
    let share = |rest: &str| {
        let tensors = format!(r#"{x},{{"name":"y","size":1}}"#);
        let ops = r#"{"name":"f","inputs":["x"],"outputs":["y"]}"#;
        file(&tensors, ops).replace("]}]}", &format!(r#"]}}],"shares":[{{{rest}}}]}}"#))
    };
    let long = "n".repeat(10_000_000);
    let cases: Vec<(String, &str)> = vec![
        (String::new(), "the file is empty"),
        (" \r\n\t".into(), "the file is empty"),
        ("\u{feff}".into(), "the file is empty"),
        ("id,lower,upper,size\n".into(), "line 1, column 1"),
        ("[1, 2]".into(), "line 1, column 1: no problem file of neap's: expected an object"),
        ("[".repeat(10_000_000), "line 1, column"),
        (r#"{"tensors":"#.to_string() + &"[".repeat(10_000_000), "line 1, column"),
        (r#"{"a":"#.repeat(2_000_000), "unknown field `a`"),
        ("{".into(), "line 1, column 1"),
        (file(x, "") + "}", "line 2, column 10: no problem file of neap's: trailing characters"),
        ("{}".into(), "missing field `tensors`"),
        (r#"{"tensors":[]}"#.into(), "missing field `ops`"),
        (r#"{"tensors":[],"tensors":[],"ops":[]}"#.into(), "duplicate field `tensors`"),
        (r#"{"tensors":{},"ops":[]}"#.into(), "line 1, column 11"),
        (r#"{"tensors":[],"ops":null}"#.into(), "invalid type: null"),
        (r#"{"tensors":[],"ops":[],"version":1}"#.into(), "unknown field `version`"),
        (sized("-1"), "size of 'x' is -1"),
        (sized("1.5"), "size of 'x' is 1.5; it must be a whole number"),
        (sized("1e3"), "size of 'x' is 1000"),
        (sized("NaN"), "line 1, column"),
        (sized("Infinity"), "line 1, column"),
        (sized("1e999"), "line 1, column 36: no problem file of neap's: number out of range"),
        (sized("\"1\""), "invalid type: string"),
        (sized("true"), "invalid type: boolean"),
        (sized("null"), "invalid type: null"),
        (sized("[1]"), "invalid type: sequence"),
        (sized("9223372036854775807"), "past 2^62"),
        (sized("9223372036854775808"), "past 2^62"),
        (sized("18446744073709551615"), "past 2^62"),
        (sized("18446744073709551616"), "size of 'x' is 1.8446744073709552e+19; it must be a whole number"),
        (sized("4611686018427387904"), "past 2^62"),
        (file(&format!("{x},{x}"), ""), "two tensors are named 'x'"),
        (file("", r#"{"name":"f"},{"name":"f"}"#), "two ops are named 'f'"),
        (file("", r#"{"name":7}"#), "line 2, column"),
        (file(&x.replace("true", "1"), ""), "invalid type: integer `1`"),
        (file(&x.replace("}", r#","home":"disk"}"#), ""), "unknown variant `disk`"),
        (file(&x.replace("}", r#","align":3}"#), ""), "'x': alignment 3 is no power of two"),
        (file(&x.replace("}", r#","align":-8}"#), ""), "alignment of 'x' is -8"),
        (file(&x.replace("}", r#","pinned":true,"home":"read_only"}"#), ""), "'x' is pinned but"),
        (file(&x.replace(",\"input\":true", ""), ""), "'x' is made by no op"),
        (op(r#","inputs":["z"]"#), "op 'f' names tensor 'z'"),
        (op(r#","outputs":["x"]"#), "'x' is a graph input, but op 'f' makes it"),
        (op(r#","workspace":-1"#), "workspace of 'f' is -1"),
        (op(r#","workspace":9223372036854775807"#), "op 'f' of 9223372036854775807 bytes"),
        (op(r#","time":0.5"#), "time of 'f' is 0.5"),
        (op(r#","time":9223372036854775807"#), "'f' of time"),
        (op(r#"}],"edges":[["f","f"]],"storage_align":1,"shares":[{"#), "missing field `kind`"),
        (op("").replace("}]}", r#"}],"edges":[["f","f"]]}"#), "'f' has an order edge to itself"),
        (op("").replace("}]}", r#"}],"edges":[["f"]]}"#), "line 2, column"),
        (op("").replace("}]}", r#"}],"edges":[["f","g"]]}"#), "an edge names op 'g'"),
        (op("").replace("}]}", r#"}],"storage_align":48}"#), "storage alignment 48"),
        (op("").replace("}]}", r#"}],"storage_align":-1}"#), "'storage_align' is -1"),
        (
            r#"{"tensors":[],"ops":[{"name":"f"},{"name":"g"}],"edges":[["f","g"],["g","f"]]}"#.into(),
            "cycle through 'f', 'g'",
        ),
        (
            file(
                r#"{"name":"a","size":1},{"name":"b","size":1}"#,
                r#"{"name":"f","inputs":["b"],"outputs":["a"]},{"name":"g","inputs":["a"],"outputs":["b"]}"#,
            ),
            "cycle through 'f', 'g'",
        ),
        (file(r#"{"name":"a","size":1}"#, r#"{"name":"f","inputs":["a"],"outputs":["a"]}"#), "cycle through 'f'"),
        (file(r#"{"name":"a","size":1}"#, r#"{"name":"f","outputs":["a","a"]}"#), "'a' is made by op 'f' and again"),
        (share(r#""kind":"view","op":"g","inner":"y","outer":"x""#), "a share names op 'g'"),
        (share(r#""kind":"view","op":"f","inner":"z","outer":"x""#), "a share names tensor 'z'"),
        (share(r#""kind":"copy","op":"f","inner":"y","outer":"x""#), "unknown variant `copy`"),
        (share(r#""kind":"view","op":"f","inner":"x","outer":"y""#), "'x' and 'y' at op 'f'"),
        (share(r#""kind":"view","op":"f","inner":"y","outer":"x","offset":1"#), "bytes 1 to 1 + 1 reach past"),
        (share(r#""kind":"view","op":"f","inner":"y","outer":"x","offset":18446744073709551615"#), "reach past"),
        (share(r#""kind":"view","op":"f","inner":"y","outer":"x","offset":-1"#), "offset in a share of 'y' is -1"),
        (share(r#""kind":"in_place","op":"f","inner":"y","outer":"x","offset":1"#), "has offset 0, not 1"),
        // Names as they come: long, and of several lines.
        (file(&format!("{0},{0}", x.replace("\"x\"", &format!("\"{long}\""))), ""), "two tensors are named 'nnnn"),
        (file(&x.replace("\"x\"", &format!("\"{long}\"")).replace("1,", "-1,"), ""), "is -1; it must be"),
        (file(&format!("{0},{0}", x.replace("\"x\"", r#""a\nb""#)), ""), r"two tensors are named 'a\nb'"),
        (file(&x.replace("\"x\"", r#""a\nb""#).replace(",\"input\":true", ""), ""), r"'a\nb' is made by no op"),
    ];
    let said = cases.into_iter().map(|(text, says)| (json::read(&text).unwrap_err().to_string(), says));
    assert_eq!(wrong(said), Vec::<String>::new());
}

#[test]
fn bad_tables_get_one_line_each() {
    let rows = |rows: &str| format!("id,lower,upper,size\n{rows}");
    let cases: Vec<(String, &str)> = vec![
        ("id,lower,upper,size,aligment\na,0,1,5,64\n".into(), "the column 'aligment', which has no meaning"),
        (String::new(), "the table is empty"),
        ("\u{feff}\r\n , ,\r\n".into(), "the table is empty"),
        ("id,lower,upper\n".into(), "'id,lower,upper' has no column 'size'"),
        ("id;lower;upper;size\n".into(), "has no column 'id'"),
        ("{\"tensors\":[]}".into(), "has no column 'id'"),
        ("x".repeat(10_000_000), "has no column 'id'"),
        ("\"".to_string() + &"\n".repeat(1000) + "x", "has no column 'id'"),
        (rows("a,0,1,-4\n"), "line 2: size '-4'"),
        (rows("a,0,1,4.0\n"), "line 2: size '4.0'"),
        (rows("a,0,1,NaN\n"), "line 2: size 'NaN'"),
        (rows("a,0,1,\n"), "line 2: size ''"),
        (rows("a,x,1,4\n"), "line 2: lower 'x'"),
        (rows("a,0,1,4\n\nb,3,3,4\n"), "line 4: lower 3 is not below upper 3"),
        (rows("a,0,1,4\r\nb,4,3,4\r\n"), "line 3: lower 4 is not below upper 3"),
        (rows("\"a\nb\",0,1,4\nb,4,3,4\n"), "line 4: lower 4"),
        (rows("a,0,1,4\n\"a\",0,1,4\n"), "line 3: id 'a' stands twice"),
        (rows("\"a\nb\",0,1,4\n\"a\nb\",0,1,4\n"), r"id 'a\nb' stands twice"),
        (rows("a,0,1,9223372036854775807\n"), "line 2: size 9223372036854775807 takes the sum"),
        (rows("a,0,1,9223372036854775808\n"), "line 2: size '9223372036854775808' is no whole number"),
        (rows("a,0,18446744073709551616,1\n"), "line 2: upper '18446744073709551616'"),
        (rows("a,0,1,2305843009213693952\nb,0,1,2305843009213693952\n"), "line 3: size"),
        (rows("a,0\n"), "line 2: 2 cells under 4 columns"),
        (rows("a,0,1,4,5\n"), "line 2: 5 cells under 4 columns"),
        ("id,lower,upper,size,alignment\na,0,1,4,3\n".into(), "line 2: alignment 3"),
        ("id,lower,upper,size,size\na,0,1,4,3\n".into(), "column 'size' twice"),
    ];
    let read = |text: &str| csv::read(text, Interval::HalfOpen).unwrap_err().to_string();
    assert_eq!(wrong(cases.into_iter().map(|(text, says)| (read(&text), says))), Vec::<String>::new());
}

#[test]
fn files_of_all_habits_are_read() {
    let plain = csv::read("id,lower,upper,size\na,0,1,4\nb,1,2,8\n", Interval::HalfOpen).unwrap();
    for text in [
        "\u{feff}id,lower,upper,size\r\na,0,1,4\r\nb,1,2,8",
        "\"id\",\"lower\",\"upper\",\"size\"\n\"a\",\"0\",\"1\",\"4\"\n\"b\",1,2,8\n",
        "\n id , lower,upper, size\n\n a,0 ,1,4\n b, 1,2,8 \n\n",
    ] {
        assert_eq!(csv::read(text, Interval::HalfOpen).as_ref(), Ok(&plain), "{text}");
    }
    let comma = csv::read("size,id,upper,lower\n4,\"a,\"\"b\"\"\",1,0\n", Interval::HalfOpen).unwrap();
    assert_eq!(comma.ids, ["a,\"b\""]);
    let json = "{\"tensors\":[{\"name\":\"x\",\"size\":1,\"input\":true}],\"ops\":[]}";
    let windows = format!("\u{feff}{}\r\n", json.replace(',', ",\r\n\t"));
    assert_eq!(json::read(&windows), json::read(json));
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
