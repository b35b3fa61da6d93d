//! Byte buffers aligned for every element type.

use neap_optable::Tensor;

/// Bytes aligned to 8.
#[derive(Clone, Debug)]
pub struct Buffer {
    words: Vec<u64>,
    bytes: usize,
}

impl Buffer {
    /// Zeros.
    pub fn zeroed(bytes: usize) -> Self {
        Buffer { words: vec![0; bytes.div_ceil(8)], bytes }
    }

    /// A tensor's bytes.
    pub fn of(t: &Tensor) -> Self {
        let mut b = Buffer::zeroed(t.data.len());
        b.bytes_mut().copy_from_slice(&t.data);
        b
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }

    /// The bytes, to write.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.bytes]
    }
}
