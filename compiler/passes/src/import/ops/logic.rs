//! Comparisons, boolean and bit operations, selection.

use neap_optable::{BinaryKind as B, CompareKind as C, DType, UnaryKind as U};

use crate::import::cx::{Cx, Val};
use crate::import::error::{Res, invalid};
use crate::import::op::Op;
use crate::import::table::{Entry, always, since};

pub(super) const OPS: &[Entry] = &[
    always("Equal", |cx, op| compare(cx, op, C::Eq)),
    always("Less", |cx, op| compare(cx, op, C::Lt)),
    always("Greater", |cx, op| compare(cx, op, C::Gt)),
    since("LessOrEqual", 12, |cx, op| compare(cx, op, C::Le)),
    since("GreaterOrEqual", 12, |cx, op| compare(cx, op, C::Ge)),
    always("And", |cx, op| boolean(cx, op, B::And)),
    always("Or", |cx, op| boolean(cx, op, B::Or)),
    always("Xor", |cx, op| boolean(cx, op, B::Xor)),
    always("Not", not),
    since("BitwiseAnd", 18, |cx, op| bitwise(cx, op, B::And)),
    since("BitwiseOr", 18, |cx, op| bitwise(cx, op, B::Or)),
    since("BitwiseXor", 18, |cx, op| bitwise(cx, op, B::Xor)),
    since("BitwiseNot", 18, bitwise_not),
    since("BitShift", 11, shift),
    since("IsNaN", 9, |cx, op| Ok(vec![cx.unary(U::Isnan, op.input(0)?)?])),
    since("IsInf", 10, is_inf),
    since("Where", 9, |cx, op| Ok(vec![cx.select(op.input(0)?, op.input(1)?, op.input(2)?)?])),
];

fn compare(cx: &mut Cx, op: &Op<'_>, kind: C) -> Res<Vec<Val>> {
    Ok(vec![cx.compare(kind, op.input(0)?, op.input(1)?)?])
}

fn boolean(cx: &mut Cx, op: &Op<'_>, kind: B) -> Res<Vec<Val>> {
    let (a, b) = (op.input(0)?, op.input(1)?);
    if let Some(v) = [a, b].into_iter().find(|v| cx.dtype(*v) != DType::Bool) {
        return invalid(format!("an operand is {}, expected bool", cx.ty(v)));
    }
    Ok(vec![cx.binary(kind, a, b)?])
}

fn not(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    Ok(vec![cx.unary(U::Not, op.input(0)?)?])
}

fn bitwise(cx: &mut Cx, op: &Op<'_>, kind: B) -> Res<Vec<Val>> {
    let (a, b) = (op.input(0)?, op.input(1)?);
    if !cx.dtype(a).is_int() {
        return invalid(format!("an operand is {}, expected integers", cx.ty(a)));
    }
    Ok(vec![cx.binary(kind, a, b)?])
}

fn bitwise_not(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let a = op.input(0)?;
    if !cx.dtype(a).is_int() {
        return invalid(format!("the operand is {}, expected integers", cx.ty(a)));
    }
    // All bits set, which the conversion to unsigned types wraps to.
    let ones = cx.scalar(DType::I64, -1.0);
    let ones = cx.cast(ones, cx.dtype(a))?;
    Ok(vec![cx.binary(B::Xor, a, ones)?])
}

fn shift(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let kind = match op.text("direction", "")? {
        "LEFT" => B::Shl,
        "RIGHT" => B::Shr,
        other => return invalid(format!("attribute `direction` is `{other}`, expected LEFT or RIGHT")),
    };
    Ok(vec![cx.binary(kind, op.input(0)?, op.input(1)?)?])
}

fn is_inf(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    let out = match (op.flag("detect_negative", true)?, op.flag("detect_positive", true)?) {
        (true, true) => cx.unary(U::Isinf, v)?,
        (false, true) => cx.compare_number(C::Eq, v, f64::INFINITY)?,
        (true, false) => cx.compare_number(C::Eq, v, f64::NEG_INFINITY)?,
        (false, false) => {
            let no = cx.scalar(DType::Bool, 0.0);
            cx.broadcast(no, &cx.dims(v))?
        }
    };
    Ok(vec![out])
}
