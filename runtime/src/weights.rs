//! The weight section in memory.

use memmap2::{Mmap, MmapMut};

use crate::abi::{ALIGN, align_up};
use crate::error::Error;

/// Weight blocks, each 64-byte aligned, mapped from the artefact or copied.
#[derive(Debug)]
pub(crate) struct Weights {
    /// None where there are no weights.
    map: Option<Mmap>,
    offset: usize,
    length: usize,
}

impl Weights {
    /// The section at `offset` of a mapped file.
    pub(crate) fn mapped(map: Mmap, offset: usize, length: usize) -> Weights {
        Weights { map: (length > 0).then_some(map), offset, length }
    }

    /// A section made in memory; blocks lie where [`crate::artefact::weight_offsets`] says.
    pub(crate) fn copied<W: AsRef<[u8]>>(blocks: impl IntoIterator<Item = W>) -> Result<Weights, Error> {
        // Collected first, since the size of the one allocation must be known; a block may be a borrowed slice.
        let blocks: Vec<W> = blocks.into_iter().collect();
        let mut length = 0u64;
        for block in &blocks {
            length = align_up(length, ALIGN).unwrap_or(u64::MAX).saturating_add(block.as_ref().len() as u64);
        }
        if length == 0 {
            return Ok(Weights { map: None, offset: 0, length: 0 });
        }
        let failed = |source| Error::Memory { bytes: length, what: "weights", source };
        let mut map = MmapMut::map_anon(length as usize).map_err(failed)?;
        let mut at = 0;
        for block in blocks {
            let block = block.as_ref();
            let start = align_up(at, ALIGN).unwrap_or(u64::MAX) as usize;
            map[start..start + block.len()].copy_from_slice(block);
            at = (start + block.len()) as u64;
        }
        let map = map.make_read_only().map_err(failed)?;
        Ok(Weights { map: Some(map), offset: 0, length: length as usize })
    }

    /// All bytes of the section.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.map.as_ref().map_or(&[], |m| &m[self.offset..self.offset + self.length])
    }
}
