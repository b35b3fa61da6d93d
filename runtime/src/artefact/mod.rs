//! The `.neap` container: a compiled model as a file or in memory.

mod layout;
mod read;
mod validate;
mod write;

use std::path::Path;

pub use write::{weight_offsets, write};

use crate::code::Code;
use crate::error::Error;
use crate::program::Program;
use crate::weights::Weights;

/// What is checksummed when an artefact is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Check {
    /// Header, program and code.
    #[default]
    Code,
    /// The weights as well, which reads all of them.
    Weights,
}

/// A compiled model whose sections were checked: every place its program names lies inside them.
#[derive(Debug)]
pub struct Artefact {
    pub(crate) label: String,
    pub(crate) program: Program,
    pub(crate) code: Code,
    pub(crate) weights: Weights,
}

impl Artefact {
    /// Maps the artefact at `path`.
    ///
    /// The file must not be changed in place while it is loaded; replacing it by renaming another over it is fine, and
    /// is what [`write`] does.
    pub fn open(path: impl AsRef<Path>, check: Check) -> Result<Artefact, Error> {
        read::open(path.as_ref(), check)
    }

    /// An artefact that never was a file. The weight blocks are laid at [`weight_offsets`].
    pub fn from_parts<W: AsRef<[u8]>>(
        program: Program,
        code: &[u8],
        weights: impl IntoIterator<Item = W>,
    ) -> Result<Artefact, Error> {
        let label = program.model.clone();
        let weights = Weights::copied(weights)?;
        validate::validate(&program, code.len() as u64, weights.bytes().len() as u64)
            .map_err(|what| Error::Inconsistent { path: label.clone(), what })?;
        Ok(Artefact { label, program, code: Code::copied(code)?, weights })
    }

    /// The host program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Bytes of machine code and constants.
    pub fn code_bytes(&self) -> u64 {
        self.code.len() as u64
    }

    /// Bytes of weights.
    pub fn weight_bytes(&self) -> u64 {
        self.weights.bytes().len() as u64
    }
}
