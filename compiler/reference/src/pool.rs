//! Pooling over windows.

use neap_optable::{Attrs, PoolKind, Tensor};

use crate::values::{Num, Values, int_range, load, store};
use crate::walk::{sizes, strides};

/// A window wholly outside the input gives the least value for `max` and NaN for an average.
pub(crate) fn pool(x: &Tensor, attrs: &Attrs, dims: &[u64]) -> Tensor {
    let kind: PoolKind = attrs.get_enum("kind");
    let values = match load(x) {
        Values::Float(v) => match kind {
            PoolKind::Max => {
                fold(x, &v, attrs, dims, |window, _| window.iter().copied().fold(f64::NEG_INFINITY, Num::larger))
            }
            PoolKind::Average => fold(x, &v, attrs, dims, |window, _| window.iter().sum::<f64>() / window.len() as f64),
            PoolKind::AverageIncludePad => {
                fold(x, &v, attrs, dims, |window, padded| window.iter().sum::<f64>() / padded as f64)
            }
        },
        Values::Int(v) => {
            let least = int_range(x.dtype).0;
            fold(x, &v, attrs, dims, |window, _| window.iter().copied().fold(least, Num::larger))
        }
    };
    store(x.dtype, dims, &values)
}

/// Gives `f` the elements of every window that lie in the input, and how many lie in the padded input.
fn fold<T: Num>(xt: &Tensor, x: &[T], attrs: &Attrs, dims: &[u64], f: impl Fn(&[T], usize) -> T) -> Values {
    let kernel = attrs.get_ints("kernel");
    let (stride, pads, dilation) = (attrs.get_ints("strides"), attrs.get_ints("pads"), attrs.get_ints("dilations"));
    let (from, to) = (sizes(&xt.dims[2..]), sizes(&dims[2..]));
    let rank = from.len();
    // Per dim and result index: the input indices of the window, and how many of its elements the padded dim has.
    let windows: Vec<Vec<(Vec<usize>, usize)>> = (0..rank)
        .map(|i| {
            let (n, low, high) = (from[i] as i64, pads[i], pads[rank + i]);
            (0..to[i] as i64)
                .map(|o| {
                    let at: Vec<i64> = (0..kernel[i]).map(|k| o * stride[i] + k * dilation[i] - low).collect();
                    let padded = at.iter().filter(|p| **p < n + high).count();
                    (at.into_iter().filter(|p| (0..n).contains(p)).map(|p| p as usize).collect(), padded)
                })
                .collect()
        })
        .collect();
    let plane: usize = from.iter().product();
    let (steps, steps_to) = (strides(&from), strides(&to));
    let mut out = Vec::with_capacity(dims.iter().product::<u64>() as usize);
    let mut window = vec![];
    for nc in 0..(dims[0] * dims[1]) as usize {
        let input = &x[nc * plane..][..plane];
        for p in 0..to.iter().product::<usize>() {
            let at = |i: usize| &windows[i][p / steps_to[i] as usize % to[i]];
            let mut offsets = vec![0];
            let mut padded = 1;
            for (i, step) in steps.iter().enumerate() {
                let (inside, count) = at(i);
                padded *= count;
                offsets = offsets.iter().flat_map(|o| inside.iter().map(move |q| o + q * *step as usize)).collect();
            }
            window.clear();
            window.extend(offsets.iter().map(|o| input[*o]));
            out.push(f(&window, padded));
        }
    }
    T::wrap(out)
}
