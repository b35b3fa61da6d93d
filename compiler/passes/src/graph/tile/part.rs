//! Parts of values along one dim.

use neap_optable::{Dim, TensorType};

/// Elements `begin..end` along one dim of a value; all of its other dims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// The dim.
    pub dim: usize,
    /// First element.
    pub begin: u64,
    /// One past the last element.
    pub end: u64,
}

impl Part {
    /// How many elements along the dim.
    pub fn len(&self) -> u64 {
        self.end - self.begin
    }

    /// The same range along another dim.
    pub(super) fn along(self, dim: usize) -> Part {
        Part { dim, ..self }
    }

    /// The least part around both, if they lie along one dim.
    pub(super) fn hull(self, other: Part) -> Option<Part> {
        let along = self.dim == other.dim;
        along.then(|| Part { begin: self.begin.min(other.begin), end: self.end.max(other.end), ..self })
    }

    /// The type of this part of a value.
    pub(super) fn of(&self, ty: &TensorType) -> TensorType {
        let mut ty = ty.clone();
        ty.dims[self.dim] = Dim::from(self.len());
        ty
    }
}

/// What a tile needs of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    /// All of it.
    Whole,
    /// A part.
    Part(Part),
}

impl Need {
    /// What serves both: parts along different dims are served by the whole.
    pub(super) fn with(self, other: Need) -> Need {
        match (self, other) {
            (Need::Part(a), Need::Part(b)) => a.hull(b).map_or(Need::Whole, Need::Part),
            _ => Need::Whole,
        }
    }
}

/// A dim's size, if known.
pub(super) fn size(ty: &TensorType, dim: usize) -> Result<u64, String> {
    let d = ty.dims.get(dim).ok_or_else(|| format!("{ty} has no dim {dim}"))?;
    d.as_const().ok_or_else(|| format!("dim {dim} of {ty} is open"))
}
