//! Models from files, read plainly. (The driver maps files instead and calls [`decode`](crate::decode).)

use std::path::Path;

use bytes::Bytes;

use crate::external::Folder;
use crate::{Error, Model, decode};

/// Reads a model and its external data.
pub fn load(path: &Path) -> Result<Model, Error> {
    let name = path.display().to_string();
    if path.is_dir() {
        return Err(Error::Folder { path: name });
    }
    let bytes = std::fs::read(path).map_err(|source| Error::Io { path: name.clone(), source })?;
    let folder = Folder(path.parent().unwrap_or(Path::new(".")).to_path_buf());
    decode(Bytes::from(bytes), &folder).map_err(|source| Error::In { path: name, source: Box::new(source) })
}
