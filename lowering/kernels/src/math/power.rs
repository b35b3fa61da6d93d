//! Powers.

use super::{F, wide};
use crate::explicit::{Builder, Cmp, Elem, V};

/// A number as the unevaluated sum of two (Dekker 1971), with fused multiply-add for exact products.
#[derive(Clone, Copy)]
pub(super) struct Double<'c>(pub(super) V<'c>, pub(super) V<'c>);

impl<'c> F<'_, 'c> {
    /// Exact sum, for any order of magnitude.
    pub(super) fn two_sum(&self, x: V<'c>, y: V<'c>) -> Double<'c> {
        let b = self.0;
        let s = b.add(x, y);
        let v = b.sub(s, x);
        Double(s, b.add(b.sub(x, b.sub(s, v)), b.sub(y, v)))
    }

    /// Exact sum where |x| >= |y|.
    fn fast_sum(&self, x: V<'c>, y: V<'c>) -> Double<'c> {
        let b = self.0;
        let s = b.add(x, y);
        Double(s, b.add(b.sub(x, s), y))
    }

    pub(super) fn add2(&self, x: Double<'c>, y: Double<'c>) -> Double<'c> {
        let s = self.two_sum(x.0, y.0);
        self.fast_sum(s.0, self.0.add(s.1, self.0.add(x.1, y.1)))
    }

    pub(super) fn mul2(&self, x: Double<'c>, y: Double<'c>) -> Double<'c> {
        let b = self.0;
        let p = b.mul(x.0, y.0);
        let e = b.fma(x.0, y.0, b.neg(p));
        self.fast_sum(p, b.fma(x.0, y.1, b.fma(x.1, y.0, e)))
    }

    pub(super) fn div2(&self, x: Double<'c>, y: Double<'c>) -> Double<'c> {
        let b = self.0;
        let q = b.div(x.0, y.0);
        let r = b.fma(b.neg(q), y.0, x.0);
        let r = b.fma(b.neg(q), y.1, b.add(r, x.1));
        self.fast_sum(q, b.div(r, y.0))
    }
}

/// log(x) for x > 0 as two numbers: SLEEF's `logkf` (N. Shibata), relative error about 2^-35.
fn log2_numbers<'c>(f: F<'_, 'c>, x: V<'c>) -> Double<'c> {
    if f.is_wide() {
        return wide::log2_numbers(f, x);
    }
    let b = f.0;
    let tiny = f.lt(x, f64::from(f32::MIN_POSITIVE));
    let scaled = b.select(tiny, b.mul(x, f.c(8_388_608.0)), x);
    let bits = f.bits(scaled);
    let e = b.shr_s(b.sub(bits, f.i(0x3f35_04f3)), f.i(23));
    let m = f.float_from_bits(b.sub(bits, b.shl(e, f.i(23))));
    let e = b.si_to_fp(e, Elem::F32);
    let e = b.select(tiny, b.sub(e, f.c(23.0)), e);
    let one = f.c(1.0);
    let zero = f.c(0.0);
    // s = (m - 1) / (m + 1), log(m) = 2 atanh(s)
    let s = f.div2(f.two_sum(m, f.c(-1.0)), f.two_sum(m, one));
    let s2 = f.mul2(s, s);
    let t = f.horner(s2.0, &[0.240_320_354_700_088_5, 0.285_112_679_004_669_2, 0.400_007_992_982_864_4]);
    let c = Double(f.c(0.666_666_626_930_236_8), f.c(3.691_838_612_596_143e-9));
    let tail = f.mul2(f.mul2(s2, s), f.add2(f.mul2(s2, Double(t, zero)), c));
    let ln2 = Double(f.c(0.693_147_182_464_599_6), f.c(-1.904_654_323_148_236e-9));
    let sum = f.mul2(ln2, Double(e, zero));
    let sum = f.add2(sum, Double(b.add(s.0, s.0), b.add(s.1, s.1)));
    f.add2(sum, tail)
}

/// e^d for a number in two parts: SLEEF's `expkf`.
fn exp_two_numbers<'c>(f: F<'_, 'c>, d: Double<'c>) -> V<'c> {
    if f.is_wide() {
        return wide::exp_two_numbers(f, d);
    }
    let b = f.0;
    let high = b.select(f.gt(d.0, 89.0), f.c(89.0), d.0);
    let high = b.select(f.lt(high, -104.0), f.c(-104.0), high);
    let inside = b.cmp(Cmp::Eq, high, d.0);
    let low = b.select(inside, d.1, f.c(0.0));
    let (n, power) = f.round(high, std::f64::consts::LOG2_E);
    // Both products are exact enough: the first constant has few bits.
    let r = b.fma(n, f.c(-0.693_145_751_953_125), high);
    let r = f.add2(f.two_sum(r, b.mul(n, f.c(-1.428_606_765_330_187e-6))), Double(low, f.c(0.0)));
    let p = f.horner(
        r.0,
        &[
            1.363_246_468_827_128_4e-3,
            8.365_969_173_610_21e-3,
            4.167_108_237_743_378e-2,
            1.666_655_242_443_084_7e-1,
            4.999_998_509_883_88e-1,
        ],
    );
    let square = f.mul2(r, r);
    let t = f.add2(r, f.mul2(square, Double(p, f.c(0.0))));
    let t = f.add2(Double(f.c(1.0), f.c(0.0)), t);
    f.scale(b.add(t.0, t.1), power)
}

/// x^y as C's `powf` and `pow`, within 1.5 ulp (2 where the result is subnormal).
pub fn pow<'c>(b: &Builder<'c>, x: V<'c>, y: V<'c>) -> V<'c> {
    let f = F::new(b, x);
    let (x, y) = same_lanes(b, x, y);
    let most = if f.is_wide() { 1e19 } else { 4.0e9 };
    let (ax, ay) = (b.abs(x), b.abs(y));
    // Beyond this the result is 0 or infinite for every x but 1.
    let bounded = b.select(f.gt(ay, most), b.copysign(f.c(most), y), y);
    let magnitude = exp_two_numbers(f, f.mul2(log2_numbers(f, ax), Double(bounded, f.c(0.0))));
    let whole = b.cmp(Cmp::Eq, b.trunc(y), y);
    let half = b.mul(y, f.c(0.5));
    let odd = b.and(whole, b.cmp(Cmp::Ne, b.trunc(half), half));
    let one = f.c(1.0);
    let negative = f.lt(x, 0.0);
    let sign = b.select(b.and(negative, odd), f.c(-1.0), one);
    let result = b.mul(magnitude, sign);
    let result = b.select(b.and(negative, b.not(whole)), f.c(f64::NAN), result);
    // Infinite exponents.
    let grows = b.not(b.xor(f.gt(ax, 1.0), f.gt(y, 0.0)));
    let at_infinity = b.select(f.eq(ax, 1.0), one, b.select(grows, f.c(f64::INFINITY), f.c(0.0)));
    let result = b.select(f.eq(ay, f64::INFINITY), at_infinity, result);
    // Zero and infinite bases.
    let zero = f.eq(ax, 0.0);
    let edge = b.or(zero, f.eq(ax, f64::INFINITY));
    let grows = b.xor(zero, f.gt(y, 0.0));
    let magnitude = b.select(grows, f.c(f64::INFINITY), f.c(0.0));
    let signed = b.select(odd, b.copysign(magnitude, x), magnitude);
    let result = b.select(edge, signed, result);
    let nan = b.or(b.is_nan(x), b.is_nan(y));
    let result = b.select(nan, b.add(x, y), result);
    let trivial = b.or(f.eq(y, 0.0), f.eq(x, 1.0));
    b.select(trivial, one, result)
}

/// x^y on unsigned integers by squaring, wrapping.
pub fn pow_unsigned<'c>(b: &Builder<'c>, x: V<'c>, y: V<'c>) -> V<'c> {
    let (x, y) = same_lanes(b, x, y);
    squaring(b, x, y)
}

/// x^y on signed integers by squaring, wrapping; a negative exponent gives 0, but for bases 1 and -1.
pub fn pow_signed<'c>(b: &Builder<'c>, x: V<'c>, y: V<'c>) -> V<'c> {
    let (x, y) = same_lanes(b, x, y);
    let e = x.elem();
    let (zero, one) = (b.int(e, 0), b.int(e, 1));
    let negative = b.cmp(Cmp::Lt, y, zero);
    let odd = b.cmp(Cmp::Eq, b.and(y, one), one);
    let ty = x.ty();
    let minus = b.cmp(Cmp::Eq, x, b.int(e, -1));
    let inverse =
        b.select(b.cmp(Cmp::Eq, x, one), one_like(b, x), b.select(minus, b.select(odd, x, one_like(b, x)), b.zero(ty)));
    b.select(negative, inverse, squaring(b, x, y))
}

/// x^y with y taken as unsigned; both have as many lanes.
fn squaring<'c>(b: &Builder<'c>, x: V<'c>, y: V<'c>) -> V<'c> {
    let e = x.elem();
    let one = b.int(e, 1);
    let init = [b.splat(x.ty(), 1.0), x, y];
    let steps = b.for_iter(b.index(0), b.index(i64::from(e.bits())), 1, &init, |b, _, v| {
        let bit = b.cmp(Cmp::Eq, b.and(v[2], one), one);
        vec![b.select(bit, b.mul(v[0], v[1]), v[0]), b.mul(v[1], v[1]), b.shr_u(v[2], one)]
    });
    steps[0]
}

fn one_like<'c>(b: &Builder<'c>, x: V<'c>) -> V<'c> {
    b.splat(x.ty(), 1.0)
}

fn same_lanes<'c>(b: &Builder<'c>, x: V<'c>, y: V<'c>) -> (V<'c>, V<'c>) {
    match (x.ty().lanes, y.ty().lanes) {
        (0, n) if n > 0 => (b.broadcast(x, n), y),
        (n, 0) if n > 0 => (x, b.broadcast(y, n)),
        _ => (x, y),
    }
}
