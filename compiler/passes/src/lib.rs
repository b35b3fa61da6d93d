//! Passes: what a pass is, how a pipeline is written and run, and the graph-level passes.
//!
//! A graph pass decides and works on plain data ([`neap_optable::Body`]); the manager reads it from MLIR and writes it back
//! only where a step or a dump needs MLIR. See `docs/add-a-pass.md`.

pub mod graph;
pub mod import;
mod manager;
mod pass;
mod pipeline;
mod registry;
mod rewrite;
mod steps;

pub use manager::{Dump, Manager, PassTime};
pub use pass::{Changed, Cx, Erased, ErasedPass, Func, GraphPass, PassError};
pub use pipeline::{PipelineError, Step, parse};
pub use registry::{CONVERSIONS, PASSES, find, passes, register};
pub use rewrite::{Rebuild, live_nodes};
pub use steps::{Applied, Limits, StepKind, Steps};
