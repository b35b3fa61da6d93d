//! The types of the explicit level, read from MLIR into plain data.

use melior::ir::{Type, TypeLike};
use mlir_sys as sys;

/// Element type of scalars, vectors and buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elem {
    /// Truth value; in buffers bool is `I8`.
    I1,
    /// 8-bit integer.
    I8,
    /// 16-bit integer.
    I16,
    /// 32-bit integer.
    I32,
    /// 64-bit integer.
    I64,
    /// Size or position; 64 bits.
    Index,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl Elem {
    /// Bits of one element in a register; 1 for truth values.
    pub const fn bits(self) -> u32 {
        match self {
            Self::I1 => 1,
            Self::I8 => 8,
            Self::I16 => 16,
            Self::I32 | Self::F32 => 32,
            Self::I64 | Self::Index | Self::F64 => 64,
        }
    }

    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }
}

/// A type that a value may have at the explicit level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// One element.
    Scalar(Elem),
    /// A rank-1 vector of fixed length.
    Vector(Elem, u32),
    /// A flat rank-1 memref.
    Buffer(Elem),
}

impl ValueType {
    /// Reads an MLIR type; the error says what is allowed.
    pub fn read(ty: Type<'_>) -> Result<Self, String> {
        if let Some(elem) = read_elem(ty) {
            return Ok(Self::Scalar(elem));
        }
        if ty.is_vector() {
            return read_vector(ty)
                .ok_or_else(|| format!("type {ty}: vectors are rank 1, fixed, of i1 to i64, index, f32 or f64"));
        }
        if ty.is_mem_ref() {
            return read_buffer(ty).ok_or_else(|| {
                format!("type {ty}: buffers are rank-1 memrefs of i8 to i64, f32 or f64 without layout or memory space")
            });
        }
        Err(format!("type {ty}: scalars are i1, i8, i16, i32, i64, index, f32 or f64"))
    }

    /// Element type.
    pub const fn elem(self) -> Elem {
        match self {
            Self::Scalar(elem) | Self::Vector(elem, _) | Self::Buffer(elem) => elem,
        }
    }
}

fn read_elem(ty: Type<'_>) -> Option<Elem> {
    let raw = ty.to_raw();
    // SAFETY: `raw` is a live type of a live context; the width is asked only of integer types.
    unsafe {
        if sys::mlirTypeIsAInteger(raw) {
            return match (sys::mlirIntegerTypeIsSignless(raw), sys::mlirIntegerTypeGetWidth(raw)) {
                (true, 1) => Some(Elem::I1),
                (true, 8) => Some(Elem::I8),
                (true, 16) => Some(Elem::I16),
                (true, 32) => Some(Elem::I32),
                (true, 64) => Some(Elem::I64),
                _ => None,
            };
        }
        if sys::mlirTypeIsAIndex(raw) {
            Some(Elem::Index)
        } else if sys::mlirTypeIsAF32(raw) {
            Some(Elem::F32)
        } else if sys::mlirTypeIsAF64(raw) {
            Some(Elem::F64)
        } else {
            None
        }
    }
}

fn shaped_elem(ty: Type<'_>) -> Option<Elem> {
    // SAFETY: callers pass vector and memref types, which are shaped.
    read_elem(unsafe { Type::from_raw(sys::mlirShapedTypeGetElementType(ty.to_raw())) })
}

fn read_vector(ty: Type<'_>) -> Option<ValueType> {
    let elem = shaped_elem(ty)?;
    let raw = ty.to_raw();
    // SAFETY: `raw` is a live vector type; dimension 0 exists where the rank is 1.
    let lanes = unsafe {
        if sys::mlirShapedTypeGetRank(raw) != 1 || sys::mlirVectorTypeIsScalable(raw) {
            return None;
        }
        sys::mlirShapedTypeGetDimSize(raw, 0)
    };
    Some(ValueType::Vector(elem, u32::try_from(lanes).ok()?))
}

fn read_buffer(ty: Type<'_>) -> Option<ValueType> {
    let elem = shaped_elem(ty)?;
    let raw = ty.to_raw();
    // SAFETY: `raw` is a live memref type.
    let plain = unsafe {
        sys::mlirShapedTypeGetRank(raw) == 1
            && sys::mlirAffineMapIsIdentity(sys::mlirMemRefTypeGetAffineMap(raw))
            && sys::mlirMemRefTypeGetMemorySpace(raw).ptr.is_null()
    };
    (plain && !matches!(elem, Elem::I1 | Elem::Index)).then_some(ValueType::Buffer(elem))
}
