//! Models from files.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::external::{ExternalData, ExternalError, check_range, resolve};
use crate::{Error, Model, decode};

/// Reads a model and its external data.
pub fn load(path: &Path) -> Result<Model, Error> {
    load_with(path, &|p| std::fs::read(p).map(Bytes::from))
}

/// [`load`] with another way to get a file's bytes, such as a memory map, whose memory the model's tensors then share.
pub fn load_with(path: &Path, read: &dyn Fn(&Path) -> io::Result<Bytes>) -> Result<Model, Error> {
    let name = path.display().to_string();
    if path.is_dir() {
        return Err(Error::Folder { path: name });
    }
    let bytes = read(path).map_err(|source| Error::Io { path: name.clone(), source })?;
    let folder = path.parent().unwrap_or(Path::new(".")).to_path_buf();
    let external = Files { folder, read, seen: RefCell::default() };
    decode(bytes, &external).map_err(|source| Error::In { path: name, source: Box::new(source) })
}

/// The files beside a model, each read once and cut into tensors.
struct Files<'a> {
    folder: PathBuf,
    read: &'a dyn Fn(&Path) -> io::Result<Bytes>,
    seen: RefCell<HashMap<String, Bytes>>,
}

impl ExternalData for Files<'_> {
    fn read(&self, location: &str, offset: u64, length: u64) -> Result<Bytes, ExternalError> {
        let seen = self.seen.borrow().get(location).cloned();
        let whole = match seen {
            Some(bytes) => bytes,
            None => {
                let path = resolve(&self.folder, location)?;
                let bytes = (self.read)(&path).map_err(|e| ExternalError::Io(location.into(), e))?;
                self.seen.borrow_mut().insert(location.into(), bytes.clone());
                bytes
            }
        };
        check_range(location, offset, length, whole.len() as u64)?;
        Ok(whole.slice(offset as usize..(offset + length) as usize))
    }
}
