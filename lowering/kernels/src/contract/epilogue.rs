//! Applies the epilogue to accumulated values and stores the results.

use neap_optable::DType;

use super::emit::{At, Env};
use super::shape::{EpilogueRead, Flat};
use crate::explicit::{Builder, Cmp, V};
use crate::ir::{BufferId, ScalarOp};
use crate::scalar;

/// Stores what becomes of `sum`, the values of the columns from `n` on (one column if it is a scalar), in the row of `at`.
pub(super) fn emit<'c>(env: &Env<'_, 'c>, at: &At<'c>, n: V<'c>, sum: V<'c>, mask: Option<V<'c>>) {
    let (b, e) = (env.b, &env.c.epilogue);
    let lanes = sum.ty().lanes;
    let reads: Vec<V<'c>> = e
        .reads
        .iter()
        .map(|r| match r {
            EpilogueRead::Accumulator => scalar::round(b, env.c.dtype, sum),
            EpilogueRead::At(id, flat) => read(env, at, n, lanes, mask, *id, flat),
        })
        .collect();
    let values = body(env, &reads);
    for (id, flat, value) in &e.stores {
        let v = value.map_or(sum, |v| values[v]);
        if !env.c.dense(flat) {
            scatter(env, at, n, lanes, mask, (*id, flat), scalar::to_memory(b, env.dtype(*id), v));
            continue;
        }
        let to = b.add(env.offset(flat, at), n);
        let v = scalar::to_memory(b, env.dtype(*id), v);
        let v = if lanes == 0 { v } else { b.broadcast(v, lanes) };
        match mask {
            Some(mask) => b.masked_store(v, env.buffer(*id), to, mask),
            None => b.vstore(v, env.buffer(*id), to),
        }
    }
}

/// Stores columns whose elements do not lie one after another.
fn scatter<'c>(
    env: &Env<'_, 'c>,
    at: &At<'c>,
    n: V<'c>,
    lanes: u32,
    mask: Option<V<'c>>,
    (id, flat): (BufferId, &Flat),
    v: V<'c>,
) {
    let (b, buffer) = (env.b, env.buffer(id));
    for j in 0..i64::from(lanes.max(1)) {
        let n = b.add(n, b.index(j));
        let store = |b: &Builder<'c>| {
            let element = if v.ty().is_scalar() { v } else { b.extract(v, j) };
            b.store(element, buffer, env.offset(flat, &env.columns(at, n)));
        };
        match mask {
            Some(_) => b.when(b.cmp(Cmp::Lt, n, env.n), store),
            None => store(b),
        }
    }
}

fn body<'c>(env: &Env<'_, 'c>, reads: &[V<'c>]) -> Vec<V<'c>> {
    let (b, e) = (env.b, &env.c.epilogue);
    let mut out: Vec<V<'c>> = Vec::with_capacity(e.ops.len());
    for op in &e.ops {
        let dtype = |x: usize| e.dtypes[x];
        let v = match op {
            ScalarOp::Read(i) => reads[*i],
            ScalarOp::Const(t, v) => scalar::constant(b, *t, *v),
            ScalarOp::Size(d) => b.index_cast(env.size(d), scalar::elem(DType::I64)),
            ScalarOp::Unary(k, x) => scalar::unary(b, *k, dtype(x.0), out[x.0]),
            ScalarOp::Binary(k, x, y) => scalar::binary(b, *k, dtype(x.0), out[x.0], out[y.0]),
            ScalarOp::Compare(k, x, y) => scalar::compare(b, *k, dtype(x.0), out[x.0], out[y.0]),
            ScalarOp::Select(c, x, y) => b.select(out[c.0], out[x.0], out[y.0]),
            ScalarOp::Cast(to, x) => scalar::cast(b, dtype(x.0), *to, out[x.0]),
            ScalarOp::Fma(x, y, z) => scalar::round(b, dtype(z.0), b.fma(out[x.0], out[y.0], out[z.0])),
            ScalarOp::Load(..) | ScalarOp::Iter(_) => unreachable!("not recognised as an epilogue"),
        };
        out.push(v);
    }
    out
}

fn read<'c>(
    env: &Env<'_, 'c>,
    at: &At<'c>,
    n: V<'c>,
    lanes: u32,
    mask: Option<V<'c>>,
    id: BufferId,
    flat: &Flat,
) -> V<'c> {
    let (b, buffer) = (env.b, env.buffer(id));
    let stride = flat.run(&env.c.cols, &env.c.extents).and_then(|s| s.as_i64());
    let v = match stride {
        Some(0) => b.load(buffer, env.offset(flat, at)),
        Some(1) if lanes == 0 => b.load(buffer, b.add(env.offset(flat, at), n)),
        Some(1) => {
            let from = b.add(env.offset(flat, at), n);
            match mask {
                Some(mask) => b.masked_load(buffer, from, mask, b.zero(buffer.elem.scalar())),
                None => b.vload(buffer, from, lanes),
            }
        }
        _ => {
            let last = b.sub(env.n, b.index(1));
            let one = |j: i64| {
                // Lanes past the last column read what it reads, and are not stored.
                let n = b.add(n, b.index(j));
                let n = if mask.is_some() { b.min(n, last) } else { n };
                b.load(buffer, env.offset(flat, &env.columns(at, n)))
            };
            if lanes == 0 { one(0) } else { b.from_elements(&(0..i64::from(lanes)).map(one).collect::<Vec<_>>()) }
        }
    };
    scalar::from_memory(b, env.dtype(id), v)
}
