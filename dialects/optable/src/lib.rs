//! The op table: what every operator of neap's dialects is, as plain data.
//!
//! `generated.rs` is written from `dialects/mlir/td` by `tools/` (see `docs/add-an-op.md`); the rest is by hand:
//! element types, symbolic sizes, attribute values and shape inference. No MLIR here.

mod attr;
mod body;
mod dim;
mod dtype;
mod generated;
mod tensor;
mod tensor_type;

pub use attr::{Attr, Attrs};
pub use body::{Body, Node, ValueId, Weights};
pub use dim::{Atom, Dim};
pub use dtype::DType;
pub use generated::*;
pub use tensor::{Element, Tensor};
pub use tensor_type::TensorType;
