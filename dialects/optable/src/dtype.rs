//! Element types.

use std::fmt;

/// Element type of a tensor. `Bool` occupies one byte in memory, 0 or 1; all others are little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum DType {
    F32,
    F64,
    F16,
    BF16,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
}

impl DType {
    /// Bytes of one element in memory.
    pub const fn size(self) -> u64 {
        match self {
            DType::Bool | DType::I8 | DType::U8 => 1,
            DType::F16 | DType::BF16 | DType::I16 | DType::U16 => 2,
            DType::F32 | DType::I32 | DType::U32 => 4,
            DType::F64 | DType::I64 | DType::U64 => 8,
        }
    }

    /// Whether elements are floating-point numbers.
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F32 | DType::F64 | DType::F16 | DType::BF16)
    }

    /// Whether elements are floating-point numbers of 16 bits, which are computed with in f32.
    pub const fn is_half(self) -> bool {
        matches!(self, DType::F16 | DType::BF16)
    }

    /// Whether elements are integers (`Bool` is not).
    pub const fn is_int(self) -> bool {
        !self.is_float() && !matches!(self, DType::Bool)
    }

    /// Whether elements are integers without a sign.
    pub const fn is_unsigned(self) -> bool {
        matches!(self, DType::U8 | DType::U16 | DType::U32 | DType::U64)
    }

    /// The nearest number of a float type, ties to even; of other types the number itself. In one step: the `half` crate's
    /// conversions from f64 drop low digits, or round twice.
    pub fn rounded(self, v: f64) -> f64 {
        match self {
            DType::F32 => f64::from(v as f32),
            DType::F16 => half::f16::from_f32(odd(v)).to_f64(),
            DType::BF16 => half::bf16::from_f32(odd(v)).to_f64(),
            _ => v,
        }
    }

    /// Name as users see it and as MLIR spells the element type (`ui8` for unsigned, `i1` for `Bool`).
    pub const fn mlir_name(self) -> &'static str {
        match self {
            DType::F32 => "f32",
            DType::F64 => "f64",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::I8 => "i8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::U8 => "ui8",
            DType::U16 => "ui16",
            DType::U32 => "ui32",
            DType::U64 => "ui64",
            DType::Bool => "i1",
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DType::U8 => "u8",
            DType::U16 => "u16",
            DType::U32 => "u32",
            DType::U64 => "u64",
            DType::Bool => "bool",
            other => other.mlir_name(),
        })
    }
}

/// As f32 with the last bit set where something is lost, so that rounding on to fewer digits rounds once (S. Boldo,
/// G. Melquiond, "When double rounding is odd", 2005).
fn odd(v: f64) -> f32 {
    let near = v as f32;
    let (back, bits) = (f64::from(near), near.to_bits());
    if back == v || v.is_nan() || bits & 1 == 1 {
        return near;
    }
    f32::from_bits(if back.abs() > v.abs() { bits - 1 } else { bits + 1 })
}

#[cfg(test)]
mod tests {
    use super::DType;

    #[test]
    fn halves_round_once() {
        // Just above the middle of two neighbours, by less than f32 keeps.
        let above = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
        assert_eq!(DType::BF16.rounded(above), 1.0 + 2f64.powi(-7));
        assert_eq!(DType::BF16.rounded(1.0 + 2f64.powi(-8)), 1.0);
        assert_eq!(DType::F16.rounded(1.0 + 2f64.powi(-11) + 2f64.powi(-45)), 1.0 + 2f64.powi(-10));
        assert_eq!(DType::F16.rounded(-65_519.999), -65_504.0);
        assert_eq!(DType::F16.rounded(65_520.0), f64::INFINITY);
        assert_eq!(DType::BF16.rounded(f64::MAX), f64::INFINITY);
        assert!(DType::BF16.rounded(f64::NAN).is_nan());
    }
}
