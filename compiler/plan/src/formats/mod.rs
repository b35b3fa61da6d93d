//! Text formats.

pub mod csv;
pub mod json;
