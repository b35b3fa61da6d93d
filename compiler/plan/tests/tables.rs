//! The tables of MiniMalloc and idealloc. They lie beside the repository; where they are missing the test says so.

use std::path::PathBuf;

use neap_plan::formats::csv::{self, Interval};
use neap_plan::place::{PlaceLimits, max_load, place};

fn data(file: &str) -> Option<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(file);
    let text = std::fs::read_to_string(&path).ok();
    if text.is_none() {
        std::io::Write::write_all(&mut std::io::stderr(), format!("skipped: no {}\n", path.display()).as_bytes())
            .unwrap();
    }
    text
}

#[test]
fn challenging() {
    for name in ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K"] {
        let Some(text) = data(&format!("minimalloc/challenging/{name}.1048576.csv")) else { return };
        let table = csv::read(&text, Interval::HalfOpen).unwrap();
        let limits = PlaceLimits { enough: Some(1_048_576), ..PlaceLimits::default() };
        let placed = place(&table.blocks, &limits);
        assert!(placed.placement.height <= 1_048_576, "{name}: {}", placed.placement.height);
    }
}

#[test]
fn heuristics_alone() {
    for name in ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K"] {
        let Some(text) = data(&format!("minimalloc/challenging/{name}.1048576.csv")) else { return };
        let table = csv::read(&text, Interval::HalfOpen).unwrap();
        let placed = place(&table.blocks, &PlaceLimits::heuristic());
        let over = placed.placement.height as f64 / max_load(&table.blocks) as f64 - 1.0;
        assert!(over <= 0.05, "{name}: {over}");
    }
}

#[test]
fn best_known_heights() {
    // C is proven; for D and J the best heights published are 1,038,336 and 1,047,552.
    for (name, height) in [("C", 1_039_360), ("D", 1_013_760), ("J", 1_031_168)] {
        let Some(text) = data(&format!("minimalloc/challenging/{name}.1048576.csv")) else { return };
        let table = csv::read(&text, Interval::HalfOpen).unwrap();
        let placed = place(&table.blocks, &PlaceLimits { nodes: 100_000, ..PlaceLimits::default() });
        assert!(placed.placement.height <= height, "{name}: {}", placed.placement.height);
    }
}

#[test]
fn idealloc() {
    for (name, within) in [("resnet50", 0.0), ("G_1", 0.0), ("pangu_2.6B", 0.0)] {
        let Some(text) = data(&format!("idealloc/{name}.csv")) else { return };
        let table = csv::read(&text, Interval::HalfOpen).unwrap();
        let placed = place(&table.blocks, &PlaceLimits::heuristic());
        let over = placed.placement.height as f64 / placed.lower_bound as f64 - 1.0;
        assert!(over <= within, "{name}: {over}");
    }
}
