//! What is wrong is refused, at its place: files of cases separated by `// -----`, each with comments
//! `expected-error {{part of the message}}`, `expected-error @+1 {{...}}` or `@-1` for another line.

use libtest_mimic::Trial;
use neap_mlir::{Diagnostics, Severity, graph};

use crate::files;

/// One trial a case.
pub fn trials() -> Vec<Trial> {
    let mut out = vec![];
    for path in files::find("verifier", "mlir") {
        let Ok(text) = files::read(&path) else { continue };
        let mut first = 0;
        for case in text.split("// -----") {
            // Blank lines in front keep the line numbers those of the file.
            let padded = "\n".repeat(first) + case;
            let name = format!("{}:{}", files::name(&path), first + 1);
            let file = files::name(&path);
            out.push(Trial::test(name, move || Ok(run(&padded, &file)?)));
            first += case.matches('\n').count();
        }
    }
    out
}

fn run(text: &str, file: &str) -> Result<(), String> {
    let cx = neap_mlir::context();
    let found = match neap_mlir::parse_module(&cx, text, file) {
        Err(d) => d,
        Ok(module) if file.starts_with("verifier/graph") => graph::check(&module).err().unwrap_or_default(),
        Ok(module) if file.starts_with("verifier/loop") => {
            neap_kernels::mlir::read_module(&module).err().map(Into::into).unwrap_or_default()
        }
        Ok(_) => Diagnostics::default(),
    };
    compare(text, file, &found)
}

fn compare(text: &str, file: &str, found: &Diagnostics) -> Result<(), String> {
    let mut open: Vec<_> = found.0.iter().filter(|d| d.severity == Severity::Error).collect();
    let expected = expected(text);
    if expected.is_empty() {
        return Err("no expected-error".into());
    }
    for (line, message) in expected {
        let place = format!("{file}:{line}:");
        let at = open.iter().position(|d| d.place.starts_with(&place) && d.message.contains(message));
        open.remove(at.ok_or_else(|| format!("no error `{message}` at line {line}; found:\n{found}"))?);
    }
    match open.first() {
        None => Ok(()),
        Some(d) => Err(format!("unexpected: {d}")),
    }
}

/// Lines (from 1) and parts of messages.
fn expected(text: &str) -> Vec<(i64, &str)> {
    let mut out = vec![];
    for (i, line) in text.lines().enumerate() {
        let Some((_, rest)) = line.split_once("expected-error") else { continue };
        let Some((offset, rest)) = rest.split_once("{{") else { continue };
        let message = rest.rsplit_once("}}").map_or(rest, |(m, _)| m);
        let offset: i64 = offset.trim().trim_start_matches('@').parse().unwrap_or(0);
        out.push((i as i64 + 1 + offset, message));
    }
    out
}
