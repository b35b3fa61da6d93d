//! The memory planner: an order of the ops, an offset for every tensor, and a certificate of how low the peak can be.
//!
//! [`Problem`] is plain data, made by [`Problem::builder`] and checked by [`ProblemBuilder::build`]. [`solve`] answers with a
//! [`Solution`] and a [`Certificate`]; [`check`] replays both and shares no code with the solvers.
//! See `docs/planner.md`.

#![forbid(unsafe_code)]

// The tests inside use the same problems as those outside.
#[cfg(test)]
extern crate self as neap_plan;

mod bound;
mod build;
mod check;
mod choose;
mod evaluate;
pub mod formats;
mod joint;
mod lifetime;
mod limits;
pub mod order;
pub mod place;
mod problem;
mod random;
pub mod report;
mod sharing;
mod solution;
mod solve;
#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;

pub use build::{MAX_TOTAL_BYTES, ProblemError};
pub use check::{BoundCheck, Violation, check, check_placement};
pub use limits::{Effort, Limits, Objective};
pub use problem::{Home, Op, OpId, Problem, ProblemBuilder, Share, ShareId, ShareKind, Tensor, TensorId};
pub use solution::{Certificate, Place, Solution, Witness};
pub use solve::{PlanError, Planned, simple_arena, solve};
