//! Activation functions with parameters, in primitive ops; fusion makes them one pass again.

use neap_optable::{BinaryKind as B, CompareKind as C, UnaryKind as U};

use crate::import::cx::{Cx, Val};
use crate::import::error::{Res, invalid};
use crate::import::op::Op;
use crate::import::table::{Entry, always, since};

pub(super) const OPS: &[Entry] = &[
    always("LeakyRelu", leaky_relu),
    always("PRelu", prelu),
    always("Elu", elu),
    always("Selu", selu),
    since("Celu", 12, celu),
    since("ThresholdedRelu", 10, thresholded_relu),
    since("Shrink", 9, shrink),
    always("HardSigmoid", hard_sigmoid),
    since("HardSwish", 14, hard_swish),
    since("Swish", 24, swish),
    since("SwiGLU", 28, swiglu),
    since("Mish", 18, mish),
    since("Gelu", 20, gelu),
    always("Softsign", softsign),
    always("Clip", clip),
];

/// `x < 0 ? negative : x`
fn where_negative(cx: &mut Cx, x: Val, negative: Val) -> Res<Val> {
    let below = cx.compare_number(C::Lt, x, 0.0)?;
    cx.select(below, negative, x)
}

fn leaky_relu(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let scaled = cx.with_number(B::Mul, x, op.float("alpha", 0.01)?)?;
    Ok(vec![where_negative(cx, x, scaled)?])
}

fn prelu(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let (x, slope) = (op.input(0)?, op.input(1)?);
    if cx.common_shape(&[x, slope])? != cx.dims(x) {
        return invalid(format!("slope {} does not broadcast to {}", cx.ty(slope), cx.ty(x)));
    }
    let scaled = cx.binary(B::Mul, x, slope)?;
    Ok(vec![where_negative(cx, x, scaled)?])
}

/// `scale * (exp(x / divisor) - 1)`
fn exp_minus_one(cx: &mut Cx, x: Val, divisor: f64, scale: f64) -> Res<Val> {
    let x = if divisor == 1.0 { x } else { cx.with_number(B::Div, x, divisor)? };
    let e = cx.unary(U::Exp, x)?;
    let e = cx.with_number(B::Sub, e, 1.0)?;
    if scale == 1.0 { Ok(e) } else { cx.with_number(B::Mul, e, scale) }
}

fn elu(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let negative = exp_minus_one(cx, x, 1.0, op.float("alpha", 1.0)?)?;
    Ok(vec![where_negative(cx, x, negative)?])
}

fn selu(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let alpha = op.float("alpha", 1.673_263_2)?;
    let gamma = op.float("gamma", 1.050_701)?;
    let negative = exp_minus_one(cx, x, 1.0, alpha)?;
    let y = where_negative(cx, x, negative)?;
    Ok(vec![cx.with_number(B::Mul, y, gamma)?])
}

fn celu(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let alpha = op.float("alpha", 1.0)?;
    let negative = exp_minus_one(cx, x, alpha, alpha)?;
    Ok(vec![where_negative(cx, x, negative)?])
}

fn thresholded_relu(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let above = cx.compare_number(C::Gt, x, op.float("alpha", 1.0)?)?;
    let zero = cx.scalar(cx.dtype(x), 0.0);
    Ok(vec![cx.select(above, x, zero)?])
}

fn shrink(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let (bias, lambda) = (op.float("bias", 0.0)?, op.float("lambd", 0.5)?);
    let (below, above) = (cx.compare_number(C::Lt, x, -lambda)?, cx.compare_number(C::Gt, x, lambda)?);
    let (up, down) = (cx.with_number(B::Add, x, bias)?, cx.with_number(B::Sub, x, bias)?);
    let zero = cx.scalar(cx.dtype(x), 0.0);
    let inner = cx.select(above, down, zero)?;
    Ok(vec![cx.select(below, up, inner)?])
}

/// `max(0, min(1, alpha * x + beta))`
fn hard_sigmoid_of(cx: &mut Cx, x: Val, alpha: f64, beta: f64) -> Res<Val> {
    let y = cx.with_number(B::Mul, x, alpha)?;
    let y = cx.with_number(B::Add, y, beta)?;
    let y = cx.with_number(B::Min, y, 1.0)?;
    cx.with_number(B::Max, y, 0.0)
}

fn hard_sigmoid(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let y = hard_sigmoid_of(cx, op.input(0)?, op.float("alpha", 0.2)?, op.float("beta", 0.5)?)?;
    Ok(vec![y])
}

fn hard_swish(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let gate = hard_sigmoid_of(cx, x, 1.0 / 6.0, 0.5)?;
    Ok(vec![cx.binary(B::Mul, x, gate)?])
}

/// `x * sigmoid(alpha * x)`
fn swish_of(cx: &mut Cx, x: Val, alpha: f64) -> Res<Val> {
    let scaled = if alpha == 1.0 { x } else { cx.with_number(B::Mul, x, alpha)? };
    let gate = cx.unary(U::Sigmoid, scaled)?;
    cx.binary(B::Mul, x, gate)
}

fn swish(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    Ok(vec![swish_of(cx, op.input(0)?, op.float("alpha", 1.0)?)?])
}

fn swiglu(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let (gate, up) = (op.input(0)?, op.input(1)?);
    let gate = swish_of(cx, gate, op.float("alpha", 1.0)?)?;
    Ok(vec![cx.binary(B::Mul, gate, up)?])
}

fn mish(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let s = cx.unary(U::Softplus, x)?;
    let t = cx.unary(U::Tanh, s)?;
    Ok(vec![cx.binary(B::Mul, x, t)?])
}

fn gelu(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let inner = match op.text("approximate", "none")? {
        "none" => {
            let scaled = cx.with_number(B::Mul, x, std::f64::consts::FRAC_1_SQRT_2)?;
            cx.unary(U::Erf, scaled)?
        }
        "tanh" => {
            let square = cx.binary(B::Mul, x, x)?;
            let cube = cx.binary(B::Mul, square, x)?;
            let cube = cx.with_number(B::Mul, cube, 0.044715)?;
            let sum = cx.binary(B::Add, x, cube)?;
            let scaled = cx.with_number(B::Mul, sum, (2.0 / std::f64::consts::PI).sqrt())?;
            cx.unary(U::Tanh, scaled)?
        }
        other => return invalid(format!("attribute `approximate` is `{other}`, expected none or tanh")),
    };
    let inner = cx.with_number(B::Add, inner, 1.0)?;
    let half = cx.with_number(B::Mul, x, 0.5)?;
    Ok(vec![cx.binary(B::Mul, half, inner)?])
}

fn softsign(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let size = cx.unary(U::Abs, x)?;
    let below = cx.with_number(B::Add, size, 1.0)?;
    Ok(vec![cx.binary(B::Div, x, below)?])
}

/// Bounds are attributes up to opset 10, then optional operands; where they cross, the upper one wins.
fn clip(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let mut x = op.input(0)?;
    for (i, name, kind) in [(1, "min", B::Max), (2, "max", B::Min)] {
        if op.opset() < 11 {
            if let Some(bound) = op.float_opt(name)? {
                x = cx.with_number(kind, x, bound)?;
            }
        } else if let Some(bound) = op.opt(i) {
            let bound = cx.one_element(bound, name)?;
            x = cx.binary(kind, x, bound)?;
        }
    }
    Ok(vec![x])
}
