//! Matrix products.

use neap_optable::{BinaryKind as B, DType, Dim};

use super::dequantised;
use crate::import::cx::{Cx, Val};
use crate::import::error::{Res, invalid};
use crate::import::op::Op;
use crate::import::table::{Entry, always};

pub(super) const OPS: &[Entry] = &[always("MatMul", matmul), always("Gemm", gemm)];

fn matmul(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let (a, b) = (op.input(0)?, op.input(1)?);
    match dequantised::product(cx, a, b, false, None)? {
        Some(y) => Ok(vec![y]),
        None => Ok(vec![product(cx, a, b)?]),
    }
}

/// numpy.matmul: an operand of rank 1 is a row on the left or a column on the right, and its dim vanishes from the result.
pub(super) fn product(cx: &mut Cx, a: Val, b: Val) -> Res<Val> {
    product_of(cx, a, b, false)
}

/// As [`product`]; the right operand's last two dims may be the other way round, where it has them.
pub(super) fn product_of(cx: &mut Cx, a: Val, b: Val, transpose_rhs: bool) -> Res<Val> {
    if cx.rank(a) == 0 || cx.rank(b) == 0 {
        return invalid(format!("cannot multiply {} by {}: a matrix product needs dims", cx.ty(a), cx.ty(b)));
    }
    let (row, column) = (cx.rank(a) == 1, cx.rank(b) == 1);
    let one = Dim::constant(1);
    let (mut left, mut right) = (cx.dims(a), cx.dims(b));
    if row {
        left.insert(0, one.clone());
    }
    if column {
        right.push(one);
    }
    let (x, y) = (cx.reshape(a, left)?, cx.reshape(b, right)?);
    let out = cx.matmul(x, y, false, transpose_rhs && !column)?;
    let mut dims = cx.dims(out);
    if column {
        dims.pop();
    }
    if row {
        dims.remove(dims.len() - if column { 1 } else { 2 });
    }
    cx.reshape(out, dims)
}

fn gemm(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let (a, b) = (op.input(0)?, op.input(1)?);
    if cx.rank(a) != 2 || cx.rank(b) != 2 {
        return invalid(format!("cannot multiply {} by {}, expected rank 2", cx.ty(a), cx.ty(b)));
    }
    let plain = !op.flag("transA", false)? && op.float("alpha", 1.0)? == 1.0 && op.float("beta", 1.0)? == 1.0;
    if plain && let Some(y) = dequantised::product(cx, a, b, op.flag("transB", false)?, op.opt(2))? {
        return Ok(vec![y]);
    }
    let mut y = cx.matmul(a, b, op.flag("transA", false)?, op.flag("transB", false)?)?;
    y = scaled(cx, y, op.float("alpha", 1.0)?)?;
    let Some(c) = op.opt(2) else { return Ok(vec![y]) };
    let beta = op.float("beta", 1.0)?;
    if beta == 0.0 {
        return Ok(vec![y]);
    }
    if cx.common_shape(&[y, c])? != cx.dims(y) {
        return invalid(format!("C is {}, which does not broadcast to {}", cx.ty(c), cx.ty(y)));
    }
    let c = scaled(cx, c, beta)?;
    Ok(vec![cx.binary(B::Add, y, c)?])
}

/// Times a factor, which for integers is cut to a whole number only after the product.
fn scaled(cx: &mut Cx, v: Val, factor: f64) -> Res<Val> {
    if factor == 1.0 {
        return Ok(v);
    }
    let ty = cx.dtype(v);
    if ty.is_float() {
        return cx.with_number(B::Mul, v, factor);
    }
    let f = cx.cast(v, DType::F32)?;
    let f = cx.with_number(B::Mul, f, factor)?;
    cx.cast(f, ty)
}
