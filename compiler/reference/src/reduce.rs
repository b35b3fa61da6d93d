//! Reductions, and normalisations along dims. Floats are summed in f64 and rounded once.

use neap_optable::{ReduceKind, Tensor};

use crate::values::{Num, Values, int_range, load, load_floats, store};
use crate::walk::{Split, Walk, sizes, strides};

/// `dims` are the result's.
pub(crate) fn reduce(kind: ReduceKind, x: &Tensor, axes: &[i64], dims: &[u64]) -> Tensor {
    let from = sizes(&x.dims);
    let kept: Vec<usize> =
        from.iter().enumerate().map(|(i, n)| if axes.contains(&(i as i64)) { 1 } else { *n }).collect();
    // Walking the input, the reduced dims stand still in the result.
    let mut steps = strides(&kept);
    axes.iter().for_each(|a| steps[*a as usize] = 0);
    let places = Walk::new(&from, &steps, 0);
    let count: usize = axes.iter().map(|a| from[*a as usize]).product();
    let len = kept.iter().product();
    let (least, most) = int_range(x.dtype);
    let values = match load(x) {
        Values::Float(v) => {
            let mut sums = fold(kind, &v, places, len, (f64::NEG_INFINITY, f64::INFINITY));
            if kind == ReduceKind::Mean {
                sums.iter_mut().for_each(|s| *s /= count as f64);
            }
            Values::Float(sums)
        }
        Values::Int(v) => Values::Int(fold(kind, &v, places, len, (least, most))),
    };
    store(x.dtype, dims, &values)
}

/// Bools are 0 and 1, so `any` and `all` are a maximum and a minimum.
fn fold<T: Num>(kind: ReduceKind, x: &[T], places: Walk, len: usize, (least, most): (T, T)) -> Vec<T> {
    let (start, f): (T, fn(T, T) -> T) = match kind {
        ReduceKind::Sum | ReduceKind::Mean => (T::ZERO, T::add),
        ReduceKind::Prod => (T::ONE, T::mul),
        ReduceKind::Max | ReduceKind::Any => (least, T::larger),
        ReduceKind::Min | ReduceKind::All => (most, T::smaller),
    };
    let mut out = vec![start; len];
    x.iter().zip(places).for_each(|(x, p)| out[p] = f(out[p], *x));
    out
}

pub(crate) fn softmax(x: &Tensor, axis: usize, log: bool) -> Tensor {
    let s = Split::at(&x.dims, axis);
    let mut v = load_floats(x);
    for line in s.lines() {
        let at = |i: usize| line + i * s.inner;
        let max = (0..s.n).map(|i| v[at(i)]).fold(f64::NEG_INFINITY, Num::larger);
        let sum: f64 = (0..s.n).map(|i| libm::exp(v[at(i)] - max)).sum();
        for i in 0..s.n {
            let shifted = v[at(i)] - max;
            v[at(i)] = if log { shifted - libm::log(sum) } else { libm::exp(shifted) / sum };
        }
    }
    store(x.dtype, &x.dims, &Values::Float(v))
}

pub(crate) fn layer_norm(x: &Tensor, axis: usize, epsilon: f64, rms: bool) -> Tensor {
    let n = sizes(&x.dims[axis..]).iter().product::<usize>();
    let mut v = load_floats(x);
    for row in v.chunks_exact_mut(n.max(1)) {
        let mean = if rms { 0.0 } else { row.iter().sum::<f64>() / n as f64 };
        let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n as f64;
        let scale = 1.0 / (variance + epsilon).sqrt();
        row.iter_mut().for_each(|x| *x = (*x - mean) * scale);
    }
    store(x.dtype, &x.dims, &Values::Float(v))
}

pub(crate) fn cumsum(x: &Tensor, axis: usize, exclusive: bool, reverse: bool) -> Tensor {
    fn go<T: Num>(mut v: Vec<T>, s: &Split, exclusive: bool, reverse: bool) -> Values {
        for line in s.lines() {
            let mut sum = T::ZERO;
            for i in 0..s.n {
                let p = line + if reverse { s.n - 1 - i } else { i } * s.inner;
                let next = sum.add(v[p]);
                v[p] = if exclusive { sum } else { next };
                sum = next;
            }
        }
        T::wrap(v)
    }
    let s = Split::at(&x.dims, axis);
    let values = match load(x) {
        Values::Float(v) => go(v, &s, exclusive, reverse),
        Values::Int(v) => go(v, &s, exclusive, reverse),
    };
    store(x.dtype, &x.dims, &values)
}
