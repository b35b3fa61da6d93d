//! `--recompute-limit`: a smaller arena, the same bits.

use libtest_mimic::Trial;
use serde_json::Value;

use crate::neap::Place;

/// The trials.
pub fn trials() -> Vec<Trial> {
    let rows = [
        ("a batch is tiled", "mobilenet-v2 --small --batch 8 --image 128", "0%", 2),
        ("rows are tiled", "mobilenet-v2 --small --batch 1 --image 224", "10%", 1),
        ("skip connections are tiled", "unet --small --batch 4", "5%", 2),
    ];
    rows.into_iter()
        .map(|(name, zoo, limit, least)| Trial::test(format!("cli {name}"), move || Ok(check(zoo, limit, least)?)))
        .collect()
}

/// Tiling with a limit lowers the arena by at least this factor and no output changes.
fn check(zoo: &str, limit: &str, factor: u64) -> Result<(), String> {
    let place = Place::new()?;
    place.succeed(&format!("zoo {zoo} -o m.onnx"))?;
    let json = |args: &str| -> Result<Value, String> {
        let text = place.succeed(args)?;
        serde_json::from_str(&text).map_err(|e| format!("{e}: {text}"))
    };
    let whole = json("compile m.onnx --backend cranelift --json -o whole.neap")?;
    let tiled = json(&format!("compile m.onnx --backend cranelift --json --recompute-limit {limit} -o tiled.neap"))?;
    let plan = json(&format!("plan m.onnx --json --recompute-limit {limit}"))?;
    let bytes = |v: &Value, key: &str| v[key].as_u64().ok_or_else(|| format!("no {key} in {v}"));
    let (before, after) = (bytes(&whole, "arena_bytes")?, bytes(&tiled, "arena_bytes")?);
    if after * factor >= before || bytes(&tiled, "untiled_arena_bytes")? != before {
        return Err(format!("the arena is {after}, expected below {before} / {factor}: {tiled}"));
    }
    let share = tiled["recompute"].as_f64().ok_or("no recompute")?;
    let allowed: f64 = limit.trim_end_matches('%').parse().map_err(|_| "a limit in percent")?;
    if share * 100.0 > allowed || tiled["segments"].as_array().is_none_or(Vec::is_empty) {
        return Err(format!("computes {share} anew within {limit}: {tiled}"));
    }
    if plan["segments"] != tiled["segments"] || !whole["segments"].is_null() {
        return Err(format!("the plan tiles {}, the program {}", plan["segments"], tiled["segments"]));
    }
    place.succeed("run whole.neap --random 5 --output-dir out")?;
    for threads in [1, 3] {
        place.succeed(&format!("run tiled.neap --random 5 --output-dir again --threads {threads} --poison"))?;
        for name in place.left()? {
            if place.read(&format!("out/{name}"))? != place.read(&format!("again/{name}"))? {
                return Err(format!("{name} is not the same on {threads} threads"));
            }
        }
    }
    Ok(())
}
