//! How values of the explicit level lie in Cranelift's.

use crate::types::{Elem, ValueType};
use cranelift_codegen::ir::{Type, Value, types};

/// Bits of a vector register.
pub(super) const PART: u32 = 128;

/// A value: one part for scalars and buffers, 128-bit parts for vectors (the last one padded with anything).
#[derive(Clone, Debug)]
pub(super) struct Val {
    /// Type at the explicit level.
    pub(super) ty: ValueType,
    /// Bits of a lane as it lies here: the element's, but for truth vectors any of 8 to 64 (all ones or all zeros).
    pub(super) width: u32,
    /// Cranelift's values.
    pub(super) parts: Vec<Value>,
}

impl Val {
    /// A scalar or a buffer's address.
    pub(super) fn single(ty: ValueType, value: Value) -> Self {
        Self { ty, width: width(ty.elem()), parts: vec![value] }
    }

    /// A vector of elements as wide as in memory.
    pub(super) fn vector(elem: Elem, lanes: u32, parts: Vec<Value>) -> Self {
        Self { ty: ValueType::Vector(elem, lanes), width: width(elem), parts }
    }

    /// A truth vector.
    pub(super) fn mask(lanes: u32, width: u32, parts: Vec<Value>) -> Self {
        Self { ty: ValueType::Vector(Elem::I1, lanes), width, parts }
    }

    /// Lanes of a vector; 1 otherwise.
    pub(super) fn lanes(&self) -> u32 {
        match self.ty {
            ValueType::Vector(_, lanes) => lanes,
            ValueType::Scalar(_) | ValueType::Buffer(_) => 1,
        }
    }

    /// Whether it is a vector.
    pub(super) fn is_vector(&self) -> bool {
        matches!(self.ty, ValueType::Vector(..))
    }
}

/// Bits of an element in a register; truth scalars are bytes of 0 or 1, truth vectors are made 32 bits wide.
pub(super) const fn width(elem: Elem) -> u32 {
    match elem {
        Elem::I1 => 32,
        other => other.bits(),
    }
}

/// Type of a scalar.
pub(super) const fn scalar_type(elem: Elem) -> Type {
    match elem {
        Elem::I1 | Elem::I8 => types::I8,
        Elem::I16 => types::I16,
        Elem::I32 => types::I32,
        Elem::I64 | Elem::Index => types::I64,
        Elem::F32 => types::F32,
        Elem::F64 => types::F64,
    }
}

/// Type of a vector part.
pub(super) const fn part_type(elem: Elem) -> Type {
    match elem {
        Elem::F32 => types::F32X4,
        Elem::F64 => types::F64X2,
        other => mask_type(width(other)),
    }
}

/// Integer vector type with lanes of this many bits.
pub(super) const fn mask_type(width: u32) -> Type {
    match width {
        8 => types::I8X16,
        16 => types::I16X8,
        32 => types::I32X4,
        _ => types::I64X2,
    }
}

/// How many parts hold `lanes` lanes of `width` bits.
pub(super) const fn part_count(lanes: u32, width: u32) -> usize {
    (lanes * width).div_ceil(PART) as usize
}

/// Cranelift types of a value, as block parameters.
pub(super) fn param_types(ty: ValueType) -> Vec<Type> {
    match ty {
        ValueType::Scalar(elem) => vec![scalar_type(elem)],
        ValueType::Buffer(_) => vec![types::I64],
        ValueType::Vector(elem, lanes) => vec![part_type(elem); part_count(lanes, width(elem))],
    }
}
