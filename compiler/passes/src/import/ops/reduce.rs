//! Reductions over axes, and softmax.

use neap_optable::{ArgKind, BinaryKind as B, CompareKind as C, DType, Dim, ReduceKind as R, UnaryKind as U};

use crate::import::cx::{Cx, Val};
use crate::import::error::Res;
use crate::import::op::{Op, axes};
use crate::import::table::{Entry, always};

pub(super) const OPS: &[Entry] = &[
    always("ReduceSum", |cx, op| reduce(cx, op, sum)),
    always("ReduceMean", |cx, op| reduce(cx, op, mean)),
    always("ReduceMax", |cx, op| reduce(cx, op, |cx, v, a, k| extreme(cx, v, a, k, R::Max, R::Any))),
    always("ReduceMin", |cx, op| reduce(cx, op, |cx, v, a, k| extreme(cx, v, a, k, R::Min, R::All))),
    always("ReduceProd", |cx, op| reduce(cx, op, |cx, v, a, k| cx.reduce(R::Prod, v, a, k))),
    always("ReduceL1", |cx, op| reduce(cx, op, l1)),
    always("ReduceL2", |cx, op| reduce(cx, op, l2)),
    always("ReduceSumSquare", |cx, op| reduce(cx, op, sum_square)),
    always("ReduceLogSum", |cx, op| reduce(cx, op, log_sum)),
    always("ReduceLogSumExp", |cx, op| reduce(cx, op, log_sum_exp)),
    always("Softmax", |cx, op| softmax(cx, op, |cx, v, a| cx.softmax(v, a, false))),
    always("LogSoftmax", |cx, op| softmax(cx, op, |cx, v, a| cx.softmax(v, a, true))),
    always("Hardmax", |cx, op| softmax(cx, op, hardmax)),
];

type Kernel = fn(&mut Cx, Val, &[usize], bool) -> Res<Val>;

/// Axes are an attribute up to opset 17 (12 for ReduceSum), then an operand; without any all dims are reduced, unless
/// `noop_with_empty_axes` says none.
fn reduce(cx: &mut Cx, op: &Op<'_>, kernel: Kernel) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    let rank = cx.rank(v);
    let list = op.axes(cx, "axes", 1)?.unwrap_or_default();
    let over = if !list.is_empty() {
        axes(&list, rank)?
    } else if op.flag("noop_with_empty_axes", false)? {
        vec![]
    } else {
        (0..rank).collect()
    };
    Ok(vec![kernel(cx, v, &over, op.flag("keepdims", true)?)?])
}

fn sum(cx: &mut Cx, v: Val, over: &[usize], keep: bool) -> Res<Val> {
    cx.reduce(R::Sum, v, over, keep)
}

/// Integers divide their sum.
fn mean(cx: &mut Cx, v: Val, over: &[usize], keep: bool) -> Res<Val> {
    if cx.dtype(v).is_float() {
        return cx.reduce(R::Mean, v, over, keep);
    }
    let count = over.iter().fold(Dim::constant(1), |n, &a| n.mul(&cx.ty(v).dims[a]));
    let total = cx.reduce(R::Sum, v, over, keep)?;
    let count = cx.ints(cx.dtype(v), &[], vec![count]);
    cx.binary(B::Div, total, count)
}

fn extreme(cx: &mut Cx, v: Val, over: &[usize], keep: bool, kind: R, of_bool: R) -> Res<Val> {
    cx.reduce(if cx.dtype(v) == DType::Bool { of_bool } else { kind }, v, over, keep)
}

fn l1(cx: &mut Cx, v: Val, over: &[usize], keep: bool) -> Res<Val> {
    let size = cx.unary(U::Abs, v)?;
    cx.reduce(R::Sum, size, over, keep)
}

fn sum_square(cx: &mut Cx, v: Val, over: &[usize], keep: bool) -> Res<Val> {
    let square = cx.binary(B::Mul, v, v)?;
    cx.reduce(R::Sum, square, over, keep)
}

pub(super) fn l2(cx: &mut Cx, v: Val, over: &[usize], keep: bool) -> Res<Val> {
    let ty = cx.dtype(v);
    let squares = sum_square(cx, v, over, keep)?;
    let squares = if ty.is_float() { squares } else { cx.cast(squares, DType::F32)? };
    let root = cx.unary(U::Sqrt, squares)?;
    cx.cast(root, ty)
}

fn log_sum(cx: &mut Cx, v: Val, over: &[usize], keep: bool) -> Res<Val> {
    let total = cx.reduce(R::Sum, v, over, keep)?;
    cx.unary(U::Log, total)
}

/// Shifted by the maximum where that is finite, so that no exponential overflows.
fn log_sum_exp(cx: &mut Cx, v: Val, over: &[usize], keep: bool) -> Res<Val> {
    let top = cx.reduce(R::Max, v, over, true)?;
    let infinite = cx.unary(U::Isinf, top)?;
    let zero = cx.scalar(cx.dtype(v), 0.0);
    let shift = cx.select(infinite, zero, top)?;
    let shifted = cx.binary(B::Sub, v, shift)?;
    let e = cx.unary(U::Exp, shifted)?;
    let total = cx.reduce(R::Sum, e, over, true)?;
    let log = cx.unary(U::Log, total)?;
    let out = cx.binary(B::Add, log, shift)?;
    if keep {
        return Ok(out);
    }
    let dims = cx.dims(out).into_iter().enumerate().filter(|(i, _)| !over.contains(i)).map(|(_, d)| d).collect();
    cx.reshape(out, dims)
}

/// Up to opset 12 all dims from the axis on count as one, and the axis is 1 unless given.
fn softmax(cx: &mut Cx, op: &Op<'_>, kernel: fn(&mut Cx, Val, usize) -> Res<Val>) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    let dims = cx.dims(v);
    if op.opset() >= 13 {
        let at = op.axis(-1, dims.len())?;
        return Ok(vec![kernel(cx, v, at)?]);
    }
    // The axis may be the rank itself: rows of one element.
    let at = match op.int("axis", 1)? {
        a if a == dims.len() as i64 => dims.len(),
        a => crate::import::op::axis(a, dims.len())?,
    };
    if at + 1 == dims.len() {
        return Ok(vec![kernel(cx, v, at)?]);
    }
    let product = |d: &[Dim]| d.iter().fold(Dim::constant(1), |a, b| a.mul(b));
    let flat = cx.reshape(v, vec![product(&dims[..at]), product(&dims[at..])])?;
    let out = kernel(cx, flat, 1)?;
    Ok(vec![cx.reshape(out, dims)?])
}

/// 1 at the first maximum, 0 elsewhere.
fn hardmax(cx: &mut Cx, v: Val, at: usize) -> Res<Val> {
    let best = cx.arg_reduce(ArgKind::Max, v, at, false)?;
    let mut along = vec![Dim::constant(1); cx.rank(v)];
    along[at] = cx.dims(v)[at].clone();
    let place = cx.iota(DType::I64, along, at)?;
    let hit = cx.compare(C::Eq, best, place)?;
    cx.cast(hit, cx.dtype(v))
}
