//! `neap profile`: where a model's time goes, and how far each kernel is from what the machine can do.

use std::collections::BTreeMap;
use std::io::Write;

use neap_runtime::artefact::Check;
use neap_runtime::program::Launch;
use neap_runtime::{LaunchTime, Options};
use neap_spec::Backend;
use serde::Serialize;
use serde_json::{Value, json};

use super::Rounds;
use crate::cli::{Profile, ProfileBy};
use crate::compile::Timing;
use crate::failure::Failure;
use crate::machine::{Machine, Peaks};
use crate::{feed, files, load};
use neap_plan::report::human;

#[derive(Serialize)]
struct Report {
    /// Median of whole runs.
    median_ms: f64,
    /// Mean of whole runs less the kernels' mean times: binding, waking threads, taking times.
    between_ms: f64,
    runs: usize,
    threads: usize,
    arena_bytes: u64,
    flops: u64,
    /// Machine peaks measured before and after, in this process and on as many threads.
    peak_gflops: f64,
    peak_gbytes: f64,
    kernels: Vec<Row>,
}

/// A kernel, or several launches of one.
#[derive(Clone, Debug, Serialize)]
struct Row {
    kernel: String,
    /// ONNX names.
    nodes: String,
    launches: usize,
    /// Sums over the launches.
    mean_ms: f64,
    min_ms: f64,
    flops: u64,
    bytes: u64,
    /// Share of the kernels' time.
    share: f64,
    gflops: f64,
    gbytes: f64,
    /// The time the machine's peaks allow over the mean time; above 1 where the bytes stay in a cache.
    of_peak: f64,
    /// What that least time is bound by.
    bound: &'static str,
}

/// Runs the command.
pub fn run(args: &Profile) -> Result<(), Failure> {
    let mut timing = Timing::default();
    let given = feed::read(&args.inputs)?;
    let loaded = load::load(&args.model, &args.options, &given, Check::Code, args.json, &mut timing)?;
    let options = Options { threads: args.threads.into(), profile: true, ..Options::default() };
    let mut session = load::session(&loaded.model, &options, &args.model)?;
    let inputs = feed::complete(&loaded.wanted, &given, Some(args.inputs.random.unwrap_or(0)))?;
    let mut buffers = super::Buffers::new(&session, &inputs);
    let mut machine = Machine::new(session.threads(), Backend::Llvm)?;
    let before = machine.measure()?;
    let rounds = Rounds { warmup: args.warmup, runs: args.runs, seconds: args.seconds };
    let mut times = buffers.time(&mut session, &rounds)?;
    let peaks = before.or(machine.measure()?);
    times.sort_unstable();
    let program = session.model().program();
    let mut rows: Vec<Row> = program.launches.iter().zip(session.times()).map(|(l, t)| row(l, t)).collect();
    let busy: f64 = rows.iter().map(|r| r.mean_ms).sum();
    if let Some(path) = &args.trace {
        rows.iter_mut().for_each(|r| r.judge(&peaks, busy));
        let trace = trace(&program.model, &rows);
        files::write(path, |f| f.write_all(trace.to_string().as_bytes()))?;
    }
    if args.by == ProfileBy::Kernel {
        rows = together(rows);
    }
    rows.iter_mut().for_each(|r| r.judge(&peaks, busy));
    rows.sort_by(|a, b| b.mean_ms.total_cmp(&a.mean_ms));
    let ms = |d: std::time::Duration| d.as_secs_f64() * 1e3;
    let report = Report {
        median_ms: ms(times[times.len() / 2]),
        between_ms: (times.iter().map(|t| ms(*t)).sum::<f64>() / times.len() as f64 - busy).max(0.0),
        runs: times.len(),
        threads: session.threads(),
        arena_bytes: session.arena_bytes(),
        flops: program.launches.iter().map(|l| l.flops).sum(),
        peak_gflops: peaks.flops / 1e9,
        peak_gbytes: peaks.bytes / 1e9,
        kernels: rows,
    };
    super::print_timing(&timing, args.options.timing);
    if args.json { super::print_json(&report) } else { super::print(&table(&report, args.top)) }
}

fn row(l: &Launch, t: &LaunchTime) -> Row {
    let ms = |d: std::time::Duration| d.as_secs_f64() * 1e3;
    Row {
        kernel: l.kernel.clone(),
        nodes: l.nodes.clone(),
        launches: 1,
        mean_ms: ms(t.total) / t.runs.max(1) as f64,
        min_ms: ms(t.min),
        flops: l.flops,
        bytes: l.bytes,
        share: 0.0,
        gflops: 0.0,
        gbytes: 0.0,
        of_peak: 0.0,
        bound: "",
    }
}

impl Row {
    /// Fills in the rates, once all times are known.
    fn judge(&mut self, peaks: &Peaks, busy: f64) {
        // What the clock cannot tell from nothing counts as a nanosecond.
        let seconds = self.mean_ms.max(1e-6) / 1e3;
        self.share = self.mean_ms / busy.max(1e-9);
        self.gflops = self.flops as f64 / seconds / 1e9;
        self.gbytes = self.bytes as f64 / seconds / 1e9;
        let (compute, memory) = (self.flops as f64 / peaks.flops, self.bytes as f64 / peaks.bytes);
        self.bound = if compute >= memory { "compute" } else { "memory" };
        self.of_peak = compute.max(memory) / seconds;
    }
}

/// Rows of one kernel added up, in the order in which each kernel first runs.
fn together(rows: Vec<Row>) -> Vec<Row> {
    let mut at: BTreeMap<String, usize> = BTreeMap::new();
    let mut out: Vec<Row> = vec![];
    for r in rows {
        let i = *at.entry(r.kernel.clone()).or_insert(out.len());
        match out.get_mut(i) {
            None => out.push(r),
            Some(sum) => {
                sum.launches += 1;
                sum.mean_ms += r.mean_ms;
                sum.min_ms += r.min_ms;
                sum.flops += r.flops;
                sum.bytes += r.bytes;
            }
        }
    }
    out
}

/// One run, launch after launch at its mean time.
fn trace(model: &str, rows: &[Row]) -> Value {
    let meta =
        |what: &str, name: &str| json!({"ph": "M", "pid": 1, "tid": 1, "ts": 0, "name": what, "args": {"name": name}});
    let mut events = vec![meta("process_name", model), meta("thread_name", "kernels, mean times")];
    let counter = |name: &str, now: f64, value: f64| json!({"ph": "C", "pid": 1, "name": name, "ts": now, "args": {"rate": value}});
    let mut now = 0.0;
    for r in rows {
        let long = r.mean_ms * 1e3;
        events.push(json!({"ph": "X", "pid": 1, "tid": 1, "name": r.nodes, "cat": r.bound, "ts": now, "dur": long, "args": {
            "kernel": r.kernel, "flops": r.flops, "bytes": r.bytes, "gflops": r.gflops, "gbytes": r.gbytes, "of_peak": r.of_peak}}));
        events.extend([counter("GFLOP/s", now, r.gflops), counter("GB/s", now, r.gbytes)]);
        now += long;
    }
    events.extend([counter("GFLOP/s", now, 0.0), counter("GB/s", now, 0.0)]);
    json!({"traceEvents": events, "displayTimeUnit": "ms"})
}

/// The table for people.
fn table(r: &Report, top: usize) -> String {
    let mut text = format!(
        "median {:.3} ms over {} runs on {} thread{}, {:.3} ms of a run between kernels; {:.3} GFLOP, {:.1} GFLOP/s; arena {}\n\
         this machine, just now: {:.1} GFLOP/s by fused multiply-adds, {:.1} GB/s read and written by copying beyond the L2 cache\n\n",
        r.median_ms,
        r.runs,
        r.threads,
        if r.threads == 1 { "" } else { "s" },
        r.between_ms,
        r.flops as f64 / 1e9,
        r.flops as f64 / r.median_ms.max(1e-6) / 1e6,
        human(r.arena_bytes),
        r.peak_gflops,
        r.peak_gbytes,
    );
    text.push_str("      ms   share  GFLOP/s     GB/s  of peak  bound    times  nodes\n");
    let shown = if top == 0 { r.kernels.len() } else { top.min(r.kernels.len()) };
    for k in &r.kernels[..shown] {
        text.push_str(&format!(
            "{:8.4} {:6.1}% {:8.1} {:8.1} {:7.1}%  {:7} {:6}  {}\n",
            k.mean_ms,
            k.share * 100.0,
            k.gflops,
            k.gbytes,
            k.of_peak * 100.0,
            k.bound,
            k.launches,
            short(&k.nodes)
        ));
    }
    let rest: f64 = r.kernels[shown..].iter().map(|k| k.mean_ms).sum();
    if shown < r.kernels.len() {
        let share: f64 = r.kernels[shown..].iter().map(|k| k.share).sum();
        text.push_str(&format!(
            "{rest:8.4} {:6.1}%  the other {} rows; --top 0 shows all, --json more of each\n",
            share * 100.0,
            r.kernels.len() - shown
        ));
    }
    text
}

/// The names of a fusion for one line: the first whole, of some others the last part.
fn short(nodes: &str) -> String {
    let mut names = nodes.split('+');
    let first = names.next().unwrap_or_default();
    let mut rest: Vec<&str> = names.map(|n| n.rsplit(['/', '.']).next().unwrap_or(n)).collect();
    rest.dedup();
    match rest.len() {
        0 => first.into(),
        1..=4 => format!("{first} + {}", rest.join(" + ")),
        n => format!("{first} + {} + {} more", rest[..3].join(" + "), n - 3),
    }
}
