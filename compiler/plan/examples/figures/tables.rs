//! Placement of given buffers.

use std::error::Error;
use std::path::Path;

use neap_plan::check_placement;
use neap_plan::formats::csv::{self, Interval};
use neap_plan::place::{Block, PlaceLimits, Placed, max_load, place, synthetic};

use crate::{head, over, row, time, timed};

/// Of the MiniMalloc tables.
const CAPACITY: u64 = 1_048_576;
const GENERATED: usize = 100_000;

/// Places, checks, and says how long it took.
fn placed(ids: &[String], blocks: &[Block], limits: &PlaceLimits) -> Result<(Placed, f64), Box<dyn Error>> {
    let (placed, seconds) = timed(|| place(blocks, limits));
    check_placement(ids, blocks, &placed)?;
    Ok((placed, seconds))
}

fn read(file: &Path, interval: Interval) -> Result<csv::Table, Box<dyn Error>> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    Ok(csv::read(&text, interval)?)
}

pub fn minimalloc(folder: &Path) -> Result<(), Box<dyn Error>> {
    head(
        "MiniMalloc's tables A to K",
        &[
            "table",
            "buffers",
            "max load",
            "fits 1,048,576",
            "time",
            "smallest arena",
            "proven bound",
            "over bound",
            "time",
            "heuristic arena",
            "over max load",
            "time",
        ],
    );
    let (mut fitting, mut smallest, mut quick) = (0.0, 0.0, 0.0);
    for name in 'A'..='K' {
        let csv::Table { ids, blocks } = read(&folder.join(format!("{name}.{CAPACITY}.csv")), Interval::HalfOpen)?;
        let enough = PlaceLimits { enough: Some(CAPACITY), ..PlaceLimits::default() };
        let (fit, fit_time) = placed(&ids, &blocks, &enough)?;
        let (best, best_time) = placed(&ids, &blocks, &PlaceLimits::default())?;
        let (fast, fast_time) = placed(&ids, &blocks, &PlaceLimits::heuristic())?;
        let load = max_load(&blocks);
        let (arena, bound) = (best.placement.height, best.lower_bound);
        row(&[
            name.to_string(),
            blocks.len().to_string(),
            load.to_string(),
            if fit.placement.height <= CAPACITY { "yes" } else { "no" }.into(),
            time(fit_time),
            arena.to_string(),
            bound.to_string(),
            over(arena, bound),
            time(best_time),
            fast.placement.height.to_string(),
            over(fast.placement.height, load),
            time(fast_time),
        ]);
        (fitting, smallest, quick) = (fitting + fit_time, smallest + best_time, quick + fast_time);
    }
    let [fitting, smallest, quick] = [fitting, smallest, quick].map(time);
    println!("\nIn all: {fitting} at capacity, {smallest} for the smallest arena, {quick} by heuristics.\n");
    Ok(())
}

/// idealloc's tables and made-up ones.
pub fn large(folder: &Path) -> Result<(), Box<dyn Error>> {
    head("Large tables", &["table", "ends", "buffers", "max load", "arena", "over max load", "proven bound", "time"]);
    for name in ["resnet50", "G_1", "pangu_2.6B"] {
        // Its authors read both ends as exclusive; read half-open, buffers that follow each other meet.
        for (ends, interval) in [("half-open", Interval::HalfOpen), ("open", Interval::Open)] {
            let csv::Table { ids, blocks } = read(&folder.join(format!("{name}.csv")), interval)?;
            table(name, ends, &ids, &blocks)?;
        }
    }
    let made: [(&str, Vec<Block>); 2] = [
        ("made up: trace of training steps", synthetic::trace(1, GENERATED)),
        ("made up: scattered", synthetic::scattered(1, GENERATED)),
    ];
    for (name, blocks) in made {
        let ids: Vec<String> = (0..blocks.len()).map(|i| i.to_string()).collect();
        table(name, "half-open", &ids, &blocks)?;
    }
    println!();
    Ok(())
}

fn table(name: &str, ends: &str, ids: &[String], blocks: &[Block]) -> Result<(), Box<dyn Error>> {
    let (placed, seconds) = placed(ids, blocks, &PlaceLimits::default())?;
    let (load, arena) = (max_load(blocks), placed.placement.height);
    row(&[
        name.into(),
        ends.into(),
        blocks.len().to_string(),
        load.to_string(),
        arena.to_string(),
        over(arena, load),
        placed.lower_bound.to_string(),
        time(seconds),
    ]);
    Ok(())
}
