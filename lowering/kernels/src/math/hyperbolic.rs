//! Hyperbolic functions and their inverses.

use super::{F, exp, log, wide};
use crate::explicit::{Builder, V};

/// Hyperbolic tangent, within 2.5 ulp.
pub fn tanh<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    let f = F::new(b, x);
    let a = b.abs(x);
    let z = b.mul(x, x);
    let p = match f.is_wide() {
        true => wide::tanh_part(f, z),
        false => f.horner(
            z,
            &[
                -5.704_988_727_45e-3,
                2.063_908_879_54e-2,
                -5.373_971_555_31e-2,
                1.333_144_220_36e-1,
                -3.333_328_194_22e-1,
            ],
        ),
    };
    let small = b.fma(b.mul(p, z), x, x);
    let e = exp(b, b.add(a, a));
    let large = b.sub(f.c(1.0), b.div(f.c(2.0), b.add(e, f.c(1.0))));
    b.select(f.lt(a, 0.625), small, b.copysign(large, x))
}

/// e^|x| / 2 and e^-|x| / 2; the former without overflowing too early.
fn halves<'c>(f: F<'_, 'c>, a: V<'c>) -> (V<'c>, V<'c>) {
    let b = f.0;
    let big = f.gt(a, if f.is_wide() { 709.0 } else { 88.0 });
    let e = exp(b, b.select(big, b.mul(a, f.c(0.5)), a));
    let half = b.mul(e, f.c(0.5));
    (b.select(big, b.mul(half, e), half), b.select(big, f.c(0.0), b.div(f.c(0.5), e)))
}

/// Hyperbolic sine, within 3 ulp.
pub fn sinh<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    let f = F::new(b, x);
    let a = b.abs(x);
    let (up, down) = halves(f, a);
    let z = b.mul(x, x);
    let p = match f.is_wide() {
        true => f.horner(z, wide::SINH),
        false => f.horner(z, &[2.037_219_129_45e-4, 8.330_283_762_39e-3, 1.666_671_602_11e-1]),
    };
    let small = b.fma(b.mul(p, z), x, x);
    b.select(f.gt(a, 1.0), b.copysign(b.sub(up, down), x), small)
}

/// Hyperbolic cosine, within 3 ulp.
pub fn cosh<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    let (up, down) = halves(F::new(b, x), b.abs(x));
    b.add(up, down)
}

/// Inverse hyperbolic sine, within 3.5 ulp (4 in f64).
pub fn asinh<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    let f = F::new(b, x);
    if f.is_wide() {
        return wide::asinh(f, x);
    }
    let a = b.abs(x);
    let z = b.mul(a, a);
    let p = f.horner(z, &[2.012_200_330_9e-2, -4.269_934_097_2e-2, 7.484_758_608_8e-2, -1.666_628_813_4e-1]);
    let small = b.fma(b.mul(p, z), a, a);
    let huge = f.gt(a, 1500.0);
    // For huge arguments log(2 a), whose factor 2 is added afterwards so that nothing overflows.
    let l = log(b, b.select(huge, a, b.add(a, b.sqrt(b.add(z, f.c(1.0))))));
    let large = b.select(huge, b.add(l, f.c(std::f64::consts::LN_2)), l);
    b.copysign(b.select(f.lt(a, 0.5), small, large), x)
}

/// Inverse hyperbolic cosine, within 3 ulp (4 in f64); NaN below 1.
pub fn acosh<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    let f = F::new(b, x);
    if f.is_wide() {
        return wide::acosh(f, x);
    }
    let z = b.sub(x, f.c(1.0));
    let p = f.horner(
        z,
        &[1.759_688_107_1e-3, -7.527_288_671_3e-3, 2.645_490_501_9e-2, -1.178_474_170_3e-1, 1.414_213_526_3],
    );
    let small = b.mul(p, b.sqrt(z));
    let huge = f.gt(x, 1500.0);
    let l = log(b, b.select(huge, x, b.add(x, b.sqrt(b.mul(z, b.add(x, f.c(1.0)))))));
    let large = b.select(huge, b.add(l, f.c(std::f64::consts::LN_2)), l);
    b.select(f.lt(z, 0.5), small, large)
}

/// Inverse hyperbolic tangent, within 3 ulp (4 in f64); NaN beyond 1.
pub fn atanh<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    let f = F::new(b, x);
    if f.is_wide() {
        return wide::atanh(f, x);
    }
    let a = b.abs(x);
    let z = b.mul(a, a);
    let p = f.horner(
        z,
        &[1.817_403_480_79e-1, 8.243_703_010_58e-2, 1.466_914_317_3e-1, 1.997_821_645e-1, 3.333_373_003_03e-1],
    );
    let small = b.fma(b.mul(p, z), a, a);
    let ratio = b.div(b.add(f.c(1.0), a), b.sub(f.c(1.0), a));
    let large = b.mul(f.c(0.5), log(b, ratio));
    b.copysign(b.select(f.lt(a, 0.5), small, large), x)
}
