//! Elements of any type as one of two Rust types.
//!
//! Floats compute as f64 and round once when stored: for + - * / and sqrt of f32, f16 and bf16 that is the correctly rounded
//! result, since f64 has more than twice their digits. Integers and bools compute as i128 and wrap when stored.

use bytes::Bytes;
use half::{bf16, f16};
use neap_optable::{DType, Tensor};

/// The elements of one tensor, row-major.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    /// Of a float type.
    Float(Vec<f64>),
    /// Of an integer type or bool.
    Int(Vec<i128>),
}

/// A working type: what generic loops need of it.
pub(crate) trait Num: Copy + 'static {
    const ZERO: Self;
    const ONE: Self;
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// The larger, NaN if either is.
    fn larger(self, other: Self) -> Self;
    /// The smaller, NaN if either is.
    fn smaller(self, other: Self) -> Self;
    fn wrap(values: Vec<Self>) -> Values;
}

impl Num for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    fn add(self, other: f64) -> f64 {
        self + other
    }
    fn mul(self, other: f64) -> f64 {
        self * other
    }
    fn larger(self, other: f64) -> f64 {
        match (self.is_nan(), other.is_nan()) {
            (true, _) => self,
            (_, true) => other,
            // +0 counts as larger than -0.
            _ if self == other => {
                if self.is_sign_positive() {
                    self
                } else {
                    other
                }
            }
            _ => {
                if self > other {
                    self
                } else {
                    other
                }
            }
        }
    }
    fn smaller(self, other: f64) -> f64 {
        -(-self).larger(-other)
    }
    fn wrap(values: Vec<f64>) -> Values {
        Values::Float(values)
    }
}

impl Num for i128 {
    const ZERO: i128 = 0;
    const ONE: i128 = 1;
    fn add(self, other: i128) -> i128 {
        self.wrapping_add(other)
    }
    fn mul(self, other: i128) -> i128 {
        self.wrapping_mul(other)
    }
    fn larger(self, other: i128) -> i128 {
        Ord::max(self, other)
    }
    fn smaller(self, other: i128) -> i128 {
        Ord::min(self, other)
    }
    fn wrap(values: Vec<i128>) -> Values {
        Values::Int(values)
    }
}

/// Reads the elements of a tensor.
pub(crate) fn load(t: &Tensor) -> Values {
    fn float<const N: usize>(t: &Tensor, f: impl Fn([u8; N]) -> f64) -> Values {
        Values::Float(t.data.as_chunks::<N>().0.iter().map(|b| f(*b)).collect())
    }
    fn int<const N: usize>(t: &Tensor, f: impl Fn([u8; N]) -> i128) -> Values {
        Values::Int(t.data.as_chunks::<N>().0.iter().map(|b| f(*b)).collect())
    }
    match t.dtype {
        DType::F32 => float(t, |b| f32::from_le_bytes(b).into()),
        DType::F64 => float(t, f64::from_le_bytes),
        DType::F16 => float(t, |b| f16::from_le_bytes(b).to_f64()),
        DType::BF16 => float(t, |b| bf16::from_le_bytes(b).to_f64()),
        DType::I8 => int(t, |b| i8::from_le_bytes(b).into()),
        DType::I16 => int(t, |b| i16::from_le_bytes(b).into()),
        DType::I32 => int(t, |b| i32::from_le_bytes(b).into()),
        DType::I64 => int(t, |b| i64::from_le_bytes(b).into()),
        DType::U8 => int(t, |b| u8::from_le_bytes(b).into()),
        DType::U16 => int(t, |b| u16::from_le_bytes(b).into()),
        DType::U32 => int(t, |b| u32::from_le_bytes(b).into()),
        DType::U64 => int(t, |b| u64::from_le_bytes(b).into()),
        DType::Bool => int(t, |[b]| i128::from(b != 0)),
    }
}

/// The elements of a tensor of a float type.
pub(crate) fn load_floats(t: &Tensor) -> Vec<f64> {
    match load(t) {
        Values::Float(v) => v,
        Values::Int(v) => v.into_iter().map(|x| x as f64).collect(),
    }
}

/// The elements of a tensor of an integer type or bool.
pub(crate) fn load_ints(t: &Tensor) -> Vec<i128> {
    match load(t) {
        Values::Int(v) => v,
        Values::Float(v) => v.into_iter().map(|x| x as i128).collect(),
    }
}

/// Rounds floats, wraps integers, and makes a tensor; the values are of the type's own kind.
pub(crate) fn store(dtype: DType, dims: &[u64], values: &Values) -> Tensor {
    fn pack<T: Copy, const N: usize>(values: &[T], f: impl Fn(T) -> [u8; N]) -> Bytes {
        let mut out = Vec::with_capacity(values.len() * N);
        values.iter().for_each(|v| out.extend_from_slice(&f(*v)));
        out.into()
    }
    let data = match values {
        Values::Float(v) => match dtype {
            DType::F64 => pack(v, f64::to_le_bytes),
            DType::F16 => pack(v, |x| f16::from_f64(dtype.rounded(x)).to_le_bytes()),
            DType::BF16 => pack(v, |x| bf16::from_f64(dtype.rounded(x)).to_le_bytes()),
            _ => pack(v, |x| (x as f32).to_le_bytes()),
        },
        Values::Int(v) => match dtype.size() {
            1 if dtype == DType::Bool => pack(v, |x| [u8::from(x != 0)]),
            1 => pack(v, |x| (x as u8).to_le_bytes()),
            2 => pack(v, |x| (x as u16).to_le_bytes()),
            4 => pack(v, |x| (x as u32).to_le_bytes()),
            _ => pack(v, |x| (x as u64).to_le_bytes()),
        },
    };
    Tensor { dtype, dims: dims.to_vec(), data }
}

/// Least and greatest value of an integer type or bool.
pub(crate) fn int_range(dtype: DType) -> (i128, i128) {
    if dtype == DType::Bool {
        return (0, 1);
    }
    let bits = dtype.size() * 8;
    if dtype.is_unsigned() { (0, (1 << bits) - 1) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) }
}
