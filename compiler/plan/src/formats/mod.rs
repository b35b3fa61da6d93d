//! Text formats.

pub mod csv;
pub mod json;

/// At most 40 characters of what a file holds.
fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 { text.to_string() } else { text.chars().take(40).chain("...".chars()).collect() }
}
