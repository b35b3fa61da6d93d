//! A caller's buffers: typed views for calls by name, and pointers for other languages.

use crate::program::DType;

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that is the element of a tensor.
pub trait Element: Copy + sealed::Sealed {
    /// Its element type.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($ty:ty => $dtype:ident),*) => {$(
        impl sealed::Sealed for $ty {}
        impl Element for $ty {
            const DTYPE: DType = DType::$dtype;
        }
    )*};
}

elements!(f32 => F32, f64 => F64, i8 => I8, i16 => I16, i32 => I32, i64 => I64, u8 => U8, u16 => U16, u32 => U32, u64 => U64);

/// An input as a caller has it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub(crate) dtype: DType,
    pub(crate) dims: &'a [u64],
    pub(crate) bytes: &'a [u8],
}

impl<'a> View<'a> {
    /// A row-major tensor of these sizes.
    pub fn new<T: Element>(dims: &'a [u64], elements: &'a [T]) -> View<'a> {
        // SAFETY: every `Element` is a plain number without padding, readable as bytes.
        let bytes = unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) };
        View { dtype: T::DTYPE, dims, bytes }
    }

    /// A row-major tensor given as bytes; a bool is one byte, 0 or 1.
    pub fn from_bytes(dtype: DType, dims: &'a [u64], bytes: &'a [u8]) -> View<'a> {
        View { dtype, dims, bytes }
    }
}

/// Room for an output.
#[derive(Debug)]
pub struct ViewMut<'a> {
    pub(crate) dtype: DType,
    pub(crate) dims: &'a [u64],
    pub(crate) bytes: &'a mut [u8],
}

impl<'a> ViewMut<'a> {
    /// Room for a row-major tensor of these sizes.
    pub fn new<T: Element>(dims: &'a [u64], elements: &'a mut [T]) -> ViewMut<'a> {
        let length = size_of_val(elements);
        // SAFETY: every `Element` is a plain number: any bytes are a value of it, and it has no padding.
        let bytes = unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), length) };
        ViewMut { dtype: T::DTYPE, dims, bytes }
    }

    /// Room for a row-major tensor given as bytes; a bool is one byte, 0 or 1.
    pub fn from_bytes(dtype: DType, dims: &'a [u64], bytes: &'a mut [u8]) -> ViewMut<'a> {
        ViewMut { dtype, dims, bytes }
    }
}

/// An input as a pointer and a length; `neap_input` in the C API.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RawInput {
    /// First element.
    pub data: *const std::ffi::c_void,
    /// Length in bytes.
    pub bytes: usize,
}

/// Room for an output as a pointer and a length; `neap_output` in the C API.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RawOutput {
    /// First element.
    pub data: *mut std::ffi::c_void,
    /// Length in bytes.
    pub bytes: usize,
}
