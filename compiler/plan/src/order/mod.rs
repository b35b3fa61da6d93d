//! Orders: which op runs when.

pub(crate) mod model;
mod simple;

pub use simple::{Simple, simple};
