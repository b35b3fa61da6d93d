//! ONNX to the graph level.
//!
//! The import is an abstract interpreter: each ONNX value has a type with symbolic dims and, where they are known, its
//! elements (numbers, or integers as expressions over open dims). What is computed from known elements is computed here,
//! so shape arithmetic disappears; nothing is emitted before something at run time needs it. Operators with parameters
//! become primitive ones (see `ops`), and broadcasting becomes explicit.
//!
//! Plain data in, plain data out: no MLIR here.

mod build;
mod cx;
mod dims;
mod error;
mod finish;
mod fold;
mod four_bits;
mod op;
mod ops;
mod table;
mod walk;

use std::collections::BTreeMap;

use neap_optable::{Body, Weights};

pub use dims::{OpenDim, bind_dims, open_dims};
pub use error::ImportError;

/// How to import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Sizes of open dims, by the dim's name in the model or by `INPUT.AXIS`.
    pub dims: BTreeMap<String, u64>,
}

/// A model at the graph level.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The graph; arguments and results are the model's inputs and outputs, in order and with their names.
    pub body: Body,
    /// What its `graph.weight` nodes name.
    pub weights: Weights,
    /// Dims of the inputs that are still open, in order of first occurrence.
    pub open: Vec<OpenDim>,
}

/// Imports a model.
///
/// # Errors
/// Everything that stands in the way, at once: all unsupported operators, contradictions in nodes, types neap does not
/// have, and open dims whose size is needed.
pub fn import(model: &neap_onnx::Model, options: &ImportOptions) -> Result<Imported, Vec<ImportError>> {
    let inputs = dims::input_types(model, options)?;
    let walk::Walked { body, weights } = walk::run(model, &inputs)?;
    let open = open_dims(model, options)?;
    let (body, weights) = finish::without_dead_code(body, weights);
    Ok(Imported { body, weights, open })
}
