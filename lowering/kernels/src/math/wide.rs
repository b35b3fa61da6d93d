//! What f64 computes otherwise than f32: longer polynomials, and reductions with more digits.
//!
//! Polynomials are Taylor series where these are short enough, those of fdlibm (Sun Microsystems, 1993) for logarithms, sines and
//! inverse functions, of Cephes for tanh, and interpolations at Chebyshev nodes for erf.

use super::exponential::log_ends;
use super::power::Double;
use super::{F, log1p};
use crate::explicit::{Cmp, Elem, V};

/// 1.5 * 2^52: adding it leaves the nearest integer in the lowest bits.
pub(super) const MAGIC: f64 = 6_755_399_441_055_744.0;
/// log(2) in two parts, the first of 32 bits, so that small multiples are exact.
const LN2: (f64, f64) = (0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10);
/// What pi/2 as f64 lacks.
pub(super) const PI_2_LOW: f64 = 6.123_233_995_736_766e-17;

/// (sinh(x) - x) / x^3 in x^2, for |x| <= 1.
pub(super) const SINH: &[f64] = &[
    8.220_635_246_624_33e-18,
    2.811_457_254_345_520_6e-15,
    7.647_163_731_819_816e-13,
    1.605_904_383_682_161_3e-10,
    2.505_210_838_544_172e-8,
    2.755_731_922_398_589e-6,
    1.984_126_984_126_984e-4,
    8.333_333_333_333_333e-3,
    1.666_666_666_666_666_6e-1,
];

/// (sin(x) - x) / x^3 in x^2, for |x| <= pi/4.
pub(super) const SIN: &[f64] = &[
    1.589_690_995_211_55e-10,
    -2.505_076_025_340_686_4e-8,
    2.755_731_370_707_006_8e-6,
    -1.984_126_982_985_795e-4,
    8.333_333_333_322_49e-3,
    -1.666_666_666_666_663_2e-1,
];

/// (cos(x) - 1 + x^2 / 2) / x^4 in x^2, for |x| <= pi/4.
pub(super) const COS: &[f64] = &[
    -1.135_964_755_778_819_5e-11,
    2.087_572_321_298_175e-9,
    -2.755_731_435_139_066_3e-7,
    2.480_158_728_947_673e-5,
    -1.388_888_888_887_411e-3,
    4.166_666_666_666_66e-2,
];

/// (atan(x) - x) / x^3 in x^2, for |x| <= 7/16.
pub(super) const ATAN: &[f64] = &[
    -1.628_582_011_536_578_2e-2,
    3.653_157_274_421_691_6e-2,
    -4.976_877_994_615_932e-2,
    5.833_570_133_790_573_5e-2,
    -6.661_073_137_387_531e-2,
    7.691_876_205_044_83e-2,
    -9.090_887_133_436_507e-2,
    1.111_111_040_546_235_6e-1,
    -1.428_571_427_250_346_6e-1,
    1.999_999_999_987_648_3e-1,
    -3.333_333_333_333_293e-1,
];

/// (e^r - 1 - r) / r^2 for |r| <= log(2)/2.
const EXP: &[f64] = &[
    1.147_074_559_772_972_5e-11,
    1.605_904_383_682_161_3e-10,
    2.087_675_698_786_81e-9,
    2.505_210_838_544_172e-8,
    2.755_731_922_398_589e-7,
    2.755_731_922_398_589_3e-6,
    2.480_158_730_158_73e-5,
    1.984_126_984_126_984e-4,
    1.388_888_888_888_889e-3,
    8.333_333_333_333_333e-3,
    4.166_666_666_666_666_4e-2,
    1.666_666_666_666_666_6e-1,
    0.5,
];

/// Beyond these the result is infinite or 0; a NaN passes both comparisons.
fn bounded<'c>(f: F<'_, 'c>, x: V<'c>) -> V<'c> {
    let b = f.0;
    let x = b.select(f.gt(x, 710.0), f.c(710.0), x);
    b.select(f.lt(x, -746.0), f.c(-746.0), x)
}

pub(super) fn exp<'c>(f: F<'_, 'c>, x: V<'c>) -> V<'c> {
    let b = f.0;
    let x = bounded(f, x);
    let (n, power) = f.round(x, std::f64::consts::LOG2_E);
    let r = b.fma(n, f.c(-LN2.0), x);
    let r = b.fma(n, f.c(-LN2.1), r);
    let y = b.fma(f.horner(r, EXP), b.mul(r, r), r);
    f.scale(b.add(y, f.c(1.0)), power)
}

/// The mantissa in [sqrt(1/2), sqrt(2)) and the exponent of a positive number, both as floats.
fn split<'c>(f: F<'_, 'c>, x: V<'c>) -> (V<'c>, V<'c>) {
    let b = f.0;
    let tiny = f.lt(x, f64::MIN_POSITIVE);
    let scaled = b.select(tiny, b.mul(x, f.c(2f64.powi(54))), x);
    let bits = f.bits(scaled);
    let e = b.shr_s(b.sub(bits, f.i(0x3fe6_a09e_667f_3bcd)), f.i(52));
    let m = f.float_from_bits(b.sub(bits, b.shl(e, f.i(52))));
    let e = b.sub(f.float_from_bits(b.add(e, f.i(MAGIC.to_bits() as i64))), f.c(MAGIC));
    (m, b.select(tiny, b.sub(e, f.c(54.0)), e))
}

pub(super) fn log<'c>(f: F<'_, 'c>, x: V<'c>) -> V<'c> {
    let b = f.0;
    let (m, e) = split(f, x);
    let t = b.sub(m, f.c(1.0));
    let s = b.div(t, b.add(t, f.c(2.0)));
    let z = b.mul(s, s);
    let r = f.horner(
        z,
        &[
            1.479_819_860_511_658_6e-1,
            1.531_383_769_920_937_3e-1,
            1.818_357_216_161_805e-1,
            2.222_219_843_214_978_4e-1,
            2.857_142_874_366_239e-1,
            3.999_999_999_940_942e-1,
            6.666_666_666_666_735e-1,
        ],
    );
    let half = b.mul(f.c(0.5), b.mul(t, t));
    let tail = b.fma(e, f.c(LN2.1), b.mul(s, b.fma(r, z, half)));
    let y = b.fma(e, f.c(LN2.0), b.sub(t, b.sub(half, tail)));
    log_ends(f, x, y)
}

/// (tanh(x) - x) / x^3 in z = x^2, for |x| <= 0.625: Cephes.
pub(super) fn tanh_part<'c>(f: F<'_, 'c>, z: V<'c>) -> V<'c> {
    let p = f.horner(z, &[-9.643_991_794_250_523e-1, -9.928_772_310_019_185e1, -1.614_687_684_417_084_5e3]);
    let q = f.horner(z, &[1.0, 1.128_116_784_916_329_3e2, 2.235_488_390_601_004_5e3, 4.844_063_053_251_255e3]);
    f.0.div(p, q)
}

/// By log1p(a + a^2 / (1 + sqrt(1 + a^2))).
pub(super) fn asinh<'c>(f: F<'_, 'c>, x: V<'c>) -> V<'c> {
    let (b, one) = (f.0, f.c(1.0));
    let a = b.abs(x);
    // Here the square overflows or 1 no longer counts: log(2 a).
    let huge = f.gt(a, 1e10);
    let tame = b.select(huge, one, a);
    let square = b.mul(tame, tame);
    let y = log1p(b, b.add(tame, b.div(square, b.add(one, b.sqrt(b.add(one, square))))));
    let y = b.select(huge, b.add(log(f, a), f.c(std::f64::consts::LN_2)), y);
    b.copysign(y, x)
}

/// By log1p(t + sqrt(2 t + t^2)) with t = x - 1.
pub(super) fn acosh<'c>(f: F<'_, 'c>, x: V<'c>) -> V<'c> {
    let b = f.0;
    let huge = f.gt(x, 1e10);
    let t = b.sub(b.select(huge, f.c(2.0), x), f.c(1.0));
    let y = log1p(b, b.add(t, b.sqrt(b.mul(t, b.add(t, f.c(2.0))))));
    let y = b.select(huge, b.add(log(f, x), f.c(std::f64::consts::LN_2)), y);
    b.select(f.lt(x, 1.0), f.c(f64::NAN), y)
}

/// By log1p(2 a / (1 - a)) / 2.
pub(super) fn atanh<'c>(f: F<'_, 'c>, x: V<'c>) -> V<'c> {
    let b = f.0;
    let a = b.abs(x);
    let y = log1p(b, b.div(b.add(a, a), b.sub(f.c(1.0), a)));
    let y = b.select(f.gt(a, 1.0), f.c(f64::NAN), b.mul(f.c(0.5), y));
    b.copysign(y, x)
}

/// (asin(r) - r) / r^3 in z = r^2, for |r| <= 1/2: fdlibm.
pub(super) fn asin_part<'c>(f: F<'_, 'c>, z: V<'c>) -> V<'c> {
    let p = f.horner(
        z,
        &[
            3.479_331_075_960_212e-5,
            7.915_349_942_898_145e-4,
            -4.005_553_450_067_941e-2,
            2.012_125_321_348_629_3e-1,
            -3.255_658_186_224_009e-1,
            1.666_666_666_666_666_6e-1,
        ],
    );
    let q = f.horner(
        z,
        &[7.703_815_055_590_194e-2, -6.882_839_716_054_533e-1, 2.020_945_760_233_505_7, -2.403_394_911_734_414, 1.0],
    );
    f.0.div(p, q)
}

/// Error function, within 1.5 ulp: a polynomial to 15/16, and 1 - e^(-x^2) p(t) with t = (x - 3) / (x + 3) to 6.
pub(super) fn erf<'c>(f: F<'_, 'c>, x: V<'c>) -> V<'c> {
    let b = f.0;
    let a = b.abs(x);
    let z = b.mul(x, x);
    let p = f.horner(
        z,
        &[
            -8.233_551_170_498_576e-10,
            1.393_595_948_257_817_2e-8,
            -1.625_443_618_410_487e-7,
            1.645_294_611_968_375e-6,
            -1.492_514_830_849_161_2e-5,
            1.205_531_456_383_025_2e-4,
            -8.548_326_577_474_217e-4,
            5.223_977_618_583_903e-3,
            -2.686_617_064_450_815_7e-2,
            1.128_379_167_095_219_8e-1,
            -3.761_263_890_318_37e-1,
            1.283_791_670_955_125_6e-1,
        ],
    );
    let small = b.fma(p, x, x);
    // A NaN stays, and beyond 6 the result is 1.
    let c = b.select(f.gt(a, 6.0), f.c(6.0), a);
    let t = b.div(b.sub(c, f.c(3.0)), b.add(c, f.c(3.0)));
    let p = f.horner(
        t,
        &[
            1.269_009_322_866_425e-6,
            2.013_440_557_972_138_6e-6,
            -8.005_503_804_429_077e-6,
            -1.284_482_048_858_598e-5,
            6.406_180_872_667_078e-5,
            4.525_407_807_701_874_5e-5,
            -5.970_623_874_786_055e-4,
            7.077_464_957_839_66e-4,
            4.269_136_350_643_515e-3,
            -2.439_249_932_033_269e-2,
            7.166_583_719_765_65e-2,
            -1.501_159_365_007_508_4e-1,
            2.456_038_017_123_327_3e-1,
            -3.262_335_600_430_374e-1,
            1.790_011_511_813_899_6e-1,
        ],
    );
    let large = b.sub(f.c(1.0), b.mul(exp(f, b.neg(b.mul(c, c))), p));
    b.select(f.lt(a, 0.9375), small, b.copysign(large, x))
}

/// x - n pi/2, pi/2 in three parts.
pub(super) fn turned_back<'c>(f: F<'_, 'c>, n: V<'c>, x: V<'c>) -> V<'c> {
    let b = f.0;
    let r = b.fma(n, f.c(-std::f64::consts::FRAC_PI_2), x);
    let r = b.fma(n, f.c(-PI_2_LOW), r);
    b.fma(n, f.c(1.497_384_904_859_169_8e-33), r)
}

/// log(x) for x > 0 as two numbers, relative error about 2^-64: 2 atanh(s), whose first two terms have two numbers.
pub(super) fn log2_numbers<'c>(f: F<'_, 'c>, x: V<'c>) -> Double<'c> {
    let b = f.0;
    let zero = f.c(0.0);
    let (m, e) = split(f, x);
    let s = f.div2(f.two_sum(m, f.c(-1.0)), f.two_sum(m, f.c(1.0)));
    let s2 = f.mul2(s, s);
    let t = f.horner(
        s2.0,
        &[
            0.068_965_517_241_379_31,
            0.074_074_074_074_074_07,
            0.08,
            0.086_956_521_739_130_43,
            0.095_238_095_238_095_23,
            0.105_263_157_894_736_84,
            0.117_647_058_823_529_41,
            0.133_333_333_333_333_33,
            0.153_846_153_846_153_85,
            0.181_818_181_818_181_82,
            0.222_222_222_222_222_2,
            0.285_714_285_714_285_7,
            0.4,
        ],
    );
    let third = Double(f.c(0.666_666_666_666_666_6), f.c(3.700_743_415_417_188e-17));
    let tail = f.mul2(f.mul2(s2, s), f.add2(third, f.mul2(s2, Double(t, zero))));
    let ln2 = Double(f.c(std::f64::consts::LN_2), f.c(2.319_046_813_846_299_6e-17));
    let sum = f.mul2(ln2, Double(e, zero));
    let sum = f.add2(sum, Double(b.add(s.0, s.0), b.add(s.1, s.1)));
    f.add2(sum, tail)
}

/// e^d for a number in two parts.
pub(super) fn exp_two_numbers<'c>(f: F<'_, 'c>, d: Double<'c>) -> V<'c> {
    let b = f.0;
    let high = bounded(f, d.0);
    let inside = b.cmp(Cmp::Eq, high, d.0);
    let low = b.select(inside, d.1, f.c(0.0));
    let (n, power) = f.round(high, std::f64::consts::LOG2_E);
    let zero = f.c(0.0);
    let r = b.fma(n, f.c(-LN2.0), high);
    let r = f.add2(f.two_sum(r, b.mul(n, f.c(-LN2.1))), Double(low, zero));
    let t = f.add2(r, f.mul2(f.mul2(r, r), Double(f.horner(r.0, EXP), zero)));
    let t = f.add2(Double(f.c(1.0), zero), t);
    f.scale(b.add(t.0, t.1), power)
}

/// x mod m for x, m >= 0, perhaps m less than that: at most 50 bits of the quotient are taken off at a time, so that the rest is
/// exact; quotients have at most 2098 bits.
pub(super) fn remainder<'c>(f: F<'_, 'c>, x: V<'c>, m: V<'c>) -> V<'c> {
    let b = f.0;
    // A subnormal divisor in the normal range, and by how much it was moved.
    let tiny = f.lt(m, f64::MIN_POSITIVE);
    let normal = b.select(tiny, b.mul(m, f.c(2f64.powi(54))), m);
    let moved = b.select(tiny, f.i(54), f.i(0));
    let exponent = |v: V<'c>| b.and(b.shr_u(f.bits(v), f.i(52)), f.i(0x7ff));
    let of_m = b.sub(exponent(normal), moved);
    let endless = f.eq(m, f64::INFINITY);
    let steps = b.for_iter(b.index(0), b.index(43), 1, &[x], |b, _, v| {
        let rest = v[0];
        let apart = b.sub(b.sub(exponent(rest), of_m), f.i(50));
        // The divisor times 2^k, at least itself: exact, and not above the rest.
        let k = b.max(apart, f.i(0));
        let k = b.sub(k, moved);
        let half = b.shr_s(k, f.i(1));
        let by = b.mul(b.mul(normal, f.power_of_two(half)), f.power_of_two(b.sub(k, half)));
        let q = b.trunc(b.div(rest, by));
        vec![b.select(endless, rest, b.fma(b.neg(q), by, rest))]
    });
    debug_assert_eq!(steps[0].elem(), Elem::F64);
    steps[0]
}
