//! Trigonometric functions.

use super::{F, wide};
use crate::explicit::{Builder, Cmp, V};

/// x less its nearest multiple of pi/2, and that multiple. pi/2 in three parts and fused multiply-add (Cody and Waite 1980) keep
/// the rest good to the last bit or so for |x| <= 2^17.
fn reduce<'c>(f: F<'_, 'c>, x: V<'c>) -> (V<'c>, V<'c>) {
    let b = f.0;
    let (n, quadrant) = f.round(x, std::f64::consts::FRAC_2_PI);
    if f.is_wide() {
        return (wide::turned_back(f, n, x), quadrant);
    }
    let r = b.fma(n, f.c(-1.570_796_370_506_286_6), x);
    let r = b.fma(n, f.c(4.371_139_000_186_241e-8), r);
    (b.fma(n, f.c(1.715_124_5e-15), r), quadrant)
}

fn sin_core<'c>(f: F<'_, 'c>, r: V<'c>, z: V<'c>) -> V<'c> {
    let p = match f.is_wide() {
        true => f.horner(z, wide::SIN),
        false => f.horner(z, &[-1.951_529_589_1e-4, 8.332_160_873_6e-3, -1.666_665_461_1e-1]),
    };
    f.0.fma(f.0.mul(p, z), r, r)
}

fn cos_core<'c>(f: F<'_, 'c>, z: V<'c>) -> V<'c> {
    let b = f.0;
    let p = match f.is_wide() {
        true => f.horner(z, wide::COS),
        false => f.horner(z, &[2.443_315_711_809_948e-5, -1.388_731_625_493_765e-3, 4.166_664_568_298_827e-2]),
    };
    let y = b.fma(b.mul(z, z), p, b.mul(z, f.c(-0.5)));
    b.add(y, f.c(1.0))
}

/// sin(r + (quadrant + shift) * pi/2)
fn turn<'c>(f: F<'_, 'c>, x: V<'c>, shift: i64) -> V<'c> {
    let b = f.0;
    let (r, quadrant) = reduce(f, x);
    let quadrant = b.add(quadrant, f.i(shift));
    let z = b.mul(r, r);
    let odd = b.cmp(Cmp::Eq, b.and(quadrant, f.i(1)), f.i(1));
    let y = b.select(odd, cos_core(f, z), sin_core(f, r, z));
    let flip = b.cmp(Cmp::Eq, b.and(quadrant, f.i(2)), f.i(2));
    b.select(flip, b.neg(y), y)
}

/// Sine, within 2 ulp for |x| <= 2^17; NaN for infinities.
pub fn sin<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    let f = F::new(b, x);
    // A zero keeps its sign.
    b.select(f.eq(x, 0.0), x, turn(f, x, 0))
}

/// Cosine, within 2 ulp for |x| <= 2^17; NaN for infinities.
pub fn cos<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    turn(F::new(b, x), x, 1)
}

/// Tangent, within 4 ulp for |x| <= 2^17; NaN for infinities.
pub fn tan<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    let f = F::new(b, x);
    let (r, quadrant) = reduce(f, x);
    let z = b.mul(r, r);
    let odd = b.cmp(Cmp::Eq, b.and(quadrant, f.i(1)), f.i(1));
    if f.is_wide() {
        let (s, c) = (sin_core(f, r, z), cos_core(f, z));
        let y = b.div(b.select(odd, b.neg(c), s), b.select(odd, s, c));
        return b.select(f.eq(x, 0.0), x, y);
    }
    let p = f.horner(
        z,
        &[
            9.385_401_855_43e-3,
            3.119_922_326_97e-3,
            2.443_013_545_25e-2,
            5.341_128_070_05e-2,
            1.333_879_940_85e-1,
            3.333_315_685_48e-1,
        ],
    );
    let t = b.fma(b.mul(p, z), r, r);
    let y = b.select(odd, b.div(f.c(-1.0), t), t);
    b.select(f.eq(x, 0.0), x, y)
}
