//! Remainders.

use super::{F, wide};
use crate::explicit::{Builder, Cmp, V};

/// x - trunc(x / y) * y with the sign of x, as C's `fmodf`, exactly; x for infinite y, NaN for infinite x or y = 0.
///
/// The remainder of a rounded quotient is exact, so the quotient is taken off 23 bits at a time. Quotients may have 277 bits, more
/// than f32 reaches: they are taken by y * 2^192, y * 2^128, y * 2^64 and y in turn, each of which leaves less than itself.
pub fn fmod<'c>(b: &Builder<'c>, x: V<'c>, y: V<'c>) -> V<'c> {
    let f = F::new(b, x);
    let (x, y) = match (x.ty().lanes, y.ty().lanes) {
        (0, n) if n > 0 => (b.broadcast(x, n), y),
        (n, 0) if n > 0 => (x, b.broadcast(y, n)),
        _ => (x, y),
    };
    let m = b.abs(y);
    if f.is_wide() {
        let r = wide::remainder(f, b.abs(x), m);
        return fmod_ends(f, x, m, r);
    }
    let by = |rest: V<'c>, m: V<'c>| {
        let too_far = f.eq(m, f64::INFINITY);
        let steps = b.for_iter(b.index(0), b.index(3), 1, &[rest], |b, _, v| {
            let q = b.trunc(b.div(v[0], m));
            vec![b.select(too_far, v[0], b.fma(b.neg(q), m, v[0]))]
        });
        steps[0]
    };
    let far = f.c(18_446_744_073_709_551_616.0);
    let m1 = b.mul(m, far);
    let m2 = b.mul(m1, far);
    let m3 = b.mul(m2, far);
    let r = by(by(by(by(b.abs(x), m3), m2), m1), m);
    fmod_ends(f, x, m, r)
}

/// The rest within [0, m), with the sign of x, and what infinities give.
fn fmod_ends<'c>(f: F<'_, 'c>, x: V<'c>, m: V<'c>, r: V<'c>) -> V<'c> {
    let b = f.0;
    // Rounding up the last quotient leaves a negative rest.
    let r = b.select(f.lt(r, 0.0), b.add(r, m), r);
    let r = b.select(b.cmp(Cmp::Eq, r, m), b.zero(r.ty()), r);
    // An infinite x is left as it is by an infinite y only.
    let r = b.select(f.lt(b.abs(x), f64::INFINITY), r, f.c(f64::NAN));
    b.copysign(r, x)
}
