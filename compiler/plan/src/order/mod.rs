//! Orders: which op runs when.

mod simple;

pub use simple::{Simple, simple};
