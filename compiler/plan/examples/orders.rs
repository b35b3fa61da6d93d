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
        type Make = fn() -> Problem;
        let huge: [(&str, Make); 10] = [
            ("large er 64", || support::nets::randwire(support::nets::Wiring::Er(0.1), 64, 3, 7)),
            ("large ba 64", || support::nets::randwire(support::nets::Wiring::Ba(5), 64, 3, 7)),
            ("large ws 64", || support::nets::randwire(support::nets::Wiring::Ws(4, 0.75), 64, 3, 7)),
            ("large ws 200", || support::nets::randwire(support::nets::Wiring::Ws(4, 0.75), 200, 3, 7)),
            ("huge chain 10k", || support::nets::training_chain(1667)),
            ("huge chain 100k", || support::nets::training_chain(16667)),
            ("huge resnet 10k", || support::nets::training_resnet(&[3, 4, 600, 3])),
            ("huge transformer 10k", || support::nets::training_transformer(210)),
            ("huge transformer 100k", || support::nets::training_transformer(2100)),
            ("huge cells 10k", || support::nets::nasnet(90)),
        ];
        for (name, make) in huge {
            if names.iter().any(|n| name.contains(n.as_str())) {
                problems.push((name.into(), make()));
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
