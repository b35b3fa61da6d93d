//! The documents name only files that exist.

use crate::sources::{TOP, all, root};

/// Words in backticks, or link targets, that start with a top-level folder.
fn paths(text: &str) -> Vec<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let linked = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    let word = |w: &&str| {
        let path = w.split_once('/').is_some_and(|(top, _)| TOP.contains(&top));
        path && !w.contains([' ', '*', '<', '{', '\n'])
    };
    quoted.chain(linked).filter(word).collect()
}

#[test]
fn documents_name_files_that_exist() {
    let mut broken = vec![];
    let documents = all().into_iter().filter(|s| s.is("md") && !s.generated());
    for document in documents {
        for path in paths(&document.text) {
            let path = path.trim_end_matches(|c: char| c == ':' || c.is_ascii_digit());
            if !root().join(path).exists() {
                broken.push(format!("{}: `{path}` does not exist", document.path));
            }
        }
    }
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn paths_are_found_in_text() {
    let text = "see `runtime/src/lib.rs`, `let x`, [a page](docs/architecture.md#levels) and `compiler/*/src`";
    assert_eq!(paths(text), ["runtime/src/lib.rs", "docs/architecture.md"]);
}
