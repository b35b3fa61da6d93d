//! Convolutions.

use neap_optable::{BinaryKind as B, Dim, GraphOp, TensorType};

use super::dequantised;
use super::window::{Window, list};
use crate::import::cx::{Cx, Val};
use crate::import::error::{Res, invalid};
use crate::import::op::Op;
use crate::import::table::{Entry, always};

pub(super) const OPS: &[Entry] = &[always("Conv", conv), always("ConvTranspose", conv_transpose)];

/// Operands of rank 3 or more, and the filter's kernel, which must agree with the attribute.
fn operands(cx: &Cx, op: &Op<'_>) -> Res<(Val, Val, Vec<i64>)> {
    let (x, filter) = (op.input(0)?, op.input(1)?);
    Ok((x, filter, kernel(cx, op, x, filter)?))
}

/// The filter's kernel, which must agree with the attribute.
pub(super) fn kernel(cx: &Cx, op: &Op<'_>, x: Val, filter: Val) -> Res<Vec<i64>> {
    if cx.rank(x) < 3 || cx.rank(filter) != cx.rank(x) {
        return invalid(format!("input {} and filter {} must have one rank of at least 3", cx.ty(x), cx.ty(filter)));
    }
    let kernel = cx.ty(filter).dims[2..].iter().map(|d| cx.number(d)).collect::<Res<Vec<_>>>()?;
    match op.ints("kernel_shape")? {
        Some(k) if k != kernel => {
            invalid(format!("attribute `kernel_shape` is {k:?}, the filter is {}", cx.ty(filter)))
        }
        _ => Ok(kernel),
    }
}

/// Adds the bias, one number a channel.
fn biased(cx: &mut Cx, y: Val, bias: Option<Val>) -> Res<Val> {
    let Some(b) = bias else { return Ok(y) };
    if cx.rank(b) != 1 || cx.dims(b)[0].sub(&cx.dims(y)[1]).as_i64().is_some_and(|d| d != 0) {
        return invalid(format!(
            "the bias is {}, expected one number for each of the {} channels",
            cx.ty(b),
            cx.dims(y)[1]
        ));
    }
    let b = cx.channel(b, cx.rank(y), 1)?;
    cx.binary(B::Add, y, b)
}

fn conv(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    if let Some(y) = dequantised::conv(cx, op)? {
        return Ok(vec![y]);
    }
    let (x, filter, kernel) = operands(cx, op)?;
    let y = convolution(cx, op, x, filter, kernel)?;
    Ok(vec![biased(cx, y, op.opt(2))?])
}

/// A convolution with the node's windows.
pub(super) fn convolution(cx: &mut Cx, op: &Op<'_>, x: Val, filter: Val, kernel: Vec<i64>) -> Res<Val> {
    let w = Window::read(cx, op, &cx.dims(x)[2..], kernel)?;
    let attrs = w.attrs().int("groups", op.int("group", 1)?);
    cx.infer1(GraphOp::Conv, attrs, &[x, filter])
}

/// The result's size comes from `output_shape`, or from the pads and `output_padding`.
fn conv_transpose(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let (x, filter, kernel) = operands(cx, op)?;
    let spatial = cx.dims(x)[2..].to_vec();
    let n = spatial.len();
    let groups = op.int("group", 1)?;
    let extra = list(op, "output_padding", n, 0, 0)?;
    let mut w = Window {
        kernel,
        strides: list(op, "strides", n, 1, 1)?,
        dilations: list(op, "dilations", n, 1, 1)?,
        low: vec![0; n],
        high: vec![0; n],
    };
    let auto = op.text("auto_pad", "NOTSET")?;
    let wanted = match op.ints("output_shape")? {
        // Some exporters give the whole shape.
        Some(s) if s.len() == n + 2 => Some(s[2..].to_vec()),
        Some(s) if s.len() == n => Some(s.to_vec()),
        Some(s) => return invalid(format!("attribute `output_shape` has {} entries, expected {n}", s.len())),
        None if auto.starts_with("SAME") => {
            let size = |(d, s): (&Dim, &i64)| Ok(cx.number(d)?.saturating_mul(*s));
            Some(spatial.iter().zip(&w.strides).map(size).collect::<Res<Vec<_>>>()?)
        }
        None => None,
    };
    // Size without any pads.
    let full = |i: usize, w: &Window| {
        let steps = spatial[i].sub(&Dim::constant(1)).scale(w.strides[i]);
        steps.add(&Dim::constant(w.reach(i).saturating_add(extra[i])))
    };
    let mut dims = vec![cx.dims(x)[0].clone(), cx.dims(filter)[1].scale(groups)];
    match wanted {
        Some(sizes) => {
            for (i, &size) in sizes.iter().enumerate() {
                let total = cx.number(&full(i, &w))?.saturating_sub(size.max(0));
                // Where more is asked for than there is, the rest is output padding.
                let total = total.max(0);
                let less = total / 2;
                (w.low[i], w.high[i]) = if auto == "SAME_LOWER" { (total - less, less) } else { (less, total - less) };
                dims.push(Dim::constant(size));
            }
        }
        None => {
            if auto != "VALID" {
                let pads = list(op, "pads", 2 * n, 0, 0)?;
                (w.low, w.high) = (pads[..n].to_vec(), pads[n..].to_vec());
            }
            for i in 0..n {
                dims.push(full(i, &w).sub(&Dim::constant(w.low[i] + w.high[i])));
            }
        }
    }
    let out = TensorType { dtype: cx.dtype(x), dims };
    let y = cx.op1(GraphOp::ConvTranspose, w.attrs().int("groups", groups), &[x, filter], out)?;
    Ok(vec![biased(cx, y, op.opt(2))?])
}
