//! Shapes and tensor types.

use std::fmt;

use crate::{DType, Dim};

/// Element type and dims of a tensor, each dim static or symbolic.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// Element type.
    pub dtype: DType,
    /// Dims, outermost first; empty for a 0-d tensor.
    pub dims: Vec<Dim>,
}

impl TensorType {
    /// A tensor type with all dims static.
    pub fn fixed(dtype: DType, dims: &[u64]) -> Self {
        TensorType { dtype, dims: dims.iter().map(|&d| Dim::from(d)).collect() }
    }

    /// Number of dims.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The dims as numbers, if all are static.
    pub fn static_dims(&self) -> Option<Vec<u64>> {
        self.dims.iter().map(Dim::as_const).collect()
    }

    /// Element count as an expression: the product of the dims.
    pub fn count(&self) -> Dim {
        self.dims.iter().fold(Dim::constant(1), |n, d| n.mul(d))
    }

    /// Element count, if all dims are static and the product fits in u64.
    pub fn elements(&self) -> Option<u64> {
        self.static_dims()?.into_iter().try_fold(1u64, u64::checked_mul)
    }

    /// Bytes of a dense row-major tensor of this type, if static and fitting in u64.
    pub fn bytes(&self) -> Option<u64> {
        self.elements()?.checked_mul(self.dtype.size())
    }
}

impl fmt::Display for TensorType {
    /// `f32[1, 3, h, w]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.dtype)?;
        for (i, d) in self.dims.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{d}")?;
        }
        f.write_str("]")
    }
}
