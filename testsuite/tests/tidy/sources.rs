//! The repository's files.

use std::fs;
use std::path::{Path, PathBuf};

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository is there")
}

/// The top-level folders that hold sources.
pub const TOP: [&str; 6] = ["compiler", "dialects", "docs", "lowering", "runtime", "testsuite"];

/// A text file.
pub struct Source {
    /// Path below the root, with `/`.
    pub path: String,
    /// Its content.
    pub text: String,
}

impl Source {
    /// Whether the file was made by a tool.
    pub fn generated(&self) -> bool {
        self.path.contains("/generated")
    }

    /// Whether its name ends in `.extension`.
    pub fn is(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|e| e == extension)
    }
}

/// All text files below the top-level folders and those at the root, sorted by path.
pub fn all() -> Vec<Source> {
    let root = root();
    let mut paths: Vec<PathBuf> = entries(&root).into_iter().filter(|p| p.is_file()).collect();
    let mut folders: Vec<PathBuf> = TOP.iter().map(|top| root.join(top)).collect();
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            let hidden = path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(['.', '_']));
            if path.is_file() {
                paths.push(path);
            } else if !hidden && path.file_name().is_none_or(|n| n != "target") {
                folders.push(path);
            }
        }
    }
    paths.sort();
    let below = |path: &Path| path.strip_prefix(&root).unwrap_or(path).to_string_lossy().replace('\\', "/");
    // What is not UTF-8 is data.
    paths.iter().filter_map(|p| Some(Source { path: below(p), text: fs::read_to_string(p).ok()? })).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect()
}
