//! `neap bench`

use std::time::{Duration, Instant};

use neap_plan::report::human;
use neap_runtime::Options;
use neap_runtime::artefact::Check;
use serde::Serialize;

use super::Rounds;
use crate::cli::Bench;
use crate::compile::{MemoryFigures, Timing};
use crate::failure::Failure;
use crate::{feed, load};

#[derive(Serialize)]
struct Report {
    median_ms: f64,
    min_ms: f64,
    p99_ms: f64,
    threads: usize,
    runs: usize,
    arena_bytes: u64,
    load_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<MemoryFigures>,
}

/// Runs the command.
pub fn run(args: &Bench) -> Result<(), Failure> {
    let mut timing = Timing::default();
    let given = feed::read(&args.inputs)?;
    let start = Instant::now();
    let loaded = load::load(&args.model, &args.options, &given, Check::Code, args.json, &mut timing)?;
    let options = Options { threads: args.threads.into(), ..Options::default() };
    let mut session = load::session(&loaded.model, &options, &args.model)?;
    let load_ms = start.elapsed().as_secs_f64() * 1e3;
    let inputs = feed::complete(&loaded.wanted, &given, Some(args.inputs.random.unwrap_or(0)))?;
    let mut buffers = super::Buffers::new(&session, &inputs);
    let mut times =
        buffers.time(&mut session, &Rounds { warmup: args.warmup, runs: args.runs, seconds: args.seconds })?;
    times.sort_unstable();
    let ms = |d: Duration| d.as_secs_f64() * 1e3;
    let at = |q: f64| ms(times[((times.len() as f64 * q).ceil() as usize).clamp(1, times.len()) - 1]);
    let report = Report {
        median_ms: at(0.5),
        min_ms: ms(times[0]),
        p99_ms: at(0.99),
        threads: session.threads(),
        runs: times.len(),
        arena_bytes: session.arena_bytes(),
        load_ms,
        memory: loaded.memory.clone(),
    };
    super::print_timing(&timing, args.options.timing);
    if args.json {
        return super::print_json(&report);
    }
    let text = format!(
        "median {:.3} ms, min {:.3} ms, p99 {:.3} ms over {} runs on {} thread{}; arena {}; loaded in {:.1} ms\n",
        report.median_ms,
        report.min_ms,
        report.p99_ms,
        report.runs,
        report.threads,
        if report.threads == 1 { "" } else { "s" },
        human(report.arena_bytes),
        report.load_ms
    );
    super::print(&text)
}
