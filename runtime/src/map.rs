//! Files as memory.

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;

/// A file mapped for reading: its pages are read when touched, and shared with other processes that map it.
pub struct MappedFile(Mmap);

impl MappedFile {
    /// Maps a file. Whoever shortens it while it is mapped makes reading beyond its new end fail with SIGBUS, so outputs
    /// must be written under another name and renamed.
    ///
    /// # Errors
    /// What the system says about opening or mapping the file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        // SAFETY: the map is private and read-only; that nobody changes the file meanwhile is the caller's part of the
        // contract above, as for every program that maps its inputs.
        let map = unsafe { Mmap::map(&file)? };
        Ok(MappedFile(map))
    }
}

impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_and_empty_files() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("f");
        for content in ["", "neap"] {
            std::fs::write(&path, content).expect("a file");
            assert_eq!(MappedFile::open(&path).expect("a map").as_ref(), content.as_bytes());
        }
        assert!(MappedFile::open(&dir.path().join("none")).is_err());
    }
}
