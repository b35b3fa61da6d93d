//! Matrix products and convolutions.
//!
//! Each result element is summed in order, in f64, and rounded once: more exact than the compiled code, which is compared with a
//! tolerance. (A product of two f32 is exact in f64.) Integers wrap.

use neap_optable::{Attrs, Tensor};

use crate::values::{Num, Values, load, store};
use crate::walk::{Walk, sizes, strides};

/// Rows and columns of the result summed together, so that a stretch of the right operand serves several rows from cache.
const ROWS: usize = 8;
const COLUMNS: usize = 512;

/// `c[m, n] = a[m, k] * b[k, n]`, all row-major.
fn multiply<T: Num>(a: &[T], b: &[T], c: &mut [T], m: usize, k: usize, n: usize) {
    let mut sums = [T::ZERO; ROWS * COLUMNS];
    for j in (0..n).step_by(COLUMNS) {
        let width = COLUMNS.min(n - j);
        for i in (0..m).step_by(ROWS) {
            let height = ROWS.min(m - i);
            sums.fill(T::ZERO);
            for l in 0..k {
                let row = &b[l * n + j..][..width];
                for r in 0..height {
                    let x = a[(i + r) * k + l];
                    for (s, y) in sums[r * COLUMNS..][..width].iter_mut().zip(row) {
                        *s = s.add(x.mul(*y));
                    }
                }
            }
            for r in 0..height {
                c[(i + r) * n + j..][..width].copy_from_slice(&sums[r * COLUMNS..][..width]);
            }
        }
    }
}

pub(crate) fn matmul(a: &Tensor, b: &Tensor, transpose: (bool, bool), dims: &[u64]) -> Tensor {
    let values = match (load(a), load(b)) {
        (Values::Float(x), Values::Float(y)) => batched(a, &x, b, &y, transpose, dims),
        (Values::Int(x), Values::Int(y)) => batched(a, &x, b, &y, transpose, dims),
        (other, _) => other,
    };
    store(a.dtype, dims, &values)
}

fn batched<T: Num>(at: &Tensor, a: &[T], bt: &Tensor, b: &[T], transpose: (bool, bool), dims: &[u64]) -> Values {
    let batch = sizes(&dims[..dims.len() - 2]);
    let (m, n) = (dims[dims.len() - 2] as usize, dims[dims.len() - 1] as usize);
    let k = at.dims[at.dims.len() - if transpose.0 { 2 } else { 1 }] as usize;
    let mut out = vec![T::ZERO; batch.iter().product::<usize>() * m * n];
    // Which matrix of an operand each result matrix reads: numpy's broadcast.
    let places = |t: &Tensor| {
        let from = sizes(&t.dims[..t.dims.len() - 2]);
        let new = batch.len() - from.len();
        let mut steps = vec![0; batch.len()];
        for (i, s) in strides(&from).into_iter().enumerate() {
            if from[i] != 1 {
                steps[i + new] = s;
            }
        }
        Walk::new(&batch, &steps, 0)
    };
    for (i, (p, q)) in places(at).zip(places(bt)).enumerate() {
        let x = flipped(&a[p * m * k..][..m * k], k, m, transpose.0);
        let y = flipped(&b[q * k * n..][..k * n], n, k, transpose.1);
        multiply(&x, &y, &mut out[i * m * n..][..m * n], m, k, n);
    }
    T::wrap(out)
}

/// A matrix with `rows` rows of `columns` elements as stored, transposed if asked.
fn flipped<T: Num>(x: &[T], rows: usize, columns: usize, transpose: bool) -> std::borrow::Cow<'_, [T]> {
    if !transpose {
        return x.into();
    }
    let mut out = Vec::with_capacity(x.len());
    for c in 0..columns {
        out.extend((0..rows).map(|r| x[r * columns + c]));
    }
    out.into()
}

/// Strides, pads and dilations of the spatial dims.
struct Windows<'a> {
    strides: &'a [i64],
    pads: &'a [i64],
    dilations: &'a [i64],
}

impl<'a> Windows<'a> {
    fn of(attrs: &'a Attrs) -> Self {
        Windows {
            strides: attrs.get_ints("strides"),
            pads: attrs.get_ints("pads"),
            dilations: attrs.get_ints("dilations"),
        }
    }

    /// The offset in a plane of `size` that the kernel element `tap` reads for the window at `at`, unless in the padding.
    fn source(&self, at: &[usize], tap: &[usize], size: &[usize]) -> Option<usize> {
        let mut offset = 0;
        for i in 0..size.len() {
            let p = at[i] as i64 * self.strides[i] + tap[i] as i64 * self.dilations[i] - self.pads[i];
            let p = usize::try_from(p).ok().filter(|p| *p < size[i])?;
            offset = offset * size[i] + p;
        }
        Some(offset)
    }
}

/// The coordinates of every element of a shape, row-major.
fn coordinates(size: &[usize]) -> Vec<Vec<usize>> {
    let steps = strides(size);
    (0..size.iter().product())
        .map(|p: usize| size.iter().zip(&steps).map(|(n, s)| p / *s as usize % n).collect())
        .collect()
}

pub(crate) fn conv(x: &Tensor, filter: &Tensor, attrs: &Attrs, dims: &[u64]) -> Tensor {
    let values = match (load(x), load(filter)) {
        (Values::Float(a), Values::Float(b)) => convolve(x, &a, filter, &b, attrs, dims),
        (Values::Int(a), Values::Int(b)) => convolve(x, &a, filter, &b, attrs, dims),
        (other, _) => other,
    };
    store(x.dtype, dims, &values)
}

/// Windows are laid out as columns, a stretch of positions at a time, and multiplied by the filters.
fn convolve<T: Num>(xt: &Tensor, x: &[T], ft: &Tensor, filter: &[T], attrs: &Attrs, dims: &[u64]) -> Values {
    const STRETCH: usize = 4096;
    let windows = Windows::of(attrs);
    let groups = attrs.get_int("groups") as usize;
    let (from, kernel, to) = (sizes(&xt.dims[2..]), sizes(&ft.dims[2..]), sizes(&dims[2..]));
    let (plane, taps, places) =
        (from.iter().product::<usize>(), kernel.iter().product::<usize>(), to.iter().product::<usize>());
    let (batch, filters, channels) = (dims[0] as usize, dims[1] as usize / groups, ft.dims[1] as usize);
    let mut out = vec![T::ZERO; batch * groups * filters * places];
    let (tap_at, place_at) = (coordinates(&kernel), coordinates(&to));
    for start in (0..places).step_by(STRETCH) {
        let width = STRETCH.min(places - start);
        let sources: Vec<Option<usize>> = tap_at
            .iter()
            .flat_map(|tap| place_at[start..start + width].iter().map(|at| windows.source(at, tap, &from)))
            .collect();
        let mut columns = vec![T::ZERO; channels * taps * width];
        let mut product = vec![T::ZERO; filters * width];
        for ng in 0..batch * groups {
            for c in 0..channels {
                let input = &x[(ng * channels + c) * plane..][..plane];
                for (to, source) in columns[c * taps * width..][..taps * width].iter_mut().zip(&sources) {
                    *to = source.map_or(T::ZERO, |s| input[s]);
                }
            }
            let f = ng % groups * filters;
            let rows = &filter[f * channels * taps..][..filters * channels * taps];
            multiply(rows, &columns, &mut product, filters, channels * taps, width);
            for o in 0..filters {
                out[(ng * filters + o) * places + start..][..width].copy_from_slice(&product[o * width..][..width]);
            }
        }
    }
    T::wrap(out)
}

pub(crate) fn conv_transpose(x: &Tensor, filter: &Tensor, attrs: &Attrs, dims: &[u64]) -> Tensor {
    let values = match (load(x), load(filter)) {
        (Values::Float(a), Values::Float(b)) => spread(x, &a, filter, &b, attrs, dims),
        (Values::Int(a), Values::Int(b)) => spread(x, &a, filter, &b, attrs, dims),
        (other, _) => other,
    };
    store(x.dtype, dims, &values)
}

/// Every input element adds its multiples of the kernel to the places that a forward convolution would read for it.
fn spread<T: Num>(xt: &Tensor, x: &[T], ft: &Tensor, filter: &[T], attrs: &Attrs, dims: &[u64]) -> Values {
    let windows = Windows::of(attrs);
    let groups = attrs.get_int("groups") as usize;
    let (from, kernel, to) = (sizes(&xt.dims[2..]), sizes(&ft.dims[2..]), sizes(&dims[2..]));
    let (plane, taps, places) =
        (from.iter().product::<usize>(), kernel.iter().product::<usize>(), to.iter().product::<usize>());
    let (batch, channels, filters) = (dims[0] as usize, ft.dims[0] as usize / groups, ft.dims[1] as usize);
    let input_at = coordinates(&from);
    let targets: Vec<Vec<Option<usize>>> = coordinates(&kernel)
        .iter()
        .map(|tap| input_at.iter().map(|at| windows.source(at, tap, &to)).collect())
        .collect();
    let mut out = vec![T::ZERO; batch * groups * filters * places];
    for ng in 0..batch * groups {
        for o in 0..filters {
            let sums = &mut out[(ng * filters + o) * places..][..places];
            for c in 0..channels {
                let input = &x[(ng * channels + c) * plane..][..plane];
                let weights = &filter[((ng % groups * channels + c) * filters + o) * taps..][..taps];
                for (w, targets) in weights.iter().zip(&targets) {
                    for (v, target) in input.iter().zip(targets) {
                        if let Some(t) = *target {
                            sums[t] = sums[t].add(v.mul(*w));
                        }
                    }
                }
            }
        }
    }
    T::wrap(out)
}
