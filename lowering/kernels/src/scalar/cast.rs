//! Conversions.

use neap_optable::DType;

use super::{elem, half_precision, round};
use crate::explicit::{Builder, Cmp, Elem, V};

/// As `graph.cast`: `x` of type `from` as type `to`.
pub fn cast<'c>(b: &Builder<'c>, from: DType, to: DType, x: V<'c>) -> V<'c> {
    let e = elem(to);
    let unsigned = from.is_unsigned() || from == DType::Bool;
    match (from.is_float(), to.is_float()) {
        _ if from == to => x,
        (true, _) if to == DType::Bool => b.cmp(Cmp::Ne, x, b.float(x.elem(), 0.0)),
        (false, _) if to == DType::Bool => b.cmp(Cmp::Ne, x, b.int(x.elem(), 0)),
        (true, true) if from == DType::F64 && to.is_half() => round(b, to, half_precision::odd(b, x)),
        (true, true) if e.bits() > x.elem().bits() => b.ext_f(x, e),
        (true, true) => round(b, to, b.trunc_f(x, e)),
        (true, false) => saturate(b, to, x),
        // By way of f32.
        (false, true) if to.is_half() => round(b, to, cast(b, from, DType::F32, x)),
        // Conversions of single bits are selections, which every back end has.
        (false, true) if from == DType::Bool => b.select(x, b.float(e, 1.0), b.float(e, 0.0)),
        // Narrow ones go through i32, which every back end converts.
        (false, true) if x.elem().bits() < 32 => {
            b.si_to_fp(if unsigned { b.int_cast_u(x, Elem::I32) } else { b.int_cast_s(x, Elem::I32) }, e)
        }
        (false, true) => match x.known() {
            Some(v) => b.float(e, v as f64),
            None if unsigned => b.ui_to_fp(x, e),
            None => b.si_to_fp(x, e),
        },
        (false, false) if unsigned => b.int_cast_u(x, e),
        (false, false) => b.int_cast_s(x, e),
    }
}

/// Truncates towards zero, saturates, and sends NaN to 0; what the conversion sees is always in range.
fn saturate<'c>(b: &Builder<'c>, to: DType, x: V<'c>) -> V<'c> {
    let narrow = match to {
        DType::I8 => Some((i64::from(i8::MIN), i64::from(i8::MAX))),
        DType::U8 => Some((0, i64::from(u8::MAX))),
        DType::I16 => Some((i64::from(i16::MIN), i64::from(i16::MAX))),
        DType::U16 => Some((0, i64::from(u16::MAX))),
        _ => None,
    };
    if let Some((least, most)) = narrow {
        let y = saturate(b, DType::I32, x);
        let y = b.min(b.max(y, b.int(Elem::I32, least)), b.int(Elem::I32, most));
        return b.int_cast_s(y, elem(to));
    }
    if to == DType::U32 {
        let y = saturate(b, DType::I64, x);
        let y = b.min(b.max(y, b.int(Elem::I64, 0)), b.int(Elem::I64, i64::from(u32::MAX)));
        return b.int_cast_s(y, Elem::I32);
    }
    if to == DType::U64 {
        return saturate_u64(b, x);
    }
    let e = elem(to);
    let (end, least, most) = match to {
        DType::I32 => (2_147_483_648.0, i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (9_223_372_036_854_775_808.0, i64::MIN, i64::MAX),
    };
    let f = |v: f64| b.float(x.elem(), v);
    let (below, over) = (b.cmp(Cmp::Lt, x, f(-end)), b.cmp(Cmp::Ge, x, f(end)));
    let inside = b.and(b.cmp(Cmp::Ge, x, f(-end)), b.cmp(Cmp::Lt, x, f(end)));
    let y = b.fp_to_si(b.select(inside, x, f(0.0)), e);
    let y = b.select(below, b.int(e, least), y);
    b.select(over, b.int(e, most), y)
}

/// As [`saturate`]; numbers of 2^63 and more are converted without their 2^63.
fn saturate_u64<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    let (e, half, end) = (Elem::I64, 9_223_372_036_854_775_808.0, 18_446_744_073_709_551_616.0);
    let f = |v: f64| b.float(x.elem(), v);
    let top = b.and(b.cmp(Cmp::Ge, x, f(half)), b.cmp(Cmp::Lt, x, f(end)));
    let low = b.and(b.cmp(Cmp::Ge, x, f(0.0)), b.cmp(Cmp::Lt, x, f(half)));
    let y = b.fp_to_si(b.select(top, b.sub(x, f(half)), b.select(low, x, f(0.0))), e);
    let y = b.select(top, b.xor(y, b.int(e, i64::MIN)), y);
    b.select(b.cmp(Cmp::Ge, x, f(end)), b.int(e, -1), y)
}
