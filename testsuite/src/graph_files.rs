//! Each file of the graph dialect, as text, MLIR and plain bodies: every way round gives the same. And each of its ops, lowered
//! to a kernel, as the loop dialect.

use std::collections::BTreeSet;

use libtest_mimic::Trial;
use neap_mlir::{Locations, graph};
use neap_optable::{Body, GraphOp};

use crate::{files, loop_files};

/// One trial a file, and one that all ops occur.
pub fn trials() -> Vec<Trial> {
    let mut out: Vec<Trial> = files::find("filecheck/graph", "mlir")
        .into_iter()
        .map(|path| {
            Trial::test(format!("round-trip {}", files::name(&path)), move || {
                Ok(round_trip(&files::read(&path)?, &files::name(&path))?)
            })
        })
        .collect();
    for path in files::find("filecheck/graph", "mlir") {
        out.push(Trial::test(format!("kernels of {}", files::name(&path)), move || {
            Ok(kernels(&files::read(&path)?, &files::name(&path))?)
        }));
    }
    for (dir, what) in [("filecheck/graph", "round trip"), ("verifier/graph", "verifier case")] {
        out.push(Trial::test(format!("every graph op has a {what}"), move || Ok(coverage(dir)?)));
    }
    out
}

fn round_trip(text: &str, file: &str) -> Result<(), String> {
    let cx = neap_mlir::context();
    let line = |e: &dyn std::fmt::Display| e.to_string();
    let module = neap_mlir::parse_module(&cx, text, file).map_err(|e| line(&e))?;
    graph::check(&module).map_err(|e| line(&e))?;
    let printed = neap_mlir::print(&module.as_operation(), Locations::Hidden);
    let again = neap_mlir::parse_module(&cx, &printed, "printed").map_err(|e| line(&e))?;
    same(&printed, &neap_mlir::print(&again.as_operation(), Locations::Hidden), "printing and parsing")?;

    let bodies = graph::read_module(&module).map_err(|e| line(&e))?;
    let named: Vec<(&str, &Body)> = bodies.iter().map(|(n, b)| (n.as_str(), b)).collect();
    let written = graph::write_module(&cx, &named).map_err(|e| line(&e))?;
    neap_mlir::verify(&cx, &written.as_operation()).map_err(|e| line(&e))?;
    same(&printed, &neap_mlir::print(&written.as_operation(), Locations::Hidden), "reading and writing")?;
    if graph::read_module(&written).map_err(|e| line(&e))? != bodies {
        return Err("reading what was written gives another body".into());
    }

    let located = neap_mlir::print(&written.as_operation(), Locations::Shown);
    let again = neap_mlir::parse_module(&cx, &located, "located").map_err(|e| line(&e))?;
    if graph::read_module(&again).map_err(|e| line(&e))? != bodies {
        return Err("printing with locations loses something".into());
    }
    Ok(())
}

/// Every op that has a kernel: written, verified, and read back.
fn kernels(text: &str, file: &str) -> Result<(), String> {
    let cx = neap_mlir::context();
    let module = neap_mlir::parse_module(&cx, text, file).map_err(|e| e.to_string())?;
    for (_, body) in graph::read_module(&module).map_err(|e| e.to_string())? {
        for node in &body.nodes {
            match neap_kernels::graph_to_loop::lower(node, &body) {
                Ok(kernel) => loop_files::kernel(&cx, &kernel)?,
                Err(e) if matches!(node.op, GraphOp::Weight | GraphOp::Constant | GraphOp::Cast) => drop(e),
                Err(e) => return Err(e.to_string()),
            }
        }
    }
    Ok(())
}

fn same(a: &str, b: &str, what: &str) -> Result<(), String> {
    if a == b { Ok(()) } else { Err(format!("{what} changes the text from\n{a}\nto\n{b}")) }
}

fn coverage(dir: &str) -> Result<(), String> {
    let mut text = String::new();
    for path in files::find(dir, "mlir") {
        text.push_str(&files::read(&path)?);
    }
    let used: BTreeSet<&str> = text
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
        .filter_map(|w| w.strip_prefix("graph."))
        .collect();
    let missing: Vec<&str> = GraphOp::ALL.iter().map(|o| o.name()).filter(|n| !used.contains(n)).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("no file under {dir} uses {missing:?}")) }
}
