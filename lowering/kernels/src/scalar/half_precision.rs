//! f16 and bf16 as integer arithmetic, so that every CPU and code generator gives the same bits.
//!
//! The conversions of f16 are those of F. Giesen ("float_to_half_fast3_rtne", "half_to_float_fast5"): one f32 addition or
//! multiplication by a power of two rounds or scales what is subnormal there, everything else is integer arithmetic.

use neap_optable::DType;

use crate::explicit::{Builder, Cmp, Elem, V};

/// A value of f32 rounded to the nearest of the type, ties to even; of other types than f16 and bf16 the value itself.
pub fn round<'c>(b: &Builder<'c>, dtype: DType, x: V<'c>) -> V<'c> {
    match dtype {
        DType::F16 => widen(b, dtype, b.int_cast_s(narrow(b, dtype, x), Elem::I16)),
        DType::BF16 => b.bitcast(b.shl(narrow(b, dtype, x), b.int(Elem::I32, 16)), Elem::F32),
        _ => x,
    }
}

/// The f32 of 16 bits.
pub(super) fn widen<'c>(b: &Builder<'c>, dtype: DType, bits: V<'c>) -> V<'c> {
    let i = |v: i64| b.int(Elem::I32, v);
    let bits = b.int_cast_s(bits, Elem::I32);
    if dtype == DType::BF16 {
        return b.bitcast(b.shl(bits, i(16)), Elem::F32);
    }
    // Sign and digits in their places. Exponents of f16 start 112 lower; the product is exact, also of what is subnormal before.
    let placed = b.bitcast(b.and(b.shl(bits, i(13)), i(0x8fff_e000)), Elem::F32);
    let scaled = b.mul(placed, b.float(Elem::F32, 2f64.powi(112)));
    let special = b.cmp(Cmp::Ge, b.abs(scaled), b.float(Elem::F32, 65_536.0));
    let scaled = b.bitcast(scaled, Elem::I32);
    b.bitcast(b.select(special, b.or(scaled, i(0x7f80_0000)), scaled), Elem::F32)
}

/// The 16 bits of the nearest number, ties to even, in the low half of an i32; what is above them means nothing in bf16.
pub(super) fn narrow<'c>(b: &Builder<'c>, dtype: DType, x: V<'c>) -> V<'c> {
    let i = |v: i64| b.int(Elem::I32, v);
    let bits = b.bitcast(x, Elem::I32);
    if dtype == DType::BF16 {
        let odd = b.and(b.shr_u(bits, i(16)), i(1));
        let nearest = b.shr_u(b.add(b.add(bits, i(0x7fff)), odd), i(16));
        // Rounding a NaN could make it infinite.
        let nan = b.or(b.shr_u(bits, i(16)), i(0x40));
        return b.select(b.is_nan(x), nan, nearest);
    }
    let magnitude = b.and(bits, i(0x7fff_ffff));
    let sign = b.and(b.shr_u(bits, i(16)), i(0x8000));
    let odd = b.and(b.shr_u(magnitude, i(13)), i(1));
    let normal = b.shr_u(b.add(b.add(magnitude, i((-112 << 23) + 0xfff)), odd), i(13));
    // Adding 1/2 leaves f16's subnormal digits in the lowest bits, rounded.
    let moved = b.add(b.bitcast(magnitude, Elem::F32), b.float(Elem::F32, 0.5));
    let subnormal = b.sub(b.bitcast(moved, Elem::I32), i(0x3f00_0000));
    let finite = b.select(b.cmp(Cmp::Lt, magnitude, i(113 << 23)), subnormal, normal);
    let special = b.select(b.cmp(Cmp::Gt, magnitude, i(0x7f80_0000)), i(0x7e00), i(0x7c00));
    b.or(b.select(b.cmp(Cmp::Ge, magnitude, i(143 << 23)), special, finite), sign)
}

/// An f64 as f32 with the last bit set where something is lost, so that rounding the result to f16 or bf16 rounds the f64 once
/// (S. Boldo, G. Melquiond, "When double rounding is odd", 2005).
pub(super) fn odd<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    let i = |v: i64| b.int(Elem::I32, v);
    let near = b.trunc_f(x, Elem::F32);
    let back = b.ext_f(near, Elem::F64);
    let bits = b.bitcast(near, Elem::I32);
    let over = b.cmp(Cmp::Gt, b.abs(back), b.abs(x));
    let under = b.cmp(Cmp::Lt, b.abs(back), b.abs(x));
    let even = b.cmp(Cmp::Eq, b.and(bits, i(1)), i(0));
    let step = b.select(over, i(-1), b.select(under, i(1), i(0)));
    b.bitcast(b.select(even, b.add(bits, step), bits), Elem::F32)
}
