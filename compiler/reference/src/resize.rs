//! Resizing, one dim after another: ONNX's interpolations are products of weights along each dim.

use neap_optable::{Attrs, ResizeMode, Tensor, resample};

use crate::shape::take;
use crate::values::{Values, load_floats, store};
use crate::walk::Split;

pub(crate) fn resize(x: &Tensor, attrs: &Attrs, dims: &[u64]) -> Tensor {
    let mode: ResizeMode = attrs.get_enum("mode");
    let scales = attrs.get_floats("scales");
    let changed = (0..dims.len()).filter(|&i| scales[i] != 1.0 || dims[i] != x.dims[i]);
    if mode == ResizeMode::Nearest {
        return changed.fold(x.clone(), |x, i| nearest(&x, attrs, i, scales[i], dims[i]));
    }
    let mut now = x.dims.clone();
    let mut values = load_floats(x);
    for i in changed {
        values = interpolate(&values, &now, attrs, i, scales[i], dims[i]);
        now[i] = dims[i];
    }
    store(x.dtype, dims, &Values::Float(values))
}

fn nearest(x: &Tensor, attrs: &Attrs, axis: usize, scale: f64, to: u64) -> Tensor {
    let s = Split::at(&x.dims, axis);
    let source: Vec<usize> = (0..to)
        .map(|p| {
            let at = resample::source(attrs.get_enum("coordinates"), p, s.n as u64, to, scale);
            resample::nearest(attrs.get_enum("nearest"), at, s.n as u64) as usize
        })
        .collect();
    let rows = (0..s.outer).flat_map(|o| source.iter().map(move |p| o * s.n + p));
    let places = rows.flat_map(|row| (0..s.inner).map(move |i| row * s.inner + i));
    let mut dims = x.dims.clone();
    dims[axis] = to;
    Tensor { dtype: x.dtype, dims, data: take(x, places) }
}

fn interpolate(x: &[f64], dims: &[u64], attrs: &Attrs, axis: usize, scale: f64, to: u64) -> Vec<f64> {
    let s = Split::at(dims, axis);
    let taps: Vec<Vec<(usize, f64)>> = (0..to)
        .map(|p| {
            let at = resample::source(attrs.get_enum("coordinates"), p, s.n as u64, to, scale);
            match attrs.get_enum("mode") {
                ResizeMode::Cubic => resample::cubic(at, s.n as u64, attrs.get_float("cubic_a")).to_vec(),
                ResizeMode::Linear | ResizeMode::Nearest => resample::linear(at, s.n as u64).to_vec(),
            }
            .into_iter()
            .map(|(p, w)| (p as usize, w))
            .collect()
        })
        .collect();
    let mut out = Vec::with_capacity(s.outer * to as usize * s.inner);
    for o in 0..s.outer {
        for taps in &taps {
            out.extend((0..s.inner).map(|i| taps.iter().map(|(p, w)| w * x[(o * s.n + p) * s.inner + i]).sum::<f64>()));
        }
    }
    out
}
