//! Elementary functions of f32 and f64, expanded into `arith` and `math.fma`, for scalars and vectors alike, without branches.
//!
//! The methods are the Cephes library's (S. Moshier, single precision) unless a function says otherwise: range reduction, a
//! polynomial, reconstruction; those of f64 are in [`wide`], with the same steps and longer polynomials. Stated bounds are in units in the last place, over all arguments unless said otherwise; the test
//! suite measures them. NaN gives NaN everywhere, infinities and subnormal numbers give what IEEE 754 recommends.

mod exponential;
mod hyperbolic;
mod inverse;
mod power;
mod remainder;
mod special;
mod trigonometric;
mod wide;

pub use exponential::{exp, log, log1p};
pub use hyperbolic::{acosh, asinh, atanh, cosh, sinh, tanh};
pub use inverse::{acos, asin, atan, atan2};
pub use power::{pow, pow_signed, pow_unsigned};
pub use remainder::fmod;
pub use special::{erf, sigmoid, softplus};
pub use trigonometric::{cos, sin, tan};

use crate::explicit::{Builder, Cmp, Elem, V};

/// Arithmetic of f32 or f64 with constants, to write formulas as they are in the books.
#[derive(Clone, Copy)]
pub(crate) struct F<'b, 'c>(pub(crate) &'b Builder<'c>, Elem);

impl<'b, 'c> F<'b, 'c> {
    /// For values of the type of `x`.
    fn new(b: &'b Builder<'c>, x: V<'c>) -> Self {
        F(b, x.elem())
    }

    fn is_wide(&self) -> bool {
        self.1 == Elem::F64
    }

    /// One constant for f32, another for f64.
    fn either(&self, narrow: f64, wide: f64) -> V<'c> {
        self.c(if self.is_wide() { wide } else { narrow })
    }

    fn c(&self, v: f64) -> V<'c> {
        self.0.float(self.1, v)
    }

    /// The integer type of as many bits.
    fn int(&self) -> Elem {
        if self.is_wide() { Elem::I64 } else { Elem::I32 }
    }

    fn i(&self, v: i64) -> V<'c> {
        self.0.int(self.int(), v)
    }

    /// (((c0 * x + c1) * x + c2) ...), each step rounded once.
    fn horner(&self, x: V<'c>, coefficients: &[f64]) -> V<'c> {
        let mut sum = self.c(coefficients[0]);
        for k in &coefficients[1..] {
            sum = self.0.fma(sum, x, self.c(*k));
        }
        sum
    }

    fn bits(&self, x: V<'c>) -> V<'c> {
        self.0.bitcast(x, self.int())
    }

    fn float_from_bits(&self, x: V<'c>) -> V<'c> {
        self.0.bitcast(x, self.1)
    }

    /// 2^n for an integer n in [-126, 127], or [-1022, 1023] in f64.
    fn power_of_two(&self, n: V<'c>) -> V<'c> {
        let (bias, digits) = if self.is_wide() { (1023, 52) } else { (127, 23) };
        self.float_from_bits(self.0.shl(self.0.add(n, self.i(bias)), self.i(digits)))
    }

    /// y * 2^n in two steps, so that it overflows and underflows as it should.
    fn scale(&self, y: V<'c>, n: V<'c>) -> V<'c> {
        let half = self.0.shr_s(n, self.i(1));
        let rest = self.0.sub(n, half);
        self.0.mul(self.0.mul(y, self.power_of_two(half)), self.power_of_two(rest))
    }

    /// x rounded to the nearest integer as (float, integer), for |x| < 2^22, or 2^51 in f64. Adding 1.5 * 2^23 (1.5 * 2^52) leaves the integer in the low bits;
    /// unlike a conversion this is defined for NaN too.
    fn round(&self, x: V<'c>, factor: f64) -> (V<'c>, V<'c>) {
        let (magic, as_bits) = if self.is_wide() {
            (wide::MAGIC, wide::MAGIC.to_bits() as i64)
        } else {
            (12_582_912.0, i64::from(12_582_912f32.to_bits()))
        };
        let k = self.0.fma(x, self.c(factor), self.c(magic));
        let n = self.0.sub(k, self.c(magic));
        let bits = self.0.sub(self.bits(k), self.i(as_bits));
        (n, bits)
    }

    fn lt(&self, a: V<'c>, b: f64) -> V<'c> {
        self.0.cmp(Cmp::Lt, a, self.c(b))
    }

    fn gt(&self, a: V<'c>, b: f64) -> V<'c> {
        self.0.cmp(Cmp::Gt, a, self.c(b))
    }

    fn eq(&self, a: V<'c>, b: f64) -> V<'c> {
        self.0.cmp(Cmp::Eq, a, self.c(b))
    }
}
