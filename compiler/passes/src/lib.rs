//! The graph level's passes, and the way into it.

pub mod import;
