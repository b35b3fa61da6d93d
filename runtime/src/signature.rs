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

/// Whether a buffer of `found` bytes at an address has the size of its tensor and the alignment of its element.
pub(crate) fn check_bytes(kind: Kind, info: &TensorInfo, address: *const u8, found: usize) -> Result<(), Error> {
    let expected = info.bytes().unwrap_or(u64::MAX);
    let found = found as u64;
    if found != expected {
        let ty = format!("{}{:?}", info.dtype.name(), info.dims);
        return Err(Error::Bytes { kind: kind.name(), name: info.name.clone(), ty, expected, found });
    }
    let align = info.dtype.size();
    if found > 0 && (address.is_null() || !(address.addr() as u64).is_multiple_of(align)) {
        return Err(Error::Unaligned { kind: kind.name(), name: info.name.clone(), align });
    }
    Ok(())
}

/// Whether no output lies in the same memory as an input or another output. All buffers are as long as their tensors.
pub(crate) fn check_disjoint(model: &Model, inputs: &[*const u8], outputs: &[*mut u8]) -> Result<(), Error> {
    let span = |start: *const u8, info: &TensorInfo| (start.addr(), start.addr() + info.bytes().unwrap_or(0) as usize);
    for (index, (output, info)) in outputs.iter().zip(model.outputs()).enumerate() {
        let (start, end) = span(*output, info);
        let read = inputs.iter().copied().zip(model.inputs());
        let written = outputs[..index].iter().map(|o| o.cast_const()).zip(model.outputs());
        for (other, known) in read.chain(written) {
            let (from, to) = span(other, known);
            if start < to && from < end {
                return Err(Error::Overlap { output: info.name.clone(), other: known.name.clone() });
            }
        }
    }
    Ok(())
}

fn list(tensors: &[TensorInfo]) -> String {
    if tensors.is_empty() {
        return "none".into();
    }
    tensors.iter().map(TensorInfo::to_string).collect::<Vec<_>>().join(", ")
}
