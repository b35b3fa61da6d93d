//! What can go wrong while code is generated.

/// A refused module, a target that cannot run it, or a fault of ours.
#[derive(Debug, thiserror::Error)]
pub enum CodegenError {
    /// An operation, type or attribute that the explicit level (docs/architecture.md) does not have.
    #[error("{op} at {location} is outside the explicit level: {reason}")]
    Illegal {
        /// Operation name.
        op: String,
        /// Source location, as MLIR prints it.
        location: String,
        /// What is wrong and what is allowed.
        reason: String,
    },
    /// Text or bytecode that MLIR cannot read.
    #[error("cannot read a kernel module: {0}")]
    Parse(String),
    /// A CPU that is unknown or lacks what the kernels need.
    #[error("target cpu {cpu}: {reason}")]
    Target {
        /// CPU name.
        cpu: String,
        /// What is wrong and the way out.
        reason: String,
    },
    /// Our fault: what the compiler must never produce.
    #[error("bug in code generation, {stage}: {reason}")]
    Bug {
        /// Kernel stage or step.
        stage: String,
        /// What went wrong.
        reason: String,
    },
}

impl CodegenError {
    /// A fault of ours in a step.
    pub(crate) fn bug(stage: impl Into<String>, reason: impl std::fmt::Display) -> Self {
        Self::Bug { stage: stage.into(), reason: reason.to_string() }
    }
}
