//! Shapes as data, and the same elements in another shape or order.

use neap_optable::{DType, Dim};

use crate::import::cx::{Cx, Val};
use crate::import::error::{Res, invalid};
use crate::import::op::{Op, axes, axis};
use crate::import::table::{Entry, always, since};

pub(super) const OPS: &[Entry] = &[
    always("Shape", shape),
    always("Size", size),
    always("Reshape", reshape),
    always("Flatten", flatten),
    always("Squeeze", squeeze),
    always("Unsqueeze", unsqueeze),
    always("Transpose", transpose),
    since("Expand", 8, expand),
    always("Tile", tile),
    always("DepthToSpace", depth_to_space),
    always("SpaceToDepth", space_to_depth),
];

fn shape(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let dims = cx.dims(op.input(0)?);
    let r = dims.len() as i64;
    let at = |v: i64| (if v < 0 { v.saturating_add(r) } else { v }).clamp(0, r) as usize;
    let (start, end) = (at(op.int("start", 0)?), at(op.int("end", r)?));
    Ok(vec![cx.vector(dims[start..end.max(start)].to_vec())])
}

fn size(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let count = cx.ty(op.input(0)?).count();
    Ok(vec![cx.ints(DType::I64, &[], vec![count])])
}

/// 0 copies a dim (unless `allowzero`), one -1 takes what is left.
fn reshape(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    let from = cx.ty(v).clone();
    let mut dims = cx.dim_values(op.input(1)?, "the new shape")?;
    let allow_zero = op.flag("allowzero", false)?;
    let mut open = None;
    for (i, d) in dims.iter_mut().enumerate() {
        match d.as_i64() {
            Some(0) if !allow_zero => match from.dims.get(i) {
                Some(same) => *d = same.clone(),
                None => return invalid(format!("the new shape copies dim {i} of {from}, which has none")),
            },
            Some(-1) if open.is_none() => open = Some(i),
            Some(n) if n < 0 => return invalid(format!("the new shape has the dim {n} at {i}")),
            _ => {}
        }
    }
    if let Some(i) = open {
        dims[i] = Dim::constant(1);
        let rest = dims.iter().fold(Dim::constant(1), |a, d| a.mul(d));
        let count = from.count();
        dims[i] = match (count.as_i64(), rest.as_i64()) {
            (Some(0), Some(0)) => Dim::constant(0),
            (Some(c), Some(r)) if r == 0 || c % r != 0 => {
                return invalid(format!("{from} does not divide into a shape with {r} elements in the given dims"));
            }
            _ => match count.exact_div(&rest).or_else(|| count.floor_div(&rest)) {
                Some(d) => d,
                None => return invalid(format!("the new shape of {from} cannot be told")),
            },
        };
    }
    Ok(vec![cx.reshape(v, dims)?])
}

fn flatten(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    let dims = cx.dims(v);
    let r = dims.len() as i64;
    let at = op.int("axis", 1)?;
    let at = if at < 0 { at + r } else { at };
    if !(0..=r).contains(&at) {
        return invalid(format!("axis {at} does not exist in {}", cx.ty(v)));
    }
    let product = |d: &[Dim]| d.iter().fold(Dim::constant(1), |a, b| a.mul(b));
    let (outer, inner) = dims.split_at(at as usize);
    Ok(vec![cx.reshape(v, vec![product(outer), product(inner)])?])
}

fn squeeze(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    let dims = cx.dims(v);
    let drop = match op.axes(cx, "axes", 1)? {
        Some(list) => axes(&list, dims.len())?,
        None => {
            if let Some(d) = dims.iter().find(|d| !d.is_const()) {
                cx.number(d)?;
            }
            (0..dims.len()).filter(|&i| dims[i].as_i64() == Some(1)).collect()
        }
    };
    for &i in &drop {
        if cx.number(&dims[i])? != 1 {
            return invalid(format!("dim {i} of {} is not 1", cx.ty(v)));
        }
    }
    let dims = dims.into_iter().enumerate().filter(|(i, _)| !drop.contains(i)).map(|(_, d)| d).collect();
    Ok(vec![cx.reshape(v, dims)?])
}

fn unsqueeze(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    let Some(list) = op.axes(cx, "axes", 1)? else { return invalid("it has no axes") };
    let rank = cx.rank(v) + list.len();
    let new = axes(&list, rank)?;
    let mut old = cx.dims(v).into_iter();
    let mut dims = vec![];
    for i in 0..rank {
        // As many old dims as places that are not new.
        dims.push(if new.contains(&i) { Dim::constant(1) } else { old.next().unwrap_or(Dim::constant(1)) });
    }
    Ok(vec![cx.reshape(v, dims)?])
}

fn transpose(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    let r = cx.rank(v);
    let permutation = match op.ints("perm")? {
        Some(p) if p.len() == r => axes(p, r)?,
        Some(p) => return invalid(format!("perm {p:?} does not fit {}", cx.ty(v))),
        None => (0..r).rev().collect(),
    };
    Ok(vec![cx.transpose(v, &permutation)?])
}

fn expand(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    let shape = cx.dim_values(op.input(1)?, "the shape")?;
    let dims = crate::import::build::broadcast_shapes(&[&cx.dims(v), &shape])?;
    Ok(vec![cx.broadcast(v, &dims)?])
}

/// Repeats by a broadcast along a new dim before each repeated one.
fn tile(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    let dims = cx.dims(v);
    let repeats = cx.dim_values(op.input(1)?, "repeats")?;
    if repeats.len() != dims.len() {
        return invalid(format!("{} repeats are given for {}", repeats.len(), cx.ty(v)));
    }
    let (mut apart, mut wide, mut out) = (vec![], vec![], vec![]);
    for (d, n) in dims.iter().zip(&repeats) {
        if n.as_i64() != Some(1) {
            apart.push(Dim::constant(1));
            wide.push(n.clone());
        }
        apart.push(d.clone());
        wide.push(d.clone());
        out.push(d.mul(n));
    }
    let v = cx.reshape(v, apart)?;
    let v = cx.broadcast(v, &wide)?;
    Ok(vec![cx.reshape(v, out)?])
}

/// The sizes of a [N, C, H, W] operand, and the block size.
fn blocks(cx: &Cx, op: &Op<'_>) -> Res<(Val, [Dim; 4], i64)> {
    let v = op.input(0)?;
    let b = op.int("blocksize", 0)?;
    match cx.dims(v).try_into() {
        Ok(dims) if b > 0 => Ok((v, dims, b)),
        Ok(_) => invalid(format!("attribute `blocksize` is {b}, expected at least 1")),
        Err(_) => invalid(format!("the operand is {}, expected rank 4", cx.ty(v))),
    }
}

fn is_crd(op: &Op<'_>) -> Res<bool> {
    match op.text("mode", "DCR")? {
        "DCR" => Ok(false),
        "CRD" => Ok(true),
        other => invalid(format!("attribute `mode` is `{other}`, expected DCR or CRD")),
    }
}

fn divided(d: &Dim, by: i64) -> Res<Dim> {
    match d.exact_div(&Dim::constant(by)).or_else(|| d.as_i64().is_none().then(|| d.floor_div(&Dim::constant(by)))?) {
        Some(d) => Ok(d),
        None => invalid(format!("the size {d} does not divide by {by}")),
    }
}

fn depth_to_space(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let (v, [n, c, h, w], size) = blocks(cx, op)?;
    let b = Dim::constant(size);
    let depth = divided(&c, size.saturating_mul(size))?;
    let (apart, order) = if is_crd(op)? {
        (vec![n.clone(), depth.clone(), b.clone(), b.clone(), h.clone(), w.clone()], [0, 1, 4, 2, 5, 3])
    } else {
        (vec![n.clone(), b.clone(), b.clone(), depth.clone(), h.clone(), w.clone()], [0, 3, 4, 1, 5, 2])
    };
    let v = cx.reshape(v, apart)?;
    let v = cx.transpose(v, &order)?;
    Ok(vec![cx.reshape(v, vec![n, depth, h.mul(&b), w.mul(&b)])?])
}

fn space_to_depth(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let (v, [n, c, h, w], size) = blocks(cx, op)?;
    let b = Dim::constant(size);
    let (rows, columns) = (divided(&h, size)?, divided(&w, size)?);
    let v = cx.reshape(v, vec![n.clone(), c.clone(), rows.clone(), b.clone(), columns.clone(), b.clone()])?;
    let order = if is_crd(op)? { [0, 1, 3, 5, 2, 4] } else { [0, 3, 5, 1, 2, 4] };
    let v = cx.transpose(v, &order)?;
    Ok(vec![cx.reshape(v, vec![n, c.mul(&b).mul(&b), rows, columns])?])
}

/// An axis given as a one-element operand.
pub(super) fn axis_operand(cx: &Cx, op: &Op<'_>, i: usize, rank: usize) -> Res<usize> {
    match cx.int_values(op.input(i)?, "the axis")?.as_slice() {
        [a] => axis(*a, rank),
        other => invalid(format!("the axis has {} elements, expected one", other.len())),
    }
}
