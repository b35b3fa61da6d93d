//! Operators whose places come from data. Negative indices count from the end; a gather clamps an index out of range, a
//! scatter drops its update.

use neap_optable::{ScatterKind, Tensor};

use crate::shape::take;
use crate::values::{Num, Values, load, load_ints, store};
use crate::walk::{Split, sizes, strides};

/// An index into a dim of `n` elements, negative ones counted from the end.
fn from_end(i: i128, n: usize) -> i128 {
    if i < 0 { i + n as i128 } else { i }
}

fn clamped(i: i128, n: usize) -> usize {
    from_end(i, n).clamp(0, n as i128 - 1) as usize
}

pub(crate) fn gather(x: &Tensor, indices: &Tensor, axis: usize, dims: &[u64]) -> Tensor {
    let s = Split::at(&x.dims, axis);
    let at: Vec<usize> = load_ints(indices).into_iter().map(|i| clamped(i, s.n)).collect();
    let rows = (0..s.outer).flat_map(|o| at.iter().map(move |i| o * s.n + i));
    let places = rows.flat_map(|row| (0..s.inner).map(move |i| row * s.inner + i));
    Tensor { dtype: x.dtype, dims: dims.to_vec(), data: take(x, places) }
}

pub(crate) fn gather_elements(x: &Tensor, indices: &Tensor, axis: usize) -> Tensor {
    let places = along_axis(x, indices, axis, |i, n| Some(clamped(i, n)));
    Tensor { dtype: x.dtype, dims: indices.dims.clone(), data: take(x, places.into_iter().flatten()) }
}

pub(crate) fn gather_nd(x: &Tensor, indices: &Tensor, batch: usize, dims: &[u64]) -> Tensor {
    let (starts, run) = rows(x, indices, batch, |i, n| Some(clamped(i, n)));
    let places = starts.into_iter().flatten().flat_map(|s| s..s + run);
    Tensor { dtype: x.dtype, dims: dims.to_vec(), data: take(x, places) }
}

pub(crate) fn scatter_elements(
    kind: ScatterKind,
    x: &Tensor,
    indices: &Tensor,
    updates: &Tensor,
    axis: usize,
) -> Tensor {
    let places = along_axis(x, indices, axis, inside);
    scatter(kind, x, updates, places.into_iter())
}

pub(crate) fn scatter_nd(kind: ScatterKind, x: &Tensor, indices: &Tensor, updates: &Tensor) -> Tensor {
    let (starts, run) = rows(x, indices, 0, inside);
    scatter(kind, x, updates, starts.into_iter().flat_map(|s| (0..run).map(move |i| s.map(|s| s + i))))
}

fn inside(i: i128, n: usize) -> Option<usize> {
    usize::try_from(from_end(i, n)).ok().filter(|i| *i < n)
}

/// Applies the updates in order to a copy of `x`, each at its place.
fn scatter(kind: ScatterKind, x: &Tensor, updates: &Tensor, places: impl Iterator<Item = Option<usize>>) -> Tensor {
    fn go<T: Num>(
        kind: ScatterKind,
        mut x: Vec<T>,
        updates: &[T],
        places: impl Iterator<Item = Option<usize>>,
    ) -> Values {
        for (u, place) in updates.iter().zip(places) {
            let Some(p) = place else { continue };
            x[p] = match kind {
                ScatterKind::Assign => *u,
                ScatterKind::Add => x[p].add(*u),
                ScatterKind::Mul => x[p].mul(*u),
                ScatterKind::Max => x[p].larger(*u),
                ScatterKind::Min => x[p].smaller(*u),
            };
        }
        T::wrap(x)
    }
    let values = match (load(x), load(updates)) {
        (Values::Float(v), Values::Float(u)) => go(kind, v, &u, places),
        (Values::Int(v), Values::Int(u)) => go(kind, v, &u, places),
        (other, _) => other,
    };
    store(x.dtype, &x.dims, &values)
}

/// For every element of the indices the place in `x` that it names along the axis, its other coordinates being its own.
fn along_axis(
    x: &Tensor,
    indices: &Tensor,
    axis: usize,
    place: impl Fn(i128, usize) -> Option<usize>,
) -> Vec<Option<usize>> {
    let (from, own) = (sizes(&x.dims), sizes(&indices.dims));
    let (steps, own_steps) = (strides(&from), strides(&own));
    let at = |(p, i): (usize, i128)| {
        let i = place(i, from[axis])?;
        let coordinate = |d: usize| if d == axis { i } else { p / own_steps[d] as usize % own[d] };
        Some((0..from.len()).map(|d| coordinate(d) * steps[d] as usize).sum())
    };
    load_ints(indices).into_iter().enumerate().map(at).collect()
}

/// For every row of the indices the start of the slice of `x` that it names, and the slice's length.
fn rows(
    x: &Tensor,
    indices: &Tensor,
    batch: usize,
    place: impl Fn(i128, usize) -> Option<usize>,
) -> (Vec<Option<usize>>, usize) {
    let from = sizes(&x.dims);
    let steps = strides(&from);
    let own = sizes(&indices.dims);
    let depth = own[own.len() - 1];
    let count: usize = own[..own.len() - 1].iter().product();
    // Rows that share their batch coordinates follow one another.
    let per_batch: usize = own[batch..own.len() - 1].iter().product();
    let batch_step: usize = from[batch..].iter().product();
    let values = load_ints(indices);
    let start = |r: usize| {
        let row = &values[r * depth..][..depth];
        row.iter().enumerate().try_fold(r / per_batch * batch_step, |sum, (d, &i)| {
            Some(sum + place(i, from[batch + d])? * steps[batch + d] as usize)
        })
    };
    ((0..count).map(start).collect(), from[batch + depth..].iter().product())
}
