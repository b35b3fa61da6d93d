//! Types and values of the explicit level.

use std::fmt;

use melior::Context;
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, Value};
use neap_optable::DType;

/// A scalar type; integers have no sign of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum Elem {
    F32,
    F64,
    I1,
    I8,
    I16,
    I32,
    I64,
    Index,
}

/// A scalar (no lanes) or a rank-1 vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ty {
    /// Element.
    pub elem: Elem,
    /// Lanes of a vector; 0 is a scalar.
    pub lanes: u32,
}

/// A value with its type: a scalar integer known while building, or an SSA value.
#[derive(Clone, Copy, Debug)]
pub struct V<'c> {
    pub(super) ty: Ty,
    pub(super) repr: Repr<'c>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Repr<'c> {
    Known(i64),
    Op(Value<'c, 'c>),
}

/// A flat buffer of elements: `memref<?xelem>`.
#[derive(Clone, Copy, Debug)]
pub struct Buf<'c> {
    /// Element.
    pub elem: Elem,
    pub(super) value: Value<'c, 'c>,
}

impl Elem {
    /// What holds a tensor element in memory: a bool is `i8`, a half-precision float its 16 bits.
    pub fn of(dtype: DType) -> Elem {
        match dtype {
            DType::F32 => Elem::F32,
            DType::F64 => Elem::F64,
            DType::I8 | DType::U8 | DType::Bool => Elem::I8,
            DType::F16 | DType::BF16 | DType::I16 | DType::U16 => Elem::I16,
            DType::I32 | DType::U32 => Elem::I32,
            DType::I64 | DType::U64 => Elem::I64,
        }
    }

    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, Elem::F32 | Elem::F64)
    }

    /// Bits; an index has 64.
    pub const fn bits(self) -> u32 {
        match self {
            Elem::I1 => 1,
            Elem::I8 => 8,
            Elem::I16 => 16,
            Elem::F32 | Elem::I32 => 32,
            Elem::F64 | Elem::I64 | Elem::Index => 64,
        }
    }

    /// Bytes in memory.
    pub const fn bytes(self) -> i64 {
        self.bits().div_ceil(8) as i64
    }

    /// As a scalar type.
    pub const fn scalar(self) -> Ty {
        Ty { elem: self, lanes: 0 }
    }

    /// As a vector type.
    pub const fn vector(self, lanes: u32) -> Ty {
        Ty { elem: self, lanes }
    }

    /// The MLIR type.
    pub fn mlir(self, cx: &Context) -> Type<'_> {
        match self {
            Elem::F32 => Type::float32(cx),
            Elem::F64 => Type::float64(cx),
            Elem::Index => Type::index(cx),
            Elem::I1 | Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 => IntegerType::new(cx, self.bits()).into(),
        }
    }

    /// An integer as this type keeps it: wrapped to the width and sign-extended, `I1` as 0 or 1.
    pub(super) fn wrap(self, v: i64) -> i64 {
        match self {
            Elem::I1 => v & 1,
            Elem::I8 => i64::from(v as i8),
            Elem::I16 => i64::from(v as i16),
            Elem::I32 => i64::from(v as i32),
            _ => v,
        }
    }
}

impl Ty {
    /// The same shape with another element.
    pub const fn with(self, elem: Elem) -> Ty {
        Ty { elem, lanes: self.lanes }
    }

    /// Whether it has no lanes.
    pub const fn is_scalar(self) -> bool {
        self.lanes == 0
    }

    /// The MLIR type.
    pub fn mlir(self, cx: &Context) -> Type<'_> {
        let elem = self.elem.mlir(cx);
        if self.is_scalar() { elem } else { Type::vector(&[u64::from(self.lanes)], elem) }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elem = format!("{:?}", self.elem).to_lowercase();
        if self.is_scalar() { f.write_str(&elem) } else { write!(f, "vector<{}x{elem}>", self.lanes) }
    }
}

impl V<'_> {
    /// Its type.
    pub const fn ty(&self) -> Ty {
        self.ty
    }

    /// Its element type.
    pub const fn elem(&self) -> Elem {
        self.ty.elem
    }

    /// Its value, if it is an integer or index scalar known while building.
    pub const fn known(&self) -> Option<i64> {
        match self.repr {
            Repr::Known(v) => Some(v),
            Repr::Op(_) => None,
        }
    }
}
