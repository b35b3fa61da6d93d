//! exp, log, log(1 + x).

use super::{F, wide};
use crate::explicit::{Builder, V};

/// e^x, within 1.5 ulp (2 where the result is subnormal).
pub fn exp<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    let f = F::new(b, x);
    if f.is_wide() {
        return wide::exp(f, x);
    }
    // Beyond these the result is infinite or 0; a NaN passes both comparisons.
    let x = b.select(f.gt(x, 89.0), f.c(89.0), x);
    let x = b.select(f.lt(x, -104.0), f.c(-104.0), x);
    let (n, power) = f.round(x, std::f64::consts::LOG2_E);
    let r = b.fma(n, f.c(-0.693_359_375), x);
    let r = b.fma(n, f.c(2.121_944_4e-4), r);
    f.scale(exp_core(f, r), power)
}

/// e^r for |r| <= 0.35.
pub(super) fn exp_core<'c>(f: F<'_, 'c>, r: V<'c>) -> V<'c> {
    let p = f.horner(
        r,
        &[
            1.987_569_15e-4,
            1.398_199_950_7e-3,
            8.333_451_907_3e-3,
            4.166_579_589_4e-2,
            1.666_666_545_9e-1,
            5.000_000_120_1e-1,
        ],
    );
    let y = f.0.fma(p, f.0.mul(r, r), r);
    f.0.add(y, f.c(1.0))
}

/// Natural logarithm, within 1.5 ulp.
pub fn log<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    let f = F::new(b, x);
    if f.is_wide() {
        return wide::log(f, x);
    }
    let tiny = f.lt(x, f64::from(f32::MIN_POSITIVE));
    let scaled = b.select(tiny, b.mul(x, f.c(8_388_608.0)), x);
    // The mantissa in [sqrt(1/2), sqrt(2)) and its exponent.
    let bits = f.bits(scaled);
    let shifted = b.sub(bits, f.i(0x3f35_04f3));
    let e = b.shr_s(shifted, f.i(23));
    let m = f.float_from_bits(b.sub(bits, b.shl(e, f.i(23))));
    let e = b.si_to_fp(e, crate::explicit::Elem::F32);
    let e = b.select(tiny, b.sub(e, f.c(23.0)), e);
    let t = b.sub(m, f.c(1.0));
    let z = b.mul(t, t);
    let p = f.horner(
        t,
        &[
            7.037_683_629_2e-2,
            -1.151_461_031_0e-1,
            1.167_699_874_0e-1,
            -1.242_014_084_6e-1,
            1.424_932_278_7e-1,
            -1.666_805_766_5e-1,
            2.000_071_476_5e-1,
            -2.499_999_399_3e-1,
            3.333_333_117_4e-1,
        ],
    );
    let y = b.mul(b.mul(p, t), z);
    let y = b.fma(e, f.c(-2.121_944_4e-4), y);
    let y = b.fma(z, f.c(-0.5), y);
    let y = b.add(t, y);
    let y = b.fma(e, f.c(0.693_359_375), y);
    log_ends(f, x, y)
}

/// Infinity and NaN stay, 0 gives -infinity, what is below 0 gives NaN.
pub(super) fn log_ends<'c>(f: F<'_, 'c>, x: V<'c>, y: V<'c>) -> V<'c> {
    let b = f.0;
    let y = b.select(f.lt(x, f64::INFINITY), y, x);
    let y = b.select(f.eq(x, 0.0), f.c(f64::NEG_INFINITY), y);
    b.select(f.lt(x, 0.0), f.c(f64::NAN), y)
}

/// log(1 + x), within 3 ulp: the logarithm of the rounded sum, corrected by what rounding lost.
pub fn log1p<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    let f = F::new(b, x);
    let u = b.add(x, f.c(1.0));
    let lost = b.sub(x, b.sub(u, f.c(1.0)));
    let y = b.add(log(b, u), b.div(lost, u));
    // At the ends the correction is not a number, and the logarithm right as it is; near 0 the sum is 1 and x the result.
    let y = b.select(f.eq(u, f64::INFINITY), u, y);
    let y = b.select(f.eq(u, 0.0), f.c(f64::NEG_INFINITY), y);
    b.select(f.eq(u, 1.0), x, y)
}
