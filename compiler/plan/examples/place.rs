//! Places tables of buffers and says how well: `place [--heuristic] [--nodes N] [--moves N] [--enough BYTES] FILE.csv ...`
//!
//! In place of a file, `trace:N`, `scattered:N` and `chain:N` stand for made-up problems of N buffers or layers.

#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::time::Instant;

use neap_plan::check_placement;
use neap_plan::formats::csv::{self, Interval, Table};
use neap_plan::place::{PlaceLimits, place, synthetic};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut limits = PlaceLimits::default();
    let mut args = std::env::args().skip(1);
    let number = |a: Option<String>| a.ok_or("a number is missing")?.parse::<u64>().map_err(|e| e.to_string());
    println!("{:<28} {:>8} {:>14} {:>14} {:>8} {:>9}  method", "table", "buffers", "height", "bound", "over", "ms");
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--heuristic" => limits = PlaceLimits::heuristic(),
            "--nodes" => limits.nodes = number(args.next())?,
            "--moves" => limits.moves = number(args.next())?,
            "--enough" => limits.enough = Some(number(args.next())?),
            file => {
                let table = match file.split_once(':') {
                    Some((kind, count)) => made(kind, number(Some(count.to_string()))? as usize)?,
                    None => csv::read(&std::fs::read_to_string(file)?, Interval::HalfOpen)?,
                };
                let start = Instant::now();
                let placed = place(&table.blocks, &limits);
                let ms = start.elapsed().as_secs_f64() * 1e3;
                check_placement(&table.ids, &table.blocks, &placed)?;
                let (height, bound) = (placed.placement.height, placed.lower_bound);
                println!(
                    "{:<28} {:>8} {height:>14} {bound:>14} {:>7.3}% {ms:>9.1}  {}",
                    file.rsplit('/').next().unwrap_or(file),
                    table.ids.len(),
                    (height as f64 / bound.max(1) as f64 - 1.0) * 100.0,
                    placed.method
                );
            }
        }
    }
    Ok(())
}

fn made(kind: &str, count: usize) -> Result<Table, String> {
    let blocks = match kind {
        "trace" => synthetic::trace(1, count),
        "scattered" => synthetic::scattered(1, count),
        "chain" => synthetic::chain(1, count),
        _ => return Err(format!("no kind of problem is called '{kind}'")),
    };
    Ok(Table { ids: (0..blocks.len()).map(|b| b.to_string()).collect(), blocks })
}
