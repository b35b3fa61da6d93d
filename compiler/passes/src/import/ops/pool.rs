//! Pooling over windows and over whole planes.

use neap_optable::{BinaryKind as B, GraphOp, PoolKind, ReduceKind as R, TensorType, UnaryKind as U};

use super::window::{Window, list};
use crate::import::cx::{Cx, Val};
use crate::import::error::{Res, invalid, unsupported};
use crate::import::op::Op;
use crate::import::table::{Entry, always};

pub(super) const OPS: &[Entry] = &[
    always("MaxPool", max_pool),
    always("AveragePool", average_pool),
    always("LpPool", lp_pool),
    always("GlobalAveragePool", |cx, op| global(cx, op, |cx, v, over| cx.reduce(R::Mean, v, over, true))),
    always("GlobalMaxPool", |cx, op| global(cx, op, |cx, v, over| cx.reduce(R::Max, v, over, true))),
    always("GlobalLpPool", global_lp),
];

/// A pooling node's window and result type.
fn window(cx: &Cx, op: &Op<'_>) -> Res<(Val, Window, TensorType)> {
    let x = op.input(0)?;
    let mut out = cx.ty(x).clone();
    if out.rank() < 3 {
        return invalid(format!("the operand is {out}, expected at least rank 3"));
    }
    if op.ints("kernel_shape")?.is_none() {
        return invalid("attribute `kernel_shape` is missing");
    }
    let kernel = list(op, "kernel_shape", out.rank() - 2, 1, 1)?;
    let w = Window::read(cx, op, &out.dims[2..], kernel)?;
    let ceil = op.flag("ceil_mode", false)?;
    for i in 0..w.kernel.len() {
        out.dims[i + 2] = w.count(i, &out.dims[i + 2], ceil)?;
    }
    Ok((x, w, out))
}

fn pool(cx: &mut Cx, x: Val, w: &Window, kind: PoolKind, out: TensorType) -> Res<Val> {
    cx.op1(GraphOp::Pool, w.attrs().int("kind", kind).ints("kernel", &*w.kernel), &[x], out)
}

fn max_pool(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let (x, w, out) = window(cx, op)?;
    if op.wants(1) {
        return unsupported("its indices are used, which neap does not compute; export the model without unpooling");
    }
    Ok(vec![pool(cx, x, &w, PoolKind::Max, out)?])
}

fn average_pool(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let (x, w, out) = window(cx, op)?;
    let padded = w.low.iter().chain(&w.high).any(|&p| p > 0);
    let kind =
        if op.flag("count_include_pad", false)? && padded { PoolKind::AverageIncludePad } else { PoolKind::Average };
    Ok(vec![pool(cx, x, &w, kind, out)?])
}

fn whole_power(op: &Op<'_>) -> Res<f64> {
    match op.int("p", 2)? {
        p if p >= 1 => Ok(p as f64),
        p => invalid(format!("attribute `p` is {p}, expected at least 1")),
    }
}

/// `|x|^p`, and the root of a sum of them.
fn powers(cx: &mut Cx, x: Val, p: f64) -> Res<Val> {
    if p == 2.0 {
        return cx.binary(B::Mul, x, x);
    }
    let size = cx.unary(U::Abs, x)?;
    if p == 1.0 { Ok(size) } else { cx.with_number(B::Pow, size, p) }
}

fn root(cx: &mut Cx, x: Val, p: f64) -> Res<Val> {
    match p {
        1.0 => Ok(x),
        2.0 => cx.unary(U::Sqrt, x),
        _ => cx.with_number(B::Pow, x, 1.0 / p),
    }
}

/// The sum of a window is its average times its size, since padding adds nothing.
fn lp_pool(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let (x, w, out) = window(cx, op)?;
    if op.flag("ceil_mode", false)? {
        return unsupported("ceil_mode of LpPool is not supported; export the model without it");
    }
    let p = whole_power(op)?;
    let powers = powers(cx, x, p)?;
    let mean = pool(cx, powers, &w, PoolKind::AverageIncludePad, out)?;
    let size: f64 = w.kernel.iter().map(|&k| k as f64).product();
    let sum = cx.with_number(B::Mul, mean, size)?;
    Ok(vec![root(cx, sum, p)?])
}

fn global(cx: &mut Cx, op: &Op<'_>, kernel: impl Fn(&mut Cx, Val, &[usize]) -> Res<Val>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let over: Vec<usize> = (2..cx.rank(x)).collect();
    Ok(vec![kernel(cx, x, &over)?])
}

fn global_lp(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let p = whole_power(op)?;
    global(cx, op, |cx, v, over| {
        let powers = powers(cx, v, p)?;
        let sum = cx.reduce(R::Sum, powers, over, true)?;
        root(cx, sum, p)
    })
}
