//! Operators that move elements, whatever their type.

use bytes::Bytes;
use neap_optable::{PadMode, Tensor};

use crate::walk::{Walk, sizes, strides};

/// The elements of `x` at the given places, as the data of another tensor.
pub(crate) fn take(x: &Tensor, places: impl Iterator<Item = usize>) -> Bytes {
    fn go<const N: usize>(x: &Tensor, places: impl Iterator<Item = usize>) -> Bytes {
        let from = x.data.as_chunks::<N>().0;
        let mut out = Vec::with_capacity(places.size_hint().0 * N);
        places.for_each(|p| out.extend_from_slice(&from[p]));
        out.into()
    }
    match x.dtype.size() {
        1 => go::<1>(x, places),
        2 => go::<2>(x, places),
        4 => go::<4>(x, places),
        _ => go::<8>(x, places),
    }
}

pub(crate) fn broadcast(x: &Tensor, dims: &[u64]) -> Tensor {
    let (from, to) = (sizes(&x.dims), sizes(dims));
    let new = to.len() - from.len();
    let mut steps = vec![0; to.len()];
    for (i, s) in strides(&from).into_iter().enumerate() {
        if from[i] != 1 {
            steps[i + new] = s;
        }
    }
    Tensor { dtype: x.dtype, dims: dims.to_vec(), data: take(x, Walk::new(&to, &steps, 0)) }
}

pub(crate) fn transpose(x: &Tensor, permutation: &[i64]) -> Tensor {
    let dims: Vec<u64> = permutation.iter().map(|&p| x.dims[p as usize]).collect();
    let from = strides(&sizes(&x.dims));
    let steps: Vec<isize> = permutation.iter().map(|&p| from[p as usize]).collect();
    let data = take(x, Walk::new(&sizes(&dims), &steps, 0));
    Tensor { dtype: x.dtype, dims, data }
}

pub(crate) fn slice(x: &Tensor, starts: &[i64], steps: &[i64], dims: &[u64]) -> Tensor {
    let from = strides(&sizes(&x.dims));
    let start = from.iter().zip(starts).map(|(f, s)| f * *s as isize).sum();
    let steps: Vec<isize> = from.iter().zip(steps).map(|(f, s)| f * *s as isize).collect();
    Tensor { dtype: x.dtype, dims: dims.to_vec(), data: take(x, Walk::new(&sizes(dims), &steps, start)) }
}

pub(crate) fn concat(xs: &[&Tensor], axis: usize, dims: &[u64]) -> Tensor {
    let outer: u64 = dims[..axis].iter().product();
    let mut data = vec![];
    for o in 0..outer as usize {
        for x in xs {
            let run = x.data.len() / outer as usize;
            data.extend_from_slice(&x.data[o * run..(o + 1) * run]);
        }
    }
    Tensor { dtype: xs[0].dtype, dims: dims.to_vec(), data: data.into() }
}

pub(crate) fn pad(x: &Tensor, value: &Tensor, mode: PadMode, low: &[i64], dims: &[u64]) -> Tensor {
    let from = sizes(&x.dims);
    let steps = strides(&from);
    // Per dim: for each result index the offset it contributes, or none in constant padding.
    let tables: Vec<Vec<Option<isize>>> = (0..from.len())
        .map(|i| {
            let source = |p: u64| pad_source(mode, p as i64 - low[i], from[i] as i64);
            (0..dims[i]).map(|p| source(p).map(|s| s as isize * steps[i])).collect()
        })
        .collect();
    let size = x.dtype.size() as usize;
    let mut data = Vec::new();
    let to = sizes(dims);
    let mut index = vec![0; to.len()];
    for _ in 0..to.iter().product() {
        match tables.iter().zip(&index).try_fold(0, |sum, (t, &p)| Some(sum + t[p]?)) {
            Some(offset) => data.extend_from_slice(&x.data[offset as usize * size..][..size]),
            None => data.extend_from_slice(&value.data),
        }
        for i in (0..to.len()).rev() {
            index[i] += 1;
            if index[i] < to[i] {
                break;
            }
            index[i] = 0;
        }
    }
    Tensor { dtype: x.dtype, dims: dims.to_vec(), data: data.into() }
}

/// Which element of a dim of `n` stands at `p`, where 0 <= p < n is the dim itself; as numpy.pad, also beyond one reflection.
fn pad_source(mode: PadMode, p: i64, n: i64) -> Option<i64> {
    if (0..n).contains(&p) {
        return Some(p);
    }
    match mode {
        PadMode::Constant => None,
        PadMode::Edge => Some(p.clamp(0, n - 1)),
        PadMode::Wrap => Some(p.rem_euclid(n)),
        PadMode::Reflect if n == 1 => Some(0),
        PadMode::Reflect => {
            let period = 2 * (n - 1);
            let q = p.rem_euclid(period);
            Some(if q < n { q } else { period - q })
        }
    }
}
