//! Conversions.

use neap_optable::DType;

use super::elem;
use crate::explicit::{Builder, Cmp, Elem, V};

/// As `graph.cast`: `x` of type `from` as type `to`.
pub fn cast<'c>(b: &Builder<'c>, from: DType, to: DType, x: V<'c>) -> V<'c> {
    let e = elem(to);
    let unsigned = from.is_unsigned() || from == DType::Bool;
    match (from.is_float(), to.is_float()) {
        _ if from == to => x,
        (true, _) if to == DType::Bool => b.cmp(Cmp::Ne, x, b.float(x.elem(), 0.0)),
        (false, _) if to == DType::Bool => b.cmp(Cmp::Ne, x, b.int(x.elem(), 0)),
        (true, true) if e.bits() > x.elem().bits() => b.ext_f(x, e),
        (true, true) => b.trunc_f(x, e),
        (true, false) => saturate(b, to, x),
        // Conversions of single bits are selections, which every back end has.
        (false, true) if from == DType::Bool => b.select(x, b.float(e, 1.0), b.float(e, 0.0)),
        // i8 and u8 go through i32, which every back end converts.
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
        _ => None,
    };
    if let Some((least, most)) = narrow {
        let y = saturate(b, DType::I32, x);
        let y = b.min(b.max(y, b.int(Elem::I32, least)), b.int(Elem::I32, most));
        return b.int_cast_s(y, elem(to));
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
