//! The one allocation of a session: the planned arena, and what scratch does not fit in its free bytes.

use memmap2::MmapMut;

use crate::abi::ALIGN;
use crate::error::Error;

/// Arenas from this size on ask for huge pages of 2 MiB, which then waste little.
#[cfg(target_os = "linux")]
const HUGE_FROM: usize = 16 << 20;

/// Page-aligned memory, zero at first.
#[derive(Debug)]
pub(crate) struct Arena {
    /// Keeps the memory; it is only used through `base`, from which the kernels' pointers come too.
    map: Option<MmapMut>,
    base: *mut u8,
}

impl Arena {
    /// Reserves this many bytes; none where they are too many to count.
    pub(crate) fn new(bytes: Option<u64>) -> Result<Arena, Error> {
        let failed = |source| Error::Memory { bytes: bytes.unwrap_or(u64::MAX), what: "the arena", source };
        let total = bytes.and_then(|b| usize::try_from(b).ok()).filter(|b| *b <= isize::MAX as usize);
        let total = total.ok_or_else(|| failed(std::io::ErrorKind::OutOfMemory.into()))?;
        let mut map = match total {
            0 => None,
            _ => Some(MmapMut::map_anon(total).map_err(failed)?),
        };
        #[cfg(target_os = "linux")]
        if let Some(map) = map.as_ref().filter(|_| total >= HUGE_FROM) {
            // A hint: kernels walk the arena in long strides, and huge pages spare most address translation misses.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        // An empty arena still needs a pointer that is aligned and not null.
        let base = map.as_mut().map_or(std::ptr::without_provenance_mut(ALIGN as usize), |m| m.as_mut_ptr());
        Ok(Arena { map, base })
    }

    /// Where the planned bytes start.
    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    /// Bytes in all.
    pub(crate) fn total(&self) -> u64 {
        self.map.as_ref().map_or(0, |m| m.len() as u64)
    }
}
