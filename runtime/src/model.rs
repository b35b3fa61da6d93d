//! A loaded model: checked, executable, shared by any number of sessions.

use std::path::Path;

use crate::abi::KernelEntry;
use crate::artefact::{Artefact, Check};
use crate::cpu;
use crate::error::Error;
use crate::program::{Program, TensorInfo};

/// Code and weights of a model, ready to run on this machine. Sessions share it through an `Arc`.
#[derive(Debug)]
pub struct Model {
    artefact: Artefact,
}

impl Model {
    /// Loads the artefact at `path`; see [`Artefact::open`].
    pub fn open(path: impl AsRef<Path>, check: Check) -> Result<Model, Error> {
        Model::new(Artefact::open(path, check)?)
    }

    /// Accepts an artefact if this machine can run its code.
    pub fn new(artefact: Artefact) -> Result<Model, Error> {
        cpu::check(&artefact.label, &artefact.program)?;
        Ok(Model { artefact })
    }

    /// The host program.
    pub fn program(&self) -> &Program {
        &self.artefact.program
    }

    /// The inputs in order.
    pub fn inputs(&self) -> &[TensorInfo] {
        &self.program().inputs
    }

    /// The outputs in order.
    pub fn outputs(&self) -> &[TensorInfo] {
        &self.program().outputs
    }

    /// What it was loaded from.
    pub fn artefact(&self) -> &Artefact {
        &self.artefact
    }

    pub(crate) fn weights(&self) -> &[u8] {
        self.artefact.weights.bytes()
    }

    pub(crate) fn entry(&self, offset: u64) -> Option<KernelEntry> {
        self.artefact.code.entry(offset)
    }

    pub(crate) fn damaged(&self, what: String) -> Error {
        Error::Damaged { path: self.artefact.label.clone(), what }
    }
}
