//! Prints the planner's figures as markdown: `figures SHARED PROBLEMS [PART ...]`, the folder with the tables of buffers and
//! one with memory problems, as `just bench-plan` calls it. Parts are `minimalloc`, `large`, `networks` and `training`.
//! Every answer is checked before it is shown.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

mod orders;
#[path = "../../tests/support/mod.rs"]
mod support;
mod tables;

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Answers found in less are found again for a steadier time.
const BRIEF: Duration = Duration::from_secs(1);

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(shared), Some(problems)) = (args.next(), args.next()) else {
        return Err("usage: figures SHARED PROBLEMS [PART ...]".into());
    };
    println!("# The memory planner's figures\n");
    println!(
        "Written by `just bench-plan`. Sizes are in bytes. Every plan and placement was checked. Times are of one machine, \
         the least of three runs where one takes less than a second; limits are counts, so that only times differ from \
         machine to machine.\n"
    );
    let parts: Vec<PathBuf> = args.collect();
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|p| p.as_os_str() == part);
    if wanted("minimalloc") {
        tables::minimalloc(&shared.join("data/minimalloc/challenging"))?;
    }
    if wanted("large") {
        tables::large(&shared.join("data/idealloc"))?;
    }
    if wanted("networks") {
        orders::networks(&problems)?;
    }
    if wanted("training") {
        orders::training()?;
    }
    Ok(())
}

/// What is computed, and the seconds it took.
fn timed<T>(f: impl Fn() -> T) -> (T, f64) {
    let run = || {
        let start = Instant::now();
        let value = f();
        (value, start.elapsed())
    };
    let (mut value, mut least) = run();
    if least < BRIEF {
        for _ in 0..2 {
            let (again, time) = run();
            if time < least {
                (value, least) = (again, time);
            }
        }
    }
    (value, least.as_secs_f64())
}

/// How far a figure is above another.
fn over(figure: u64, base: u64) -> String {
    format!("{:.2} %", (figure as f64 / base.max(1) as f64 - 1.0) * 100.0)
}

/// Seconds, or milliseconds where these say more.
fn time(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

/// A row of a markdown table.
fn row(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
    eprintln!("{}", cells.join("  "));
}

/// The head of a markdown table; all but the first column are figures.
fn head(title: &str, columns: &[&str]) {
    println!("## {title}\n\n| {} |\n|---|{}", columns.join(" | "), "--:|".repeat(columns.len() - 1));
    eprintln!("{title}");
}
