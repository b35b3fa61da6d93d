//! The graph dialect: functions to and from [`neap_optable::Body`].
//!
//! A function of the graph dialect is a `func.func` whose argument and result attributes `graph.name` hold the model's names, and
//! whose attribute `graph.symbols` lists what the symbols of its types' encodings mean (see [`crate::symbols`]). The location of an op
//! is a `NameLoc` of its node's name. Nothing here is written per op: the op table says what each one carries.

mod attrs;
mod check;
mod read;
mod types;
mod write;

pub use check::{check, occurs};
pub use read::{read, read_module};
pub use write::{write, write_module};

/// Name of a function argument's or result's attribute with the model's name for it.
const NAME: &str = "graph.name";
/// Name of a function's attribute with its symbols.
const SYMBOLS: &str = "graph.symbols";
