//! Orders of whole networks.

use std::error::Error;
use std::path::Path;

use neap_plan::formats::json;
use neap_plan::{Limits, Problem, check, solve};

use crate::support::nets::training_chain;
use crate::{head, over, row, time, timed};

const COLUMNS: [&str; 12] = [
    "network",
    "ops",
    "no reuse",
    "file order",
    "depth first",
    "breadth first",
    "least peak first",
    "neap",
    "proven bound",
    "gap",
    "optimal",
    "time",
];

/// What a table's rows add up to.
#[derive(Default)]
struct Sum {
    plans: u32,
    optimal: u32,
    optimal_in_a_second: u32,
    above_a_simple_order: Vec<String>,
}

/// The problems of a folder.
pub fn networks(folder: &Path) -> Result<(), Box<dyn Error>> {
    head("Whole networks", &COLUMNS);
    let mut files: Vec<_> = std::fs::read_dir(folder)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    files.retain(|f| f.extension().is_some_and(|e| e == "json"));
    files.sort();
    let mut sum = Sum::default();
    for file in &files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let problem = json::read(&std::fs::read_to_string(file)?).map_err(|e| format!("{name}: {e}"))?;
        plan(&name, &problem, &mut sum)?;
    }
    println!(
        "\nArenas after placement; the simple orders take shares as neap's do, and are placed by its greedy sequences."
    );
    sum.print();
    Ok(())
}

/// Large graphs shaped like training steps.
pub fn training() -> Result<(), Box<dyn Error>> {
    head("Training steps of a chain of convolutions", &COLUMNS);
    let mut sum = Sum::default();
    for layers in [1667, 16667] {
        plan(&format!("{layers} layers"), &training_chain(layers), &mut sum)?;
    }
    println!("\nThe program's memory reached {}.", high_water().unwrap_or_else(|| "an unknown size".into()));
    sum.print();
    Ok(())
}

fn plan(name: &str, problem: &Problem, sum: &mut Sum) -> Result<(), Box<dyn Error>> {
    let limits = Limits::default();
    let (planned, seconds) = timed(|| solve(problem, &limits));
    let planned = planned?;
    let c = &planned.certificate;
    check(problem, &planned.solution, c).map_err(|e| format!("{name}: {e}"))?;
    let others: Vec<u64> = json::simple_orders(problem, &limits)?.iter().map(|o| o.arena_bytes).collect();
    if others.iter().any(|o| *o < c.arena) {
        sum.above_a_simple_order.push(name.into());
    }
    sum.plans += 1;
    sum.optimal += u32::from(c.optimal());
    sum.optimal_in_a_second += u32::from(c.optimal() && seconds < 1.0);
    let mut cells = vec![name.to_string(), problem.ops().len().to_string(), planned.no_reuse.to_string()];
    cells.extend(others.iter().map(u64::to_string));
    cells.extend([
        c.arena.to_string(),
        c.lower_bound.to_string(),
        over(c.arena, c.lower_bound),
        if c.optimal() { "yes" } else { "no" }.into(),
        time(seconds),
    ]);
    row(&cells);
    Ok(())
}

impl Sum {
    fn print(&self) {
        println!(
            "\n{} of {} are proven optimal, {} of them in less than a second.",
            self.optimal, self.plans, self.optimal_in_a_second
        );
        match self.above_a_simple_order.as_slice() {
            [] => println!("No simple order needs less than neap's anywhere.\n"),
            names => println!("A simple order needs less than neap's on {}.\n", names.join(", ")),
        }
    }
}

/// The largest resident size of this program so far, where the system tells.
fn high_water() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(format!("{} MiB", kib / 1024))
}
