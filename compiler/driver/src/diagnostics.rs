//! Errors as users see them: `error: ...` a line; for people at a terminal in colour, with the line of source that is named.

use std::io::IsTerminal;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use clap::ColorChoice;

/// Larger sources are not read again to show a line of them.
const MOST: u64 = 1 << 20;

/// Whether standard error is for a person who wants colours.
pub fn pretty(choice: ColorChoice) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            std::io::stderr().is_terminal()
                && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
                && std::env::var_os("TERM").is_none_or(|v| v != "dumb")
        }
    }
}

/// A failure's lines. Without `pretty` each is one line, for logs and other programs.
pub fn errors(message: &str, pretty: bool) -> String {
    let line = |l: &str| match pretty {
        true => format!("{}\n", one(l)),
        false => format!("error: {l}\n"),
    };
    message.lines().map(line).collect()
}

fn one(message: &str) -> String {
    let renderer = Renderer::styled();
    let Some(place) = Place::of(message) else {
        return renderer.render(&[Group::with_title(Level::ERROR.primary_title(message))]);
    };
    // MLIR says the severity after the place; here it stands in front.
    let (level, title) = match (place.rest.strip_prefix("note: "), place.rest.strip_prefix("error: ")) {
        (Some(rest), _) => (Level::NOTE, rest),
        (_, Some(rest)) => (Level::ERROR, rest),
        _ => (Level::ERROR, place.rest),
    };
    let (source, at) = place.excerpt();
    let snippet = Snippet::source(source)
        .line_start(place.line)
        .path(place.file)
        .annotation(AnnotationKind::Primary.span(at..at + 1));
    renderer.render(&[level.primary_title(title).element(snippet)])
}

/// `file:line:column: rest` or `file:line: rest` of a file that has this line.
struct Place<'m> {
    file: &'m str,
    line: usize,
    /// From 1.
    column: Option<usize>,
    rest: &'m str,
    source: String,
}

impl<'m> Place<'m> {
    fn of(message: &'m str) -> Option<Place<'m>> {
        let (before, rest) = message.split_once(": ")?;
        let (front, last) = before.rsplit_once(':')?;
        let number = |t: &str| t.parse::<usize>().ok().filter(|n| *n > 0);
        let (file, line, column) = match front.rsplit_once(':').and_then(|(file, line)| Some((file, number(line)?))) {
            Some((file, line)) => (file, line, Some(number(last)?)),
            None => (front, number(last)?, None),
        };
        let path = Path::new(file);
        path.metadata().ok().filter(|m| m.is_file() && m.len() <= MOST)?;
        let source = std::fs::read_to_string(path).ok()?.lines().nth(line - 1)?.to_string();
        Some(Place { file, line, column, rest, source })
    }

    /// The line without control characters, and the byte in it that the error points at. Long lines are cut when shown.
    fn excerpt(&self) -> (String, usize) {
        let text: String = self.source.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let first = text.find(|c: char| !c.is_whitespace()).unwrap_or(0);
        let mut at = self.column.map_or(first, |c| c - 1).min(text.len().saturating_sub(1));
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        (if text.is_empty() { " ".into() } else { text }, at)
    }
}
