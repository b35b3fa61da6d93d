//! Tensors as values: shape, type and bytes.

use bytes::Bytes;

use crate::{DType, TensorType};

/// A dense row-major tensor. The bytes are shared, so cloning is cheap, and may lie in a memory map without alignment.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Element type.
    pub dtype: DType,
    /// Shape.
    pub dims: Vec<u64>,
    /// Little-endian elements; `Bool` as bytes 0 or 1.
    pub data: Bytes,
}

/// A Rust type that is the memory form of one [`DType`].
pub trait Element: Copy + 'static {
    /// The element type.
    const DTYPE: DType;
    /// Reads one element from exactly `DTYPE.size()` bytes.
    fn read(bytes: &[u8]) -> Self;
    /// Appends the element's bytes.
    fn write(self, out: &mut Vec<u8>);
}

macro_rules! element {
    ($($t:ty => $d:ident),*) => {$(
        impl Element for $t {
            const DTYPE: DType = DType::$d;
            fn read(bytes: &[u8]) -> Self {
                <$t>::from_le_bytes(bytes.try_into().expect("caller passes one element"))
            }
            fn write(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
element!(f32 => F32, f64 => F64, i8 => I8, i16 => I16, i32 => I32, i64 => I64, u8 => U8, u16 => U16, u32 => U32, u64 => U64);

impl Element for bool {
    const DTYPE: DType = DType::Bool;
    fn read(bytes: &[u8]) -> Self {
        bytes[0] != 0
    }
    fn write(self, out: &mut Vec<u8>) {
        out.push(u8::from(self));
    }
}

impl Tensor {
    /// A tensor from its elements.
    ///
    /// # Panics
    /// If the element count is not the product of the dims.
    pub fn new<T: Element>(dims: &[u64], elements: &[T]) -> Self {
        assert_eq!(elements.len() as u64, dims.iter().product::<u64>(), "element count against {dims:?}");
        let mut data = Vec::with_capacity(elements.len() * T::DTYPE.size() as usize);
        for e in elements {
            e.write(&mut data);
        }
        Tensor { dtype: T::DTYPE, dims: dims.to_vec(), data: data.into() }
    }

    /// A 0-d tensor.
    pub fn scalar<T: Element>(v: T) -> Self {
        Tensor::new(&[], &[v])
    }

    /// Element count.
    pub fn len(&self) -> usize {
        self.data.len() / self.dtype.size() as usize
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Its type.
    pub fn ty(&self) -> TensorType {
        TensorType::fixed(self.dtype, &self.dims)
    }

    /// The elements, if `T` is the element type.
    pub fn elements<T: Element>(&self) -> Option<Vec<T>> {
        (self.dtype == T::DTYPE).then(|| self.data.chunks_exact(T::DTYPE.size() as usize).map(T::read).collect())
    }

    /// The elements of any integer or bool tensor as i64 (u64 beyond i64::MAX wraps).
    pub fn to_i64(&self) -> Option<Vec<i64>> {
        fn go<T: Element>(t: &Tensor, f: impl Fn(T) -> i64) -> Option<Vec<i64>> {
            Some(t.elements::<T>()?.into_iter().map(f).collect())
        }
        match self.dtype {
            DType::I8 => go(self, |v: i8| v.into()),
            DType::I16 => go(self, |v: i16| v.into()),
            DType::I32 => go(self, |v: i32| v.into()),
            DType::I64 => go(self, |v: i64| v),
            DType::U8 => go(self, |v: u8| v.into()),
            DType::U16 => go(self, |v: u16| v.into()),
            DType::U32 => go(self, |v: u32| v.into()),
            DType::U64 => go(self, |v: u64| v as i64),
            DType::Bool => go(self, |v: bool| v.into()),
            _ => None,
        }
    }

    /// The elements of a tensor of any float type.
    pub fn to_f64(&self) -> Option<Vec<f64>> {
        let halves = |f: fn([u8; 2]) -> f64| Some(self.data.as_chunks::<2>().0.iter().map(|b| f(*b)).collect());
        match self.dtype {
            DType::F32 => Some(self.elements::<f32>()?.into_iter().map(f64::from).collect()),
            DType::F64 => self.elements::<f64>(),
            DType::F16 => halves(|b| half::f16::from_le_bytes(b).to_f64()),
            DType::BF16 => halves(|b| half::bf16::from_le_bytes(b).to_f64()),
            _ => None,
        }
    }

    /// Same elements in another shape with the same count.
    pub fn reshaped(&self, dims: &[u64]) -> Self {
        assert_eq!(dims.iter().product::<u64>(), self.dims.iter().product::<u64>());
        Tensor { dtype: self.dtype, dims: dims.to_vec(), data: self.data.clone() }
    }
}
