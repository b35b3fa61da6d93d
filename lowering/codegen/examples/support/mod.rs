//! Runs an image in this process.

use memmap2::{Mmap, MmapMut};
use neap_codegen::Image;

/// The C entry of a stage.
type Entry = unsafe extern "C" fn(*const *mut u8, *const i64, i64, i64, *mut u8);

/// An image mapped read and execute.
pub struct Loaded {
    map: Mmap,
    image: Image,
}

/// A byte buffer aligned to 64.
pub struct Buffer {
    words: Vec<Line>,
    bytes: usize,
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code, reason = "only its address is used")] [u8; 64]);

impl Buffer {
    /// Zeroed bytes.
    pub fn new(bytes: usize) -> Self {
        Self { words: vec![Line([0; 64]); bytes.div_ceil(64).max(1)], bytes }
    }

    /// The contents.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `words` holds at least `bytes` initialised bytes.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.bytes) }
    }

    /// The contents, to change.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), self.bytes) }
    }

    /// As `f32` values.
    #[allow(dead_code, reason = "not every example reads values")]
    pub fn f32s(&self) -> impl Iterator<Item = f32> + '_ {
        self.bytes().chunks_exact(4).map(|c| f32::from_le_bytes([c[0], c[1], c[2], c[3]]))
    }
}

impl Loaded {
    /// Maps an image.
    pub fn new(image: Image) -> std::io::Result<Self> {
        let mut map = MmapMut::map_anon(image.code.len().max(1))?;
        map[..image.code.len()].copy_from_slice(&image.code);
        Ok(Self { map: map.make_exec()?, image })
    }

    /// Calls an entry; the buffers must be as large as the kernel wants.
    pub fn call(&self, entry: &str, buffers: &mut [Buffer], dims: &[i64], range: (i64, i64), scratch: &mut Buffer) {
        let pointers: Vec<*mut u8> = buffers.iter_mut().map(|b| b.bytes_mut().as_mut_ptr()).collect();
        let offset = self.image.entries[entry] as usize;
        // SAFETY: the offset is that of a compiled entry of this type, and the map is executable.
        let function: Entry = unsafe { std::mem::transmute(self.map.as_ptr().add(offset)) };
        // SAFETY: the caller gives buffers, sizes and scratch as the kernel wants them.
        unsafe { function(pointers.as_ptr(), dims.as_ptr(), range.0, range.1, scratch.bytes_mut().as_mut_ptr()) };
    }
}

#[allow(dead_code, reason = "not every example wants these values")]
/// Deterministic pseudo-random `f32` values in [-1, 1).
pub fn fill_f32(bytes: &mut [u8], seed: u64) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for chunk in bytes.chunks_exact_mut(4) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let value = (state >> 40) as f32 / (1 << 23) as f32 - 1.0;
        chunk.copy_from_slice(&value.to_le_bytes());
    }
}
