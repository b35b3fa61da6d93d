//! The one allocation of a session: the planned arena, then each thread's scratch.

use memmap2::MmapMut;

use crate::abi::{ALIGN, align_up};
use crate::error::Error;
use crate::program::Program;

/// Arenas from this size on ask for huge pages of 2 MiB, which then waste little.
#[cfg(target_os = "linux")]
const HUGE_FROM: usize = 16 << 20;

/// Page-aligned memory, zero at first.
#[derive(Debug)]
pub(crate) struct Arena {
    /// Keeps the memory; it is only used through `base`, from which the kernels' pointers come too.
    _map: Option<MmapMut>,
    base: *mut u8,
    planned: usize,
    stride: usize,
    total: usize,
}

impl Arena {
    /// Reserves planned bytes + threads x largest scratch, each rounded up to 64 bytes.
    pub(crate) fn new(program: &Program, threads: usize) -> Result<Arena, Error> {
        let scratch = program.launches.iter().map(|l| l.scratch).max().unwrap_or(0);
        let sizes = || {
            let planned = align_up(program.arena_bytes, ALIGN)?;
            let stride = align_up(scratch, ALIGN)?;
            let total = planned.checked_add(stride.checked_mul(threads as u64)?)?;
            (total <= isize::MAX as u64).then_some((planned as usize, stride as usize, total as usize))
        };
        let failed = |bytes| move |source| Error::Memory { bytes, what: "the arena", source };
        let (planned, stride, total) =
            sizes().ok_or_else(|| failed(u64::MAX)(std::io::ErrorKind::OutOfMemory.into()))?;
        let mut map = match total {
            0 => None,
            _ => Some(MmapMut::map_anon(total).map_err(failed(total as u64))?),
        };
        #[cfg(target_os = "linux")]
        if let Some(map) = map.as_ref().filter(|_| total >= HUGE_FROM) {
            // A hint: kernels walk the arena in long strides, and huge pages spare most address translation misses.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        // An empty arena still needs a pointer that is aligned and not null.
        let base = map.as_mut().map_or(std::ptr::without_provenance_mut(ALIGN as usize), |m| m.as_mut_ptr());
        Ok(Arena { _map: map, base, planned, stride, total })
    }

    /// Where the planned bytes start.
    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    /// Where thread 0's scratch starts, and the bytes from one thread's to the next one's.
    pub(crate) fn scratch(&self) -> (*mut u8, usize) {
        (self.base.wrapping_add(self.planned), self.stride)
    }

    /// Bytes in all.
    pub(crate) fn total(&self) -> u64 {
        self.total as u64
    }

    /// Overwrites a range with ones: NaN as a float, -1 as an integer.
    pub(crate) fn poison(&mut self, start: u64, end: u64) {
        let (start, end) = (start as usize, end as usize);
        assert!(start <= end && end <= self.total, "poison outside the arena");
        // SAFETY: inside the map, as just checked; `&mut self` says that no launch is running on it.
        unsafe { self.base.add(start).write_bytes(0xff, end - start) };
    }
}
