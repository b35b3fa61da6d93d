//! From td files to generated files, as text in memory; shared with the freshness test of the test suite.

#[path = "dialect.rs"]
pub mod dialect;
#[path = "docs.rs"]
mod docs;
#[path = "rust.rs"]
mod rust;

use std::path::{Path, PathBuf};

/// The dialects, in the order in which models pass them.
const DIALECTS: &[&str] = &["graph", "loop", "segment"];

/// Every generated file, relative to the repository's root, with its text.
pub fn files(root: &Path, llvm: &Path) -> Result<Vec<(PathBuf, String)>, String> {
    let td = root.join("dialects/mlir/td");
    let dialects = DIALECTS
        .iter()
        .filter(|name| td.join(name).is_dir())
        .map(|name| dialect::Dialect::load(name, &td, llvm))
        .collect::<Result<Vec<_>, _>>()?;
    let table = Path::new("dialects/optable/src/generated");
    let mut out = vec![(table.join("mod.rs"), rust::format(&rust::module(&dialects))?)];
    for d in &dialects {
        out.push((table.join(format!("{}_op.rs", d.name)), rust::format(&rust::ops(d))?));
        if !d.enums.is_empty() {
            out.push((table.join(format!("{}_kinds.rs", d.name)), rust::format(&rust::kinds(d))?));
        }
        out.push((Path::new("docs/generated").join(format!("{}.md", d.name)), docs::page(d)));
    }
    Ok(out)
}

/// Writes the files that differ.
#[allow(dead_code, reason = "the test suite only checks")]
pub fn write(root: &Path, files: &[(PathBuf, String)]) -> Result<(), String> {
    for (path, text) in files {
        let path = root.join(path);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == *text) {
            continue;
        }
        let dir = path.parent().ok_or("a generated file has a folder")?;
        std::fs::create_dir_all(dir)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    }
    Ok(())
}

/// An error that names the files that differ, if any.
pub fn stale(root: &Path, files: &[(PathBuf, String)]) -> Result<(), String> {
    let stale: Vec<String> = files
        .iter()
        .filter(|(path, text)| std::fs::read_to_string(root.join(path)).map_or(true, |old| old != *text))
        .map(|(path, _)| path.display().to_string())
        .collect();
    if stale.is_empty() {
        return Ok(());
    }
    Err(format!("stale: {}; run `cargo run -p neap-optable --example neap-gen`", stale.join(", ")))
}
