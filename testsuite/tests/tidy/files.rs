//! Rules for single files.

use crate::sources::{Source, all};

/// Files may be longer only with a reason.
const CAP: usize = 800;
const LONGER: &[(&str, &str)] = &[];

/// What a file is checked for: the extensions it concerns, what to do, and which lines break it.
struct Rule {
    extensions: &'static [&'static str],
    what: &'static str,
    breaks: fn(&str) -> bool,
}

const RULES: &[Rule] = &[
    Rule {
        extensions: &["rs", "td", "cpp", "h", "c", "md", "py", "toml", "mlir", "sh"],
        what: "no space at the end of a line",
        breaks: |line| line.ends_with([' ', '\t']),
    },
    Rule {
        extensions: &["rs", "td", "cpp", "md", "py", "toml", "mlir"],
        what: "no tabs and no conflict markers",
        breaks: |line| line.contains('\t') || line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> "),
    },
    Rule {
        extensions: &["rs"],
        what: "a lint is allowed, and a test ignored, only with a reason",
        breaks: |line| {
            let line = line.trim_start();
            let allows = line.starts_with("#[allow(") || line.starts_with("#![allow(");
            (allows && line.ends_with(")]") && !line.contains("reason")) || line == "#[ignore]"
        },
    },
];

#[test]
fn lines_follow_the_rules() {
    let mut broken = vec![];
    for source in all().iter().filter(|s| !s.generated()) {
        for rule in RULES.iter().filter(|rule| rule.extensions.iter().any(|e| source.is(e))) {
            let lines = source.text.lines().enumerate().filter(|(_, line)| (rule.breaks)(line));
            broken.extend(lines.map(|(at, _)| format!("{}:{}: {}", source.path, at + 1, rule.what)));
        }
    }
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn files_end_with_a_line_end() {
    let open = |s: &&Source| !s.text.is_empty() && !s.text.ends_with('\n') && (s.is("rs") || s.is("md") || s.is("py"));
    let broken: Vec<String> = all().iter().filter(open).map(|s| s.path.clone()).collect();
    assert!(broken.is_empty(), "no line end at the end of {broken:?}");
}

#[test]
fn files_are_small() {
    let sources = all();
    let code = |s: &&Source| !s.generated() && ["rs", "td", "cpp", "py"].iter().any(|e| s.is(e));
    let mut lengths = vec![];
    let mut broken = vec![];
    for source in sources.iter().filter(code) {
        let lines = source.text.lines().count();
        lengths.push(lines);
        if lines > CAP && !LONGER.iter().any(|(path, _)| *path == source.path) {
            broken.push(format!("{} has {lines} lines", source.path));
        }
    }
    assert!(broken.is_empty(), "split these, or give a reason in LONGER:\n{}", broken.join("\n"));
    lengths.sort_unstable();
    let (median, high) = (lengths[lengths.len() / 2], lengths[lengths.len() * 9 / 10]);
    assert!(median <= 150 && high <= 400, "half of the files have over {median} lines, a tenth over {high}");
}

#[test]
fn every_rust_file_says_what_it_is_for() {
    let silent = |s: &&Source| s.is("rs") && !s.generated() && !s.text.lines().any(|l| l.starts_with("//!"));
    let broken: Vec<String> = all().iter().filter(silent).map(|s| s.path.clone()).collect();
    assert!(broken.is_empty(), "no `//!` in {broken:?}");
}
