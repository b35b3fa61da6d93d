//! Orders: which op runs when.

pub(crate) mod model;
pub(crate) mod plan;
mod search;
mod segment;
mod signature;
mod simple;

pub use simple::{Simple, simple};
