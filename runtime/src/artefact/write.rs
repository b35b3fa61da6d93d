//! Writing an artefact: streamed, deterministic, and all or nothing.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::layout::{HEADER, Header, Kind, PAGE, Section};
use super::validate::validate;
use crate::abi::{ALIGN, align_up};
use crate::error::Error;
use crate::program::Program;

/// Offsets in the weight section of blocks of these lengths in bytes, and the length of the section.
///
/// A compiler calls this to know a weight's [`crate::program::Place::Weight`] before it writes the artefact.
pub fn weight_offsets(lengths: impl IntoIterator<Item = u64>) -> (Vec<u64>, u64) {
    let mut end = 0u64;
    let offsets = lengths.into_iter().map(|length| {
        let start = align_up(end, ALIGN).unwrap_or(u64::MAX);
        end = start.saturating_add(length);
        start
    });
    (offsets.collect(), end)
}

/// Writes an artefact and returns its size in bytes.
///
/// Equal arguments give equal bytes. The weight blocks are taken one at a time and laid at [`weight_offsets`]; the file
/// grows under a temporary name beside `path` and is renamed once complete, so that `path` is never half-written.
pub fn write<W: AsRef<[u8]>>(
    path: &Path,
    program: &Program,
    code: &[u8],
    weights: impl IntoIterator<Item = W>,
) -> Result<u64, Error> {
    if fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        // Renaming over a folder fails late, and over a device such as /dev/null it would replace the device.
        let source = io::Error::other("it exists and is not a regular file");
        return Err(Error::Io { path: path.display().to_string(), doing: "write the artefact", source });
    }
    let io_error = |doing| move |source| Error::Io { path: path.display().to_string(), doing, source };
    let temporary = Temporary::beside(path).map_err(io_error("create a file beside it"))?;
    let header = stream(&temporary.file, program, code, weights).map_err(io_error("write the artefact"))?;
    validate(program, header.section(Kind::Code).length, header.section(Kind::Weights).length)
        .map_err(|what| Error::Inconsistent { path: path.display().to_string(), what })?;
    temporary.rename(path).map_err(io_error("rename the finished artefact to it"))?;
    Ok(header.file_length)
}

fn stream<W: AsRef<[u8]>>(
    file: &File,
    program: &Program,
    code: &[u8],
    weights: impl IntoIterator<Item = W>,
) -> io::Result<Header> {
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let mut header = Header::default();
    out.write_all(&[0; HEADER])?;
    let mut at = HEADER as u64;

    let bytes = postcard::to_allocvec(program).map_err(io::Error::other)?;
    for (kind, bytes) in [(Kind::Program, bytes.as_slice()), (Kind::Code, code)] {
        if kind == Kind::Code {
            at = pad(&mut out, at, PAGE)?;
        }
        header.sections[kind as usize] = Section { offset: at, length: bytes.len() as u64, checksum: xxh3_64(bytes) };
        out.write_all(bytes)?;
        at += bytes.len() as u64;
    }

    let start = pad(&mut out, at, PAGE)?;
    at = start;
    let mut hash = Xxh3::new();
    for block in weights {
        let block = block.as_ref();
        let next = pad(&mut out, at, ALIGN)?;
        hash.update(&[0; ALIGN as usize][..(next - at) as usize]);
        hash.update(block);
        out.write_all(block)?;
        at = next + block.len() as u64;
    }
    header.sections[Kind::Weights as usize] = Section { offset: start, length: at - start, checksum: hash.digest() };
    header.file_length = at;

    out.seek(SeekFrom::Start(0))?;
    out.write_all(&header.encode())?;
    out.flush()?;
    Ok(header)
}

/// Writes zeros up to a multiple of `align` and returns the new position.
fn pad(out: &mut impl Write, at: u64, align: u64) -> io::Result<u64> {
    let next = align_up(at, align).ok_or_else(|| io::Error::other("the artefact would be too large"))?;
    out.write_all(&[0; PAGE as usize][..(next - at) as usize])?;
    Ok(next)
}

/// A file that is deleted unless it is renamed.
struct Temporary {
    file: File,
    path: PathBuf,
    kept: bool,
}

impl Temporary {
    fn beside(target: &Path) -> io::Result<Temporary> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = target.file_name().ok_or_else(|| io::Error::other("the path names no file"))?;
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
        let path = target.with_file_name(hidden);
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(&path)?;
        Ok(Temporary { file, path, kept: false })
    }

    fn rename(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.kept {
            // Already on the way out with an error, which says more than a failed clean-up would.
            let _ = fs::remove_file(&self.path);
        }
    }
}
