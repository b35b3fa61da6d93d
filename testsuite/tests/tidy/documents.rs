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
fn the_book_holds_every_page() {
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let listed: Vec<&str> = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let pages =
        all().into_iter().filter(|s| s.is("md") && s.path.starts_with("docs/") && !s.path.ends_with("SUMMARY.md"));
    let missing: Vec<String> =
        pages.filter(|s| !listed.iter().any(|l| s.path == format!("docs/{l}"))).map(|s| s.path).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md lacks {}", missing.join(", "));
    let strays: Vec<&&str> = listed.iter().filter(|l| !root().join("docs").join(l).exists()).collect();
    assert!(strays.is_empty(), "docs/SUMMARY.md names {strays:?}, which do not exist");
}

#[test]
fn paths_are_found_in_text() {
    let text = "see `runtime/src/lib.rs`, `let x`, [a page](docs/architecture.md#levels) and `compiler/*/src`";
    assert_eq!(paths(text), ["runtime/src/lib.rs", "docs/architecture.md"]);
}
