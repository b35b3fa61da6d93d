//! Constants and tensors made from shapes.

use neap_onnx::Attribute;
use neap_optable::{BinaryKind as B, CompareKind as C, DType, Dim, GraphOp, Tensor, TensorType};

use crate::import::cx::{Cx, Known, Val};
use crate::import::dims::dtype;
use crate::import::error::{Res, invalid, unsupported};
use crate::import::op::Op;
use crate::import::table::{Entry, always, since};
use crate::import::walk::tensor;

pub(super) const OPS: &[Entry] = &[
    always("Constant", constant),
    since("ConstantOfShape", 9, constant_of_shape),
    since("Range", 11, range),
    since("EyeLike", 9, eye_like),
    since("OneHot", 9, one_hot),
    since("Trilu", 14, trilu),
];

fn constant(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let Some((name, value)) = op.node.attributes.iter().find(|(n, _)| n.starts_with("value") || *n == "sparse_value")
    else {
        return invalid("it has no value");
    };
    let t = match value {
        Attribute::Tensor(t) => match tensor(t) {
            Some(t) => t,
            None => return unsupported(format!("element type {} is not supported; export the model with f32", t.elem)),
        },
        Attribute::Float(v) => Tensor::scalar(*v),
        Attribute::Int(v) => Tensor::scalar(*v),
        Attribute::Floats(v) => Tensor::new(&[v.len() as u64], v),
        Attribute::Ints(v) => Tensor::new(&[v.len() as u64], v),
        Attribute::Str(_) | Attribute::Strs(_) => {
            return unsupported(
                "it holds strings; neap computes on numbers only, so do text handling outside the model",
            );
        }
        _ => return unsupported(format!("its `{name}` is no dense tensor; export the model with dense constants")),
    };
    let stem = op.node.outputs.first().map_or("", String::as_str);
    Ok(vec![cx.named_constant(t, stem)])
}

fn constant_of_shape(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let dims = cx.dim_values(op.input(0)?, "the shape")?;
    if let Some(d) = dims.iter().find(|d| d.as_i64().is_some_and(|v| v < 0)) {
        return invalid(format!("the shape has the negative dim {d}"));
    }
    let value = match op.attribute("value") {
        None => Tensor::scalar(0f32),
        Some(Attribute::Tensor(t)) if t.dims.iter().all(|&d| d == 1) => match tensor(t) {
            Some(t) => t.reshaped(&[]),
            None => return unsupported(format!("element type {} is not supported; export the model with f32", t.elem)),
        },
        Some(_) => return invalid("attribute `value` is not a tensor of one element"),
    };
    let value = cx.constant(value);
    Ok(vec![cx.broadcast(value, &dims)?])
}

/// Limits must be known, since they settle the shape: integers as sizes, floats as numbers.
fn range(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let ty = cx.dtype(op.input(0)?);
    let names = ["start", "limit", "delta"];
    let mut ins = vec![];
    for (i, name) in names.iter().enumerate() {
        ins.push(cx.one_element(op.input(i)?, name)?);
    }
    let count = if ty.is_float() {
        let mut v = vec![];
        for (x, name) in ins.iter().zip(names) {
            v.push(cx.float_values(*x, name)?[0]);
        }
        if v[2] == 0.0 {
            return invalid("delta is 0");
        }
        Dim::constant(((v[1] - v[0]) / v[2]).ceil().max(0.0) as i64)
    } else {
        let mut v = vec![];
        for (x, name) in ins.iter().zip(names) {
            v.push(cx.dim_values(*x, name)?.swap_remove(0));
        }
        let step = cx.number(&v[2])?;
        if step == 0 {
            return invalid("delta is 0");
        }
        // Rounds up, whichever way it goes.
        let span = if step > 0 { v[1].sub(&v[0]) } else { v[0].sub(&v[1]) };
        let size = step.saturating_abs();
        let up = span.add(&Dim::constant(size - 1));
        up.floor_div(&Dim::constant(size)).map_or(Dim::constant(0), |n| n.max_with(&Dim::constant(0)))
    };
    let count = if crate::import::fold::at_least(&count, 0) { count } else { cx.number(&count).map(Dim::constant)? };
    let out = TensorType { dtype: ty, dims: vec![count] };
    let attrs = neap_optable::Attrs::new().int("axis", 0);
    Ok(vec![cx.op1(GraphOp::Iota, attrs, &[ins[0], ins[2]], out)?])
}

/// Row and column numbers of the last two dims.
fn rows_and_columns(cx: &mut Cx, dims: &[Dim]) -> Res<(Val, Val)> {
    let r = dims.len();
    let rows = cx.iota(DType::I64, vec![dims[r - 2].clone(), Dim::constant(1)], 0)?;
    let columns = cx.iota(DType::I64, vec![Dim::constant(1), dims[r - 1].clone()], 1)?;
    Ok((rows, columns))
}

fn eye_like(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    let dims = cx.dims(v);
    if dims.len() != 2 {
        return invalid(format!("the operand is {}, expected rank 2", cx.ty(v)));
    }
    let ty = match op.int_opt("dtype")? {
        None => cx.dtype(v),
        Some(n) => match i32::try_from(n).ok().and_then(neap_onnx::ElementType::from_onnx).and_then(dtype) {
            Some(d) => d,
            None => return unsupported(format!("element type {n} is not supported; export the model with f32")),
        },
    };
    let (rows, columns) = rows_and_columns(cx, &dims)?;
    let shifted = cx.with_number(B::Add, rows, op.int("k", 0)? as f64)?;
    let diagonal = cx.compare(C::Eq, shifted, columns)?;
    Ok(vec![cx.cast(diagonal, ty)?])
}

fn trilu(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    let dims = cx.dims(v);
    if dims.len() < 2 {
        return invalid(format!("the operand is {}, expected at least rank 2", cx.ty(v)));
    }
    let (rows, columns) = rows_and_columns(cx, &dims)?;
    let rows = match op.opt(1) {
        Some(k) => {
            let k = cx.one_element(k, "k")?;
            cx.binary(B::Add, rows, k)?
        }
        None => rows,
    };
    let kind = if op.flag("upper", true)? { C::Ge } else { C::Le };
    let keep = cx.compare(kind, columns, rows)?;
    let zero = cx.scalar(cx.dtype(v), 0.0);
    Ok(vec![cx.select(keep, v, zero)?])
}

/// Compares indices with the positions along a new axis; negative indices count from the end, others outside give no hit.
fn one_hot(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let (indices, depth, values) = (op.input(0)?, op.input(1)?, op.input(2)?);
    let depth = cx.one_element(depth, "depth")?;
    let depth = match cx.known(depth) {
        Known::Tensor(t) if t.dtype.is_float() => Dim::constant(cx.float_values(depth, "depth")?[0] as i64),
        _ => cx.dim_values(depth, "depth")?.swap_remove(0),
    };
    let rank = cx.rank(indices) + 1;
    let axis = op.axis(-1, rank)?;
    let indices = if cx.dtype(indices) == DType::I64 { indices } else { cx.cast(indices, DType::I64)? };
    let depth_value = cx.ints(DType::I64, &[], vec![depth.clone()]);
    let below = cx.compare_number(C::Lt, indices, 0.0)?;
    let from_end = cx.binary(B::Add, indices, depth_value)?;
    let indices = cx.select(below, from_end, indices)?;
    let mut dims = cx.dims(indices);
    dims.insert(axis, Dim::constant(1));
    let indices = cx.reshape(indices, dims)?;
    let mut places = vec![Dim::constant(1); rank];
    places[axis] = depth;
    let places = cx.iota(DType::I64, places, axis)?;
    let hit = cx.compare(C::Eq, indices, places)?;
    let one = Dim::constant(1);
    if cx.dims(values) != [Dim::constant(2)] {
        return invalid(format!("values are {}, expected two elements", cx.ty(values)));
    }
    let off = cx.slice_axis(values, 0, 0, one.clone())?;
    let on = cx.slice_axis(values, 0, 1, one)?;
    let (off, on) = (cx.reshape(off, vec![])?, cx.reshape(on, vec![])?);
    Ok(vec![cx.select(hit, on, off)?])
}
