//! Sliding windows: what convolution and pooling share, pooling, and resizing.

use super::cx::{Cx, differ, less, need_dim, need_float, need_number, need_rank, one, same_dtype};
use crate::{CoordinateMode, Dim, NearestMode, PoolKind, ResizeMode, TensorType};

/// The window along one spatial dim.
pub(super) struct Window {
    pub(super) stride: i64,
    pub(super) dilation: i64,
    pub(super) low: i64,
    pub(super) high: i64,
    /// Elements from the first to the last one the kernel touches: dilation * (kernel - 1) + 1.
    pub(super) reach: Dim,
}

impl Window {
    /// The windows of a convolution.
    pub(super) fn of_filter(cx: &Cx<'_>, filter: &TensorType) -> Result<Vec<Window>, String> {
        Window::all(cx, &filter.dims[2..])
    }

    /// One window a spatial dim, from the attributes and the kernel's sizes.
    pub(super) fn all(cx: &Cx<'_>, kernel: &[Dim]) -> Result<Vec<Window>, String> {
        let n = kernel.len();
        let (strides, dilations, pads) = (cx.ints("strides", n)?, cx.ints("dilations", n)?, cx.ints("pads", 2 * n)?);
        for (name, values) in [("strides", strides), ("dilations", dilations)] {
            if let Some(v) = values.iter().find(|v| **v < 1) {
                return Err(format!("{name} {values:?} contain {v}, expected at least 1"));
            }
        }
        if let Some(v) = pads.iter().find(|v| **v < 0) {
            return Err(format!("pads {pads:?} contain {v}, expected at least 0"));
        }
        if let Some(k) = kernel.iter().find(|k| less(k, &Dim::constant(1))) {
            return Err(format!("the kernel has the size {k}, expected at least 1"));
        }
        Ok((0..n)
            .map(|i| Window {
                stride: strides[i],
                dilation: dilations[i],
                low: pads[i],
                high: pads[n + i],
                reach: kernel[i].sub(&Dim::constant(1)).scale(dilations[i]).add(&Dim::constant(1)),
            })
            .collect())
    }

    /// How far the window can slide over a dim of `size` elements; negative where it does not fit.
    pub(super) fn span(&self, size: &Dim) -> Dim {
        size.add(&Dim::constant(self.low.saturating_add(self.high))).sub(&self.reach)
    }

    /// Windows that lie wholly in the padded dim.
    pub(super) fn floor_count(&self, size: &Dim) -> Dim {
        self.span(size)
            .add(&Dim::constant(self.stride))
            .floor_div(&Dim::constant(self.stride))
            .unwrap_or(Dim::constant(0))
    }

    /// Windows with a last one that may hang over the end (ONNX `ceil_mode`).
    fn ceil_count(&self, size: &Dim) -> Dim {
        self.span(size)
            .add(&Dim::constant(self.stride.saturating_mul(2) - 1))
            .floor_div(&Dim::constant(self.stride))
            .unwrap_or(Dim::constant(0))
    }
}

pub(super) fn pool(cx: &Cx<'_>, outs: &[TensorType]) -> Result<(), String> {
    let [input] = cx.operands()?;
    let out = one(outs)?;
    match cx.enumeration("kind")? {
        PoolKind::Max => need_number("input", input)?,
        PoolKind::Average | PoolKind::AverageIncludePad => need_float("input", input)?,
    }
    if input.rank() < 3 {
        return Err(format!("input is {input}, expected at least rank 3"));
    }
    same_dtype("result", out, input.dtype)?;
    need_rank("result", out, input.rank())?;
    need_dim("result", out, 0, &input.dims[0])?;
    need_dim("result", out, 1, &input.dims[1])?;
    let kernel: Vec<Dim> = cx.ints("kernel", input.rank() - 2)?.iter().map(|&k| Dim::constant(k)).collect();
    for (i, w) in Window::all(cx, &kernel)?.iter().enumerate() {
        let (size, found) = (&input.dims[i + 2], &out.dims[i + 2]);
        let (least, most) = (w.floor_count(size), w.ceil_count(size));
        if less(found, &least) || less(&most, found) {
            let expected = if differ(&least, &most) { format!("{least} or {most}") } else { least.to_string() };
            return Err(format!("result is {out}: dim {} is {found}, expected {expected}", i + 2));
        }
    }
    Ok(())
}

pub(super) fn resize(cx: &Cx<'_>, outs: &[TensorType]) -> Result<(), String> {
    let [input] = cx.operands()?;
    let out = one(outs)?;
    let mode: ResizeMode = cx.enumeration("mode")?;
    let _: CoordinateMode = cx.enumeration("coordinates")?;
    let _: NearestMode = cx.enumeration("nearest")?;
    cx.float("cubic_a")?;
    need_number("input", input)?;
    if mode != ResizeMode::Nearest {
        need_float("input", input)?;
    }
    same_dtype("result", out, input.dtype)?;
    need_rank("result", out, input.rank())?;
    let scales = cx.floats("scales", input.rank())?;
    for (i, &scale) in scales.iter().enumerate() {
        let (from, to) = (&input.dims[i], &out.dims[i]);
        if !(scale > 0.0 && scale.is_finite()) {
            return Err(format!("the scale of dim {i} is {scale}, expected a positive number"));
        }
        if scale == 1.0 {
            need_dim("result", out, i, from)?;
        }
        if let (Some(f), Some(t)) = (from.as_const(), to.as_const()) {
            // Scales made from sizes are rounded, and aspect-ratio policies round sizes: allow just under one element.
            let exact = f as f64 * scale;
            if (t as f64 - exact).abs() > 1.0 || (f == 0) != (t == 0) && exact >= 1.0 {
                return Err(format!("result is {out}: dim {i} is {t}, expected {f} scaled by {scale}"));
            }
            if f == 0 && t > 0 {
                return Err(format!("dim {i} of {input} has no elements to sample"));
            }
        }
    }
    Ok(())
}
