//! Extremes and sorting along one axis. A NaN counts as greater than every number; arg-reductions take it as the extreme of
//! either kind, as numpy does.

use std::cmp::Ordering;

use neap_optable::{ArgKind, DType, Tensor};

use crate::shape::take;
use crate::values::{Values, load, store};
use crate::walk::Split;

pub(crate) fn arg_reduce(kind: ArgKind, x: &Tensor, axis: usize, select_last: bool) -> Tensor {
    let s = Split::at(&x.dims, axis);
    let order = ordering(x);
    let nan = |p: usize| matches!(&order, Keys::Float(v) if v[p].is_nan());
    // Whether q beats p, where p comes first.
    let better = |p: usize, q: usize| {
        let o = match (nan(p), nan(q)) {
            (false, false) if kind == ArgKind::Min => order.compare(p, q),
            (p, q) if p || q => q.cmp(&p),
            _ => order.compare(q, p),
        };
        o == Ordering::Greater || select_last && o == Ordering::Equal
    };
    let best = s.lines().map(|line| {
        let best = (1..s.n).fold(0, |b, i| if better(line + b * s.inner, line + i * s.inner) { i } else { b });
        best as i128
    });
    let mut dims = x.dims.clone();
    dims[axis] = 1;
    store(DType::I64, &dims, &Values::Int(best.collect()))
}

/// Values and indices; `k` of them along the axis.
pub(crate) fn top_k(x: &Tensor, axis: usize, k: u64, largest: bool) -> Vec<Tensor> {
    let s = Split::at(&x.dims, axis);
    let order = ordering(x);
    let mut dims = x.dims.clone();
    dims[axis] = k;
    let to = Split::at(&dims, axis);
    let mut places = vec![0; to.outer * to.n * to.inner];
    let mut indices = vec![0; places.len()];
    for (line, result) in s.lines().zip(to.lines()) {
        let mut sorted: Vec<usize> = (0..s.n).collect();
        // Stable, so that of equals the lower index comes first.
        sorted.sort_by(|p, q| {
            let (p, q) = (line + p * s.inner, line + q * s.inner);
            if largest { order.compare(q, p) } else { order.compare(p, q) }
        });
        for (i, from) in sorted.into_iter().take(to.n).enumerate() {
            places[result + i * to.inner] = line + from * s.inner;
            indices[result + i * to.inner] = from as i128;
        }
    }
    let values = Tensor { dtype: x.dtype, dims: dims.clone(), data: take(x, places.into_iter()) };
    vec![values, store(DType::I64, &dims, &Values::Int(indices))]
}

enum Keys {
    Float(Vec<f64>),
    Int(Vec<i128>),
}

fn ordering(x: &Tensor) -> Keys {
    match load(x) {
        Values::Float(v) => Keys::Float(v),
        Values::Int(v) => Keys::Int(v),
    }
}

impl Keys {
    fn compare(&self, p: usize, q: usize) -> Ordering {
        match self {
            Keys::Int(v) => v[p].cmp(&v[q]),
            Keys::Float(v) => v[p].partial_cmp(&v[q]).unwrap_or_else(|| v[p].is_nan().cmp(&v[q].is_nan())),
        }
    }
}
