//! MLIR as neap uses it: the `graph`, `loop` and `segment` dialects, contexts, parsing, verifying, printing, and the way between
//! MLIR operations and the plain data of `neap-optable`.
//!
//! All unsafe code that talks to MLIR's C API about our dialects is in `ffi`; a [`melior::Context`] is neither `Send` nor `Sync`,
//! so each worker makes its own with [`context`].

mod context;
mod diagnostic;
mod element;
mod ffi;
pub mod graph;
pub mod ods;
pub mod symbols;

/// Looking into attributes, identifiers and values.
pub mod inspect {
    pub use crate::ffi::{Plain, attribute, entry, floats, identifier, ints, map_attribute, plain, value_key};
}

pub use context::{Locations, context, parse_module, print, run_upstream, verify};
pub use diagnostic::{Diagnostic, Diagnostics, Note, Severity, capture, place};
pub use element::{dtype, element};
