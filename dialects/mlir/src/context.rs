//! Contexts, and what is done to whole modules: parse, verify, print, run upstream passes.

use melior::Context;
use melior::dialect::DialectRegistry;
use melior::ir::Module;
use melior::ir::operation::{OperationLike, OperationPrintingFlags};
use melior::pass::PassManager;

use crate::diagnostic::{self, Diagnostic, Diagnostics, capture, checked};
use crate::ffi;

/// Dialects that neap builds IR in. Others stay registered: they load when a text or a pass names them.
const LOADED: &[&str] = &[
    "func", "arith", "math", "scf", "memref", "vector", "llvm", "gpu", "linalg", "tensor", "graph", "loop", "segment",
];

/// Whether printed IR shows locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locations {
    /// `%0 = ... loc("conv1")`
    Shown,
    /// `%0 = ...`
    Hidden,
}

/// A context with our dialects and MLIR's own, single-threaded: neap runs one context a worker.
///
/// Diagnostics that no [`capture`] takes go to the log, never to standard error.
pub fn context() -> Context {
    let registry = DialectRegistry::new();
    melior::utility::register_all_dialects(&registry);
    ffi::insert_dialects(&registry);
    let cx = Context::new_with_threading(false);
    cx.append_dialect_registry(&registry);
    ffi::quiet_diagnostics(&cx);
    for name in LOADED {
        cx.get_or_load_dialect(name);
    }
    cx.attach_diagnostic_handler(|raw| {
        let d = diagnostic::plain(&raw);
        match d.severity {
            diagnostic::Severity::Error => tracing::error!("{d}"),
            diagnostic::Severity::Warning => tracing::warn!("{d}"),
            diagnostic::Severity::Remark => tracing::debug!("{d}"),
        }
        true
    });
    cx
}

/// Parses and verifies a module; functions at the top level need no `module` around them. `file` is its name in locations.
pub fn parse_module<'c>(cx: &'c Context, text: &str, file: &str) -> Result<Module<'c>, Diagnostics> {
    let (module, mut diagnostics) = capture(cx, || ffi::parse_module(cx, text, file));
    module.ok_or_else(|| {
        if diagnostics.0.is_empty() {
            diagnostics.0.push(Diagnostic::error(file, "not an MLIR module"));
        }
        diagnostics
    })
}

/// Runs MLIR's verifier: op traits, types, dominance.
pub fn verify<'c: 'a, 'a>(cx: &Context, op: &impl OperationLike<'c, 'a>) -> Result<(), Diagnostics> {
    checked(cx, "verification", || op.verify())
}

/// The custom assembly of an operation. It must be valid, see [`verify`].
pub fn print<'c: 'a, 'a>(op: &impl OperationLike<'c, 'a>, locations: Locations) -> String {
    let flags = OperationPrintingFlags::new().enable_debug_info(locations == Locations::Shown, false);
    op.to_string_with_flags(flags).expect("MLIR prints UTF-8")
}

/// Runs MLIR's own passes, given in its textual form without the anchor, such as `canonicalize,cse`, on a module.
pub fn run_upstream(cx: &Context, module: &mut Module<'_>, pipeline: &str) -> Result<(), Diagnostics> {
    melior::utility::register_all_passes();
    let manager = PassManager::new(cx);
    let text = format!("builtin.module({pipeline})");
    let (parsed, mut diagnostics) =
        capture(cx, || melior::utility::parse_pass_pipeline(manager.as_operation_pass_manager(), &text));
    if let Err(e) = parsed {
        let message = match e {
            melior::Error::ParsePassPipeline(m) => m.replace('\n', " "),
            e => e.to_string(),
        };
        diagnostics.0.push(Diagnostic::error("", format!("pipeline `{pipeline}`: {}", message.trim())));
        return Err(diagnostics);
    }
    manager.enable_verifier(true);
    checked(cx, &format!("pipeline `{pipeline}`"), || manager.run(module).is_ok())
}
