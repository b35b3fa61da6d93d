//! Pipeline texts: `graph-fuse{max-ops=8},mlir(canonicalize,cse)`.

use crate::registry;

/// One step of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// One of neap's passes with its option words.
    Pass(&'static str, Vec<String>),
    /// A textual pipeline of MLIR's own passes.
    Mlir(String),
    /// A conversion to a lower level, by its position in [`registry::CONVERSIONS`]; the driver runs it.
    Conversion(&'static str),
}

impl Step {
    /// Its name as reports and `--dump-ir-after` have it.
    pub fn name(&self) -> String {
        match self {
            Step::Pass(name, _) | Step::Conversion(name) => name.to_string(),
            Step::Mlir(text) => format!("mlir({text})"),
        }
    }
}

/// What is wrong with a pipeline text, with the way out.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PipelineError {
    /// No pass has this name.
    #[error("unknown pass '{name}'{}; `neap-opt --list-passes` shows all", hint.as_ref().map(|h| format!(", did you mean '{h}'?")).unwrap_or_default())]
    Unknown {
        /// As written.
        name: String,
        /// The closest name there is.
        hint: Option<String>,
    },
    /// Brackets do not match or a name is missing.
    #[error(
        "pipeline text is malformed at '{0}': expected name, name{{option=value ...}} or mlir(...), separated by commas"
    )]
    Malformed(String),
    /// The pass refuses an option.
    #[error("pass '{pass}': {message}")]
    Options {
        /// Pass name.
        pass: &'static str,
        /// From clap.
        message: String,
    },
}

/// Parses a pipeline text and checks every option.
pub fn parse(text: &str) -> Result<Vec<Step>, PipelineError> {
    let mut steps = vec![];
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find(['{', '(', ',']).unwrap_or(rest.len());
        let name = rest[..end].trim();
        if name.is_empty() {
            return Err(PipelineError::Malformed(rest.into()));
        }
        let (step, tail) = if name == "mlir" {
            let (inner, tail) =
                bracketed(&rest[end..], '(', ')').ok_or_else(|| PipelineError::Malformed(rest.into()))?;
            (Step::Mlir(inner.to_string()), tail)
        } else if let Some((name, _)) = registry::CONVERSIONS.iter().find(|(n, _)| *n == name) {
            (Step::Conversion(name), &rest[end..])
        } else {
            let pass = registry::find(name).ok_or_else(|| unknown(name))?;
            let (options, tail) = if rest[end..].starts_with('{') {
                let (inner, tail) =
                    bracketed(&rest[end..], '{', '}').ok_or_else(|| PipelineError::Malformed(rest.into()))?;
                (inner.split_whitespace().map(String::from).collect(), tail)
            } else {
                (vec![], &rest[end..])
            };
            pass.check(&options).map_err(|message| PipelineError::Options { pass: pass.name(), message })?;
            (Step::Pass(pass.name(), options), tail)
        };
        steps.push(step);
        rest = match tail.trim_start() {
            "" => "",
            t => match t.strip_prefix(',').map(str::trim_start) {
                Some(t) if !t.is_empty() => t,
                _ => return Err(PipelineError::Malformed(t.into())),
            },
        };
    }
    Ok(steps)
}

fn bracketed(text: &str, open: char, close: char) -> Option<(&str, &str)> {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return Some((&text[1..i], &text[i + 1..]));
            }
        } else if depth == 0 {
            return None;
        }
    }
    None
}

fn unknown(name: &str) -> PipelineError {
    let hint = registry::names().map(|p| (distance(name, p), p)).min();
    PipelineError::Unknown { name: name.into(), hint: hint.filter(|(d, _)| *d <= 4).map(|(_, p)| p.into()) }
}

/// Levenshtein distance in bytes; names are ASCII and short.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.bytes().enumerate() {
            let next = (diagonal + usize::from(ca != cb)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], next);
        }
    }
    row[b.len()]
}
