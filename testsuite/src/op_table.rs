//! The generated op table and pages are those of the ODS definitions.

#[path = "../../dialects/optable/examples/neap-gen/generate.rs"]
mod generate;

use std::path::PathBuf;

use libtest_mimic::Trial;

use crate::files;

/// The trials.
pub fn trials() -> Vec<Trial> {
    let passes = Trial::test("generated page of passes is fresh", || {
        let printed = neap_driver::opt_main(["neap-opt", "--pass-docs"].map(Into::into)).stdout;
        let stored = files::read(&files::root().join("docs/generated/passes.md"))?;
        Ok((printed == stored).then_some(()).ok_or("docs/generated/passes.md is stale: run `just generate`")?)
    });
    let table = Trial::test("generated files are fresh", || {
        let root = files::root();
        let prefix = std::env::var_os("LLVM_PREFIX").or_else(|| std::env::var_os("MLIR_SYS_220_PREFIX"));
        let prefix = PathBuf::from(prefix.ok_or("neither LLVM_PREFIX nor MLIR_SYS_220_PREFIX is set")?);
        Ok(generate::stale(&root, &generate::files(&root, &prefix)?)?)
    });
    vec![passes, table]
}
