//! Functions of one operand.

use neap_optable::{DType, UnaryKind};

use crate::explicit::{Builder, Cmp, Elem, V};
use crate::math;

/// As `graph.unary`; `x` is of type `dtype`.
pub fn unary<'c>(b: &Builder<'c>, kind: UnaryKind, dtype: DType, x: V<'c>) -> V<'c> {
    let y = if dtype.is_float() { float(b, kind, x) } else { integer(b, kind, dtype, x) };
    if kind.is_exact() { y } else { super::round(b, dtype, y) }
}

fn float<'c>(b: &Builder<'c>, kind: UnaryKind, x: V<'c>) -> V<'c> {
    let c = |v: f64| b.float(x.elem(), v);
    match kind {
        UnaryKind::Abs => b.abs(x),
        UnaryKind::Neg => b.neg(x),
        UnaryKind::Sign => {
            let y = b.select(b.cmp(Cmp::Gt, x, c(0.0)), c(1.0), x);
            b.select(b.cmp(Cmp::Lt, x, c(0.0)), c(-1.0), y)
        }
        UnaryKind::Exp => math::exp(b, x),
        UnaryKind::Log => math::log(b, x),
        UnaryKind::Sqrt => b.sqrt(x),
        UnaryKind::Reciprocal => b.div(c(1.0), x),
        UnaryKind::Sin => math::sin(b, x),
        UnaryKind::Cos => math::cos(b, x),
        UnaryKind::Tan => math::tan(b, x),
        UnaryKind::Tanh => math::tanh(b, x),
        UnaryKind::Erf => math::erf(b, x),
        UnaryKind::Sigmoid => math::sigmoid(b, x),
        UnaryKind::Relu => b.select(b.cmp(Cmp::Lt, x, c(0.0)), c(0.0), x),
        UnaryKind::Floor => b.floor(x),
        UnaryKind::Ceil => b.ceil(x),
        UnaryKind::Round => b.round_even(x),
        UnaryKind::Not => b.cmp(Cmp::Eq, x, c(0.0)),
        UnaryKind::Isnan => b.is_nan(x),
        UnaryKind::Isinf => b.cmp(Cmp::Eq, b.abs(x), c(f64::INFINITY)),
        UnaryKind::Softplus => math::softplus(b, x),
        UnaryKind::Asin => math::asin(b, x),
        UnaryKind::Acos => math::acos(b, x),
        UnaryKind::Atan => math::atan(b, x),
        UnaryKind::Sinh => math::sinh(b, x),
        UnaryKind::Cosh => math::cosh(b, x),
        UnaryKind::Asinh => math::asinh(b, x),
        UnaryKind::Acosh => math::acosh(b, x),
        UnaryKind::Atanh => math::atanh(b, x),
    }
}

/// On integers what has a meaning there is computed there; the rest is computed in f32 and converted back.
fn integer<'c>(b: &Builder<'c>, kind: UnaryKind, dtype: DType, x: V<'c>) -> V<'c> {
    let c = |v: i64| b.int(x.elem(), v);
    let signed = dtype.is_int() && !dtype.is_unsigned();
    match kind {
        UnaryKind::Abs if signed => b.select(b.cmp(Cmp::Lt, x, c(0)), b.neg(x), x),
        UnaryKind::Abs | UnaryKind::Floor | UnaryKind::Ceil | UnaryKind::Round => x,
        UnaryKind::Neg => b.neg(x),
        UnaryKind::Sign if signed => {
            let y = b.select(b.cmp(Cmp::Gt, x, c(0)), c(1), x);
            b.select(b.cmp(Cmp::Lt, x, c(0)), c(-1), y)
        }
        UnaryKind::Sign => b.min_u(x, c(1)),
        UnaryKind::Relu if signed => b.max(x, c(0)),
        UnaryKind::Relu => x,
        UnaryKind::Not if dtype == DType::Bool => b.not(x),
        UnaryKind::Not => b.cmp(Cmp::Eq, x, c(0)),
        UnaryKind::Isnan | UnaryKind::Isinf => b.zero(x.ty().with(Elem::I1)),
        UnaryKind::Exp
        | UnaryKind::Log
        | UnaryKind::Sqrt
        | UnaryKind::Reciprocal
        | UnaryKind::Sin
        | UnaryKind::Cos
        | UnaryKind::Tan
        | UnaryKind::Tanh
        | UnaryKind::Erf
        | UnaryKind::Sigmoid
        | UnaryKind::Softplus
        | UnaryKind::Asin
        | UnaryKind::Acos
        | UnaryKind::Atan
        | UnaryKind::Sinh
        | UnaryKind::Cosh
        | UnaryKind::Asinh
        | UnaryKind::Acosh
        | UnaryKind::Atanh => {
            let y = float(b, kind, super::cast(b, dtype, DType::F32, x));
            super::cast(b, DType::F32, dtype, y)
        }
    }
}
