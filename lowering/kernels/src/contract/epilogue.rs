//! Applies the epilogue to accumulated values and stores the results.

use super::body::{self, Columns};
use super::emit::{At, Env};
use super::shape::Flat;
use crate::explicit::{Builder, Cmp, V};
use crate::ir::BufferId;
use crate::scalar;

/// Stores what becomes of `sum`, the values of the columns from `n` on (one column if it is a scalar), in the row of `at`.
pub(super) fn emit<'c>(env: &Env<'_, 'c>, at: &At<'c>, n: V<'c>, sum: V<'c>, mask: Option<V<'c>>) {
    let (b, e) = (env.b, &env.c.epilogue);
    let lanes = sum.ty().lanes;
    let columns = Columns { first: n, lanes, mask, ragged: false };
    let values = body::values(env, &e.body, at, columns, scalar::round(b, env.c.dtype, sum));
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
