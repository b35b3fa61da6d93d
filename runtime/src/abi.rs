//! The machine interface between compiled kernels and the runtime.

/// A compiled stage: runs the units `[begin, end)` of its parallel range.
///
/// `buffers` and `dims` hold as many entries as the stage has buffer and size arguments; `scratch` is the calling
/// thread's own, 64-byte aligned. Calls over disjoint slices of one launch may run at the same time.
pub type KernelEntry =
    unsafe extern "C" fn(buffers: *const *mut u8, dims: *const i64, begin: i64, end: i64, scratch: *mut u8);

/// Alignment in bytes of the arena, of each thread's scratch and of every weight block.
pub const ALIGN: u64 = 64;

/// The offset rounded up to a multiple of `align`, a power of two, or none on overflow.
pub(crate) fn align_up(offset: u64, align: u64) -> Option<u64> {
    Some(offset.checked_add(align - 1)? & !(align - 1))
}
