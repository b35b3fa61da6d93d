//! Elementwise arithmetic: one and two operands, variadic sums, conversions.

use neap_optable::{BinaryKind as B, DType, UnaryKind as U};

use crate::import::cx::{Cx, Known, Val};
use crate::import::dims::dtype;
use crate::import::error::{Res, invalid, unsupported};
use crate::import::four_bits;
use crate::import::op::Op;
use crate::import::table::{Entry, always, since};

pub(super) const OPS: &[Entry] = &[
    always("Abs", |cx, op| unary(cx, op, U::Abs)),
    always("Neg", |cx, op| unary(cx, op, U::Neg)),
    since("Sign", 9, |cx, op| unary(cx, op, U::Sign)),
    always("Exp", |cx, op| unary(cx, op, U::Exp)),
    always("Log", |cx, op| unary(cx, op, U::Log)),
    always("Sqrt", |cx, op| unary(cx, op, U::Sqrt)),
    always("Reciprocal", |cx, op| unary(cx, op, U::Reciprocal)),
    always("Sin", |cx, op| unary(cx, op, U::Sin)),
    always("Cos", |cx, op| unary(cx, op, U::Cos)),
    always("Tan", |cx, op| unary(cx, op, U::Tan)),
    always("Asin", |cx, op| unary(cx, op, U::Asin)),
    always("Acos", |cx, op| unary(cx, op, U::Acos)),
    always("Atan", |cx, op| unary(cx, op, U::Atan)),
    since("Sinh", 9, |cx, op| unary(cx, op, U::Sinh)),
    since("Cosh", 9, |cx, op| unary(cx, op, U::Cosh)),
    since("Asinh", 9, |cx, op| unary(cx, op, U::Asinh)),
    since("Acosh", 9, |cx, op| unary(cx, op, U::Acosh)),
    since("Atanh", 9, |cx, op| unary(cx, op, U::Atanh)),
    since("Erf", 9, |cx, op| unary(cx, op, U::Erf)),
    always("Floor", |cx, op| unary(cx, op, U::Floor)),
    always("Ceil", |cx, op| unary(cx, op, U::Ceil)),
    since("Round", 11, |cx, op| unary(cx, op, U::Round)),
    always("Tanh", |cx, op| unary(cx, op, U::Tanh)),
    always("Sigmoid", |cx, op| unary(cx, op, U::Sigmoid)),
    always("Relu", |cx, op| unary(cx, op, U::Relu)),
    always("Softplus", |cx, op| unary(cx, op, U::Softplus)),
    always("Add", |cx, op| binary(cx, op, B::Add)),
    always("Sub", |cx, op| binary(cx, op, B::Sub)),
    always("Mul", |cx, op| binary(cx, op, B::Mul)),
    always("Div", |cx, op| binary(cx, op, B::Div)),
    always("Pow", pow),
    since("Mod", 10, modulo),
    always("Max", |cx, op| variadic(cx, op, B::Max)),
    always("Min", |cx, op| variadic(cx, op, B::Min)),
    always("Sum", |cx, op| variadic(cx, op, B::Add)),
    always("Mean", mean),
    always("Cast", cast),
    since("CastLike", 15, cast_like),
    always("Identity", |_, op| Ok(vec![op.input(0)?])),
    always("Dropout", dropout),
];

fn unary(cx: &mut Cx, op: &Op<'_>, kind: U) -> Res<Vec<Val>> {
    Ok(vec![cx.unary(kind, op.input(0)?)?])
}

fn binary(cx: &mut Cx, op: &Op<'_>, kind: B) -> Res<Vec<Val>> {
    Ok(vec![cx.binary(kind, op.input(0)?, op.input(1)?)?])
}

fn variadic(cx: &mut Cx, op: &Op<'_>, kind: B) -> Res<Vec<Val>> {
    let all = op.all()?;
    let mut out = all[0];
    for &v in &all[1..] {
        out = cx.binary(kind, out, v)?;
    }
    Ok(vec![out])
}

fn mean(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let sum = variadic(cx, op, B::Add)?[0];
    Ok(vec![cx.with_number(B::Div, sum, op.inputs.len() as f64)?])
}

/// The exponent may have another type than the base (from opset 12); small whole exponents are products.
fn pow(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let (base, exponent) = (op.input(0)?, op.input(1)?);
    let ty = cx.dtype(base);
    if let Known::Tensor(t) = cx.known(exponent)
        && ty.is_float()
        && cx.common_shape(&[base, exponent])? == cx.dims(base)
        && let Some(values) = crate::import::fold::floats(t)
        && let Some(&first) = values.first()
        && values.iter().all(|&v| v == first)
    {
        if first == 1.0 {
            return Ok(vec![base]);
        }
        if first == 0.5 {
            return Ok(vec![cx.unary(U::Sqrt, base)?]);
        }
        if first == 2.0 || first == 3.0 {
            let square = cx.binary(B::Mul, base, base)?;
            return Ok(vec![if first == 2.0 { square } else { cx.binary(B::Mul, square, base)? }]);
        }
    }
    let exponent_type = cx.dtype(exponent);
    if exponent_type == ty {
        return Ok(vec![cx.binary(B::Pow, base, exponent)?]);
    }
    let common = if ty.is_float() {
        ty
    } else if exponent_type.is_float() {
        exponent_type
    } else {
        DType::I64
    };
    let (b, e) = (cx.cast(base, common)?, cx.cast(exponent, common)?);
    let out = cx.binary(B::Pow, b, e)?;
    Ok(vec![cx.cast(out, ty)?])
}

fn modulo(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let kind = if op.flag("fmod", false)? { B::Fmod } else { B::Mod };
    binary(cx, op, kind)
}

fn cast(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let number = op.int("to", 0)?;
    let Some(to) = i32::try_from(number).ok().and_then(neap_onnx::ElementType::from_onnx) else {
        return match number {
            8 => unsupported("it converts to strings; neap computes on numbers only"),
            _ => invalid(format!("attribute `to` is {number}, which is no element type")),
        };
    };
    match dtype(to) {
        Some(d) => {
            let v = cx.cast(op.input(0)?, d)?;
            Ok(vec![if to.bits() == 4 { four_bits::wrapped(cx, v)? } else { v }])
        }
        None => unsupported(format!("element type {to} is not supported; export the model with f32")),
    }
}

fn cast_like(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let to = cx.dtype(op.input(1)?);
    Ok(vec![cx.cast(op.input(0)?, to)?])
}

/// In inference the input itself; the mask is all true.
fn dropout(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    if let Some(training) = op.opt(2)
        && cx.tensor(training).is_none_or(|t| t.to_i64() != Some(vec![0]))
    {
        // A ratio of 0 drops nothing.
        let ratio = op.opt(1).and_then(|r| cx.tensor(r)).and_then(crate::import::fold::floats);
        if ratio != Some(vec![0.0]) {
            return unsupported("it drops values at random (training_mode); export the model for inference");
        }
    }
    if !op.wants(1) {
        return Ok(vec![v]);
    }
    let mask_type = if op.opset() < 10 { cx.dtype(v) } else { DType::Bool };
    let one = cx.scalar(mask_type, 1.0);
    let mask = cx.broadcast(one, &cx.dims(v))?;
    Ok(vec![v, mask])
}
