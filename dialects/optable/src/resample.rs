//! Where a resize reads: the coordinate and weight rules of ONNX Resize, shared by the reference interpreter and the kernels,
//! so that both round alike. Coordinates are computed in f32, as ONNX's own reference and onnxruntime do.

use crate::{CoordinateMode, NearestMode};

/// The position along one dim of the input (`from` elements) that result index `at` of `to` samples.
pub fn source(mode: CoordinateMode, at: u64, from: u64, to: u64, scale: f64) -> f32 {
    let (x, n, m, s) = (at as f32, from as f32, to as f32, scale as f32);
    match mode {
        // Same shape, same place: without this a scale just off 1 would shift.
        _ if s == 1.0 && from == to => x,
        CoordinateMode::HalfPixel => (x + 0.5) / s - 0.5,
        CoordinateMode::Asymmetric => x / s,
        CoordinateMode::AlignCorners if to == 1 => 0.0,
        CoordinateMode::AlignCorners => x * (n - 1.0) / (m - 1.0),
        CoordinateMode::PytorchHalfPixel if to > 1 => (x + 0.5) / s - 0.5,
        CoordinateMode::PytorchHalfPixel => 0.0,
        CoordinateMode::HalfPixelSymmetric => {
            let adjustment = m / (s * n);
            let center = n / 2.0;
            center * (1.0 - adjustment) + ((x + 0.5) / s - 0.5)
        }
    }
}

/// The input index nearest to a position, inside the dim.
pub fn nearest(mode: NearestMode, position: f32, from: u64) -> u64 {
    let p = match mode {
        NearestMode::RoundPreferFloor if position == position.trunc() + 0.5 => position.floor(),
        NearestMode::RoundPreferFloor | NearestMode::RoundPreferCeil => position.round(),
        NearestMode::Floor => position.floor(),
        NearestMode::Ceil => position.ceil(),
    };
    inside(p as i64, from)
}

/// The two input indices around a position and their weights.
pub fn linear(position: f32, from: u64) -> [(u64, f64); 2] {
    let low = position.floor();
    let t = f64::from(position - low);
    [(inside(low as i64, from), 1.0 - t), (inside(low as i64 + 1, from), t)]
}

/// The four input indices around a position and their weights by Keys' cubic convolution with parameter `a`
/// (R. Keys, "Cubic convolution interpolation for digital image processing", 1981).
pub fn cubic(position: f32, from: u64, a: f64) -> [(u64, f64); 4] {
    let low = position.floor();
    let t = f64::from(position - low);
    let near = |d: f64| ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0;
    let far = |d: f64| ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a;
    let weights = [far(1.0 + t), near(t), near(1.0 - t), far(2.0 - t)];
    std::array::from_fn(|i| (inside(low as i64 + i as i64 - 1, from), weights[i]))
}

/// Beyond the ends the last element repeats.
fn inside(p: i64, from: u64) -> u64 {
    p.clamp(0, from as i64 - 1) as u64
}
