//! Prints a table of orders: `orders [--states N] [NAME | FILE.json ...]`.

#![allow(clippy::print_stdout, reason = "a program for people")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Instant;

use neap_plan::formats::json;
use neap_plan::{Limits, Problem, check, solve};

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let files = names.iter().filter(|n| n.ends_with(".json")).map(|n| {
        let text = std::fs::read_to_string(n).expect("a readable file");
        (n.rsplit('/').next().unwrap_or(n).to_string(), json::read(&text).expect("a legal problem"))
    });
    let mut problems: Vec<(String, Problem)> = files.collect();
    if names.is_empty() || problems.len() < names.len() {
        let wanted = |n: &str| names.is_empty() || names.iter().any(|x| n.contains(x.as_str()));
        problems.extend(support::nets::all().into_iter().filter(|p| wanted(&p.0)));
        for (name, layers) in [("huge 10k", 1667), ("huge 100k", 16667)] {
            if names.iter().any(|n| name.contains(n.as_str())) {
                problems.push((name.into(), support::nets::training_chain(layers)));
            }
        }
    }
    println!(
        "{:24} {:>6} {:>12} {:>12} {:>12} {:>12} {:>7} {:>8}",
        "problem", "ops", "file", "peak", "arena", "bound", "gap %", "ms"
    );
    for (name, p) in problems {
        let start = Instant::now();
        let planned = solve(&p, &Limits::default()).expect("a plan");
        let ms = start.elapsed().as_secs_f64() * 1e3;
        let c = &planned.certificate;
        let check_start = Instant::now();
        let verdict = check(&p, &planned.solution, c).err().map_or(String::new(), |e| format!("WRONG {e}"));
        println!(
            "{name:24} {:>6} {:>12} {:>12} {:>12} {:>12} {:>7.3} {:>8.1} {} check {:.1} {verdict}",
            p.ops().len(),
            planned.file_order_peak,
            c.peak,
            c.arena,
            c.lower_bound,
            c.gap() * 100.0,
            ms,
            c.method,
            check_start.elapsed().as_secs_f64() * 1e3
        );
    }
}
