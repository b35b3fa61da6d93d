//! The crates are the ones docs/architecture.md lists, and depend only on what it allows.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use crate::sources::{all, root};

/// Crates through which MLIR or LLVM come in.
const NATIVE: [&str; 5] = ["melior", "mlir-sys", "inkwell", "llvm-sys", "tblgen"];

/// A row of the table.
struct Row {
    folder: String,
    pure: bool,
    may_use: String,
}

/// A crate as cargo sees it.
struct Package {
    folder: String,
    /// Direct dependencies, tests' own excluded.
    dependencies: BTreeSet<String>,
}

fn table() -> BTreeMap<String, Row> {
    let text = std::fs::read_to_string(root().join("docs/architecture.md")).expect("docs/architecture.md is there");
    let rows = text.lines().filter(|line| line.starts_with("| neap-"));
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let row = Row { folder: cells[1].into(), pure: cells[2] == "yes", may_use: cells[3].into() };
        (cells[0].to_string(), row)
    })
    .collect()
}

fn packages() -> BTreeMap<String, Package> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let root = root();
    let package = |p: &Value| {
        let manifest = std::path::Path::new(p["manifest_path"].as_str()?);
        let dependencies = p["dependencies"].as_array()?.iter().filter(|d| d["kind"].as_str() != Some("dev"));
        let folder = manifest.parent()?.strip_prefix(&root).ok()?.to_string_lossy().replace('\\', "/");
        let dependencies = dependencies.filter_map(|d| Some(d["name"].as_str()?.to_string())).collect();
        Some((p["name"].as_str()?.to_string(), Package { folder, dependencies }))
    };
    metadata["packages"].as_array().expect("packages").iter().filter_map(package).collect()
}

#[test]
fn crates_are_the_ones_listed_and_use_only_what_they_may() {
    let (table, packages) = (table(), packages());
    let listed: Vec<(&String, &String)> = table.iter().map(|(name, row)| (name, &row.folder)).collect();
    let there: Vec<(&String, &String)> = packages.iter().map(|(name, p)| (name, &p.folder)).collect();
    assert_eq!(there, listed, "the crates and the table in docs/architecture.md differ");
    for (name, package) in &packages {
        let row = &table[name];
        for dependency in package.dependencies.iter().filter_map(|d| d.strip_prefix("neap-")) {
            let allowed = match row.may_use.as_str() {
                "all" => true,
                "all but testsuite" => dependency != "testsuite",
                list => list.split(", ").any(|word| word == dependency),
            };
            assert!(allowed, "docs/architecture.md does not allow {name} to use neap-{dependency}");
        }
    }
}

/// Follows neap's own crates, since a pure crate must not get MLIR through another one.
#[test]
fn pure_crates_and_the_runtime_have_no_mlir_below_them() {
    let (table, packages) = (table(), packages());
    for (name, _) in table.iter().filter(|(name, row)| row.pure || *name == "neap-runtime") {
        let mut waiting = vec![name.clone()];
        let mut seen = BTreeSet::new();
        while let Some(next) = waiting.pop().filter(|next| seen.insert(next.clone())) {
            let Some(package) = packages.get(&next) else { continue };
            let native = package.dependencies.iter().find(|d| NATIVE.contains(&d.as_str()));
            assert!(native.is_none(), "{name} gets {native:?} through {next}");
            waiting.extend(package.dependencies.iter().cloned());
        }
    }
}

#[test]
fn pure_crates_have_no_unsafe_code() {
    let table = table();
    for source in all().iter().filter(|s| s.is("rs")) {
        let pure = table.values().any(|row| row.pure && source.path.starts_with(&format!("{}/src/", row.folder)));
        let code = source.text.lines().map(|line| line.split("//").next().unwrap_or(line));
        let found = code
            .enumerate()
            .find(|(_, line)| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == "unsafe"));
        if let (true, Some((line, _))) = (pure, found) {
            panic!("{}:{}: unsafe code in a PURE crate", source.path, line + 1);
        }
    }
}
