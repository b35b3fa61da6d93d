//! Data that a model keeps in files beside itself.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use bytes::Bytes;

/// Gives the bytes of external data. The driver implements it over memory maps; [`Folder`] reads plainly.
pub trait ExternalData {
    /// `length` bytes from `offset` on of the file at `location`, a path in the model's folder.
    fn read(&self, location: &str, offset: u64, length: u64) -> Result<Bytes, ExternalError>;
}

/// Why external data cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ExternalError {
    /// The path is absolute, has `..`, or a link leads elsewhere.
    #[error("the path `{0}` leaves the model's folder, which is refused; keep the data file beside the model")]
    Outside(String),
    /// No file there, or not readable.
    #[error("cannot read `{0}` ({1}); keep the data file beside the model")]
    Io(String, std::io::Error),
    /// Offset and length lie outside the file.
    #[error(
        "bytes {offset} to {end} of `{location}` are asked for, but the file has {size}; it is truncated or belongs to another model"
    )]
    Range {
        /// The file.
        location: String,
        /// First byte.
        offset: u64,
        /// Past the last byte.
        end: u128,
        /// Size of the file.
        size: u64,
    },
    /// The model came without a folder.
    #[error("the model is not in a folder, so `{0}` cannot be found")]
    NoFolder(String),
}

/// Refuses every external path; for models that come as bytes only.
pub struct NoExternal;

impl ExternalData for NoExternal {
    fn read(&self, location: &str, _: u64, _: u64) -> Result<Bytes, ExternalError> {
        Err(ExternalError::NoFolder(location.into()))
    }
}

/// Reads external data from the folder of the model.
pub struct Folder(pub PathBuf);

impl ExternalData for Folder {
    fn read(&self, location: &str, offset: u64, length: u64) -> Result<Bytes, ExternalError> {
        let io = |e| ExternalError::Io(location.into(), e);
        let mut file = File::open(resolve(&self.0, location)?).map_err(io)?;
        let size = file.metadata().map_err(io)?.len();
        check_range(location, offset, length, size)?;
        file.seek(SeekFrom::Start(offset)).map_err(io)?;
        let mut data = vec![0; length as usize];
        file.read_exact(&mut data).map_err(io)?;
        Ok(data.into())
    }
}

/// The file that `location` names within `folder`, refused where the path or a symbolic link leads out of it.
pub fn resolve(folder: &Path, location: &str) -> Result<PathBuf, ExternalError> {
    let path = Path::new(location);
    let inside = path.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
    if !inside || location.is_empty() || location.contains(['\\', '\0']) {
        return Err(ExternalError::Outside(location.into()));
    }
    let io = |e| ExternalError::Io(location.into(), e);
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let root = folder.canonicalize().map_err(io)?;
    let file = root.join(path).canonicalize().map_err(io)?;
    if !file.starts_with(&root) {
        return Err(ExternalError::Outside(location.into()));
    }
    if !file.is_file() {
        return Err(io(std::io::Error::other("not a file")));
    }
    Ok(file)
}

/// Whether `length` bytes from `offset` on lie within a file of `size` bytes.
pub fn check_range(location: &str, offset: u64, length: u64, size: u64) -> Result<(), ExternalError> {
    let end = u128::from(offset) + u128::from(length);
    if end > u128::from(size) {
        return Err(ExternalError::Range { location: location.into(), offset, end, size });
    }
    Ok(())
}
