//! Runs the built `neap` in a temporary folder, and states what every run must keep to.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A folder with an empty `out` in it.
pub struct Place(TempDir);

/// What a run printed.
#[derive(Clone, Debug)]
pub struct Output {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// The binary next to this test's folder.
pub fn binary() -> Result<PathBuf, String> {
    let exe = std::env::current_exe().map_err(|e| e.to_string())?;
    let path = exe.ancestors().nth(2).unwrap_or(Path::new(".")).join(format!("neap{}", std::env::consts::EXE_SUFFIX));
    if path.is_file() { Ok(path) } else { Err(format!("{} is not built: cargo build -p neap-driver", path.display())) }
}

impl Place {
    /// A new folder.
    pub fn new() -> Result<Self, String> {
        let place = Place(tempfile::tempdir().map_err(|e| e.to_string())?);
        std::fs::create_dir(place.path("out")).map_err(|e| e.to_string())?;
        Ok(place)
    }

    /// A path inside.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> Result<(), String> {
        std::fs::write(self.path(name), bytes).map_err(|e| format!("{name}: {e}"))
    }

    /// A file's bytes.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        std::fs::read(self.path(name)).map_err(|e| format!("{name}: {e}"))
    }

    /// Names of what lies in `out`, hidden files included, sorted.
    pub fn left(&self) -> Result<Vec<String>, String> {
        let entries = std::fs::read_dir(self.path("out")).map_err(|e| e.to_string())?;
        let mut names: Vec<String> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        Ok(names)
    }

    /// Runs `neap` here with arguments separated by spaces.
    pub fn neap(&self, args: &str) -> Result<Output, String> {
        let mut command = Command::new(binary()?);
        command.args(args.split_whitespace()).current_dir(self.0.path());
        // Backtraces on, as a developer has them: even then users must see none.
        command.env("COLUMNS", "100").env("RUST_BACKTRACE", "1").env_remove("RUST_LOG").env("NO_COLOR", "1");
        let out = command.output().map_err(|e| e.to_string())?;
        let text = |b: Vec<u8>| String::from_utf8(b).map_err(|_| "output is not UTF-8".to_string());
        let code = out.status.code().ok_or_else(|| format!("`neap {args}` was killed: {}", out.status))?;
        Ok(Output { code, stdout: text(out.stdout)?, stderr: text(out.stderr)? })
    }

    /// Runs `neap`, which must succeed, and gives its standard output.
    pub fn succeed(&self, args: &str) -> Result<String, String> {
        let out = self.neap(args)?;
        if out.code != 0 {
            return Err(format!("`neap {args}` ends with {}:\n{}", out.code, out.stderr));
        }
        Ok(out.stdout)
    }

    /// Runs `neap --json`, which must succeed and print one JSON object and nothing else.
    pub fn json(&self, args: &str) -> Result<serde_json::Value, String> {
        let text = self.succeed(&format!("{args} --json"))?;
        let value: serde_json::Value = serde_json::from_str(&text).map_err(|e| format!("{e}: {text}"))?;
        if value.is_object() { Ok(value) } else { Err(format!("expected one object, found {text}")) }
    }

    /// Runs `neap`, which must refuse with this code, in clear lines, and leave nothing behind. Gives the lines.
    pub fn refuse(&self, args: &str, code: i32) -> Result<String, String> {
        let out = self.neap(args)?;
        let all = format!("`neap {args}` ends with {}, expected {code}:\n{}{}", out.code, out.stdout, out.stderr);
        if out.code != code || !out.stdout.is_empty() {
            return Err(all);
        }
        for bad in ["panicked", "backtrace", "RUST_BACKTRACE", "bug in neap", "src/", "unwrap", "Some(", "Err("] {
            if out.stderr.contains(bad) {
                return Err(format!("`{bad}` in what users see: {all}"));
            }
        }
        // Usage errors are clap's, which shows the usage on lines of its own.
        let lines = out.stderr.lines();
        if code == 1 && (out.stderr.is_empty() || lines.clone().any(|l| !l.starts_with("error: ") || l.ends_with('.')))
        {
            return Err(format!("not in the form `error: what and where`: {all}"));
        }
        if code == 2 && lines.clone().filter(|l| l.starts_with("error: ")).count() != 1 {
            return Err(format!("expected one line that starts with `error: `: {all}"));
        }
        match self.left()?.as_slice() {
            [] => Ok(out.stderr),
            left => Err(format!("leaves {left:?} behind: {all}")),
        }
    }
}

/// Compares with the snapshot of this name.
pub fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
