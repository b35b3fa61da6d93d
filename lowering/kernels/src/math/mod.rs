//! Elementary functions of f32, expanded into `arith` and `math.fma`, for scalars and vectors alike, without branches.
//!
//! The methods are the Cephes library's (S. Moshier, single precision) unless a function says otherwise: range reduction, a
//! polynomial, reconstruction. Stated bounds are in units in the last place, over all arguments unless said otherwise; the test
//! suite measures them. NaN gives NaN everywhere, infinities and subnormal numbers give what IEEE 754 recommends.

mod exponential;
mod hyperbolic;
mod inverse;
mod power;
mod remainder;
mod special;
mod trigonometric;

pub use exponential::{exp, log, log1p};
pub use hyperbolic::{acosh, asinh, atanh, cosh, sinh, tanh};
pub use inverse::{acos, asin, atan, atan2};
pub use power::{pow, pow_signed, pow_unsigned};
pub use remainder::fmod;
pub use special::{erf, sigmoid, softplus};
pub use trigonometric::{cos, sin, tan};

use crate::explicit::{Builder, Cmp, Elem, V};

/// f32 arithmetic with constants, to write formulas as they are in the books.
#[derive(Clone, Copy)]
pub(crate) struct F<'b, 'c>(pub(crate) &'b Builder<'c>);

impl<'c> F<'_, 'c> {
    fn c(&self, v: f64) -> V<'c> {
        self.0.float(Elem::F32, v)
    }

    fn i(&self, v: i64) -> V<'c> {
        self.0.int(Elem::I32, v)
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
        self.0.bitcast(x, Elem::I32)
    }

    fn float_from_bits(&self, x: V<'c>) -> V<'c> {
        self.0.bitcast(x, Elem::F32)
    }

    /// 2^n for an integer n in [-126, 127].
    fn power_of_two(&self, n: V<'c>) -> V<'c> {
        self.float_from_bits(self.0.shl(self.0.add(n, self.i(127)), self.i(23)))
    }

    /// y * 2^n in two steps, so that it overflows and underflows as it should.
    fn scale(&self, y: V<'c>, n: V<'c>) -> V<'c> {
        let half = self.0.shr_s(n, self.i(1));
        let rest = self.0.sub(n, half);
        self.0.mul(self.0.mul(y, self.power_of_two(half)), self.power_of_two(rest))
    }

    /// x rounded to the nearest integer as (float, i32), for |x| < 2^22. Adding 1.5 * 2^23 leaves the integer in the low bits;
    /// unlike a conversion this is defined for NaN too.
    fn round(&self, x: V<'c>, factor: f64) -> (V<'c>, V<'c>) {
        let magic = 12_582_912.0;
        let k = self.0.fma(x, self.c(factor), self.c(magic));
        let n = self.0.sub(k, self.c(magic));
        let bits = self.0.sub(self.bits(k), self.i(i64::from(12_582_912f32.to_bits())));
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
