//! Placement and planning times.

#[path = "../tests/support/mod.rs"]
mod support;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use neap_plan::formats::csv::{self, Interval};
use neap_plan::place::{PlaceLimits, greedy, place, synthetic};
use neap_plan::{Limits, Op, Problem, Tensor, solve};

/// The tables lie beside the repository; without them those benches are left out.
fn tables(c: &mut Criterion) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    for (name, file, enough) in [
        ("minimalloc A", "minimalloc/challenging/A.1048576.csv", Some(1_048_576)),
        ("minimalloc I", "minimalloc/challenging/I.1048576.csv", Some(1_048_576)),
        ("idealloc pangu", "idealloc/pangu_2.6B.csv", None),
        ("idealloc resnet50", "idealloc/resnet50.csv", None),
    ] {
        let Ok(text) = std::fs::read_to_string(format!("{folder}/{file}")) else { continue };
        let Ok(table) = csv::read(&text, Interval::HalfOpen) else { continue };
        let limits = PlaceLimits { enough, ..PlaceLimits::default() };
        c.bench_function(name, |b| b.iter(|| place(black_box(&table.blocks), &limits)));
    }
}

/// Made-up problems of many buffers; the chain is solved by one sequence, the trace takes rounds.
fn large(c: &mut Criterion) {
    for (name, blocks) in
        [("chain of 10,000", synthetic::chain(1, 10_000)), ("trace of 20,000", synthetic::trace(1, 20_000))]
    {
        c.bench_function(name, |b| b.iter(|| place(black_box(&blocks), &PlaceLimits::heuristic())));
    }
    let blocks = synthetic::trace(1, 20_000);
    let sequence: Vec<usize> = (0..blocks.len()).collect();
    c.bench_function("one greedy round over 20,000", |b| b.iter(|| greedy(black_box(&blocks), &sequence)));
}

/// Cells of four branches each, as in a searched network.
fn cells(count: u64) -> Problem {
    let mut b = Problem::builder();
    b.storage_align(64);
    let mut last = b.tensor(Tensor::new("in", 4096).input());
    for i in 0..count {
        let mut ends = Vec::new();
        for k in 0..4u64 {
            let wide = b.tensor(Tensor::new(format!("wide{i}.{k}"), 8192 * (k + 1)));
            let end = b.tensor(Tensor::new(format!("end{i}.{k}"), 1024 * (4 - k)));
            b.op(Op::new(format!("up{i}.{k}")).inputs([last]).outputs([wide]));
            b.op(Op::new(format!("down{i}.{k}")).inputs([wide]).outputs([end]));
            ends.push(end);
        }
        last = b.tensor(Tensor::new(format!("cell{i}"), 4096));
        b.op(Op::new(format!("join{i}")).inputs(ends).outputs([last]));
    }
    b.build().expect("a legal problem")
}

fn graphs(c: &mut Criterion) {
    for count in [2, 96] {
        let problem = cells(count);
        c.bench_function(&format!("{count} equal cells"), |b| {
            b.iter(|| solve(black_box(&problem), &Limits::default()))
        });
    }
}

/// Orders of real shapes: a transformer of many layers should cost about what one of few does.
fn networks(c: &mut Criterion) {
    let networks = [
        ("transformer, 2 layers", support::nets::transformer(2, 128, 768, 12)),
        ("transformer, 96 layers", support::nets::transformer(96, 128, 768, 12)),
        ("randwire er", support::nets::randwire(support::nets::Wiring::Er(0.2), 32, 3, 2)),
        ("nasnet-a", support::nets::nasnet(6)),
        ("training chain, 10,000 ops", support::nets::training_chain(1667)),
    ];
    for (name, problem) in networks {
        c.bench_function(name, |b| b.iter(|| solve(black_box(&problem), &Limits::default())));
    }
}

criterion_group! { name = plan; config = Criterion::default().sample_size(10); targets = tables, large, graphs, networks }
criterion_main!(plan);
