//! Row-major walks over shapes.

/// Sizes as `usize`.
pub(crate) fn sizes(dims: &[u64]) -> Vec<usize> {
    dims.iter().map(|&d| d as usize).collect()
}

/// Row-major strides in elements.
pub(crate) fn strides(dims: &[usize]) -> Vec<isize> {
    let mut out = vec![1; dims.len()];
    for i in (1..dims.len()).rev() {
        out[i - 1] = out[i] * dims[i] as isize;
    }
    out
}

/// The offset `start + sum(index[i] * stride[i])` of every index of a shape, in row-major order.
pub(crate) struct Walk {
    dims: Vec<usize>,
    strides: Vec<isize>,
    index: Vec<usize>,
    offset: isize,
    left: usize,
}

impl Walk {
    pub(crate) fn new(dims: &[usize], strides: &[isize], start: isize) -> Self {
        Walk {
            dims: dims.to_vec(),
            strides: strides.to_vec(),
            index: vec![0; dims.len()],
            offset: start,
            left: dims.iter().product(),
        }
    }
}

impl Iterator for Walk {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let here = self.offset as usize;
        for i in (0..self.dims.len()).rev() {
            self.index[i] += 1;
            self.offset += self.strides[i];
            if self.index[i] < self.dims[i] {
                break;
            }
            self.offset -= self.dims[i] as isize * self.strides[i];
            self.index[i] = 0;
        }
        Some(here)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

/// A shape seen as (dims before an axis, the axis, dims after it).
pub(crate) struct Split {
    pub(crate) outer: usize,
    pub(crate) n: usize,
    pub(crate) inner: usize,
}

impl Split {
    pub(crate) fn at(dims: &[u64], axis: usize) -> Self {
        let d = sizes(dims);
        Split { outer: d[..axis].iter().product(), n: d[axis], inner: d[axis + 1..].iter().product() }
    }

    /// First element of every line along the axis; elements of a line are `inner` apart.
    pub(crate) fn lines(&self) -> impl Iterator<Item = usize> {
        let (n, inner) = (self.n, self.inner);
        (0..self.outer).flat_map(move |o| (0..inner).map(move |i| o * n * inner + i))
    }
}
