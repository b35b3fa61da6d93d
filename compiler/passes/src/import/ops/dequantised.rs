//! Products of dequantised operands, as exporters of quantised models write them (QDQ): computed in integers, scaled afterwards.
//!
//! The sum of integers is exact where the sum of floats would round at every step, and a following QuantizeLinear scales it
//! once, as QLinearConv and QLinearMatMul do.

use neap_optable::{BinaryKind as B, DType};

use super::quantise::{integer_conv, integer_product};
use crate::import::cx::{Cx, Val};
use crate::import::error::Res;
use crate::import::op::Op;

/// What a float value was dequantised from: integers less a zero point, times a scale.
#[derive(Clone, Copy, Debug)]
pub(in crate::import) struct Dequantised {
    /// The integers.
    pub integers: Val,
    /// One number, or one an index of the axis; of sums spread already.
    pub scale: Val,
    /// Of the scale's shape.
    pub zero: Option<Val>,
    /// Which axis a scale of several numbers belongs to.
    pub axis: usize,
}

impl Dequantised {
    /// An operand of 8 bits, with one scale or one for each index of this axis.
    fn operand(cx: &Cx, v: Val, axis: Option<usize>) -> Option<Dequantised> {
        let d = cx.dequantised(v)?;
        let one = cx.ty(d.scale).count().as_i64() == Some(1);
        let narrow = cx.dtype(d.integers).size() == 1 && !cx.four_bits(d.integers);
        (narrow && cx.dtype(d.scale) == DType::F32 && (one || Some(d.axis) == axis)).then_some(d)
    }
}

/// A convolution of dequantised operands, with its bias.
pub(super) fn conv(cx: &mut Cx, op: &Op<'_>) -> Res<Option<Val>> {
    let (x, w) = (op.input(0)?, op.input(1)?);
    let (Some(x), Some(w)) = (Dequantised::operand(cx, x, None), Dequantised::operand(cx, w, Some(0))) else {
        return Ok(None);
    };
    let sums = integer_conv(cx, op, (x.integers, x.zero), (w.integers, w.zero))?;
    let rank = cx.rank(sums);
    let right = match cx.ty(w.scale).count().as_i64() {
        Some(1) => cx.reshape(w.scale, vec![])?,
        _ => cx.channel(w.scale, rank, 1)?,
    };
    let left = cx.reshape(x.scale, vec![])?;
    let scale = cx.binary(B::Mul, left, right)?;
    let bias = match op.opt(2) {
        Some(b) if cx.rank(b) == 1 => Some((b, cx.channel(b, rank, 1)?)),
        Some(_) => return Ok(None),
        None => None,
    };
    scaled(cx, sums, scale, bias, |cx, b| cx.channel(b, rank, 1)).map(Some)
}

/// A matrix product of dequantised operands, with its bias.
pub(super) fn product(cx: &mut Cx, a: Val, b: Val, transpose_rhs: bool, bias: Option<Val>) -> Res<Option<Val>> {
    let rank = cx.rank(b);
    if cx.rank(a) < 2 || rank < 2 || bias.is_some_and(|b| cx.rank(b) != 1) {
        return Ok(None);
    }
    let column = rank - if transpose_rhs { 2 } else { 1 };
    let (Some(x), Some(y)) = (Dequantised::operand(cx, a, None), Dequantised::operand(cx, b, Some(column))) else {
        return Ok(None);
    };
    let (left, right) = (cx.reshape(x.scale, vec![])?, y.scale);
    let right = if cx.ty(right).count().as_i64() == Some(1) { cx.reshape(right, vec![])? } else { right };
    let sums = integer_product(cx, (x.integers, x.zero), (y.integers, y.zero), transpose_rhs)?;
    let scale = cx.binary(B::Mul, left, right)?;
    let bias = bias.map(|b| (b, b));
    scaled(cx, sums, scale, bias, |_, b| Ok(b)).map(Some)
}

/// Sums as floats: with a bias that is quantised by the same scale added before, any other after.
fn scaled(
    cx: &mut Cx,
    mut sums: Val,
    scale: Val,
    bias: Option<(Val, Val)>,
    spread: impl Fn(&mut Cx, Val) -> Res<Val>,
) -> Res<Val> {
    let mut rest = None;
    if let Some((bias, spread_bias)) = bias {
        match cx.dequantised(bias).filter(|d| whole(cx, d, scale)) {
            Some(d) => {
                let integers = spread(cx, d.integers)?;
                sums = cx.binary(B::Add, sums, integers)?;
            }
            None => rest = Some(spread_bias),
        }
    }
    let v = cx.cast(sums, DType::F32)?;
    let v = cx.binary(B::Mul, v, scale)?;
    match rest {
        Some(bias) => cx.binary(B::Add, v, bias),
        None => {
            cx.set_dequantised(v, Dequantised { integers: sums, scale, zero: None, axis: 0 });
            Ok(v)
        }
    }
}

/// Whether a bias is of whole sums: i32 around 0, of the sums' scale to the bit or the last place.
fn whole(cx: &Cx, bias: &Dequantised, scale: Val) -> bool {
    let zero = bias.zero.is_none_or(|z| cx.tensor(z).is_some_and(|t| t.data.iter().all(|b| *b == 0)));
    let (Some(own), Some(of)) = (cx.tensor(bias.scale), cx.tensor(scale)) else { return false };
    let numbers = |t: &neap_optable::Tensor| -> Vec<f32> {
        t.data.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    };
    let close = |(a, b): (&f32, &f32)| (a - b).abs() <= f32::EPSILON * b.abs();
    let (own, of) = (numbers(own), numbers(of));
    let count = own.len().max(of.len());
    let at = |v: &[f32], i: usize| v[if v.len() == 1 { 0 } else { i }];
    let comparable = [own.len(), of.len()].iter().all(|n| *n == 1 || *n == count);
    zero && cx.dtype(bias.integers) == DType::I32
        && comparable
        && (0..count).all(|i| close((&at(&own, i), &at(&of, i))))
}
