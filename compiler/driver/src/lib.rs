//! The driver: sessions, phases and the command line of `neap` and `neap-opt`.

mod arrays;
mod buffers;
mod cli;
mod cmd;
pub mod compile;
mod diagnostics;
mod failure;
mod feed;
mod files;
mod library;
pub mod load;
mod machine;
mod main_neap;
mod main_opt;
mod steps;

pub use failure::Failure;
pub use main_neap::main_neap;
pub use main_opt::{OptOutput, main_opt, opt_main};
