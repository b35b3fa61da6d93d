//! MLIR's own passes over neap's functions, and the functions as MLIR text.

use neap_mlir::graph::{read_module, write_module};
use neap_mlir::{Locations, context, print as print_op, run_upstream};

use crate::pass::{Func, PassError};

const STEP: &str = "mlir";

/// Writes the functions as MLIR, runs a textual pipeline of upstream passes, and reads them back.
pub fn run(pipeline: &str, funcs: &mut Vec<Func>) -> Result<(), PassError> {
    let cx = context();
    let named: Vec<_> = funcs.iter().map(|f| (f.name.as_str(), &f.body)).collect();
    let fail = |message: String| PassError { pass: STEP, message };
    let mut module = write_module(&cx, &named).map_err(|e| fail(e.to_string()))?;
    run_upstream(&cx, &mut module, pipeline).map_err(|e| fail(format!("{pipeline}: {e}")))?;
    *funcs = read_module(&module)
        .map_err(|e| fail(e.to_string()))?
        .into_iter()
        .map(|(name, body)| Func { name, body })
        .collect();
    Ok(())
}

/// The functions as MLIR text with locations, so that dumps keep ONNX names and read back whole.
pub fn print(funcs: &[Func]) -> Result<String, PassError> {
    print_as(funcs, Locations::Shown)
}

/// The functions as MLIR text.
pub fn print_as(funcs: &[Func], locations: Locations) -> Result<String, PassError> {
    let cx = context();
    let named: Vec<_> = funcs.iter().map(|f| (f.name.as_str(), &f.body)).collect();
    let module = write_module(&cx, &named).map_err(|e| PassError { pass: STEP, message: e.to_string() })?;
    Ok(print_op(&module.as_operation(), locations))
}
