//! `filecheck/**.mlir`: files with `RUN:` lines, run in this process and piped to LLVM's FileCheck, as `lit` would.
//!
//! A `RUN:` line is a pipe of `neap-opt` (after `not` if it must fail; `2>&1` adds what it says on standard error) and then
//! `FileCheck`; `%s` is the file. A line may go on after a `\`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use libtest_mimic::Trial;

use crate::files;

/// One trial a `RUN:` line.
pub fn trials() -> Vec<Trial> {
    let mut out = vec![];
    for path in files::find("filecheck", "mlir") {
        let Ok(text) = files::read(&path) else { continue };
        for (line, command) in run_lines(&text) {
            let path = path.clone();
            let name = format!("{}:{line}", files::name(&path));
            out.push(Trial::test(name, move || Ok(run(&command, &path)?)));
        }
    }
    out
}

/// The commands of a file with their line numbers, continued lines joined.
pub fn run_lines(text: &str) -> Vec<(usize, String)> {
    let mut out: Vec<(usize, String)> = vec![];
    let mut open = false;
    for (i, line) in text.lines().enumerate() {
        let Some((_, command)) = line.split_once("RUN:") else { continue };
        let (command, goes_on) = match command.trim().strip_suffix('\\') {
            Some(c) => (c.trim_end(), true),
            None => (command.trim(), false),
        };
        match out.last_mut().filter(|_| open) {
            Some((_, whole)) => *whole = format!("{whole} {command}"),
            None => out.push((i + 1, command.to_string())),
        }
        open = goes_on;
    }
    out
}

/// One command of a pipe, as words.
pub struct Stage {
    /// Whether it must fail.
    pub not: bool,
    /// Whether its standard error joins its output.
    pub join: bool,
    /// Program and arguments.
    pub words: Vec<String>,
}

/// Splits a command as a shell would: quotes, `|`, `not`, `2>&1`.
pub fn stages(command: &str, file: &Path) -> Result<Vec<Stage>, String> {
    let mut out = vec![];
    let mut stage = Stage { not: false, join: false, words: vec![] };
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for c in command.chars().chain([' ', '|']) {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ' | '|') => {
                match word.take().as_deref() {
                    None => {}
                    Some("not") if stage.words.is_empty() => stage.not = true,
                    Some("2>&1") => stage.join = true,
                    Some(w) => stage.words.push(w.replace("%s", &file.display().to_string())),
                }
                if c == '|' {
                    out.push(std::mem::replace(&mut stage, Stage { not: false, join: false, words: vec![] }));
                }
            }
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() || out.iter().any(|s| s.words.is_empty()) {
        return Err(format!("malformed command `{command}`"));
    }
    Ok(out)
}

fn run(command: &str, file: &Path) -> Result<(), String> {
    let mut input = String::new();
    for stage in stages(command, file)? {
        input = match stage.words[0].as_str() {
            "neap-opt" => neap_opt(&stage)?,
            "FileCheck" => filecheck(&stage, &input)?,
            other => return Err(format!("RUN: knows neap-opt and FileCheck, not `{other}`")),
        };
    }
    Ok(())
}

fn neap_opt(stage: &Stage) -> Result<String, String> {
    let out = neap_driver::opt_main(stage.words.iter().map(Into::into));
    if (out.code != 0) != stage.not {
        return Err(format!("neap-opt ends with {}: {}{}", out.code, out.stdout, out.stderr));
    }
    Ok(if stage.join { out.stdout + &out.stderr } else { out.stdout })
}

fn filecheck(stage: &Stage, input: &str) -> Result<String, String> {
    let prefix = std::env::var_os("LLVM_PREFIX").or_else(|| std::env::var_os("MLIR_SYS_220_PREFIX"));
    let bin = PathBuf::from(prefix.ok_or("neither LLVM_PREFIX nor MLIR_SYS_220_PREFIX is set")?).join("bin/FileCheck");
    let mut child = Command::new(&bin)
        .args(&stage.words[1..])
        .arg("--dump-input=fail")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cannot run {}: {e}", bin.display()))?;
    let mut stdin = child.stdin.take().ok_or("FileCheck has a standard input")?;
    // FileCheck reads all before it answers; it may close early when its own arguments are wrong.
    let written = stdin.write_all(input.as_bytes());
    drop(stdin);
    let out = child.wait_with_output().map_err(|e| format!("FileCheck: {e}"))?;
    if out.status.success() != stage.not {
        return written.map(|()| String::new()).map_err(|e| format!("FileCheck: {e}"));
    }
    Err(format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr)))
}
