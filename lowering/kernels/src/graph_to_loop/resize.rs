//! Resizing: each result element is a weighted sum of the elements around its position in the input (ONNX Resize).
//!
//! Positions are computed in f32 in the same steps as [`neap_optable::resample`], so that both round alike.

use neap_optable::{CompareKind, CoordinateMode, DType, Dim, NearestMode, Node, ResizeMode, UnaryKind};

use super::Unlowerable;
use super::nest::NestBuilder;
use super::region::Lowering;
use crate::ir::{BufferId, Index, OpId};
use crate::scalar::computed;

const P: DType = DType::F32;

/// What contributes along one dim: places and their weights (`None`: 1).
type Taps = Vec<(OpId, Option<OpId>)>;

pub(super) fn resize(b: &mut NestBuilder, cx: &mut Lowering<'_>, n: &Node, at: &[Index]) -> Result<OpId, Unlowerable> {
    let input = n.inputs[0];
    let (from, to) = (cx.ty(input), cx.ty(n.outputs[0]));
    let scales = n.attrs.get_floats("scales");
    let mode: ResizeMode = n.attrs.get_enum("mode");
    if mode != ResizeMode::Nearest && !from.dtype.is_float() {
        return Err(cx.refuse(n, format!("interpolates floats only, not {}", from.dtype)));
    }
    let mut taps: Vec<Taps> = vec![];
    for (d, i) in at.iter().enumerate() {
        if scales[d] == 1.0 && from.dims[d] == to.dims[d] {
            taps.push(vec![(b.index(i), None)]);
            continue;
        }
        let x = position(b, n, i, &from.dims[d], &to.dims[d], scales[d]);
        taps.push(match mode {
            ResizeMode::Nearest => vec![(nearest(b, n.attrs.get_enum("nearest"), x, &from.dims[d]), None)],
            ResizeMode::Linear => linear(b, x, &from.dims[d]),
            ResizeMode::Cubic => cubic(b, x, &from.dims[d], n.attrs.get_float("cubic_a")),
        });
    }
    let buffer = cx.whole(n, input)?;
    let sum = weigh(b, buffer, from.dtype, &taps, &mut vec![]);
    Ok(b.cast(from.dtype, sum))
}

/// Sums over the taps of the dims not placed yet.
fn weigh(b: &mut NestBuilder, buffer: BufferId, dtype: DType, taps: &[Taps], place: &mut Vec<OpId>) -> OpId {
    let Some(dim) = taps.get(place.len()) else {
        let v = b.load(buffer, place.clone(), dtype);
        return if taps.iter().flatten().any(|t| t.1.is_some()) { b.cast(computed(dtype), v) } else { v };
    };
    let mut sum: Option<OpId> = None;
    for (i, weight) in dim {
        place.push(*i);
        let mut v = weigh(b, buffer, dtype, taps, place);
        place.pop();
        if let Some(w) = weight {
            let w = b.cast(computed(dtype), *w);
            v = match sum {
                Some(s) => b.fma(v, w, s),
                None => b.mul(v, w),
            };
        }
        sum = Some(v);
    }
    sum.expect("a dim has a tap")
}

/// The position in the input of a result index.
fn position(b: &mut NestBuilder, n: &Node, i: &Index, from: &Dim, to: &Dim, scale: f64) -> OpId {
    let i = b.index(i);
    let x = b.cast(P, i);
    let size = |b: &mut NestBuilder, d: &Dim| {
        let d = b.size(d);
        b.cast(P, d)
    };
    let half = |b: &mut NestBuilder, x: OpId| {
        let (h, s) = (b.number(P, 0.5), b.number(P, scale));
        let x = b.add(x, h);
        let x = b.div(x, s);
        b.sub(x, h)
    };
    match n.attrs.get_enum::<CoordinateMode>("coordinates") {
        CoordinateMode::HalfPixel => half(b, x),
        CoordinateMode::PytorchHalfPixel if to.as_const() == Some(1) => b.number(P, 0.0),
        CoordinateMode::PytorchHalfPixel => half(b, x),
        CoordinateMode::Asymmetric => {
            let s = b.number(P, scale);
            b.div(x, s)
        }
        CoordinateMode::AlignCorners if to.as_const() == Some(1) => b.number(P, 0.0),
        CoordinateMode::AlignCorners => {
            let one = Dim::constant(1);
            let (n, d) = (size(b, &from.sub(&one)), size(b, &to.sub(&one)));
            let x = b.mul(x, n);
            b.div(x, d)
        }
        CoordinateMode::HalfPixelSymmetric => {
            let (n, d, s) = (size(b, from), size(b, to), b.number(P, scale));
            let exact = b.mul(n, s);
            let adjustment = b.div(d, exact);
            let (one, two) = (b.number(P, 1.0), b.number(P, 2.0));
            let centre = b.div(n, two);
            let rest = b.sub(one, adjustment);
            let offset = b.mul(centre, rest);
            let x = half(b, x);
            b.add(offset, x)
        }
    }
}

/// A whole position as an index inside the dim.
fn clamp(b: &mut NestBuilder, x: OpId, dim: &Dim) -> OpId {
    let i = b.cast(DType::I64, x);
    let (zero, n, one) = (b.int(0), b.size(dim), b.int(1));
    let last = b.sub(n, one);
    let i = b.max(i, zero);
    b.min(i, last)
}

fn nearest(b: &mut NestBuilder, mode: NearestMode, x: OpId, dim: &Dim) -> OpId {
    let whole = match mode {
        NearestMode::RoundPreferFloor | NearestMode::RoundPreferCeil => {
            let below = b.unary(UnaryKind::Floor, x);
            let part = b.sub(x, below);
            let half = b.number(P, 0.5);
            let tie = b.compare(CompareKind::Eq, part, half);
            let side = if mode == NearestMode::RoundPreferFloor { below } else { b.unary(UnaryKind::Ceil, x) };
            let near = b.unary(UnaryKind::Round, x);
            b.select(tie, side, near)
        }
        NearestMode::Floor => b.unary(UnaryKind::Floor, x),
        NearestMode::Ceil => b.unary(UnaryKind::Ceil, x),
    };
    clamp(b, whole, dim)
}

fn linear(b: &mut NestBuilder, x: OpId, dim: &Dim) -> Taps {
    let one = b.number(P, 1.0);
    let whole = b.unary(UnaryKind::Floor, x);
    let next = b.add(whole, one);
    let part = b.sub(x, whole);
    let rest = b.sub(one, part);
    vec![(clamp(b, whole, dim), Some(rest)), (clamp(b, next, dim), Some(part))]
}

/// Cubic convolution (Keys 1981) with parameter a.
fn cubic(b: &mut NestBuilder, x: OpId, dim: &Dim, a: f64) -> Taps {
    let whole = b.unary(UnaryKind::Floor, x);
    let t = b.sub(x, whole);
    // Distances of the four taps: 1 + t, t, 1 - t, 2 - t.
    let one = b.number(P, 1.0);
    let two = b.number(P, 2.0);
    let distances = [b.add(t, one), t, b.sub(one, t), b.sub(two, t)];
    let polynomial = |b: &mut NestBuilder, x: OpId, c: [f64; 4]| {
        let mut sum = b.number(P, c[0]);
        for k in &c[1..] {
            let k = b.number(P, *k);
            sum = b.fma(sum, x, k);
        }
        sum
    };
    let mut taps = vec![];
    for (i, d) in distances.into_iter().enumerate() {
        let near = i == 1 || i == 2;
        let c = if near { [a + 2.0, -(a + 3.0), 0.0, 1.0] } else { [a, -5.0 * a, 8.0 * a, -4.0 * a] };
        let w = polynomial(b, d, c);
        let shift = b.number(P, i as f64 - 1.0);
        let place = b.add(whole, shift);
        taps.push((clamp(b, place, dim), Some(w)));
    }
    taps
}
