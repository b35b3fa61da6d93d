//! Writes what is generated from the ODS definitions in `dialects/mlir/td`: the op table (`dialects/optable/src/generated`) and
//! `docs/generated`. Run it after changing a td file: `cargo run -p neap-optable --example neap-gen`; with `--check` it writes
//! nothing and fails if a file is stale.
//!
//! An example rather than a binary, so that the op table itself needs neither JSON nor LLVM.

#[path = "generate.rs"]
mod generate;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let check = std::env::args().any(|a| a == "--check");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let prefix = std::env::var("LLVM_PREFIX").or_else(|_| std::env::var("MLIR_SYS_220_PREFIX"));
    let result = prefix
        .map_err(|_| "set LLVM_PREFIX to the installation of LLVM and MLIR 22".to_string())
        .and_then(|prefix| generate::files(&root, Path::new(&prefix)))
        .and_then(|files| if check { generate::stale(&root, &files) } else { generate::write(&root, &files) });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            // Standard error closed: the exit status still tells.
            let _ = writeln!(std::io::stderr(), "neap-gen: {e}");
            ExitCode::FAILURE
        }
    }
}
