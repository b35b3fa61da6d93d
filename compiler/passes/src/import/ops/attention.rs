//! Attention and rotary embedding as matrix products, masks and softmax; rules fuse them again.

use neap_optable::{BinaryKind as B, CompareKind as C, DType, Dim, PadMode, ReduceKind as R, UnaryKind as U};

use super::pad_slice::padded;
use crate::import::cx::{Cx, Val};
use crate::import::error::{Res, invalid};
use crate::import::op::Op;
use crate::import::table::{Entry, since};

pub(super) const OPS: &[Entry] = &[since("Attention", 23, attention), since("RotaryEmbedding", 23, rotary)];

/// [B, S, heads * D] to [B, heads, S, D]; what has rank 4 already stays.
fn by_heads(cx: &mut Cx, v: Val, heads: i64) -> Res<Val> {
    let dims = cx.dims(v);
    if dims.len() == 4 {
        return Ok(v);
    }
    let [b, s, width] = &dims[..] else { return invalid(format!("an operand is {}, expected rank 3 or 4", cx.ty(v))) };
    let Some(size) = Some(heads).filter(|h| *h > 0).and_then(|h| width.exact_div(&Dim::constant(h))) else {
        return invalid(format!("{} does not divide into {heads} heads", cx.ty(v)));
    };
    let v = cx.reshape(v, vec![b.clone(), s.clone(), Dim::constant(heads), size])?;
    cx.transpose(v, &[0, 2, 1, 3])
}

fn attention(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let flat = cx.rank(op.input(0)?) == 3;
    let (q_heads, kv_heads) = (op.int("q_num_heads", 0)?, op.int("kv_num_heads", 0)?);
    let q = by_heads(cx, op.input(0)?, q_heads)?;
    let mut k = by_heads(cx, op.input(1)?, kv_heads)?;
    let mut v = by_heads(cx, op.input(2)?, kv_heads)?;
    let mut past = Dim::constant(0);
    if let (Some(pk), Some(pv)) = (op.opt(4), op.opt(5)) {
        past = cx.dims(pk).get(2).cloned().unwrap_or(past);
        (k, v) = (cx.concat(&[pk, k], 2)?, cx.concat(&[pv, v], 2)?);
    }
    let (qd, kd, vd) = (cx.dims(q), cx.dims(k), cx.dims(v));
    if kd.len() != 4 || vd.len() != 4 {
        return invalid(format!("keys are {} and values {}, expected rank 4", cx.ty(k), cx.ty(v)));
    }
    let scale = match op.float_opt("scale")? {
        Some(s) => s,
        None => 1.0 / (cx.number(&qd[3])? as f64).sqrt(),
    };
    // Both operands are scaled, so that products do not overflow.
    let (q, scaled_k) = (cx.with_number(B::Mul, q, scale.sqrt())?, cx.with_number(B::Mul, k, scale.sqrt())?);
    let logits = {
        let (q, k) = (grouped(cx, q, &kd[1])?, grouped(cx, scaled_k, &kd[1])?);
        let out = cx.matmul(q, k, false, true)?;
        cx.reshape(out, vec![qd[0].clone(), qd[1].clone(), qd[2].clone(), kd[2].clone()])?
    };
    let cap = op.float("softcap", 0.0)?;
    let capped = if cap > 0.0 {
        let x = cx.with_number(B::Div, logits, cap)?;
        let x = cx.unary(U::Tanh, x)?;
        cx.with_number(B::Mul, x, cap)?
    } else {
        logits
    };
    let masked = mask(cx, op, capped, &qd[2], &kd[2], past)?;
    let mut weights = cx.softmax(masked, 3, false)?;
    if op.opt(3).is_some() || op.opt(6).is_some() || op.int("left_window_size", -1)? >= 0 {
        // Where every key is masked the result is 0.
        let top = cx.reduce(R::Max, masked, &[3], true)?;
        let dead = cx.compare_number(C::Eq, top, f64::NEG_INFINITY)?;
        let zero = cx.scalar(cx.dtype(weights), 0.0);
        weights = cx.select(dead, zero, weights)?;
    }
    let mut y = {
        let (w, v) = (grouped(cx, weights, &kd[1])?, grouped(cx, v, &kd[1])?);
        let out = cx.matmul(w, v, false, false)?;
        cx.reshape(out, vec![qd[0].clone(), qd[1].clone(), qd[2].clone(), vd[3].clone()])?
    };
    if flat {
        y = cx.transpose(y, &[0, 2, 1, 3])?;
        y = cx.reshape(y, vec![qd[0].clone(), qd[2].clone(), qd[1].mul(&vd[3])])?;
    }
    let shown = match op.int("qk_matmul_output_mode", 0)? {
        0 => logits,
        1 => capped,
        2 => masked,
        3 => weights,
        other => return invalid(format!("attribute `qk_matmul_output_mode` is {other}, expected 0 to 3")),
    };
    Ok(vec![y, k, v, shown])
}

/// [B, heads, S, D] to [B, key heads, heads a key head, S, D], so that queries that share keys meet them by broadcasting.
fn grouped(cx: &mut Cx, v: Val, key_heads: &Dim) -> Res<Val> {
    let dims = cx.dims(v);
    let Some(each) = dims[1].exact_div(key_heads) else {
        return invalid(format!("{} query heads do not divide among {key_heads} key heads", dims[1]));
    };
    cx.reshape(v, vec![dims[0].clone(), key_heads.clone(), each, dims[2].clone(), dims[3].clone()])
}

/// Adds the mask operand and forbids keys by causality, windows and lengths.
fn mask(cx: &mut Cx, op: &Op<'_>, mut logits: Val, queries: &Dim, keys: &Dim, past: Dim) -> Res<Val> {
    let along = |n: &Dim, at: usize| {
        let mut d = vec![Dim::constant(1); 4];
        d[at] = n.clone();
        d
    };
    let mut allowed: Option<Val> = None;
    let mut allow = |cx: &mut Cx, v: Val| -> Res<()> {
        allowed = Some(match allowed {
            Some(a) => cx.binary(B::And, a, v)?,
            None => v,
        });
        Ok(())
    };
    if let Some(m) = op.opt(3) {
        let is_bool = cx.dtype(m) == DType::Bool;
        let m = padded_mask(cx, m, keys)?;
        if is_bool {
            allow(cx, m)?;
        } else {
            logits = cx.binary(B::Add, logits, m)?;
        }
    }
    let key = cx.iota(DType::I64, along(keys, 3), 3)?;
    let query = cx.iota(DType::I64, along(queries, 2), 2)?;
    let mut offset = cx.ints(DType::I64, &[], vec![past]);
    if let Some(lengths) = op.opt(6) {
        let lengths = cx.cast(lengths, DType::I64)?;
        let dims = along(&cx.ty(lengths).count(), 0);
        let lengths = cx.reshape(lengths, dims)?;
        let inside = cx.compare(C::Lt, key, lengths)?;
        allow(cx, inside)?;
        let queries = cx.ints(DType::I64, &[], vec![queries.clone()]);
        offset = cx.binary(B::Sub, lengths, queries)?;
    }
    let place = cx.binary(B::Add, query, offset)?;
    if op.flag("is_causal", false)? {
        let before = cx.compare(C::Le, key, place)?;
        allow(cx, before)?;
    }
    for (name, kind, sign) in [("left_window_size", C::Ge, -1.0), ("right_window_size", C::Le, 1.0)] {
        let size = op.int(name, -1)?;
        if size >= 0 {
            let edge = cx.with_number(B::Add, place, sign * size as f64)?;
            let near = cx.compare(kind, key, edge)?;
            allow(cx, near)?;
        }
    }
    let Some(allowed) = allowed else { return Ok(logits) };
    let never = cx.scalar(cx.dtype(logits), f64::NEG_INFINITY);
    cx.select(allowed, logits, never)
}

/// A mask for fewer keys than there are forbids the others.
fn padded_mask(cx: &mut Cx, m: Val, keys: &Dim) -> Res<Val> {
    let Some(last) = cx.dims(m).last().cloned() else { return Ok(m) };
    let missing = match keys.sub(&last).as_i64() {
        Some(n) if n > 0 && last.as_i64() != Some(1) => n,
        _ => return Ok(m),
    };
    let rank = cx.rank(m);
    let mut high = vec![0; rank];
    high[rank - 1] = missing;
    let bool_mask = cx.dtype(m) == DType::Bool;
    let value = cx.scalar(cx.dtype(m), if bool_mask { 0.0 } else { f64::NEG_INFINITY });
    padded(cx, m, value, PadMode::Constant, vec![0; rank], high)
}

/// Rotates pairs of elements of each head by angles given as cosines and sines.
fn rotary(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let x = op.input(0)?;
    let flat = cx.rank(x) == 3;
    let v = by_heads(cx, x, op.int("num_heads", 0)?)?;
    let dims = cx.dims(v);
    if dims.len() != 4 {
        return invalid(format!("the operand is {}, expected rank 3 or 4", cx.ty(x)));
    }
    let size = cx.number(&dims[3])?;
    let turned = match op.int("rotary_embedding_dim", 0)? {
        0 => size,
        n if n > 0 && n <= size && n % 2 == 0 => n,
        n => return invalid(format!("attribute `rotary_embedding_dim` is {n} for heads of {size}")),
    };
    let half = Dim::constant(turned / 2);
    // [B, S, half], or a table that positions look up; heads share them.
    let mut angles = vec![];
    for i in [1, 2] {
        let mut a = op.input(i)?;
        if let Some(positions) = op.opt(3) {
            a = cx.gather(a, positions, 0)?;
        }
        let mut d = cx.dims(a);
        if d.len() != 3 || d[2].sub(&half).as_i64() != Some(0) {
            return invalid(format!("cosines or sines are {}, expected {half} a position", cx.ty(a)));
        }
        d.insert(1, Dim::constant(1));
        angles.push(cx.reshape(a, d)?);
    }
    let (cos, sin) = (angles[0], angles[1]);
    let rotated = cx.slice_axis(v, 3, 0, Dim::constant(turned))?;
    let interleaved = op.flag("interleaved", false)?;
    let part = |cx: &mut Cx, second: i64| {
        let (start, step) = if interleaved { (second, 2) } else { (second * (turned / 2), 1) };
        let mut counts = cx.dims(rotated);
        counts[3] = half.clone();
        cx.slice(rotated, vec![0, 0, 0, start], vec![1, 1, 1, step], counts)
    };
    let (a, b) = (part(cx, 0)?, part(cx, 1)?);
    let combine = |cx: &mut Cx, kind: B, p: (Val, Val), q: (Val, Val)| {
        let (x, y) = (cx.binary(B::Mul, p.0, p.1)?, cx.binary(B::Mul, q.0, q.1)?);
        cx.binary(kind, x, y)
    };
    let real = combine(cx, B::Sub, (cos, a), (sin, b))?;
    let imaginary = combine(cx, B::Add, (sin, a), (cos, b))?;
    let joined = if interleaved {
        let mut apart = cx.dims(real);
        apart.push(Dim::constant(1));
        let (r, i) = (cx.reshape(real, apart.clone())?, cx.reshape(imaginary, apart)?);
        let pairs = cx.concat(&[r, i], 4)?;
        cx.reshape(pairs, cx.dims(rotated))?
    } else {
        cx.concat(&[real, imaginary], 3)?
    };
    let rest = cx.slice_axis(v, 3, turned, Dim::constant(size - turned))?;
    let y = cx.concat(&[joined, rest], 3)?;
    if !flat {
        return Ok(vec![y]);
    }
    let y = cx.transpose(y, &[0, 2, 1, 3])?;
    Ok(vec![cx.reshape(y, cx.dims(x))?])
}
