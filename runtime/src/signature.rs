//! Checking what a caller hands in against the model's inputs and outputs. Allocates only to report an error.

use crate::error::Error;
use crate::model::Model;
use crate::program::{DType, TensorInfo};

/// Which side of a model.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Input,
    Output,
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Kind::Input => "input",
            Kind::Output => "output",
        }
    }

    pub(crate) fn tensors(self, model: &Model) -> &[TensorInfo] {
        match self {
            Kind::Input => model.inputs(),
            Kind::Output => model.outputs(),
        }
    }

    /// The error that a tensor is given `times` times.
    pub(crate) fn times(self, tensors: &[TensorInfo], name: &str, times: usize) -> Error {
        Error::Times { kind: self.name(), name: name.into(), times, known: list(tensors) }
    }
}

/// Position of the tensor of this name, which must not have been given before.
pub(crate) fn position(
    kind: Kind,
    tensors: &[TensorInfo],
    name: &str,
    given: impl Fn(usize) -> bool,
) -> Result<usize, Error> {
    match tensors.iter().position(|t| t.name == name) {
        Some(index) if given(index) => Err(kind.times(tensors, name, 2)),
        Some(index) => Ok(index),
        None => Err(Error::Name { kind: kind.name(), name: name.into(), known: list(tensors) }),
    }
}

/// Whether as many buffers are given as there are tensors.
pub(crate) fn check_count(kind: Kind, tensors: &[TensorInfo], found: usize) -> Result<(), Error> {
    if found == tensors.len() {
        return Ok(());
    }
    Err(Error::Count { kind: kind.name(), found, expected: tensors.len(), known: list(tensors) })
}

/// Whether a tensor has the element type and shape that the model was compiled for.
pub(crate) fn check_type(kind: Kind, info: &TensorInfo, dtype: DType, dims: &[u64]) -> Result<(), Error> {
    if info.dtype == dtype && info.dims == dims {
        return Ok(());
    }
    let text = |dtype: DType, dims: &[u64]| format!("{}{dims:?}", dtype.name());
    Err(Error::Type {
        kind: kind.name(),
        name: info.name.clone(),
        expected: text(info.dtype, &info.dims),
        found: text(dtype, dims),
    })
}

/// Whether a buffer has the size of its tensor and the alignment of its element.
pub(crate) fn check_bytes(kind: Kind, info: &TensorInfo, bytes: &[u8]) -> Result<(), Error> {
    let expected = info.bytes().unwrap_or(u64::MAX);
    let found = bytes.len() as u64;
    if found != expected {
        let ty = format!("{}{:?}", info.dtype.name(), info.dims);
        return Err(Error::Bytes { kind: kind.name(), name: info.name.clone(), ty, expected, found });
    }
    let align = info.dtype.size();
    if !(bytes.as_ptr().addr() as u64).is_multiple_of(align) && found > 0 {
        return Err(Error::Unaligned { kind: kind.name(), name: info.name.clone(), align });
    }
    Ok(())
}

fn list(tensors: &[TensorInfo]) -> String {
    if tensors.is_empty() {
        return "none".into();
    }
    tensors.iter().map(TensorInfo::to_string).collect::<Vec<_>>().join(", ")
}
