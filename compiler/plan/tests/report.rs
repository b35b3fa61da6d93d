//! What a person sees: the table, the page and the trace.

use neap_plan::report::{Timeline, html, table, trace};
use neap_plan::{Limits, Op, Problem, Tensor, check, solve};
use serde_json::Value;

/// A chain whose names try to break out of whatever they are written into.
fn timeline(names: &[&str]) -> Timeline {
    let mut b = Problem::builder();
    let mut last = b.tensor(Tensor::new("in", 64).input());
    for name in names {
        let next = b.tensor(Tensor::new(*name, 128));
        b.op(Op::new(format!("op {name}")).inputs([last]).outputs([next]).workspace(8).time(3));
        last = next;
    }
    let problem = b.build().unwrap();
    let planned = solve(&problem, &Limits::default()).unwrap();
    let bound = check(&problem, &planned.solution, &planned.certificate).unwrap();
    Timeline::new("{{data}} <b>&.json", &problem, &planned, bound).unwrap()
}

const NASTY: [&str; 5] = ["</script><script>alert(1)</script>", "{{script}}", "a\nb\u{1b}[31m", "\u{2028}\"\\", "&lt;"];

#[test]
fn the_page_needs_nothing_else_and_holds_any_name() {
    let t = timeline(&NASTY);
    let page = html(&t);
    for outside in ["http:", "https:", " src=", "url(", "@import", "fetch("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert_eq!(page.matches("<script").count(), 2, "the data and the program");
    assert_eq!(page.matches("</script").count(), 2);
    assert!(page.contains("<h1>{{data}} &lt;b&gt;&amp;.json</h1>"));
    let start = page.find("application/json\">").unwrap() + "application/json\">".len();
    let data: Value = serde_json::from_str(&page[start..start + page[start..].find("</script>").unwrap()]).unwrap();
    let names: Vec<&str> = data["bars"].as_array().unwrap().iter().map(|b| b[0].as_str().unwrap()).collect();
    assert!(NASTY.iter().all(|n| names.contains(n)), "{names:?}");
    assert_eq!(data["live"].as_array().unwrap().len(), NASTY.len());
    assert_eq!(data["boundCheck"], "verified");
}

#[test]
fn the_trace_has_a_span_a_step_and_two_counters_that_end() {
    let t = timeline(&NASTY);
    let trace: Value = serde_json::from_str(&trace(&t)).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |ph: &str| -> Vec<&Value> { events.iter().filter(|e| e["ph"] == ph).collect() };
    let spans = of("X");
    assert_eq!(spans.len(), NASTY.len());
    let mut now = 0;
    for s in &spans {
        assert_eq!((s["ts"].as_u64(), s["dur"].as_u64()), (Some(now), Some(3)));
        now += 3;
    }
    for name in ["plan: bytes alive", "file order: bytes alive"] {
        let counter: Vec<&Value> = of("C").into_iter().filter(|e| e["name"] == name).collect();
        assert_eq!(counter.len(), spans.len() + 1);
        let most = counter.iter().map(|e| e["args"]["bytes"].as_u64().unwrap()).max();
        assert_eq!(most, Some(t.peak));
        let last = counter[spans.len()];
        assert_eq!((last["ts"].as_u64(), last["args"]["bytes"].as_u64()), (Some(now), Some(0)));
        assert!(counter.windows(2).all(|w| w[0]["ts"].as_u64() < w[1]["ts"].as_u64()));
    }
}

#[test]
fn the_table_is_short_and_plain() {
    let long = "/layer1/conv/Conv+".repeat(30);
    let text = table(&timeline(&["a\nb\u{1b}[31m", &long, "c"]));
    assert!(text.lines().all(|l| l.chars().count() <= 125), "{text}");
    assert!(!text.contains('\u{1b}') && text.lines().count() < 20, "{text}");
    for row in ["no reuse", "file order", "this plan", "proven bound", "bound verified", "alive at the peak"] {
        assert!(text.contains(row), "no {row} in:\n{text}");
    }
}
