//! `neap plan`

use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use neap_plan::formats::csv::{self, Interval};
use neap_plan::formats::json;
use neap_plan::place::{PlaceLimits, place};
use neap_plan::report::{Timeline, html, human, table, trace};
use neap_plan::{BoundCheck, Effort, Limits, Objective, Planned, Problem};
use serde::Serialize;

use crate::cli::{Plan, PlanObjective, TableInterval};
use crate::compile::{Tiling, Timing};
use crate::failure::{At, Failure};
use crate::feed::Given;
use crate::{files, load};

/// Largest size tried for --max-batch and --max-dim.
const LARGEST: u64 = 1 << 24;

/// Runs the command.
pub fn run(args: &Plan) -> Result<(), Failure> {
    if let Some(s) = args.time_limit.filter(|s| !(0.0..=1e9).contains(s)) {
        return Err(Failure::usage(format!("--time-limit {s} is not from 0 to 1000000000 seconds")));
    }
    let largest_wanted = match (args.max_batch, &args.max_dim) {
        (true, _) => Some("--max-batch"),
        (_, Some(_)) => Some("--max-dim"),
        _ => None,
    };
    if let (Some(option), None) = (largest_wanted, args.capacity) {
        return Err(Failure::usage(format!("{option} needs --capacity BYTES, such as 16GiB: what has to fit in what")));
    }
    let writes = [("--html", &args.html), ("--trace", &args.trace), ("--problem", &args.problem)];
    files::apart(&args.file, "the file that is planned", &writes.map(|(option, path)| (option, path.as_ref())))?;
    let extension = args.file.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let kind = match extension.as_str() {
        "csv" => "a table of buffers",
        "json" => "a memory problem",
        _ => "a model",
    };
    let for_model = args.options.for_models().or(largest_wanted).filter(|_| kind != "a model");
    let for_table = args.interval.map(|_| "--interval").filter(|_| kind != "a table of buffers");
    if let Some(option) = for_model.or(for_table) {
        let what = if for_model.is_some() { "models" } else { "tables of buffers" };
        return Err(Failure::usage(format!("{option} is for {what}, and {} is {kind}", args.file.display())));
    }
    if extension == "csv" {
        return buffers(args);
    }
    if extension == "json" {
        let text = text_of(&args.file)?;
        let problem = json::read(&text).map_err(|e| Failure::new(e.in_file(args.file.display())))?;
        return problem_of(args, problem, None);
    }
    if load::is_artefact(&args.file) {
        return Err(Failure::new(format!(
            "{}: an artefact's plan is made already; give the ONNX model it was made from",
            args.file.display()
        )));
    }
    if largest_wanted.is_some() {
        return largest(args);
    }
    let posed = model_problem(args, &[])?;
    problem_of(args, posed.problem, args.options.recompute_limit.map(|_| (posed.tiling, posed.planning)))
}

/// A text file.
fn text_of(path: &Path) -> Result<String, Failure> {
    if path.is_dir() {
        return Err(Failure::new(format!("{}: is a folder, expected a file", path.display())));
    }
    String::from_utf8(std::fs::read(path).at(path.display())?).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let byte = e.as_bytes()[at];
        Failure::new(format!("{}: is no UTF-8 text: byte {at} is 0x{byte:02x}; save it as UTF-8", path.display()))
    })
}

/// A model's memory problem.
struct Posed {
    problem: Problem,
    /// What of the model runs tile by tile.
    tiling: Tiling,
    /// Time spent on looking for tiles.
    planning: Duration,
}

fn model_problem(args: &Plan, more: &[(String, u64)]) -> Result<Posed, Failure> {
    let mut timing = Timing::default();
    let dims: Vec<(String, u64)> = args.options.dims.iter().chain(more).cloned().collect();
    let graph = load::graph(&args.file, &dims, &Given::new(), &mut timing)?;
    let mut compiler = load::compiler(&args.options, false, args.json)?;
    compiler.tile_until = args.time_limit.map(|s| Instant::now() + Duration::from_secs_f64(s));
    let graph = load::optimise(graph, &args.options, &compiler, &mut timing)?;
    let problem = compiler.memory_problem(&graph, &mut timing);
    super::print_timing(&timing, args.options.timing);
    let planning = timing.0.iter().filter(|(phase, _)| phase == "tile").map(|(_, time)| *time).sum();
    Ok(Posed { problem: problem?, tiling: graph.tiling, planning })
}

fn limits(args: &Plan) -> Limits {
    Limits {
        objective: match args.objective {
            PlanObjective::Arena => Objective::Arena,
            PlanObjective::Peak => Objective::Peak,
        },
        effort: if args.heuristic { Effort::Heuristic } else { Effort::Search },
        time: args.time_limit.map(Duration::from_secs_f64),
        capacity: args.capacity,
        ..Limits::default()
    }
}

fn solve(args: &Plan, problem: &Problem) -> Result<Planned, Failure> {
    neap_plan::solve(problem, &limits(args)).at(args.file.display())
}

fn check(problem: &Problem, planned: &Planned) -> Result<BoundCheck, Failure> {
    neap_plan::check(problem, &planned.solution, &planned.certificate)
        .map_err(|e| Failure::new(format!("bug: the memory planner made a wrong plan ({e}); please report it")))
}

fn problem_of(args: &Plan, problem: Problem, tiling: Option<(Tiling, Duration)>) -> Result<(), Failure> {
    if let Some(path) = &args.problem {
        write(path, &json::write(&problem))?;
    }
    let start = Instant::now();
    let planned = solve(args, &problem)?;
    let (tiling, before) = tiling.unzip();
    let ms = (start.elapsed() + before.unwrap_or_default()).as_secs_f64() * 1e3;
    let bound = check(&problem, &planned)?;
    let timeline = Timeline::new(&title(&args.file), &problem, &planned, bound).at(args.file.display())?;
    // They are shown in JSON alone.
    let simple = match args.json {
        true => json::simple_orders(&problem, &limits(args)).at(args.file.display())?,
        false => Vec::new(),
    };
    show(args, &timeline, &json::plan(&problem, &planned, bound, simple, ms, args.capacity), tiling)
}

/// A table of buffers: placement alone.
fn buffers(args: &Plan) -> Result<(), Failure> {
    if args.problem.is_some() {
        return Err(Failure::usage("--problem writes the problem of a model; a table holds buffers alone"));
    }
    let text = text_of(&args.file)?;
    let interval = match args.interval {
        Some(TableInterval::HalfOpen) | None => Interval::HalfOpen,
        Some(TableInterval::Open) => Interval::Open,
    };
    let csv::Table { ids, blocks } =
        csv::read(&text, interval).map_err(|e| Failure::new(e.in_file(args.file.display())))?;
    let base = if args.heuristic { PlaceLimits::heuristic() } else { PlaceLimits::default() };
    let until = args.time_limit.map(|s| Instant::now() + Duration::from_secs_f64(s));
    let start = Instant::now();
    let placed = place(&blocks, &PlaceLimits { enough: args.capacity, until, ..base });
    let ms = start.elapsed().as_secs_f64() * 1e3;
    let bound = neap_plan::check_placement(&ids, &blocks, &placed)
        .map_err(|e| Failure::new(format!("bug: the memory planner made a wrong placement ({e}); please report it")))?;
    let timeline = Timeline::of_table(&title(&args.file), &ids, &blocks, &placed, bound);
    show(args, &timeline, &json::placement(&ids, &blocks, &placed, bound, ms, args.capacity), None)
}

#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    plan: &'a json::PlanJson,
    #[serde(flatten)]
    tiling: Option<Tiling>,
}

fn show(args: &Plan, timeline: &Timeline, plan: &json::PlanJson, tiling: Option<Tiling>) -> Result<(), Failure> {
    if let Some(path) = &args.html {
        write(path, &html(timeline))?;
    }
    if let Some(path) = &args.trace {
        write(path, &trace(timeline))?;
    }
    if args.json {
        super::print_json(&Shown { plan, tiling })?;
        return fits(args, plan);
    }
    let mut text = table(timeline);
    if let (Some(fits), Some(capacity)) = (plan.fits, args.capacity) {
        let says = match fits {
            json::Fits::True => "fits",
            json::Fits::False => "cannot fit, proven",
            json::Fits::Unknown => "this plan does not fit; whether another does is not known",
        };
        text.push_str(&format!("\ncapacity       {:>12}  {says}\n", human(capacity)));
    }
    if let Some(t) = tiling {
        text.push_str(&format!("\n{}", t.table()));
    }
    text.push_str(&format!("\nplanned in {:.1} ms and checked\n", plan.solve_ms));
    super::print(&text)?;
    fits(args, plan)
}

/// A capacity that is not met is a failure, for scripts.
fn fits(args: &Plan, plan: &json::PlanJson) -> Result<(), Failure> {
    let (Some(json::Fits::False | json::Fits::Unknown), Some(capacity)) = (plan.fits, args.capacity) else {
        return Ok(());
    };
    let (file, arena) = (args.file.display(), human(plan.arena_bytes));
    Err(Failure::new(format!("{file}: the plan needs {arena}, more than the capacity of {}", human(capacity))))
}

#[derive(Serialize)]
struct Largest {
    dim: String,
    size: u64,
    arena_bytes: u64,
    capacity_bytes: u64,
}

/// The largest size of a dim whose plan fits the capacity: doubling, then halving.
fn largest(args: &Plan) -> Result<(), Failure> {
    let capacity = args.capacity.unwrap_or(u64::MAX);
    let graph = load::graph(&args.file, &args.options.dims, &Given::new(), &mut Timing::default())?;
    let open = load::open_dims(&graph.body);
    let dim = match &args.max_dim {
        Some(name) if !open.contains(name) => {
            let there = if open.is_empty() { "none is".into() } else { format!("open are {}", open.join(", ")) };
            return Err(Failure::new(format!(
                "--max-dim {name}: {} has no such open dim; {there}",
                args.file.display()
            )));
        }
        Some(name) => name.clone(),
        None => {
            let first = open.first().cloned();
            first.ok_or_else(|| {
                Failure::new(format!("{}: no dim is open, so there is nothing to enlarge", args.file.display()))
            })?
        }
    };
    let bar = if load::progress(args.json) { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    let arena = |n: u64| -> Result<u64, Failure> {
        bar.set_message(format!("planning {dim}={n}"));
        bar.tick();
        let problem = model_problem(args, &[(dim.clone(), n)])?.problem;
        let planned = solve(args, &problem)?;
        check(&problem, &planned)?;
        Ok(planned.certificate.arena)
    };
    let (mut fits, mut bytes) = (0, 0);
    let mut over = 1;
    while over <= LARGEST {
        let now = arena(over)?;
        if now > capacity {
            break;
        }
        (fits, bytes) = (over, now);
        over *= 2;
    }
    if fits == 0 {
        return Err(Failure::new(format!(
            "{}: even {dim}=1 needs {} of {}",
            args.file.display(),
            human(arena(1)?),
            human(capacity)
        )));
    }
    while over - fits > 1 && over <= LARGEST {
        let middle = fits + (over - fits) / 2;
        let now = arena(middle)?;
        if now <= capacity {
            (fits, bytes) = (middle, now);
        } else {
            over = middle;
        }
    }
    bar.finish_and_clear();
    if args.json {
        return super::print_json(&Largest { dim, size: fits, arena_bytes: bytes, capacity_bytes: capacity });
    }
    let largest = match over > LARGEST {
        true => "fits, and is the largest size tried",
        // Sizes that divide well may be cut into smaller tiles than lesser ones.
        false if args.options.recompute_limit.is_some() => {
            "fits, the next size does not; tiles may let a larger one fit again"
        }
        false => "is the largest that fits",
    };
    super::print(&format!("{dim}={fits} {largest}: {} of {}\n", human(bytes), human(capacity)))
}

fn title(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    files::write(path, |out| std::io::Write::write_all(out, text.as_bytes()))
}
