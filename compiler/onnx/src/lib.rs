//! ONNX files as plain data: decoding protobuf and checking what it says, apart from any meaning of the operators.
//!
//! [`load`] or [`decode`] give a [`Model`] in which functions are inlined, subgraphs decoded, external data read, every
//! value has exactly one origin and nodes are in topological order. Nothing a file contains makes this crate panic.

use std::ops::RangeInclusive;

mod decode;
mod element;
mod error;
pub mod external;
mod function;
mod graph;
mod inspect;
mod load;
mod model;
mod order;
pub mod proto;
mod tensor;

pub use decode::{decode, from_proto};
pub use element::ElementType;
pub use error::Error;
pub use inspect::{Inspection, inspect};
pub use load::{load, load_with};
pub use model::{Attribute, DimInfo, Graph, Model, Node, Tensor, ValueInfo, ValueType};

/// Versions of the default opset that neap reads.
pub const OPSETS: RangeInclusive<i64> = 7..=28;
