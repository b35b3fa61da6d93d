//! How reductions start and combine.

use neap_optable::{ArgKind, DType};

use crate::explicit::{Builder, Cmp, Elem, V};
use crate::ir::Combine;
use crate::scalar;

/// Least and largest value of an integer type.
fn range(dtype: DType) -> (i64, i64) {
    match dtype {
        DType::I8 => (i8::MIN.into(), i8::MAX.into()),
        DType::U8 => (0, u8::MAX.into()),
        DType::I16 => (i16::MIN.into(), i16::MAX.into()),
        DType::U16 => (0, u16::MAX.into()),
        DType::I32 => (i32::MIN.into(), i32::MAX.into()),
        DType::U32 => (0, u32::MAX.into()),
        // All bits set.
        DType::U64 => (0, -1),
        DType::Bool => (0, 1),
        _ => (i64::MIN, i64::MAX),
    }
}

/// The accumulators of one reduction before the first element; `dtype` is that of the elements.
pub(crate) fn start<'c>(b: &Builder<'c>, combine: Combine, dtype: DType, lanes: u32) -> Vec<V<'c>> {
    let e = scalar::elem(dtype);
    let number = |float: f64, int: i64| {
        let v = if e.is_float() { b.float(e, float) } else { b.int(e, int) };
        if lanes == 0 { v } else { b.broadcast(v, lanes) }
    };
    match combine {
        Combine::Sum | Combine::Fma | Combine::Any => vec![number(0.0, 0)],
        Combine::Prod | Combine::All => vec![number(1.0, 1)],
        Combine::Max => vec![number(f64::NEG_INFINITY, range(dtype).0)],
        Combine::Min => vec![number(f64::INFINITY, range(dtype).1)],
        Combine::Arg(..) => {
            let none = b.int(Elem::I64, -1);
            vec![number(0.0, 0), if lanes == 0 { none } else { b.broadcast(none, lanes) }]
        }
    }
}

/// acc and value combined; not for arg-reductions.
pub(crate) fn fold<'c>(
    b: &Builder<'c>,
    combine: Combine,
    dtype: DType,
    acc: V<'c>,
    value: V<'c>,
    second: Option<V<'c>>,
) -> V<'c> {
    use neap_optable::BinaryKind;
    let kind = match combine {
        Combine::Fma => {
            let second = second.expect("a contraction has two factors");
            return if dtype.is_float() { b.fma(value, second, acc) } else { b.add(acc, b.mul(value, second)) };
        }
        Combine::Sum => BinaryKind::Add,
        Combine::Prod => BinaryKind::Mul,
        Combine::Max => BinaryKind::Max,
        Combine::Min => BinaryKind::Min,
        Combine::Any => BinaryKind::Or,
        Combine::All => BinaryKind::And,
        Combine::Arg(..) => return acc,
    };
    // Sums of f16 and bf16 are rounded when they are stored.
    scalar::binary(b, kind, scalar::computed(dtype), acc, value)
}

/// (value, index) of the better of what is held and what comes; a NaN is the extreme of either kind.
pub(crate) fn fold_arg<'c>(
    b: &Builder<'c>,
    (kind, last): (ArgKind, bool),
    dtype: DType,
    held: &[V<'c>],
    value: V<'c>,
    index: V<'c>,
) -> Vec<V<'c>> {
    use neap_optable::CompareKind;
    let how = match (kind, last) {
        (ArgKind::Max, false) => CompareKind::Gt,
        (ArgKind::Max, true) => CompareKind::Ge,
        (ArgKind::Min, false) => CompareKind::Lt,
        (ArgKind::Min, true) => CompareKind::Le,
    };
    let mut better = scalar::compare(b, how, dtype, value, held[0]);
    if dtype.is_float() {
        let (now, before) = (b.is_nan(value), b.is_nan(held[0]));
        let nan = if last { now } else { b.and(now, b.not(before)) };
        better = b.or(better, nan);
    }
    better = b.or(better, b.cmp(Cmp::Lt, held[1], b.int(Elem::I64, 0)));
    vec![b.select(better, value, held[0]), b.select(better, index, held[1])]
}
