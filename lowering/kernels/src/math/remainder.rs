//! Remainders.

use super::F;
use crate::explicit::{Builder, Cmp, V};

/// x - trunc(x / y) * y with the sign of x, as C's `fmodf`: the remainder of a rounded quotient is exact, so the quotient is
/// taken off 23 bits at a time. Exact while |x / y| < 2^126; x for infinite y, NaN for infinite x or y = 0.
pub fn fmod<'c>(b: &Builder<'c>, x: V<'c>, y: V<'c>) -> V<'c> {
    let f = F(b);
    let (x, y) = match (x.ty().lanes, y.ty().lanes) {
        (0, n) if n > 0 => (b.broadcast(x, n), y),
        (n, 0) if n > 0 => (x, b.broadcast(y, n)),
        _ => (x, y),
    };
    let m = b.abs(y);
    let steps = b.for_iter(b.index(0), b.index(6), 1, &[b.abs(x)], |b, _, v| {
        let q = b.trunc(b.div(v[0], m));
        vec![b.fma(b.neg(q), m, v[0])]
    });
    let r = steps[0];
    // Rounding up the last quotient leaves a negative rest.
    let r = b.select(f.lt(r, 0.0), b.add(r, m), r);
    let r = b.select(b.cmp(Cmp::Eq, r, m), b.zero(r.ty()), r);
    let r = b.copysign(r, x);
    let whole = b.and(f.eq(m, f64::INFINITY), f.lt(b.abs(x), f64::INFINITY));
    b.select(whole, x, r)
}
