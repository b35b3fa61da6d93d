//! Normalisations.

use neap_optable::{Attrs, BinaryKind as B, Dim, GraphOp, PoolKind, ReduceKind as R, TensorType, UnaryKind as U};

use super::reduce::l2;
use crate::import::cx::{Cx, Val};
use crate::import::error::{Res, invalid, unsupported};
use crate::import::op::{Op, axes};
use crate::import::table::{Entry, always, since};

pub(super) const OPS: &[Entry] = &[
    always("BatchNormalization", |cx, op| op.in_f32(cx, batch)),
    always("InstanceNormalization", |cx, op| op.in_f32(cx, instance)),
    since("GroupNormalization", 18, |cx, op| op.in_f32(cx, group)),
    since("LayerNormalization", 17, |cx, op| op.in_f32(cx, layer)),
    since("RMSNormalization", 23, |cx, op| op.in_f32(cx, rms)),
    since("MeanVarianceNormalization", 9, |cx, op| op.in_f32(cx, mean_variance)),
    always("LpNormalization", |cx, op| op.in_f32(cx, lp)),
    always("LRN", |cx, op| op.in_f32(cx, lrn)),
];

/// `x * scale + bias`, both broadcast.
fn affine(cx: &mut Cx, x: Val, scale: Val, bias: Option<Val>) -> Res<Val> {
    let y = cx.binary(B::Mul, x, scale)?;
    match bias {
        Some(b) => cx.binary(B::Add, y, b),
        None => Ok(y),
    }
}

/// Scale and shift, computed here where the statistics are constants.
fn batch(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    if op.flag("training_mode", false)? {
        return unsupported("it is in training mode; export the model for inference");
    }
    if !op.flag("spatial", true)? {
        return unsupported("it normalises each element apart (spatial=0); export the model with a newer opset");
    }
    let x = op.input(0)?;
    let rank = cx.rank(x);
    if rank < 2 {
        return invalid(format!("the operand is {}, expected at least rank 2", cx.ty(x)));
    }
    let epsilon = op.float("epsilon", 1e-5)?;
    let (scale, bias, mean, var) = (op.input(1)?, op.input(2)?, op.input(3)?, op.input(4)?);
    let var = cx.with_number(B::Add, var, epsilon)?;
    let deviation = cx.unary(U::Sqrt, var)?;
    let scale = cx.binary(B::Div, scale, deviation)?;
    let moved = cx.binary(B::Mul, mean, scale)?;
    let shift = cx.binary(B::Sub, bias, moved)?;
    let (scale, shift) = (cx.channel(scale, rank, 1)?, cx.channel(shift, rank, 1)?);
    Ok(vec![affine(cx, x, scale, Some(shift))?])
}

fn instance(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let rank = cx.rank(x);
    if rank < 3 {
        return invalid(format!("the operand is {}, expected at least rank 3", cx.ty(x)));
    }
    let y = cx.layer_norm(x, 2, op.float("epsilon", 1e-5)?, false)?;
    let (scale, bias) = (cx.channel(op.input(1)?, rank, 1)?, cx.channel(op.input(2)?, rank, 1)?);
    Ok(vec![affine(cx, y, scale, Some(bias))?])
}

/// Scale and bias belong to groups up to opset 20, to channels from 21 on.
fn group(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let dims = cx.dims(x);
    let groups = op.int("num_groups", 0)?;
    if dims.len() < 2 || groups < 1 {
        return invalid(format!("{groups} groups of {} make no sense", cx.ty(x)));
    }
    let inner = dims[1..].iter().fold(Dim::constant(1), |a, d| a.mul(d));
    let Some(size) = inner.exact_div(&Dim::constant(groups)) else {
        return invalid(format!("dim 1 of {} does not divide into {groups} groups", cx.ty(x)));
    };
    let y = cx.reshape(x, vec![dims[0].clone(), Dim::constant(groups), size])?;
    let mut y = cx.layer_norm(y, 2, op.float("epsilon", 1e-5)?, false)?;
    let by_group = op.opset() < 21;
    let rank = if by_group { 3 } else { dims.len() };
    if !by_group {
        y = cx.reshape(y, dims.clone())?;
    }
    let (scale, bias) = (cx.channel(op.input(1)?, rank, 1)?, cx.channel(op.input(2)?, rank, 1)?);
    let y = affine(cx, y, scale, Some(bias))?;
    Ok(vec![cx.reshape(y, dims)?])
}

fn layer(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let at = op.axis(-1, cx.rank(x))?;
    let epsilon = op.float("epsilon", 1e-5)?;
    let y = cx.layer_norm(x, at, epsilon, false)?;
    let y = affine(cx, y, op.input(1)?, op.opt(2))?;
    if !op.wants(1) && !op.wants(2) {
        return Ok(vec![y]);
    }
    let over: Vec<usize> = (at..cx.rank(x)).collect();
    let mean = cx.reduce(R::Mean, x, &over, true)?;
    let away = cx.binary(B::Sub, x, mean)?;
    let square = cx.binary(B::Mul, away, away)?;
    let var = cx.reduce(R::Mean, square, &over, true)?;
    let var = cx.with_number(B::Add, var, epsilon)?;
    let root = cx.unary(U::Sqrt, var)?;
    Ok(vec![y, mean, cx.unary(U::Reciprocal, root)?])
}

fn rms(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let at = op.axis(-1, cx.rank(x))?;
    let y = cx.layer_norm(x, at, op.float("epsilon", 1e-5)?, true)?;
    Ok(vec![affine(cx, y, op.input(1)?, None)?])
}

/// `(x - mean) / (deviation + 1e-9)`, over batch and space unless told otherwise.
fn mean_variance(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let over = axes(op.ints("axes")?.unwrap_or(&[0, 2, 3]), cx.rank(x))?;
    let mean = cx.reduce(R::Mean, x, &over, true)?;
    let away = cx.binary(B::Sub, x, mean)?;
    let square = cx.binary(B::Mul, away, away)?;
    let var = cx.reduce(R::Mean, square, &over, true)?;
    let deviation = cx.unary(U::Sqrt, var)?;
    let deviation = cx.with_number(B::Add, deviation, 1e-9)?;
    Ok(vec![cx.binary(B::Div, away, deviation)?])
}

/// Divides by the norm along an axis; where that is 0 the result is 0.
fn lp(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let at = op.axis(-1, cx.rank(x))?;
    let norm = match op.int("p", 2)? {
        1 => {
            let size = cx.unary(U::Abs, x)?;
            cx.reduce(R::Sum, size, &[at], true)?
        }
        2 => l2(cx, x, &[at], true)?,
        p => return invalid(format!("attribute `p` is {p}, expected 1 or 2")),
    };
    let none = cx.compare_number(neap_optable::CompareKind::Eq, norm, 0.0)?;
    let one = cx.scalar(cx.dtype(x), 1.0);
    let norm = cx.select(none, one, norm)?;
    Ok(vec![cx.binary(B::Div, x, norm)?])
}

/// Divides by a power of the mean square over neighbouring channels, which is an average pooling along them.
fn lrn(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let dims = cx.dims(x);
    let size = op.int("size", 0)?;
    if dims.len() < 3 || size < 1 {
        return invalid(format!("a window of {size} channels of {} makes no sense", cx.ty(x)));
    }
    let space = dims[2..].iter().fold(Dim::constant(1), |a, d| a.mul(d));
    let square = cx.binary(B::Mul, x, x)?;
    let flat = vec![dims[0].clone(), Dim::constant(1), dims[1].clone(), space];
    let square = cx.reshape(square, flat.clone())?;
    let low = (size - 1) / 2;
    let attrs = Attrs::new()
        .int("kind", PoolKind::AverageIncludePad)
        .ints("kernel", [size, 1])
        .ints("strides", [1, 1])
        .ints("pads", [low, 0, size - 1 - low, 0])
        .ints("dilations", [1, 1]);
    let mean = cx.op1(GraphOp::Pool, attrs, &[square], TensorType { dtype: cx.dtype(x), dims: flat })?;
    let mean = cx.reshape(mean, dims)?;
    let scaled = cx.with_number(B::Mul, mean, op.float("alpha", 1e-4)?)?;
    let base = cx.with_number(B::Add, scaled, op.float("bias", 1.0)?)?;
    let divisor = cx.with_number(B::Pow, base, op.float("beta", 0.75)?)?;
    Ok(vec![cx.binary(B::Div, x, divisor)?])
}
