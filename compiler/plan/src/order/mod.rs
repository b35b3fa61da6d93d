//! Orders: which op runs when.

pub(crate) mod model;
pub(crate) mod plan;
mod search;
pub(crate) mod segment;
mod signature;
mod simple;

pub use simple::{Simple, simple};
