//! Runs compiled images in this process.

use memmap2::{Mmap, MmapMut};
use neap_codegen::Image;

/// The C entry of a stage.
type Entry = unsafe extern "C" fn(*const *mut u8, *const i64, i64, i64, *mut u8);

/// An image mapped read and execute.
pub struct Loaded {
    map: Mmap,
    image: Image,
}

/// Bytes aligned to 64.
pub struct Buffer {
    lines: Vec<Line>,
    bytes: usize,
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code, reason = "read through the buffer's address")] [u8; 64]);

impl Buffer {
    /// Zeroed bytes.
    pub fn new(bytes: usize) -> Self {
        Self { lines: vec![Line([0; 64]); bytes.div_ceil(64).max(1)], bytes }
    }

    /// The contents.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `lines` holds at least `bytes` initialised bytes.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.bytes) }
    }

    /// The contents, to change.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.bytes) }
    }
}

impl Loaded {
    /// Maps an image.
    pub fn new(image: Image) -> std::io::Result<Self> {
        let mut map = MmapMut::map_anon(image.code.len().max(1))?;
        map[..image.code.len()].copy_from_slice(&image.code);
        Ok(Self { map: map.make_exec()?, image })
    }

    /// Calls an entry; buffers, sizes and scratch must be as large as the kernel wants.
    pub fn call(&self, entry: &str, buffers: &mut [Buffer], dims: &[i64], range: (i64, i64), scratch: &mut Buffer) {
        let pointers: Vec<*mut u8> = buffers.iter_mut().map(|b| b.bytes_mut().as_mut_ptr()).collect();
        let offset = self.image.entries[entry] as usize;
        // SAFETY: the offset is that of a compiled entry of this type, and the map is executable.
        let function: Entry = unsafe { std::mem::transmute(self.map.as_ptr().add(offset)) };
        // SAFETY: the caller gives what the kernel wants.
        unsafe { function(pointers.as_ptr(), dims.as_ptr(), range.0, range.1, scratch.bytes_mut().as_mut_ptr()) };
    }
}
