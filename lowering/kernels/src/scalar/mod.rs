//! Scalar operations of the loop level at the explicit level, on scalars or vectors.
//!
//! Bools are `i1` while computed with and bytes in memory, f16 and bf16 are f32 while computed with and 16 bits in memory
//! ([`from_memory`], [`to_memory`]); every operation on them rounds its result ([`round`]). Nothing here traps: integer divisions
//! by 0 give 0, shifts by the width or more shift everything out, conversions from floats saturate.

mod binary;
mod cast;
mod half_precision;
mod unary;

pub use binary::{binary, compare};
pub use cast::cast;
pub use half_precision::round;
pub use unary::unary;

use neap_optable::{DType, UnaryKind};

use crate::explicit::{Builder, Cmp, Elem, V};
use crate::ir::{Access, Buffer, BufferId, Nest, Scalar, ScalarOp};

/// What an element type is computed in.
pub fn elem(dtype: DType) -> Elem {
    match computed(dtype) {
        DType::Bool => Elem::I1,
        other => Elem::of(other),
    }
}

/// The element type whose arithmetic a type uses: f32 for f16 and bf16.
pub fn computed(dtype: DType) -> DType {
    if dtype.is_half() { DType::F32 } else { dtype }
}

/// A constant.
pub fn constant<'c>(b: &Builder<'c>, dtype: DType, v: Scalar) -> V<'c> {
    let e = elem(dtype);
    match v {
        Scalar::Float(v) if e.is_float() => b.float(e, dtype.rounded(v)),
        Scalar::Int(v) if e.is_float() => b.float(e, dtype.rounded(v as f64)),
        Scalar::Int(v) if dtype == DType::Bool => b.int(e, i64::from(v != 0)),
        Scalar::Int(v) => b.int(e, v),
        Scalar::Float(v) => b.int(e, v as i64),
    }
}

/// A loaded element as it is computed with.
pub fn from_memory<'c>(b: &Builder<'c>, dtype: DType, v: V<'c>) -> V<'c> {
    match dtype {
        DType::Bool => b.cmp(Cmp::Ne, v, b.int(Elem::I8, 0)),
        DType::F16 | DType::BF16 => half_precision::widen(b, dtype, v),
        _ => v,
    }
}

/// A value as it is stored; one of f16 or bf16 is rounded.
pub fn to_memory<'c>(b: &Builder<'c>, dtype: DType, v: V<'c>) -> V<'c> {
    match dtype {
        DType::Bool => b.int_cast_u(v, Elem::I8),
        DType::F16 | DType::BF16 => b.int_cast_s(half_precision::narrow(b, dtype, v), Elem::I16),
        _ => v,
    }
}

/// Element type of each operation of a nest.
pub fn dtypes(nest: &Nest, buffers: &[Buffer]) -> Vec<DType> {
    let of = |a: &Access| buffers[a.buffer.0].dtype;
    dtypes_of(&nest.ops, |i| of(&nest.reads[i]), |b| buffers[b.0].dtype)
}

/// Element type of each operation, given those of reads and buffers.
pub fn dtypes_of(ops: &[ScalarOp], read: impl Fn(usize) -> DType, buffer: impl Fn(BufferId) -> DType) -> Vec<DType> {
    let mut out: Vec<DType> = vec![];
    for op in ops {
        out.push(match op {
            ScalarOp::Read(i) => read(*i),
            ScalarOp::Load(id, _) => buffer(*id),
            ScalarOp::Const(t, _) | ScalarOp::Cast(t, _) => *t,
            ScalarOp::Iter(_) | ScalarOp::Size(_) => DType::I64,
            ScalarOp::Unary(UnaryKind::Isnan | UnaryKind::Isinf | UnaryKind::Not, _) | ScalarOp::Compare(..) => {
                DType::Bool
            }
            ScalarOp::Unary(_, a) | ScalarOp::Binary(_, a, _) | ScalarOp::Select(_, a, _) | ScalarOp::Fma(a, _, _) => {
                out[a.0]
            }
        });
    }
    out
}
