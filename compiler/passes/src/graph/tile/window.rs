//! Which rows convolutions, pools, pads and resizes read for some rows of their results.

use neap_optable::{Attrs, CoordinateMode, PadMode, PoolKind, ResizeMode, TensorType, resample};

use super::part::{Need, Part, size};
use super::rules::Cut;

/// Windows that slide over one dim.
struct Window {
    stride: i64,
    dilation: i64,
    low: i64,
    high: i64,
    /// Elements from the first to the last tap, both included.
    reach: i64,
}

impl Window {
    fn of(attrs: &Attrs, spatial: usize, kernel: i64, d: usize) -> Self {
        let (pads, dilation) = (attrs.get_ints("pads"), attrs.get_ints("dilations")[d]);
        Window {
            stride: attrs.get_ints("strides")[d],
            dilation,
            low: pads[d],
            high: pads[spatial + d],
            reach: (kernel - 1) * dilation + 1,
        }
    }

    /// What the windows of a part of the result read of `n` elements, and how far they hang over at both ends.
    fn reads(&self, part: &Part, n: u64) -> Result<(Part, i64, i64), String> {
        let first = part.begin as i64 * self.stride - self.low;
        let last = (part.end as i64 - 1) * self.stride - self.low + self.reach;
        let (begin, end) = (first.max(0), last.min(n as i64));
        if begin >= end {
            return Err("some of its windows lie wholly in the padding".into());
        }
        Ok((Part { dim: part.dim, begin: begin as u64, end: end as u64 }, begin - first, last - end))
    }
}

fn padded(attrs: &Attrs, spatial: usize, d: usize, low: i64, high: i64) -> Attrs {
    let mut pads = attrs.get_ints("pads").to_vec();
    pads[d] = low;
    pads[spatial + d] = high;
    attrs.clone().ints("pads", pads)
}

/// Part of the result of a convolution, transposed or not: along the batch, or along a spatial dim, where `rows` says of the
/// windows over a number of elements which rows they read and what pads both ends.
fn slid(
    attrs: &Attrs,
    ins: &[TensorType],
    part: Part,
    rows: impl FnOnce(&Window, u64) -> Result<(Part, i64, i64), String>,
) -> Result<Cut, String> {
    match part.dim {
        0 => Ok(Cut::new(attrs, part, [Need::Part(part), Need::Whole])),
        1 => Err("every channel of a convolution reads all channels".into()),
        dim => {
            let (spatial, d) = (ins[0].rank() - 2, dim - 2);
            let w = Window::of(attrs, spatial, size(&ins[1], dim)? as i64, d);
            let (read, low, high) = rows(&w, size(&ins[0], dim)?)?;
            let attrs = padded(attrs, spatial, d, low, high);
            Ok(Cut { attrs, computed: part, needs: vec![Need::Part(read), Need::Whole] })
        }
    }
}

/// Part of a convolution's result.
pub(super) fn conv(attrs: &Attrs, ins: &[TensorType], part: Part) -> Result<Cut, String> {
    slid(attrs, ins, part, |w, n| w.reads(&part, n))
}

/// Part of a transposed convolution's result. Row `o` of the result is fed by the rows `i` with
/// `o = i * stride - low + tap * dilation`.
pub(super) fn conv_transpose(attrs: &Attrs, ins: &[TensorType], part: Part) -> Result<Cut, String> {
    slid(attrs, ins, part, |w, n| {
        let (a, b, n) = (part.begin as i64, part.end as i64, n as i64);
        let begin = (a + w.low - (w.reach - 1) + w.stride - 1).div_euclid(w.stride);
        // Not past the row that starts at the part's first: padding cannot be negative.
        let begin = begin.min((a + w.low).div_euclid(w.stride)).clamp(0, n - 1);
        let end = ((b - 1 + w.low).div_euclid(w.stride) + 1).clamp(begin + 1, n);
        let low = a + w.low - begin * w.stride;
        let high = (end - begin - 1) * w.stride + w.reach - low - (b - a);
        if low < 0 || -high >= w.stride.max(w.dilation) {
            return Err("some of its rows are fed by no row".into());
        }
        Ok((Part { dim: part.dim, begin: begin as u64, end: end as u64 }, low, high.max(0)))
    })
}

/// Part of a pool's result.
pub(super) fn pool(attrs: &Attrs, ins: &[TensorType], part: Part) -> Result<Cut, String> {
    if part.dim < 2 {
        return Ok(Cut::new(attrs, part, [Need::Part(part)]));
    }
    let kernel = attrs.get_ints("kernel");
    let (spatial, d) = (kernel.len(), part.dim - 2);
    // Lanes of a sum follow its contiguous run: parts must not join rows that the whole keeps apart, nor split a run.
    let last = kernel[spatial - 1];
    let apart = d + 1 < spatial && (last as u64) < size(&ins[0], spatial + 1)?;
    if attrs.get_enum::<PoolKind>("kind") != PoolKind::Max && kernel.iter().product::<i64>() >= 16 && !apart {
        return Err("parts of a wide average might add in another order".into());
    }
    let w = Window::of(attrs, spatial, kernel[d], d);
    let (read, low, high) = w.reads(&part, size(&ins[0], part.dim)?)?;
    // A last window may hang over the padding too (ONNX ceil_mode), where nothing counts.
    let attrs = padded(attrs, spatial, d, low, high.min(w.high));
    Ok(Cut { attrs, computed: part, needs: vec![Need::Part(read)] })
}

/// Part of a padded tensor.
pub(super) fn pad(attrs: &Attrs, ins: &[TensorType], part: Part) -> Result<Cut, String> {
    let (mut low, mut high) = (attrs.get_ints("low").to_vec(), attrs.get_ints("high").to_vec());
    let d = part.dim;
    if low[d] == 0 && high[d] == 0 {
        return Ok(Cut::new(attrs, part, [Need::Part(part), Need::Whole]));
    }
    if attrs.get_enum::<PadMode>("mode") != PadMode::Constant {
        return Err("its padding is read from elsewhere".into());
    }
    let (first, last) = (part.begin as i64 - low[d], part.end as i64 - low[d]);
    let (begin, end) = (first.max(0), last.min(size(&ins[0], d)? as i64));
    if begin >= end {
        return Err("a part of it is padding alone".into());
    }
    low[d] = begin - first;
    high[d] = last - end;
    let attrs = attrs.clone().ints("low", low).ints("high", high);
    let read = Part { dim: d, begin: begin as u64, end: end as u64 };
    Ok(Cut { attrs, computed: part, needs: vec![Need::Part(read), Need::Whole] })
}

/// Part of a resized tensor: exact where the scale is a power of two, since positions shift by whole elements then.
pub(super) fn resize(attrs: &Attrs, ins: &[TensorType], outs: &[TensorType], part: Part) -> Result<Cut, String> {
    let d = part.dim;
    let scale = attrs.get_floats("scales")[d];
    let (from, to) = (size(&ins[0], d)?, size(&outs[0], d)?);
    if scale == 1.0 && from == to {
        return Ok(Cut::new(attrs, part, [Need::Part(part)]));
    }
    let mode: CoordinateMode = attrs.get_enum("coordinates");
    let shifts =
        matches!(mode, CoordinateMode::HalfPixel | CoordinateMode::Asymmetric | CoordinateMode::PytorchHalfPixel);
    let step = scale as u64;
    if !shifts || step as f64 != scale || !step.is_power_of_two() || from.checked_mul(step) != Some(to) || to >= 1 << 22
    {
        return Err("its positions do not shift by whole elements".into());
    }
    let mut read: Option<Part> = None;
    for at in part.begin..part.end {
        let x = resample::source(mode, at, from, to, scale);
        let taps: Vec<u64> = match attrs.get_enum::<ResizeMode>("mode") {
            ResizeMode::Nearest => vec![resample::nearest(attrs.get_enum("nearest"), x, from)],
            ResizeMode::Linear => resample::linear(x, from).iter().map(|t| t.0).collect(),
            ResizeMode::Cubic => resample::cubic(x, from, 0.0).iter().map(|t| t.0).collect(),
        };
        for t in taps {
            let one = Part { dim: d, begin: t, end: t + 1 };
            read = Some(read.and_then(|r| r.hull(one)).unwrap_or(one));
        }
    }
    let mut read = read.ok_or("it has no elements")?;
    // The rows of the part lie inside what these rows of the input make.
    read.begin = read.begin.min(part.begin / step);
    read.end = read.end.max(part.end.div_ceil(step)).min(from);
    let computed = Part { dim: d, begin: read.begin * step, end: read.end * step };
    Ok(Cut { attrs: attrs.clone(), computed, needs: vec![Need::Part(read)] })
}
