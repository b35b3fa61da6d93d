//! Quantised arithmetic, spelt out in ordinary ops: integers are widened to i32, zero points subtracted, products summed in i32,
//! which wraps and so is exact in any order; scales are applied in f32, rounded half to even and saturated.
//!
//! Large quantised weights are widened at run time, so that the artefact keeps their 8 (or 4) bits.

use neap_optable::{BinaryKind as B, CompareKind as C, DType, Dim, ReduceKind, UnaryKind as U};

use super::contract::product_of;
use super::dequantised::Dequantised;
use super::spatial::{convolution, kernel};
use crate::import::cx::{Cx, Val};
use crate::import::error::{Res, invalid, unsupported};
use crate::import::op::Op;
use crate::import::table::{Entry, since};

pub(super) const OPS: &[Entry] = &[
    since("QuantizeLinear", 10, quantize),
    since("DequantizeLinear", 10, dequantize),
    since("DynamicQuantizeLinear", 11, dynamic),
    since("MatMulInteger", 10, matmul),
    since("ConvInteger", 10, conv),
    since("QLinearMatMul", 10, linear_matmul),
    since("QLinearConv", 10, linear_conv),
];

/// Constants of more elements than this are widened at run time.
const MANY: i64 = 1 << 8;

/// The range of a quantised type.
#[derive(Clone, Copy)]
struct Range {
    dtype: DType,
    low: f64,
    high: f64,
}

impl Range {
    fn of(dtype: DType, bits: u32) -> Res<Range> {
        let (low, high) = match dtype {
            DType::I8 | DType::I16 => (-f64::from(1u32 << (bits - 1)), f64::from((1u32 << (bits - 1)) - 1)),
            DType::U8 | DType::U16 => (0.0, f64::from((1u64 << bits) as u32 - 1)),
            _ => return unsupported(format!("cannot quantise to {dtype}; int4 to int16 and uint4 to uint16 can be")),
        };
        Ok(Range { dtype, low, high })
    }

    /// Of a zero point's type.
    fn like(cx: &Cx, zero: Val) -> Res<Range> {
        let dtype = cx.dtype(zero);
        Range::of(dtype, if cx.four_bits(zero) { 4 } else { 8 * dtype.size() as u32 })
    }

    /// f32 numbers to this type: rounded half to even, moved by the zero point, saturated.
    fn saturate(self, cx: &mut Cx, v: Val, zero: Option<Val>) -> Res<Val> {
        let mut v = cx.unary(U::Round, v)?;
        if let Some(z) = zero {
            let z = cx.cast(z, DType::F32)?;
            v = cx.binary(B::Add, v, z)?;
        }
        let v = cx.with_number(B::Max, v, self.low)?;
        let v = cx.with_number(B::Min, v, self.high)?;
        cx.cast(v, self.dtype)
    }
}

/// A scale or zero point seen with the rank of what it belongs to: one number, one an index of the axis, or one a block.
fn spread(cx: &mut Cx, v: Val, of: Val, axis: usize, block: i64) -> Res<Val> {
    let (rank, like) = (cx.rank(of), cx.dims(of));
    if cx.ty(v).count().as_i64() == Some(1) {
        return cx.reshape(v, vec![]);
    }
    if block > 0 {
        if cx.rank(v) != rank {
            return invalid(format!("a blocked scale is {}, expected rank {rank}", cx.ty(v)));
        }
        // Each number is repeated along the axis; the last block may be cut short.
        let mut dims = cx.dims(v);
        dims.insert(axis + 1, Dim::constant(1));
        let split = cx.reshape(v, dims.clone())?;
        dims[axis + 1] = Dim::constant(block);
        let repeated = cx.broadcast(split, &dims)?;
        let long = dims.remove(axis + 1).mul(&dims[axis]);
        dims[axis] = long;
        let whole = cx.reshape(repeated, dims)?;
        return cx.slice_axis(whole, axis, 0, like[axis].clone());
    }
    if cx.rank(v) != 1 || axis >= rank {
        return invalid(format!(
            "a scale or zero point is {}, expected one number, or one for each index of axis {axis}",
            cx.ty(v)
        ));
    }
    cx.channel(v, rank, axis)
}

/// Scale and zero point of the operand, spread over it.
fn parameters(cx: &mut Cx, op: &Op<'_>, of: Val) -> Res<(Val, Option<Val>)> {
    let scale = op.input(1)?;
    let block = op.int("block_size", 0)?;
    let single = cx.ty(scale).count().as_i64() == Some(1);
    let axis = if single { 0 } else { op.axis(1, cx.rank(of))? };
    let zero = op.opt(2);
    let scale = spread(cx, scale, of, axis, block)?;
    let zero = zero.map(|z| spread(cx, z, of, axis, block)).transpose()?;
    Ok((scale, zero))
}

fn quantize(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let range = match (op.opt(2), op.int("output_dtype", 0)?) {
        (Some(z), _) => Range::like(cx, z)?,
        (None, 0 | 2) => Range::of(DType::U8, 8)?,
        (None, 3) => Range::of(DType::I8, 8)?,
        (None, 4) => Range::of(DType::U16, 16)?,
        (None, 5) => Range::of(DType::I16, 16)?,
        (None, 21) => Range::of(DType::U8, 4)?,
        (None, 22) => Range::of(DType::I8, 4)?,
        (None, other) => return unsupported(format!("cannot quantise to ONNX's element type {other}")),
    };
    let (scale, zero) = parameters(cx, op, x)?;
    // Sums of products are scaled once.
    if let Some(sums) = cx.dequantised(x).filter(|d| cx.dtype(d.integers) == DType::I32 && d.zero.is_none())
        && cx.dtype(scale) == DType::F32
    {
        let factor = cx.binary(B::Div, sums.scale, scale)?;
        let v = cx.cast(sums.integers, DType::F32)?;
        let v = cx.binary(B::Mul, v, factor)?;
        return Ok(vec![range.saturate(cx, v, zero)?]);
    }
    let (x, scale) = (cx.cast(x, DType::F32)?, cx.cast(scale, DType::F32)?);
    let v = cx.binary(B::Div, x, scale)?;
    Ok(vec![range.saturate(cx, v, zero)?])
}

fn dequantize(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    if !cx.dtype(x).is_int() {
        return unsupported(format!("cannot dequantise {}", cx.ty(x)));
    }
    let to = cx.dtype(op.input(1)?);
    let from =
        Dequantised { integers: x, scale: op.input(1)?, zero: op.opt(2), axis: op.axis(1, cx.rank(x)).unwrap_or(0) };
    let blocked = op.int("block_size", 0)? > 0;
    let x = small(cx, x)?;
    let (scale, zero) = parameters(cx, op, x)?;
    let v = centred(cx, x, zero)?;
    let (v, scale) = (cx.cast(v, DType::F32)?, cx.cast(scale, DType::F32)?);
    let v = cx.binary(B::Mul, v, scale)?;
    let y = cx.cast(v, to)?;
    if !blocked {
        cx.set_dequantised(y, from);
    }
    Ok(vec![y])
}

/// The same value, to be widened at run time where it is a large constant.
fn small(cx: &mut Cx, v: Val) -> Res<Val> {
    let large = cx.tensor(v).is_some() && cx.ty(v).count().as_i64().is_some_and(|n| n > MANY);
    if large { cx.at_run_time(v) } else { Ok(v) }
}

/// i32 numbers around 0: elements less their zero point, which is spread already.
fn centred(cx: &mut Cx, v: Val, zero: Option<Val>) -> Res<Val> {
    let wide = cx.cast(v, DType::I32)?;
    match zero {
        Some(z) if !nought(cx, z) => {
            // Of 8 bits where it is read, so that differences are known to be small.
            let (known, one) = (cx.tensor(z).is_some(), cx.ty(z).count().as_i64() == Some(1));
            let z = if known && !one { cx.at_run_time(z)? } else { z };
            let z = if known && one { z } else { cx.broadcast(z, &cx.dims(wide))? };
            let z = cx.cast(z, DType::I32)?;
            cx.binary(B::Sub, wide, z)
        }
        _ => Ok(wide),
    }
}

/// Whether all elements are known to be 0.
fn nought(cx: &Cx, v: Val) -> bool {
    cx.tensor(v).is_some_and(|t| t.data.iter().all(|b| *b == 0))
}

/// y, scale and zero point, such that y times the scale, from the zero point on, is close to x.
fn dynamic(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let range = Range::of(DType::U8, 8)?;
    let all: Vec<usize> = (0..cx.rank(x)).collect();
    let most = cx.reduce(ReduceKind::Max, x, &all, false)?;
    let most = cx.with_number(B::Max, most, 0.0)?;
    let least = cx.reduce(ReduceKind::Min, x, &all, false)?;
    let least = cx.with_number(B::Min, least, 0.0)?;
    let span = cx.binary(B::Sub, most, least)?;
    let scale = cx.with_number(B::Div, span, range.high)?;
    // Of zeros alone any scale is right.
    let (flat, one) = (cx.compare_number(C::Eq, span, 0.0)?, cx.scalar(DType::F32, 1.0));
    let scale = cx.select(flat, one, scale)?;
    let steps = cx.binary(B::Div, least, scale)?;
    let zero = cx.unary(U::Neg, steps)?;
    let zero = cx.with_number(B::Max, zero, range.low)?;
    let zero = cx.with_number(B::Min, zero, range.high)?;
    let zero = cx.unary(U::Round, zero)?;
    let zero = cx.cast(zero, range.dtype)?;
    let v = cx.binary(B::Div, x, scale)?;
    let y = range.saturate(cx, v, Some(zero))?;
    Ok(vec![y, scale, zero])
}

/// Zero points of a left operand: one number, one a row, or spread already.
fn of_rows(cx: &mut Cx, zero: Option<Val>) -> Res<Option<Val>> {
    match zero {
        Some(z) if cx.ty(z).count().as_i64() == Some(1) => Ok(Some(cx.reshape(z, vec![])?)),
        Some(z) if cx.rank(z) == 1 => Ok(Some(cx.channel(z, 2, 0)?)),
        other => Ok(other),
    }
}

/// Zero points of a right operand: one number, one a column, or spread already.
fn of_columns(cx: &mut Cx, zero: Option<Val>) -> Res<Option<Val>> {
    match zero {
        Some(z) if cx.ty(z).count().as_i64() == Some(1) => Ok(Some(cx.reshape(z, vec![])?)),
        other => Ok(other),
    }
}

/// Quantised numbers and their zero points.
pub(super) type Quantised = (Val, Option<Val>);

/// The i32 product of two quantised matrices.
pub(super) fn integer_product(cx: &mut Cx, a: Quantised, b: Quantised, transpose_rhs: bool) -> Res<Val> {
    let za = of_rows(cx, a.1)?;
    let zb = match (b.1, transpose_rhs) {
        (zb, true) => of_rows(cx, zb)?,
        (zb, false) => of_columns(cx, zb)?,
    };
    let (a, b) = (small(cx, a.0)?, small(cx, b.0)?);
    let (a, b) = (centred(cx, a, za)?, centred(cx, b, zb)?);
    product_of(cx, a, b, transpose_rhs)
}

fn matmul(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    Ok(vec![integer_product(cx, (op.input(0)?, op.opt(2)), (op.input(1)?, op.opt(3)), false)?])
}

/// The i32 convolution of a quantised image with quantised filters.
pub(super) fn integer_conv(cx: &mut Cx, op: &Op<'_>, x: Quantised, filter: Quantised) -> Res<Val> {
    let kernel = kernel(cx, op, x.0, filter.0)?;
    let zx = x.1.map(|z| cx.one_element(z, "the image's zero point")).transpose()?;
    let zw = filter.1.map(|z| spread(cx, z, filter.0, 0, 0)).transpose()?;
    let (x, filter) = (small(cx, x.0)?, small(cx, filter.0)?);
    // Pads are zeros of the numbers meant, so they are put around what is centred.
    let (x, filter) = (centred(cx, x, zx)?, centred(cx, filter, zw)?);
    convolution(cx, op, x, filter, kernel)
}

fn conv(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    Ok(vec![integer_conv(cx, op, (op.input(0)?, op.opt(2)), (op.input(1)?, op.opt(3)))?])
}

/// i32 sums to a quantised type: times a scale, rounded, moved and saturated.
fn requantised(cx: &mut Cx, sums: Val, scale: Val, zero: Val) -> Res<Val> {
    let range = Range::like(cx, zero)?;
    let zero = cx.one_element(zero, "the result's zero point")?;
    let v = cx.cast(sums, DType::F32)?;
    let v = cx.binary(B::Mul, v, scale)?;
    range.saturate(cx, v, Some(zero))
}

/// The factor from sums of products to the result, with the scale of the right operand spread already.
fn factor(cx: &mut Cx, left: Val, right: Val, result: Val) -> Res<Val> {
    let mut f32 = [left, right, result];
    for v in &mut f32 {
        *v = cx.cast(*v, DType::F32)?;
    }
    let both = cx.binary(B::Mul, f32[0], f32[1])?;
    cx.binary(B::Div, both, f32[2])
}

fn linear_matmul(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let sums = integer_product(cx, (op.input(0)?, op.opt(2)), (op.input(3)?, op.opt(5)), false)?;
    let (left, right) = (of_rows(cx, op.opt(1))?, of_columns(cx, op.opt(4))?);
    let (Some(left), Some(right)) = (left, right) else { return invalid("a scale is missing") };
    let result = cx.one_element(op.input(6)?, "the result's scale")?;
    let scale = factor(cx, left, right, result)?;
    Ok(vec![requantised(cx, sums, scale, op.input(7)?)?])
}

fn linear_conv(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let mut sums = integer_conv(cx, op, (op.input(0)?, op.opt(2)), (op.input(3)?, op.opt(5)))?;
    if let Some(bias) = op.opt(8) {
        let bias = cx.channel(bias, cx.rank(sums), 1)?;
        sums = cx.binary(B::Add, sums, bias)?;
    }
    let left = cx.one_element(op.input(1)?, "the image's scale")?;
    let right = spread(cx, op.input(4)?, sums, 1, 0)?;
    let result = cx.one_element(op.input(6)?, "the result's scale")?;
    let scale = factor(cx, left, right, result)?;
    Ok(vec![requantised(cx, sums, scale, op.input(7)?)?])
}
