//! What may go wrong while evaluating.

/// Why a value could not be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// Operands, attributes or result types that the op does not allow.
    #[error("{0}")]
    Illegal(String),
    /// A size that is still symbolic.
    #[error("{what} has the size {dim}, which the inputs do not settle; give it a number")]
    Symbolic {
        /// Whose size.
        what: String,
        /// The size.
        dim: String,
    },
    /// More bytes than this machine can address.
    #[error("{0} is too large to evaluate")]
    TooLarge(String),
    /// A `graph.weight` whose key nobody holds.
    #[error("there is no weight under the key {0}")]
    UnknownWeight(String),
    /// An input that does not fit the body's argument.
    #[error("input {name} is {found}, expected {expected}")]
    Input {
        /// Name or position of the argument.
        name: String,
        /// Type given.
        found: String,
        /// Type wanted.
        expected: String,
    },
    /// An error inside a body, with the node.
    #[error("node {node}: {source}")]
    AtNode {
        /// ONNX node names.
        node: String,
        /// What happened.
        source: Box<EvalError>,
    },
}
