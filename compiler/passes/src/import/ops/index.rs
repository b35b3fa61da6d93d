//! Reading where data says.

use neap_optable::{Attrs, DType, Dim, GraphOp, Tensor};

use crate::import::cx::{Cx, Val};
use crate::import::error::{Res, invalid, unsupported};
use crate::import::op::Op;
use crate::import::table::{Entry, always, since};

pub(super) const OPS: &[Entry] = &[
    always("Gather", gather),
    since("GatherElements", 11, gather_elements),
    since("GatherND", 11, gather_nd),
    since("NonZero", 9, non_zero),
    since("Compress", 9, compress),
    since("ReverseSequence", 10, reverse_sequence),
];

fn gather(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let (v, indices) = (op.input(0)?, op.input(1)?);
    let at = op.axis(0, cx.rank(v))?;
    // One known index reads a slice, which needs no data-dependent access.
    if let Some(t) = cx.tensor(indices)
        && let (Some([i]), Some(n)) = (t.to_i64().as_deref(), cx.dims(v)[at].as_i64())
        && (-n..n).contains(i)
    {
        let start = if *i < 0 { i + n } else { *i };
        let mut dims = cx.dims(v);
        dims.splice(at..=at, cx.dims(indices));
        let part = cx.slice_axis(v, at, start, Dim::constant(1))?;
        return Ok(vec![cx.reshape(part, dims)?]);
    }
    Ok(vec![cx.gather(v, indices, at)?])
}

fn gather_elements(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let (v, indices) = (op.input(0)?, op.input(1)?);
    let at = op.axis(0, cx.rank(v))?;
    Ok(vec![cx.infer1(GraphOp::GatherElements, Attrs::new().int("axis", at as i64), &[v, indices])?])
}

fn gather_nd(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let attrs = Attrs::new().int("batch_dims", op.int("batch_dims", 0)?);
    Ok(vec![cx.infer1(GraphOp::GatherNd, attrs, &[op.input(0)?, op.input(1)?])?])
}

/// Only of known data, since the result's shape depends on it.
fn non_zero(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    let Some(t) = cx.tensor(v).cloned() else {
        return unsupported(
            "its result's shape depends on run-time data; cut the model before it, or export it without",
        );
    };
    let size = t.dtype.size() as usize;
    // A negative zero counts as zero: it has one bit set.
    let is_zero = |e: &[u8]| {
        e[..size - 1].iter().all(|&b| b == 0) && (e[size - 1] == 0 || t.dtype.is_float() && e[size - 1] == 0x80)
    };
    let hits: Vec<usize> = t.data.chunks_exact(size).enumerate().filter(|(_, e)| !is_zero(e)).map(|(i, _)| i).collect();
    let mut out = vec![];
    for (axis, &d) in t.dims.iter().enumerate() {
        let inner: u64 = t.dims[axis + 1..].iter().product();
        out.extend(hits.iter().map(|&i| (i as u64 / inner % d) as i64));
    }
    Ok(vec![cx.constant(Tensor::new(&[t.dims.len() as u64, hits.len() as u64], &out))])
}

/// Only with a known condition, since the result's shape depends on it.
fn compress(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let mut v = op.input(0)?;
    let Some(flags) = cx.tensor(op.input(1)?).and_then(Tensor::to_i64) else {
        return unsupported("its result's shape depends on run-time data; cut the model before it");
    };
    let at = match op.int_opt("axis")? {
        Some(a) => crate::import::op::axis(a, cx.rank(v))?,
        None => {
            let count = cx.ty(v).count();
            v = cx.reshape(v, vec![count])?;
            0
        }
    };
    let picked: Vec<Dim> =
        flags.iter().enumerate().filter(|(_, f)| **f != 0).map(|(i, _)| Dim::constant(i as i64)).collect();
    let indices = cx.vector(picked);
    Ok(vec![cx.gather(v, indices, at)?])
}

/// Reverses the first `length` elements of each batch entry: element t comes from length - 1 - t, if that is not negative.
fn reverse_sequence(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    use neap_optable::{BinaryKind as B, CompareKind as C};
    let (v, lengths) = (op.input(0)?, op.input(1)?);
    let (time, batch) = (op.int("time_axis", 0)?, op.int("batch_axis", 1)?);
    let dims = cx.dims(v);
    if !matches!((time, batch), (0, 1) | (1, 0)) || dims.len() < 2 {
        return invalid("time_axis and batch_axis must be 0 and 1 in some order");
    }
    let (time, batch) = (time as usize, batch as usize);
    let mut along_time = vec![Dim::constant(1); dims.len()];
    along_time[time] = dims[time].clone();
    let place = cx.iota(DType::I64, along_time, time)?;
    let mut along_batch = vec![Dim::constant(1); dims.len()];
    along_batch[batch] = dims[batch].clone();
    let lengths = cx.cast(lengths, DType::I64)?;
    let lengths = cx.reshape(lengths, along_batch)?;
    let last = cx.with_number(B::Sub, lengths, 1.0)?;
    let mirrored = cx.binary(B::Sub, last, place)?;
    let inside = cx.compare_number(C::Ge, mirrored, 0.0)?;
    let from = cx.select(inside, mirrored, place)?;
    let from = cx.broadcast(from, &dims)?;
    Ok(vec![cx.infer1(GraphOp::GatherElements, Attrs::new().int("axis", time as i64), &[v, from])?])
}
