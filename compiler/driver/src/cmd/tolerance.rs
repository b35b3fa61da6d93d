//! When two tensors agree.

use neap_optable::{DType, Tensor};

/// |a - b| <= atol + rtol |b|
#[derive(Clone, Copy)]
pub struct Tolerance {
    /// Absolute.
    pub atol: f64,
    /// Relative.
    pub rtol: f64,
}

/// How far a tensor is from another.
pub struct Distance {
    /// The largest difference.
    pub abs: f64,
    /// The largest difference over the expected value, where that is above the absolute tolerance.
    pub rel: f64,
    /// Whether all elements are within the tolerance.
    pub within: bool,
}

impl Tolerance {
    /// At least four units in the last place of 1, which f16 and bf16 need: every op rounds.
    fn of(&self, dtype: DType) -> Tolerance {
        let least = match dtype {
            DType::F16 => 1.0 / 256.0,
            DType::BF16 => 1.0 / 32.0,
            _ => 0.0,
        };
        Tolerance { atol: self.atol.max(least), rtol: self.rtol.max(least) }
    }

    /// Compares element by element; types and sizes must be equal.
    pub fn compare(&self, got: &Tensor, expected: &Tensor) -> Distance {
        let t = self.of(expected.dtype);
        let same = got.dtype == expected.dtype && got.data.len() == expected.data.len();
        let mut out = Distance { abs: 0.0, rel: 0.0, within: same };
        for (g, e) in floats(got).into_iter().zip(floats(expected)) {
            if g == e || (g.is_nan() && e.is_nan()) {
                continue;
            }
            let diff = (g - e).abs();
            out.abs = out.abs.max(diff);
            if e.abs() > t.atol {
                out.rel = out.rel.max(diff / e.abs());
            }
            // Not `>`: a NaN or infinity on one side only must fail.
            out.within &= diff <= t.atol + t.rtol * e.abs();
        }
        out
    }
}

fn floats(t: &Tensor) -> Vec<f64> {
    match t.to_f64() {
        Some(v) => v,
        None => t.to_i64().unwrap_or_default().into_iter().map(|v| v as f64).collect(),
    }
}
