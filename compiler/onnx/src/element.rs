//! Element types of ONNX tensors.

use std::fmt;

use crate::proto::DataType;

/// Element type of a tensor. Strings have none: neap computes on numbers only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are ONNX's")]
pub enum ElementType {
    F32,
    F64,
    F16,
    Bf16,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
    Complex64,
    Complex128,
    F8E4M3Fn,
    F8E4M3FnUz,
    F8E5M2,
    F8E5M2FnUz,
    F8E8M0,
    U4,
    I4,
    F4E2M1,
    U2,
    I2,
    F6E2M3,
    F6E3M2,
}

impl ElementType {
    /// The type with ONNX's number, or `None` for strings, "undefined" and numbers of no type.
    pub fn from_onnx(number: i32) -> Option<Self> {
        use ElementType as E;
        Some(match DataType::try_from(number).ok()? {
            DataType::Undefined | DataType::String => return None,
            DataType::Float => E::F32,
            DataType::Uint8 => E::U8,
            DataType::Int8 => E::I8,
            DataType::Uint16 => E::U16,
            DataType::Int16 => E::I16,
            DataType::Int32 => E::I32,
            DataType::Int64 => E::I64,
            DataType::Bool => E::Bool,
            DataType::Float16 => E::F16,
            DataType::Double => E::F64,
            DataType::Uint32 => E::U32,
            DataType::Uint64 => E::U64,
            DataType::Complex64 => E::Complex64,
            DataType::Complex128 => E::Complex128,
            DataType::Bfloat16 => E::Bf16,
            DataType::Float8e4m3fn => E::F8E4M3Fn,
            DataType::Float8e4m3fnuz => E::F8E4M3FnUz,
            DataType::Float8e5m2 => E::F8E5M2,
            DataType::Float8e5m2fnuz => E::F8E5M2FnUz,
            DataType::Uint4 => E::U4,
            DataType::Int4 => E::I4,
            DataType::Float4e2m1 => E::F4E2M1,
            DataType::Float8e8m0 => E::F8E8M0,
            DataType::Uint2 => E::U2,
            DataType::Int2 => E::I2,
            DataType::Float6e2m3 => E::F6E2M3,
            DataType::Float6e3m2 => E::F6E3M2,
        })
    }

    /// Bits of one element; types under 8 bits are packed, the first element in the lowest bits.
    pub const fn bits(self) -> u64 {
        use ElementType as E;
        match self {
            E::U2 | E::I2 => 2,
            E::U4 | E::I4 | E::F4E2M1 => 4,
            E::F6E2M3 | E::F6E3M2 => 6,
            E::I8 | E::U8 | E::Bool | E::F8E4M3Fn | E::F8E4M3FnUz | E::F8E5M2 | E::F8E5M2FnUz | E::F8E8M0 => 8,
            E::F16 | E::Bf16 | E::I16 | E::U16 => 16,
            E::F32 | E::I32 | E::U32 => 32,
            E::F64 | E::I64 | E::U64 | E::Complex64 => 64,
            E::Complex128 => 128,
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}
