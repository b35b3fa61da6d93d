//! Functions and comparisons of two operands.

use neap_optable::{BinaryKind, CompareKind, DType};

use crate::explicit::{Builder, Cmp, V};
use crate::math;

/// As `graph.binary`; both operands are of type `dtype`.
pub fn binary<'c>(b: &Builder<'c>, kind: BinaryKind, dtype: DType, x: V<'c>, y: V<'c>) -> V<'c> {
    match dtype.is_float() {
        true if matches!(kind, BinaryKind::Max | BinaryKind::Min) => float(b, kind, x, y),
        true => super::round(b, dtype, float(b, kind, x, y)),
        false => integer(b, kind, dtype, x, y),
    }
}

fn float<'c>(b: &Builder<'c>, kind: BinaryKind, x: V<'c>, y: V<'c>) -> V<'c> {
    match kind {
        BinaryKind::Add => b.add(x, y),
        BinaryKind::Sub => b.sub(x, y),
        BinaryKind::Mul => b.mul(x, y),
        BinaryKind::Div => b.div(x, y),
        BinaryKind::Pow => math::pow(b, x, y),
        BinaryKind::Max => b.max(x, y),
        BinaryKind::Min => b.min(x, y),
        BinaryKind::Mod => {
            let r = math::fmod(b, x, y);
            let zero = b.float(r.elem(), 0.0);
            let differ = b.xor(b.cmp(Cmp::Lt, r, zero), b.cmp(Cmp::Lt, y, zero));
            let moved = b.select(differ, b.add(r, y), r);
            b.select(b.cmp(Cmp::Eq, r, zero), b.copysign(r, y), moved)
        }
        BinaryKind::Fmod => math::fmod(b, x, y),
        BinaryKind::Atan2 => math::atan2(b, x, y),
        // Not defined on floats; the verifier refuses them.
        BinaryKind::And | BinaryKind::Or | BinaryKind::Xor | BinaryKind::Shl | BinaryKind::Shr => x,
    }
}

fn integer<'c>(b: &Builder<'c>, kind: BinaryKind, dtype: DType, x: V<'c>, y: V<'c>) -> V<'c> {
    let unsigned = dtype.is_unsigned() || dtype == DType::Bool;
    let boolean = dtype == DType::Bool;
    match kind {
        BinaryKind::Add if boolean => b.or(x, y),
        BinaryKind::Add => b.add(x, y),
        BinaryKind::Sub if boolean => b.xor(x, y),
        BinaryKind::Sub => b.sub(x, y),
        BinaryKind::Mul if boolean => b.and(x, y),
        BinaryKind::Mul => b.mul(x, y),
        BinaryKind::Max if boolean => b.or(x, y),
        BinaryKind::Max if unsigned => b.max_u(x, y),
        BinaryKind::Max => b.max(x, y),
        BinaryKind::Min if boolean => b.and(x, y),
        BinaryKind::Min if unsigned => b.min_u(x, y),
        BinaryKind::Min => b.min(x, y),
        BinaryKind::Div if boolean => b.and(x, y),
        BinaryKind::Div => divide(b, unsigned, x, y).0,
        BinaryKind::Fmod | BinaryKind::Mod if boolean => b.and(x, b.not(y)),
        BinaryKind::Fmod => divide(b, unsigned, x, y).1,
        BinaryKind::Mod => {
            let r = divide(b, unsigned, x, y).1;
            if unsigned {
                return r;
            }
            let zero = b.int(r.elem(), 0);
            let differ = b.xor(b.cmp(Cmp::Lt, r, zero), b.cmp(Cmp::Lt, y, zero));
            let moves = b.and(differ, b.cmp(Cmp::Ne, r, zero));
            b.select(moves, b.add(r, y), r)
        }
        BinaryKind::And => b.and(x, y),
        BinaryKind::Or => b.or(x, y),
        BinaryKind::Xor => b.xor(x, y),
        BinaryKind::Shl | BinaryKind::Shr if boolean => x,
        BinaryKind::Shl => b.select(inside(b, y), b.shl(x, count(b, y)), b.int(x.elem(), 0)),
        BinaryKind::Shr if unsigned => b.select(inside(b, y), b.shr_u(x, count(b, y)), b.int(x.elem(), 0)),
        BinaryKind::Shr => {
            let most = b.int(x.elem(), i64::from(x.elem().bits()) - 1);
            b.shr_s(x, b.select(inside(b, y), y, most))
        }
        BinaryKind::Pow if boolean => b.or(x, b.not(y)),
        BinaryKind::Pow if unsigned => math::pow_unsigned(b, x, y),
        BinaryKind::Pow => math::pow_signed(b, x, y),
        BinaryKind::Atan2 => {
            let f = |v| super::cast(b, dtype, DType::F32, v);
            super::cast(b, DType::F32, dtype, math::atan2(b, f(x), f(y)))
        }
    }
}

/// Whether a shift count is below the width (and not negative).
fn inside<'c>(b: &Builder<'c>, y: V<'c>) -> V<'c> {
    b.cmp(Cmp::Ult, y, b.int(y.elem(), i64::from(y.elem().bits())))
}

fn count<'c>(b: &Builder<'c>, y: V<'c>) -> V<'c> {
    b.and(y, b.int(y.elem(), i64::from(y.elem().bits()) - 1))
}

/// Quotient and remainder towards zero. By 0 both are 0; the least number by -1 wraps; neither traps.
fn divide<'c>(b: &Builder<'c>, unsigned: bool, x: V<'c>, y: V<'c>) -> (V<'c>, V<'c>) {
    let c = |v: i64| b.int(x.elem(), v);
    if let Some(k) = y.known()
        && k > 0
    {
        return if unsigned { (b.div_u(x, y), b.rem_u(x, y)) } else { (b.div(x, y), b.rem(x, y)) };
    }
    let zero = b.cmp(Cmp::Eq, y, c(0));
    if unsigned {
        let safe = b.select(zero, c(1), y);
        return (b.select(zero, c(0), b.div_u(x, safe)), b.select(zero, c(0), b.rem_u(x, safe)));
    }
    let minus = b.cmp(Cmp::Eq, y, c(-1));
    let special = b.or(zero, minus);
    let safe = b.select(special, c(1), y);
    let q = b.select(minus, b.neg(x), b.div(x, safe));
    (b.select(zero, c(0), q), b.select(special, c(0), b.rem(x, safe)))
}

/// As `graph.compare`; both operands are of type `dtype`.
pub fn compare<'c>(b: &Builder<'c>, kind: CompareKind, dtype: DType, x: V<'c>, y: V<'c>) -> V<'c> {
    let unsigned = dtype.is_unsigned();
    if dtype == DType::Bool {
        return match kind {
            CompareKind::Eq => b.not(b.xor(x, y)),
            CompareKind::Ne => b.xor(x, y),
            CompareKind::Lt => b.and(b.not(x), y),
            CompareKind::Le => b.or(b.not(x), y),
            CompareKind::Gt => b.and(x, b.not(y)),
            CompareKind::Ge => b.or(x, b.not(y)),
        };
    }
    let how = match kind {
        CompareKind::Eq => Cmp::Eq,
        CompareKind::Ne => Cmp::Ne,
        CompareKind::Lt if unsigned => Cmp::Ult,
        CompareKind::Lt => Cmp::Lt,
        CompareKind::Le if unsigned => Cmp::Ule,
        CompareKind::Le => Cmp::Le,
        CompareKind::Gt if unsigned => Cmp::Ugt,
        CompareKind::Gt => Cmp::Gt,
        CompareKind::Ge if unsigned => Cmp::Uge,
        CompareKind::Ge => Cmp::Ge,
    };
    b.cmp(how, x, y)
}
