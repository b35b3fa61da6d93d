//! The loop dialect: kernels to MLIR, to text, and back; files of it likewise.

use std::collections::BTreeSet;

use libtest_mimic::Trial;
use melior::Context;
use neap_kernels::ir::Kernel;
use neap_kernels::mlir;
use neap_mlir::Locations;
use neap_optable::{LoopOp, SegmentOp};

use crate::files;

/// One trial a file, and that all ops occur.
pub fn trials() -> Vec<Trial> {
    let mut out = vec![];
    for path in files::find("filecheck/loop", "mlir") {
        out.push(Trial::test(format!("round-trip {}", files::name(&path)), move || {
            Ok(round_trip(&files::read(&path)?, &files::name(&path))?)
        }));
    }
    for path in files::find("filecheck/segment", "mlir") {
        out.push(Trial::test(format!("round-trip {}", files::name(&path)), move || {
            let cx = neap_mlir::context();
            Ok(text(&cx, &files::read(&path)?, &files::name(&path)).map(drop)?)
        }));
    }
    let loops: Vec<&str> = LoopOp::ALL.iter().map(|o| o.name()).collect();
    let segments: Vec<&str> = SegmentOp::ALL.iter().map(|o| o.name()).collect();
    for (dialect, ops) in [("loop", loops), ("segment", segments)] {
        for (dir, what) in [("filecheck", "round trip"), ("verifier", "verifier case")] {
            let ops = ops.clone();
            out.push(Trial::test(format!("every {dialect} op has a {what}"), move || {
                Ok(coverage(&format!("{dir}/{dialect}"), dialect, &ops)?)
            }));
        }
    }
    out
}

/// A kernel as an operation and as text reads as its normal form.
pub fn kernel(cx: &Context, kernel: &Kernel) -> Result<(), String> {
    let module = mlir::write_module(cx, std::slice::from_ref(kernel)).map_err(|e| e.to_string())?;
    let show = || neap_mlir::print(&module.as_operation(), Locations::Hidden);
    neap_mlir::verify(cx, &module.as_operation()).map_err(|e| format!("{e}\n{}", show()))?;
    let printed = show();
    let parsed = neap_mlir::parse_module(cx, &printed, "printed").map_err(|e| format!("{e}\n{printed}"))?;
    for (what, module) in [("written", &module), ("parsed", &parsed)] {
        let back = mlir::read_module(module).map_err(|e| format!("{e}\n{printed}"))?;
        if back != [mlir::normal(kernel)] {
            return Err(format!("what was {what} reads as\n{back:?}\nfrom\n{:?}\nby\n{printed}", mlir::normal(kernel)));
        }
    }
    Ok(())
}

fn round_trip(source: &str, file: &str) -> Result<(), String> {
    let cx = neap_mlir::context();
    let mut module = text(&cx, source, file)?;
    let kernels = mlir::read_module(&module).map_err(|e| e.to_string())?;
    for k in &kernels {
        kernel(&cx, k)?;
    }
    // Constants move out of the nests; what is computed stays.
    neap_mlir::run_upstream(&cx, &mut module, "canonicalize,cse").map_err(|e| e.to_string())?;
    let optimised = mlir::read_module(&module).map_err(|e| e.to_string())?;
    if optimised.len() != kernels.len() {
        return Err("canonicalisation loses a kernel".into());
    }
    Ok(())
}

/// Printing and parsing change nothing.
fn text<'c>(cx: &'c Context, source: &str, file: &str) -> Result<melior::ir::Module<'c>, String> {
    let module = neap_mlir::parse_module(cx, source, file).map_err(|e| e.to_string())?;
    let printed = neap_mlir::print(&module.as_operation(), Locations::Hidden);
    let again = neap_mlir::parse_module(cx, &printed, "printed").map_err(|e| format!("{e}\n{printed}"))?;
    let twice = neap_mlir::print(&again.as_operation(), Locations::Hidden);
    if printed == twice { Ok(module) } else { Err(format!("printing and parsing changes\n{printed}\nto\n{twice}")) }
}

fn coverage(dir: &str, dialect: &str, ops: &[&str]) -> Result<(), String> {
    let mut text = String::new();
    for path in files::find(dir, "mlir") {
        text.push_str(&files::read(&path)?);
    }
    let prefix = format!("{dialect}.");
    let used: BTreeSet<&str> = text
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
        .filter_map(|w| w.strip_prefix(&prefix))
        .collect();
    let missing: Vec<&&str> = ops.iter().filter(|n| !used.contains(**n)).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("no file under {dir} uses {missing:?}")) }
}
