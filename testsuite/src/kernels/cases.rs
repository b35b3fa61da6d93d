//! What is run: the reference's own cases, and larger random ones whose results the reference computes.

use neap_optable::{Attrs, Body, GraphOp, Tensor, TensorType};

/// One op or fusion on given operands.
pub struct Case {
    /// For reports.
    pub name: String,
    /// Operator.
    pub op: GraphOp,
    /// Its attributes.
    pub attrs: Attrs,
    /// The region of a fusion.
    pub region: Option<Body>,
    /// Operands.
    pub inputs: Vec<Tensor>,
    /// Types of the results.
    pub types: Vec<TensorType>,
    /// Results.
    pub outputs: Vec<Tensor>,
    /// Of floats, relative above 1 and absolute below.
    pub tolerance: f32,
}

/// All cases.
pub fn all() -> Vec<Case> {
    let no_kernel = [GraphOp::Constant, GraphOp::Weight, GraphOp::Yield, GraphOp::Fusion];
    neap_reference::cases::all()
        .into_iter()
        .filter(|c| !no_kernel.contains(&c.op))
        .map(|c| Case {
            name: c.name(),
            types: c.types(),
            op: c.op,
            attrs: c.attrs,
            region: None,
            inputs: c.inputs,
            outputs: c.outputs,
            tolerance: 4e-6,
        })
        .collect()
}
