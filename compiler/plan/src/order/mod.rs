//! Orders: which op runs when.

pub(crate) mod atoms;
mod cut;
mod decide;
mod flow;
mod local;
pub(crate) mod model;
mod parts;
pub(crate) mod plan;
mod search;
pub(crate) mod segment;
pub(crate) mod simple;
mod state;
#[cfg(test)]
mod tests;
mod windows;

pub use simple::{Simple, simple};
