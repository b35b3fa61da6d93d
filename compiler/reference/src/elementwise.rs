//! Elementwise operators and casts.

use neap_optable::{BinaryKind, CompareKind, DType, Tensor, UnaryKind};

use crate::values::{Num, Values, int_range, load, load_ints, store};

pub(crate) fn unary(kind: UnaryKind, x: &Tensor) -> Tensor {
    let values = match (load(x), kind) {
        (Values::Float(v), UnaryKind::Isnan) => Values::Int(v.iter().map(|x| i128::from(x.is_nan())).collect()),
        (Values::Float(v), UnaryKind::Isinf) => Values::Int(v.iter().map(|x| i128::from(x.is_infinite())).collect()),
        (Values::Float(v), _) => Values::Float(v.into_iter().map(|x| float_unary(kind, x)).collect()),
        (Values::Int(v), _) => Values::Int(v.into_iter().map(|x| int_unary(kind, x)).collect()),
    };
    let dtype = match kind {
        UnaryKind::Isnan | UnaryKind::Isinf => DType::Bool,
        _ => x.dtype,
    };
    store(dtype, &x.dims, &values)
}

/// A function of a float. libm rather than the platform's library, so that constant folding gives the same bits everywhere.
fn float_unary(kind: UnaryKind, x: f64) -> f64 {
    match kind {
        UnaryKind::Abs => x.abs(),
        UnaryKind::Neg => -x,
        UnaryKind::Sign => {
            if x.is_nan() || x == 0.0 {
                x
            } else {
                x.signum()
            }
        }
        UnaryKind::Exp => libm::exp(x),
        UnaryKind::Log => libm::log(x),
        UnaryKind::Sqrt => x.sqrt(),
        UnaryKind::Reciprocal => 1.0 / x,
        UnaryKind::Sin => libm::sin(x),
        UnaryKind::Cos => libm::cos(x),
        UnaryKind::Tan => libm::tan(x),
        UnaryKind::Tanh => libm::tanh(x),
        UnaryKind::Erf => libm::erf(x),
        UnaryKind::Sigmoid => sigmoid(x),
        UnaryKind::Relu => Num::larger(x, 0.0),
        UnaryKind::Floor => x.floor(),
        UnaryKind::Ceil => x.ceil(),
        UnaryKind::Round => x.round_ties_even(),
        UnaryKind::Softplus => Num::larger(x, 0.0) + libm::log1p(libm::exp(-x.abs())),
        UnaryKind::Asin => libm::asin(x),
        UnaryKind::Acos => libm::acos(x),
        UnaryKind::Atan => libm::atan(x),
        UnaryKind::Sinh => libm::sinh(x),
        UnaryKind::Cosh => libm::cosh(x),
        UnaryKind::Asinh => libm::asinh(x),
        UnaryKind::Acosh => libm::acosh(x),
        UnaryKind::Atanh => libm::atanh(x),
        // Not of floats; `isnan` and `isinf` give bools and are done above.
        UnaryKind::Not | UnaryKind::Isnan | UnaryKind::Isinf => x,
    }
}

/// 1 / (1 + exp(-x)) without overflow.
pub(crate) fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + libm::exp(-x))
    } else {
        let e = libm::exp(x);
        e / (1.0 + e)
    }
}

fn int_unary(kind: UnaryKind, x: i128) -> i128 {
    match kind {
        UnaryKind::Abs => x.abs(),
        UnaryKind::Neg => -x,
        UnaryKind::Sign => x.signum(),
        UnaryKind::Relu => Ord::max(x, 0),
        UnaryKind::Not => i128::from(x == 0),
        // Of floats only.
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
        | UnaryKind::Floor
        | UnaryKind::Ceil
        | UnaryKind::Round
        | UnaryKind::Isnan
        | UnaryKind::Isinf
        | UnaryKind::Softplus
        | UnaryKind::Asin
        | UnaryKind::Acos
        | UnaryKind::Atan
        | UnaryKind::Sinh
        | UnaryKind::Cosh
        | UnaryKind::Asinh
        | UnaryKind::Acosh
        | UnaryKind::Atanh => x,
    }
}

pub(crate) fn binary(kind: BinaryKind, a: &Tensor, b: &Tensor) -> Tensor {
    let values = match (load(a), load(b)) {
        (Values::Float(a), Values::Float(b)) => {
            Values::Float(a.into_iter().zip(b).map(|(x, y)| float_binary(kind, x, y)).collect())
        }
        (Values::Int(x), Values::Int(y)) => {
            Values::Int(x.into_iter().zip(y).map(|(x, y)| int_binary(kind, a.dtype, x, y)).collect())
        }
        // Both operands have one type.
        (other, _) => other,
    };
    store(a.dtype, &a.dims, &values)
}

fn float_binary(kind: BinaryKind, x: f64, y: f64) -> f64 {
    match kind {
        BinaryKind::Add => x + y,
        BinaryKind::Sub => x - y,
        BinaryKind::Mul => x * y,
        BinaryKind::Div => x / y,
        BinaryKind::Pow => libm::pow(x, y),
        BinaryKind::Max => Num::larger(x, y),
        BinaryKind::Min => Num::smaller(x, y),
        BinaryKind::Mod => {
            let r = libm::fmod(x, y);
            if r == 0.0 {
                r.copysign(y)
            } else if (r < 0.0) != (y < 0.0) {
                r + y
            } else {
                r
            }
        }
        BinaryKind::Fmod => libm::fmod(x, y),
        BinaryKind::Atan2 => libm::atan2(x, y),
        // Of integers and bools only.
        BinaryKind::And | BinaryKind::Or | BinaryKind::Xor | BinaryKind::Shl | BinaryKind::Shr => x,
    }
}

/// A function of two integers, wrapped when stored. A divisor of 0 gives 0, the least integer divided by -1 wraps to itself,
/// a shift by the width or more (or by a negative count) shifts everything out, and a negative exponent truncates.
fn int_binary(kind: BinaryKind, dtype: DType, x: i128, y: i128) -> i128 {
    let width = if dtype == DType::Bool { 1 } else { i128::from(dtype.size()) * 8 };
    match kind {
        BinaryKind::Add => x.wrapping_add(y),
        BinaryKind::Sub => x.wrapping_sub(y),
        BinaryKind::Mul => x.wrapping_mul(y),
        BinaryKind::Div => x.checked_div(y).unwrap_or(0),
        BinaryKind::Pow => int_pow(x, y),
        BinaryKind::Max => Ord::max(x, y),
        BinaryKind::Min => Ord::min(x, y),
        BinaryKind::Mod => match x.checked_rem(y) {
            None => 0,
            Some(r) if r != 0 && (r < 0) != (y < 0) => r + y,
            Some(r) => r,
        },
        BinaryKind::Fmod => x.checked_rem(y).unwrap_or(0),
        BinaryKind::And => x & y,
        BinaryKind::Or => x | y,
        BinaryKind::Xor => x ^ y,
        BinaryKind::Shl if (0..width).contains(&y) => x << y,
        BinaryKind::Shl => 0,
        BinaryKind::Shr if (0..width).contains(&y) => x >> y,
        BinaryKind::Shr => x >> 127,
        // Of floats only.
        BinaryKind::Atan2 => x,
    }
}

fn int_pow(x: i128, y: i128) -> i128 {
    match (x, y) {
        (1, _) => 1,
        (-1, _) => {
            if y % 2 == 0 {
                1
            } else {
                -1
            }
        }
        (_, ..0) => 0,
        _ => {
            let (mut base, mut left, mut out) = (x, y, 1i128);
            while left > 0 {
                if left & 1 == 1 {
                    out = out.wrapping_mul(base);
                }
                base = base.wrapping_mul(base);
                left >>= 1;
            }
            out
        }
    }
}

pub(crate) fn compare(kind: CompareKind, a: &Tensor, b: &Tensor) -> Tensor {
    fn go<T: PartialOrd>(kind: CompareKind, a: &[T], b: &[T]) -> Values {
        let holds = |(x, y): (&T, &T)| match kind {
            CompareKind::Eq => x == y,
            CompareKind::Ne => x != y,
            CompareKind::Lt => x < y,
            CompareKind::Le => x <= y,
            CompareKind::Gt => x > y,
            CompareKind::Ge => x >= y,
        };
        Values::Int(a.iter().zip(b).map(|p| i128::from(holds(p))).collect())
    }
    let values = match (load(a), load(b)) {
        (Values::Float(x), Values::Float(y)) => go(kind, &x, &y),
        (Values::Int(x), Values::Int(y)) => go(kind, &x, &y),
        (other, _) => other,
    };
    store(DType::Bool, &a.dims, &values)
}

pub(crate) fn select(condition: &Tensor, on_true: &Tensor, on_false: &Tensor) -> Tensor {
    let size = on_true.dtype.size() as usize;
    let mut data = Vec::with_capacity(on_true.data.len());
    for (i, c) in condition.data.iter().enumerate() {
        let from = if *c != 0 { on_true } else { on_false };
        data.extend_from_slice(&from.data[i * size..(i + 1) * size]);
    }
    Tensor { dtype: on_true.dtype, dims: on_true.dims.clone(), data: data.into() }
}

pub(crate) fn cast(x: &Tensor, to: DType) -> Tensor {
    if x.dtype == to {
        return x.clone();
    }
    let values = match (load(x), to) {
        (Values::Float(v), DType::Bool) => Values::Int(v.iter().map(|x| i128::from(*x != 0.0)).collect()),
        (values @ Values::Float(_), _) if to.is_float() => values,
        (Values::Float(v), _) => {
            let (least, most) = int_range(to);
            // `as` truncates, saturates at i128's ends and sends NaN to 0.
            Values::Int(v.iter().map(|x| (*x as i128).clamp(least, most)).collect())
        }
        (Values::Int(v), DType::Bool) => Values::Int(v.iter().map(|x| i128::from(*x != 0)).collect()),
        // Straight to f32: through f64 a large integer would be rounded twice. To f16 and bf16 by way of f32, as onnxruntime does.
        (Values::Int(v), DType::F32 | DType::F16 | DType::BF16) => {
            Values::Float(v.iter().map(|x| f64::from(*x as f32)).collect())
        }
        (Values::Int(v), _) if to.is_float() => Values::Float(v.iter().map(|x| *x as f64).collect()),
        (values @ Values::Int(_), _) => values,
    };
    store(to, &x.dims, &values)
}

pub(crate) fn iota(start: &Tensor, step: &Tensor, dims: &[u64], axis: usize) -> Tensor {
    let s = crate::walk::Split::at(dims, axis);
    let at = |p: usize| p / s.inner.max(1) % s.n.max(1);
    let count = s.outer * s.n * s.inner;
    let values = match (load(start), load(step)) {
        (Values::Float(a), Values::Float(d)) => Values::Float((0..count).map(|p| a[0] + at(p) as f64 * d[0]).collect()),
        _ => {
            let (a, d) = (load_ints(start)[0], load_ints(step)[0]);
            Values::Int((0..count).map(|p| a.wrapping_add(d.wrapping_mul(at(p) as i128))).collect())
        }
    };
    store(start.dtype, dims, &values)
}
