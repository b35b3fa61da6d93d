//! erf, sigmoid, softplus.

use super::{F, exp, log1p, wide};
use crate::explicit::{Builder, V};

/// Error function, within 1.5 ulp: two minimax polynomials (N. Juffa), one of them the exponent of 1 - e^p.
pub fn erf<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    let f = F::new(b, x);
    if f.is_wide() {
        return wide::erf(f, x);
    }
    let a = b.abs(x);
    let s = b.mul(x, x);
    let r = f.horner(a, &[-1.728_534_70e-5, 3.831_971_26e-4]);
    let u = f.horner(a, &[-3.883_964_38e-3, 2.425_462_19e-2]);
    let mut r = b.fma(r, s, u);
    for k in [-1.067_778_77e-1, -6.348_466_87e-1, -1.287_175_12e-1] {
        r = b.fma(r, a, f.c(k));
    }
    let r = b.fma(r, a, b.neg(a));
    let large = b.copysign(b.sub(f.c(1.0), exp(b, r)), x);
    // Beyond 4 the result is 1, and the polynomial no longer means anything.
    let large = b.select(f.gt(a, 4.0), b.copysign(f.c(1.0), x), large);
    let p = f.horner(
        s,
        &[-5.967_617_03e-4, 4.991_194_23e-3, -2.676_813_49e-2, 1.128_199_25e-1, -3.761_253_36e-1, 1.283_791_66e-1],
    );
    let small = b.fma(p, x, x);
    b.select(f.gt(a, 0.927_734_375), large, small)
}

/// 1 / (1 + e^-x), within 3 ulp.
pub fn sigmoid<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    let f = F::new(b, x);
    let e = exp(b, b.neg(b.abs(x)));
    let top = b.select(f.lt(x, 0.0), e, f.c(1.0));
    b.div(top, b.add(e, f.c(1.0)))
}

/// log(1 + e^x), within 3 ulp.
pub fn softplus<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    let f = F::new(b, x);
    let tail = log1p(b, exp(b, b.neg(b.abs(x))));
    b.add(b.select(f.lt(x, 0.0), f.c(0.0), x), tail)
}
