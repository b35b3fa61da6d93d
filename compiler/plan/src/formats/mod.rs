//! Text formats.

pub mod csv;
