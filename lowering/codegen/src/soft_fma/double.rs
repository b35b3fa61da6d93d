//! `math.fma` of f64 in integers, without branches: the steps of musl's `fma` (R. Felker and others), which keeps product and sum in
//! 128 bits with a sticky last one, and one rounding at the end, also to subnormal numbers.

use super::Before;
use crate::CodegenError;
use melior::ir::Value;

/// Exponents from here on mark infinities and NaN, beyond it zeros.
const SPECIAL: i64 = 0x7ff - 0x3ff - 52 - 1;

type Res<'c, 'a> = Result<Value<'c, 'a>, CodegenError>;

/// i64 arithmetic, where shift counts are below 64 unless a select drops the result.
struct I<'b, 'c, 'a>(&'b Before<'c, 'a>);

/// value = mantissa * 2^exponent, the mantissa with 53 digits above an empty one.
struct Parts<'c, 'a> {
    mantissa: Value<'c, 'a>,
    exponent: Value<'c, 'a>,
    sign: Value<'c, 'a>,
}

impl<'c: 'a, 'a> I<'_, 'c, 'a> {
    fn c(&self, v: i64) -> Res<'c, 'a> {
        self.0.constant(&v.to_string(), "i64")
    }

    fn two(&self, name: &str, x: Value<'c, 'a>, y: Value<'c, 'a>) -> Res<'c, 'a> {
        self.0.op(name, &[x, y], "i64")
    }

    fn add(&self, x: Value<'c, 'a>, y: Value<'c, 'a>) -> Res<'c, 'a> {
        self.two("arith.addi", x, y)
    }

    fn sub(&self, x: Value<'c, 'a>, y: Value<'c, 'a>) -> Res<'c, 'a> {
        self.two("arith.subi", x, y)
    }

    fn mul(&self, x: Value<'c, 'a>, y: Value<'c, 'a>) -> Res<'c, 'a> {
        self.two("arith.muli", x, y)
    }

    fn and(&self, x: Value<'c, 'a>, mask: i64) -> Res<'c, 'a> {
        self.two("arith.andi", x, self.c(mask)?)
    }

    fn or(&self, x: Value<'c, 'a>, y: Value<'c, 'a>) -> Res<'c, 'a> {
        self.two("arith.ori", x, y)
    }

    fn up(&self, x: Value<'c, 'a>, n: Value<'c, 'a>) -> Res<'c, 'a> {
        self.two("arith.shli", x, self.and(n, 63)?)
    }

    fn down(&self, x: Value<'c, 'a>, n: Value<'c, 'a>) -> Res<'c, 'a> {
        self.two("arith.shrui", x, self.and(n, 63)?)
    }

    /// 64 - n
    fn rest(&self, n: Value<'c, 'a>) -> Res<'c, 'a> {
        self.sub(self.c(64)?, n)
    }

    /// `predicate` is MLIR's: 0 eq, 1 ne, 2 slt, 4 sgt, 5 sge, 6 ult, 8 ugt.
    fn is(&self, predicate: i64, x: Value<'c, 'a>, y: Value<'c, 'a>) -> Res<'c, 'a> {
        self.0.with("arith.cmpi", &[x, y], "i1", &[("predicate", &format!("{predicate} : i64"))])
    }

    fn is_c(&self, predicate: i64, x: Value<'c, 'a>, y: i64) -> Res<'c, 'a> {
        self.is(predicate, x, self.c(y)?)
    }

    /// 1 where the condition holds.
    fn bit(&self, condition: Value<'c, 'a>) -> Res<'c, 'a> {
        self.0.op("arith.extui", &[condition], "i64")
    }

    /// 1 where any bit is set.
    fn any(&self, x: Value<'c, 'a>) -> Res<'c, 'a> {
        self.bit(self.is_c(1, x, 0)?)
    }

    fn pick(&self, condition: Value<'c, 'a>, x: Value<'c, 'a>, y: Value<'c, 'a>) -> Res<'c, 'a> {
        self.0.op("arith.select", &[condition, x, y], "i64")
    }

    fn bits(&self, x: Value<'c, 'a>) -> Res<'c, 'a> {
        self.0.op("arith.bitcast", &[x], "i64")
    }

    fn parts(&self, x: Value<'c, 'a>) -> Result<Parts<'c, 'a>, CodegenError> {
        let exponent = |bits| self.and(self.down(bits, self.c(52)?)?, 0x7ff);
        let bits = self.bits(x)?;
        let scale = self.0.constant("9.2233720368547758e+18", "f64")?;
        let scaled = self.bits(self.0.op("arith.mulf", &[x, scale], "f64")?)?;
        let (plain, moved) = (exponent(bits)?, exponent(scaled)?);
        let moved = self.pick(self.is_c(0, moved, 0)?, self.c(0x800 + 63)?, moved)?;
        let tiny = self.is_c(0, plain, 0)?;
        let e = self.pick(tiny, self.sub(moved, self.c(63)?)?, plain)?;
        let digits = self.and(self.pick(tiny, scaled, bits)?, (1 << 52) - 1)?;
        let mantissa = self.up(self.or(digits, self.c(1 << 52)?)?, self.c(1)?)?;
        let exponent = self.sub(e, self.c(0x3ff + 52 + 1)?)?;
        Ok(Parts { mantissa, exponent, sign: self.down(bits, self.c(63)?)? })
    }

    /// The 128 bits of a product, high and low.
    fn product(&self, x: Value<'c, 'a>, y: Value<'c, 'a>) -> Result<[Value<'c, 'a>; 2], CodegenError> {
        let half = self.c(32)?;
        let low = |v| self.and(v, 0xffff_ffff);
        let (x0, x1, y0, y1) = (low(x)?, self.down(x, half)?, low(y)?, self.down(y, half)?);
        let first = self.mul(x0, y0)?;
        let middle = self.add(self.mul(x0, y1)?, self.mul(x1, y0)?)?;
        let lo = self.add(first, self.up(middle, half)?)?;
        let carry = self.bit(self.is(8, first, lo)?)?;
        let hi = self.add(self.add(self.mul(x1, y1)?, self.down(middle, half)?)?, carry)?;
        Ok([hi, lo])
    }

    /// Leading zeros of a number that is not 0.
    fn leading_zeros(&self, x: Value<'c, 'a>) -> Res<'c, 'a> {
        // With the bit below the top one clear the conversion cannot round up to the next power of two.
        let ones = self.c(-1)?;
        let below = self.two("arith.xori", self.down(x, self.c(1)?)?, ones)?;
        let top = self.two("arith.andi", x, below)?;
        let power = self.bits(self.0.op("arith.uitofp", &[top], "f64")?)?;
        self.sub(self.c(63 + 1023)?, self.down(power, self.c(52)?)?)
    }
}

/// x * y + z, rounded once.
pub(super) fn fma<'c: 'a, 'a>(b: &Before<'c, 'a>, x: Value<'c, 'a>, y: Value<'c, 'a>, z: Value<'c, 'a>) -> Res<'c, 'a> {
    let i = I(b);
    let (px, py, pz) = (i.parts(x)?, i.parts(y)?, i.parts(z)?);
    let [mut hi, mut lo] = i.product(px.mantissa, py.mantissa)?;
    let zero = i.c(0)?;
    let one = i.c(1)?;
    let mut e = i.add(px.exponent, py.exponent)?;
    // The addend moved up to 64 places, the product down for what is left, and the addend down where it is the smaller.
    let d = i.sub(pz.exponent, e)?;
    let (above, far) = (i.is_c(4, d, 0)?, i.is_c(5, d, 64)?);
    let over = i.sub(d, i.c(64)?)?;
    let back = i.rest(over)?;
    let sticky = i.any(i.up(lo, back)?)?;
    let shifted = i.or(i.or(i.up(hi, back)?, i.down(lo, over)?)?, sticky)?;
    let (moves, gone) = (i.is_c(4, over, 0)?, i.is_c(5, over, 64)?);
    lo = i.pick(moves, i.pick(gone, one, shifted)?, lo)?;
    hi = i.pick(moves, i.pick(gone, zero, i.down(hi, over)?)?, hi)?;
    e = i.pick(far, i.sub(pz.exponent, i.c(64)?)?, e)?;
    let under = i.sub(zero, d)?;
    let lost = i.any(i.up(pz.mantissa, i.rest(under)?)?)?;
    let lowered = i.or(i.down(pz.mantissa, under)?, lost)?;
    let lowered = i.pick(i.is_c(0, under, 0)?, pz.mantissa, i.pick(i.is_c(5, under, 64)?, one, lowered)?)?;
    let z_low = i.pick(far, zero, i.pick(above, i.up(pz.mantissa, d)?, lowered)?)?;
    let z_high = i.pick(far, pz.mantissa, i.pick(above, i.down(pz.mantissa, i.rest(d)?)?, zero)?)?;
    // Sum or difference of the magnitudes, and its sign.
    let sign = i.two("arith.xori", px.sign, py.sign)?;
    let same = i.is(0, sign, pz.sign)?;
    let sum_low = i.add(lo, z_low)?;
    let sum_high = i.add(i.add(hi, z_high)?, i.bit(i.is(6, sum_low, z_low)?)?)?;
    let less_low = i.sub(lo, z_low)?;
    let less_high = i.sub(i.sub(hi, z_high)?, i.bit(i.is(6, lo, less_low)?)?)?;
    let negative = i.is_c(2, less_high, 0)?;
    let turned_low = i.sub(zero, less_low)?;
    let turned_high = i.sub(i.sub(zero, less_high)?, i.any(turned_low)?)?;
    let less_low = i.pick(negative, turned_low, less_low)?;
    let less_high = i.pick(negative, turned_high, less_high)?;
    let flipped = i.two("arith.xori", sign, i.bit(negative)?)?;
    let (lo, hi) = (i.pick(same, sum_low, less_low)?, i.pick(same, sum_high, less_high)?);
    let sign = i.pick(same, sign, flipped)?;
    // The top 63 bits, the last one sticky.
    let tall = i.is_c(1, hi, 0)?;
    let empty = i.is_c(0, i.or(hi, lo)?, 0)?;
    let leading = i.pick(tall, hi, i.or(lo, i.bit(empty)?)?)?;
    let shift = i.sub(i.leading_zeros(leading)?, one)?;
    let all_low = i.is_c(2, shift, 0)?;
    let from_high = i.or(i.or(i.up(hi, shift)?, i.down(lo, i.rest(shift)?)?)?, i.any(i.up(lo, shift)?)?)?;
    let from_low = i.pick(all_low, i.or(i.down(lo, one)?, i.and(lo, 1)?)?, i.up(lo, shift)?)?;
    let top = i.pick(tall, from_high, from_low)?;
    let e = i.sub(i.pick(tall, i.add(e, i.c(64)?)?, e)?, shift)?;
    // Digits beyond 53, and more of a subnormal result, are rounded off.
    let biased = i.add(e, i.c(62 + 1023)?)?;
    let normal = i.is_c(4, biased, 0)?;
    let drop = i.pick(normal, i.c(10)?, i.sub(i.c(11)?, biased)?)?;
    let nothing = i.is_c(5, drop, 64)?;
    let mantissa = i.down(top, drop)?;
    let half = i.up(one, i.sub(drop, one)?)?;
    let mask = i.sub(i.add(half, half)?, one)?;
    let left = i.two("arith.andi", top, mask)?;
    let odd = i.and(mantissa, 1)?;
    // More than half, or half of an odd number: compared without overflow, since half is below 2^63.
    let up = i.bit(i.is(8, i.add(left, odd)?, half)?)?;
    let mantissa = i.pick(nothing, zero, i.add(mantissa, up)?)?;
    let step = i.pick(normal, i.sub(biased, one)?, zero)?;
    let infinite = i.c(0x7ff << 52)?;
    let bits = i.pick(i.is_c(5, biased, 0x7ff)?, infinite, i.add(i.up(step, i.c(52)?)?, mantissa)?)?;
    let bits = i.or(bits, i.up(sign, i.c(63)?)?)?;
    let exact = b.op("arith.bitcast", &[bits], "f64")?;
    // What has no parts: infinities, NaN, zeros, and a sum of exactly 0.
    let float = |name, x, y| b.op(name, &[x, y], "f64");
    let choose = |c, x, y| b.op("arith.select", &[c, x, y], "f64");
    let rounded_product = float("arith.mulf", x, y)?;
    let plain = float("arith.addf", rounded_product, z)?;
    let result = choose(empty, plain, exact)?;
    let result = choose(i.is_c(4, pz.exponent, SPECIAL)?, rounded_product, result)?;
    let result = choose(i.is_c(0, pz.exponent, SPECIAL)?, z, result)?;
    let result = choose(i.is_c(5, px.exponent, SPECIAL)?, plain, result)?;
    choose(i.is_c(5, py.exponent, SPECIAL)?, plain, result)
}
