//! What stands in the way of importing a model, each in one line: what, where, and the way out.

/// One reason why a model cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// An operator, or a way of using it, that neap has no converter for.
    #[error("operator {op} (domain {domain}, opset {opset}) is not supported in {count} node{s}, first `{node}`: {reason}", s = if *.count == 1 { "" } else { "s" })]
    Unsupported {
        /// Operator name.
        op: String,
        /// Its domain, `ai.onnx` for ONNX's own.
        domain: String,
        /// The opset version it is used at.
        opset: i64,
        /// How many nodes.
        count: usize,
        /// Name of the first of them.
        node: String,
        /// Why, and what to do.
        reason: String,
    },
    /// A node that contradicts ONNX: operands that do not fit, attributes of the wrong kind.
    #[error("node `{node}` ({op}): {reason}")]
    Invalid {
        /// Name of the node.
        node: String,
        /// Operator name.
        op: String,
        /// What is wrong.
        reason: String,
    },
    /// A model input or output that cannot be used.
    #[error("{place} `{name}`: {reason}")]
    Interface {
        /// `input` or `output`.
        place: &'static str,
        /// Its name.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A size was given for a dim that the model does not have, or contradicting sizes.
    #[error("dim {key}={size}: {reason}")]
    Dim {
        /// The key as given.
        key: String,
        /// The size as given.
        size: u64,
        /// What is wrong.
        reason: String,
    },
    /// An open dim whose size must be known to go on.
    #[error("node `{node}` ({op}) needs the size of {dims}; give it with {options}")]
    OpenDim {
        /// Name of the node.
        node: String,
        /// Operator name.
        op: String,
        /// The dims' names.
        dims: String,
        /// The options to write.
        options: String,
    },
}

/// Why a converter gave up on a node; the walk adds the node.
#[derive(Clone, Debug)]
pub(super) enum Refusal {
    /// neap cannot do this.
    Unsupported(String),
    /// The model is wrong.
    Invalid(String),
    /// These dims must be known.
    Open(Vec<String>),
    /// An operand comes from a node that failed before; nothing new to say.
    Poisoned,
}

/// Shape inference and checks report plain lines.
impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Refusal::Invalid(reason)
    }
}

/// What converters return.
pub(super) type Res<T> = Result<T, Refusal>;

/// neap cannot do this.
pub(super) fn unsupported<T>(reason: impl Into<String>) -> Res<T> {
    Err(Refusal::Unsupported(reason.into()))
}

/// The model is wrong.
pub(super) fn invalid<T>(reason: impl Into<String>) -> Res<T> {
    Err(Refusal::Invalid(reason.into()))
}
