//! The op table: what every operator of neap's dialects is, as plain data.
//!
//! `generated` is written from `dialects/mlir/td` by the example `neap-gen` (see `docs/add-an-op.md`); the rest is by hand:
//! element types, symbolic sizes, attribute values and shape inference. No MLIR here.

mod attr;
mod body;
mod dim;
mod dtype;
mod facts;
mod generated;
mod infer;
pub mod resample;
mod row;
mod tensor;
mod tensor_type;
mod verify;

pub use attr::{Attr, Attrs};
pub use body::{Body, Node, ValueId, Weights};
pub use dim::{Atom, Dim};
pub use dtype::DType;
pub use facts::{flops, in_place, is_elementwise, is_view};
pub use generated::*;
pub use infer::{check, infer};
pub use row::{AttrKind, AttrRow, OpRow, ValueRow};
pub use tensor::{Element, Tensor};
pub use tensor_type::TensorType;
