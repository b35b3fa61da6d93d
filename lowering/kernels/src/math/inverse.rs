//! Inverse trigonometric functions.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use super::{F, wide};
use crate::explicit::{Builder, Cmp, V};

/// asin(a) for 0 <= a <= 1/2 and, by asin(a) = pi/2 - 2 asin(sqrt((1 - a)/2)), what the doubled part is above:
/// (whether above, the arcsine of the reduced argument).
fn asin_core<'c>(f: F<'_, 'c>, a: V<'c>) -> (V<'c>, V<'c>) {
    let b = f.0;
    let above = f.gt(a, 0.5);
    let z = b.select(above, b.mul(f.c(0.5), b.sub(f.c(1.0), a)), b.mul(a, a));
    let r = b.select(above, b.sqrt(z), a);
    let p = match f.is_wide() {
        true => wide::asin_part(f, z),
        false => f.horner(
            z,
            &[4.216_319_904_8e-2, 2.418_131_104_9e-2, 4.547_002_599_8e-2, 7.495_300_268_6e-2, 1.666_675_242_2e-1],
        ),
    };
    (above, b.fma(b.mul(p, z), r, r))
}

/// Arcsine, within 3 ulp; NaN beyond 1.
pub fn asin<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    let f = F::new(b, x);
    let (above, y) = asin_core(f, b.abs(x));
    let y = b.select(above, b.sub(f.c(FRAC_PI_2), b.add(y, y)), y);
    b.copysign(y, x)
}

/// Arccosine, within 3 ulp; NaN beyond 1.
pub fn acos<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    let f = F::new(b, x);
    let (above, y) = asin_core(f, b.abs(x));
    let twice = b.add(y, y);
    let negative = f.lt(x, 0.0);
    let outer = b.select(negative, b.sub(f.c(PI), twice), twice);
    // pi/2 in two parts, since the difference may be small.
    let inner = b.sub(f.c(FRAC_PI_2), b.add(b.copysign(y, x), f.either(4.371_139e-8, -wide::PI_2_LOW)));
    b.select(above, outer, inner)
}

/// Arctangent of a >= 0.
fn atan_core<'c>(f: F<'_, 'c>, a: V<'c>) -> V<'c> {
    let b = f.0;
    let large = f.gt(a, 2.414_213_562_373_095);
    let middle = f.gt(a, 0.414_213_562_373_095);
    let r = b.select(large, b.div(f.c(-1.0), a), b.select(middle, b.div(b.sub(a, f.c(1.0)), b.add(a, f.c(1.0))), a));
    let base = b.select(large, f.c(FRAC_PI_2), b.select(middle, f.c(FRAC_PI_4), f.c(0.0)));
    let z = b.mul(r, r);
    let p = match f.is_wide() {
        true => f.horner(z, wide::ATAN),
        false => f.horner(z, &[8.053_744_495_38e-2, -1.387_768_560_32e-1, 1.997_771_064_78e-1, -3.333_294_915_39e-1]),
    };
    b.add(base, b.fma(b.mul(p, z), r, r))
}

/// Arctangent, within 3 ulp.
pub fn atan<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    b.copysign(atan_core(F::new(b, x), b.abs(x)), x)
}

/// Angle of the point (x, y), within 4 ulp where it is not subnormal.
pub fn atan2<'c>(b: &Builder<'c>, y: V<'c>, x: V<'c>) -> V<'c> {
    let f = F::new(b, x);
    let (ay, ax) = (b.abs(y), b.abs(x));
    let steep = b.cmp(Cmp::Gt, ay, ax);
    let (least, most) = (b.select(steep, ax, ay), b.select(steep, ay, ax));
    let ratio = b.div(least, most);
    // 0/0 is 0 and infinity/infinity is 1 here.
    let ratio = b.select(f.eq(most, 0.0), f.c(0.0), ratio);
    let ratio = b.select(f.eq(least, f64::INFINITY), f.c(1.0), ratio);
    let angle = atan_core(f, ratio);
    let angle = b.select(steep, b.sub(f.c(FRAC_PI_2), angle), angle);
    let left = b.cmp(Cmp::Lt, f.bits(x), f.i(0));
    let angle = b.select(left, b.sub(f.c(PI), angle), angle);
    let angle = b.copysign(angle, y);
    let nan = b.or(b.is_nan(x), b.is_nan(y));
    b.select(nan, b.add(x, y), angle)
}
