//! MLIR's diagnostics as plain data, captured instead of printed.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use melior::Context;
use melior::diagnostic::{Diagnostic as Raw, DiagnosticSeverity};
use melior::ir::Location;

use crate::ffi;

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The input is refused.
    Error,
    /// Suspicious, but accepted.
    Warning,
    /// Additional information.
    Remark,
}

/// A further explanation of a [`Diagnostic`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Place as `file:line:col` or a node name; empty if unknown.
    pub place: String,
    /// One sentence.
    pub message: String,
}

/// One message with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Place as `file:line:col` or a node name; empty if unknown.
    pub place: String,
    /// One sentence.
    pub message: String,
    /// Explanations in order.
    pub notes: Vec<Note>,
}

/// What went wrong in one call, in order; as an error it reads as its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostic {
    /// An error at a place.
    pub fn error(place: impl Into<String>, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Error, place: place.into(), message: message.into(), notes: vec![] }
    }

    /// An error at the location of an operation or value.
    pub fn at(location: Location<'_>, message: impl Into<String>) -> Self {
        Diagnostic::error(place(location), message)
    }

    /// Adds an explanation without a place of its own.
    pub fn note(mut self, message: impl Into<String>) -> Self {
        self.notes.push(Note { place: String::new(), message: message.into() });
        self
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(d: Diagnostic) -> Self {
        Diagnostics(vec![d])
    }
}

impl std::error::Error for Diagnostic {}
impl std::error::Error for Diagnostics {}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
        };
        line(f, &self.place, severity, &self.message)?;
        for note in &self.notes {
            f.write_str("\n")?;
            line(f, &note.place, "note", &note.message)?;
        }
        Ok(())
    }
}

fn line(f: &mut fmt::Formatter<'_>, place: &str, severity: &str, message: &str) -> fmt::Result {
    if !place.is_empty() {
        write!(f, "{place}: ")?;
    }
    write!(f, "{severity}: {message}")
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{d}")?;
        }
        Ok(())
    }
}

/// Runs `f` and returns its result with all diagnostics that MLIR emitted in `cx` meanwhile.
pub fn capture<R>(cx: &Context, f: impl FnOnce() -> R) -> (R, Diagnostics) {
    let sink = Rc::new(RefCell::new(vec![]));
    let handler = {
        let sink = sink.clone();
        cx.attach_diagnostic_handler(move |raw| {
            sink.borrow_mut().push(plain(&raw));
            true
        })
    };
    let result = f();
    cx.detach_diagnostic_handler(handler);
    let diagnostics = std::mem::take(&mut *sink.borrow_mut());
    (result, Diagnostics(diagnostics))
}

/// As [`capture`], for calls that say success as a bool: what was emitted is the error.
pub(crate) fn checked(cx: &Context, what: &str, f: impl FnOnce() -> bool) -> Result<(), Diagnostics> {
    let (ok, mut diagnostics) = capture(cx, f);
    if ok {
        return Ok(());
    }
    if diagnostics.0.is_empty() {
        diagnostics.0.push(Diagnostic::error("", format!("{what} failed without a message")));
    }
    Err(diagnostics)
}

/// `file:line:col`, or the names of a location joined by `+`; empty if it knows neither.
pub fn place(location: Location<'_>) -> String {
    let mut out = String::new();
    // Iterative, since fused locations may nest deeply.
    let mut stack = vec![location];
    while let Some(l) = stack.pop() {
        let name = if l.is_name() {
            let name = ffi::identifier(l.name_value());
            if name.is_empty() {
                stack.push(l.name_child_location());
            }
            name.to_string()
        } else if l.is_file_line_col_range() {
            let file = l.file_line_col_range_filename();
            let (line, col) = (l.file_line_col_range_start_line(), l.file_line_col_range_start_column());
            format!("{}:{line}:{col}", ffi::identifier(file))
        } else if l.is_fused() {
            for i in (0..l.fused_num_locations()).rev() {
                stack.push(l.fused_location(i));
            }
            continue;
        } else if l.is_call_site() {
            stack.push(l.call_site_callee());
            continue;
        } else {
            continue;
        };
        if !name.is_empty() {
            if !out.is_empty() {
                out.push('+');
            }
            out.push_str(&name);
        }
    }
    out
}

pub(crate) fn plain(raw: &Raw<'_>) -> Diagnostic {
    let notes = (0..raw.note_count()).filter_map(|i| raw.note(i).ok());
    Diagnostic {
        severity: match raw.severity() {
            DiagnosticSeverity::Error => Severity::Error,
            DiagnosticSeverity::Warning => Severity::Warning,
            DiagnosticSeverity::Note | DiagnosticSeverity::Remark => Severity::Remark,
        },
        place: place(raw.location()),
        message: raw.to_string(),
        notes: notes.map(|n| Note { place: place(n.location()), message: n.to_string() }).collect(),
    }
}
