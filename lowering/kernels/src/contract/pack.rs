//! Packs operands into the thread's scratch: [panel][k][width].

use super::emit::{At, Env};
use super::shape::Guard;
use super::window::Windows;
use crate::explicit::{Elem, V};

/// Packs the column panels `from..to`.
pub(super) fn panels<'c>(env: &Env<'_, 'c>, at: &At<'c>, from: V<'c>, to: V<'c>) {
    let (b, s, o) = (env.b, env.s, &env.c.panel_operand);
    let contiguous = o.flat.run(&env.c.cols, &env.c.extents).is_some_and(|v| v.as_i64() == Some(1));
    let windows = Windows::of(env.c, s.lanes as i64);
    b.for_(from, to, 1, |b, panel| {
        let start = b.mul(panel, b.index(s.width() as i64));
        let target = b.mul(b.sub(panel, from), b.mul(env.k, b.index(s.width() as i64)));
        if contiguous && o.guards.is_empty() && (s.masks || !env.ragged()) {
            copy(env, at, start, target);
        } else if let Some(w) = windows.as_ref().filter(|_| s.masks) {
            w.pack(env, at, start, target);
        } else {
            elements(env, at, start, target);
        }
    });
}

/// Columns that lie one after another.
fn copy<'c>(env: &Env<'_, 'c>, at: &At<'c>, start: V<'c>, target: V<'c>) {
    let (b, s, o) = (env.b, env.s, &env.c.panel_operand);
    let left = b.sub(env.n, start);
    let lanes = s.lanes as u32;
    let masks: Vec<_> = (0..s.vectors)
        .map(|v| env.ragged().then(|| b.create_mask(b.sub(left, b.index((v * s.lanes) as i64)), lanes)))
        .collect();
    let axes = env.k_axes(&[&|a| env.size(&o.flat.strides[a]), &|a| env.packed_stride(a, s.width())]);
    let source = b.add(env.offset(&o.flat, at), start);
    let buffer = env.buffer(o.buffer);
    env.nest(&axes, &[source, target], &[], &mut vec![], &mut |_, cursors, _| {
        for (v, mask) in masks.iter().enumerate() {
            let shift = b.index((v as u64 * s.lanes) as i64);
            let from = b.add(cursors[0], shift);
            let value = match mask {
                Some(mask) => b.masked_load(buffer, from, *mask, b.zero(env.elem.scalar())),
                None => b.vload(buffer, from, lanes),
            };
            b.vstore(value, env.panels, b.add(cursors[1], shift));
        }
        vec![]
    });
}

/// Any columns, element by element.
fn elements<'c>(env: &Env<'_, 'c>, at: &At<'c>, start: V<'c>, target: V<'c>) {
    let (b, s, o) = (env.b, env.s, &env.c.panel_operand);
    let buffer = env.buffer(o.buffer);
    let last = b.sub(env.n, b.index(1));
    b.for_(b.index(0), b.index(s.width() as i64), 1, |b, j| {
        // Lanes past the last column repeat it: their results are not stored.
        let n = b.min(b.add(start, j), last);
        let at = env.columns(at, n);
        let axes = env.k_axes(&[&|a| env.size(&o.flat.strides[a]), &|a| env.packed_stride(a, s.width())]);
        let cursors = [env.offset(&o.flat, &at), b.add(target, j)];
        env.nest(&axes, &cursors, &[], &mut vec![], &mut |ivs, cursors, _| {
            let inside = o.guards.iter().fold(b.int(Elem::I1, 1), |all, g| {
                let one = b.in_range(guard(env, g, &at, ivs), env.size(&g.size));
                if all.known() == Some(1) { one } else { b.and(all, one) }
            });
            let value = b.if_else(inside, |b| vec![b.load(buffer, cursors[0])], |b| vec![b.float(env.elem, o.outside)]);
            b.store(value[0], env.panels, cursors[1]);
            vec![]
        });
    });
}

fn guard<'c>(env: &Env<'_, 'c>, g: &Guard, at: &At<'c>, ivs: &[V<'c>]) -> V<'c> {
    let mut at = at.clone();
    for (axis, iv) in env.c.k.iter().zip(ivs) {
        at[*axis] = Some(*iv);
    }
    env.offset(&g.index, &at)
}

/// Packs the row tiles `from..to`.
pub(super) fn rows<'c>(env: &Env<'_, 'c>, at: &At<'c>, from: V<'c>, to: V<'c>) {
    let (b, s, o) = (env.b, env.s, &env.c.rows_operand);
    let buffer = env.buffer(o.buffer);
    let stride = env.c.row.map_or(b.index(0), |r| env.size(&o.flat.strides[r]));
    let last = b.sub(env.m, b.index(1));
    b.for_(from, to, 1, |b, tile| {
        let target = b.mul(b.sub(tile, from), b.mul(env.k, b.index(s.rows as i64)));
        b.for_(b.index(0), b.index(s.rows as i64), 1, |b, r| {
            // Rows past the last repeat it: their results are not stored.
            let row = b.min(b.add(b.mul(tile, b.index(s.rows as i64)), r), last);
            let axes = env.k_axes(&[&|a| env.size(&o.flat.strides[a]), &|a| env.packed_stride(a, s.rows)]);
            let cursors = [b.add(env.offset(&o.flat, at), b.mul(row, stride)), b.add(target, r)];
            env.nest(&axes, &cursors, &[], &mut vec![], &mut |_, cursors, _| {
                b.store(b.load(buffer, cursors[0]), env.rows, cursors[1]);
                vec![]
            });
        });
    });
}
