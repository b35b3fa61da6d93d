//! Machine code in memory, read and execute.

use std::fs::File;
use std::io;

use memmap2::{Mmap, MmapMut, MmapOptions};

use crate::abi::KernelEntry;
use crate::error::Error;

/// A position-independent image: code and constants, readable and executable, never writable again.
#[derive(Debug)]
pub(crate) struct Code {
    /// None for a model without launches.
    map: Option<Mmap>,
}

impl Code {
    /// Maps the image straight from the file; where that is refused (a file system mounted `noexec`, a page size that
    /// the file was not laid out for), copies `bytes`, the same image.
    pub(crate) fn from_file(file: &File, offset: u64, bytes: &[u8]) -> Result<Code, Error> {
        if bytes.is_empty() {
            return Ok(Code { map: None });
        }
        // SAFETY: the map is private and never written; see `Artefact::open` on files that change under us.
        match unsafe { MmapOptions::new().offset(offset).len(bytes.len()).map_exec(file) } {
            Ok(map) => Ok(Code { map: Some(map) }),
            Err(_) => Code::copied(bytes),
        }
    }

    /// Copies the image into memory of its own, then makes it executable and read-only.
    pub(crate) fn copied(bytes: &[u8]) -> Result<Code, Error> {
        if bytes.is_empty() {
            return Ok(Code { map: None });
        }
        let copy = || -> io::Result<Mmap> {
            let mut map = MmapMut::map_anon(bytes.len())?;
            map.copy_from_slice(bytes);
            map.make_exec()
        };
        let map = copy().map_err(|source| Error::Memory { bytes: bytes.len() as u64, what: "code", source })?;
        Ok(Code { map: Some(map) })
    }

    /// Bytes of the image.
    pub(crate) fn len(&self) -> usize {
        self.map.as_ref().map_or(0, |m| m.len())
    }

    /// The entry at a byte offset, which validation has found inside the image.
    pub(crate) fn entry(&self, offset: u64) -> Option<KernelEntry> {
        let start = self.map.as_ref()?.get(offset as usize..)?.as_ptr();
        // SAFETY: a pointer into executable memory that lives as long as `self`; that a function of this type starts
        // there is the compiler's promise, guarded by the checksum of program and code.
        Some(unsafe { std::mem::transmute::<*const u8, KernelEntry>(start) })
    }
}
