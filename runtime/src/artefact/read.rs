//! Reading an artefact: mapped, not copied, and checked before anything in it is believed.

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;
use xxhash_rust::xxh3::xxh3_64;

use super::layout::{Header, Kind, Refusal, VERSION};
use super::validate::validate;
use super::{Artefact, Check};
use crate::code::Code;
use crate::error::Error;
use crate::program::Program;
use crate::weights::Weights;

/// Maps the artefact at `path`; see [`Artefact::open`].
pub(super) fn open(path: &Path, check: Check) -> Result<Artefact, Error> {
    let name = path.display().to_string();
    let io_error = |doing| {
        let path = name.clone();
        move |source| Error::Io { path, doing, source }
    };
    let file = File::open(path).map_err(io_error("open it"))?;
    let meta = file.metadata().map_err(io_error("read its size"))?;
    if !meta.is_file() {
        let what = if meta.is_dir() { "it is a folder" } else { "it is not a regular file" };
        return Err(Error::NotArtefact { path: name, what: what.into() });
    }
    if meta.len() == 0 {
        return Err(Error::NotArtefact { path: name, what: "it is empty".into() });
    }
    // SAFETY: the map is private and read-only; artefacts are replaced by renaming, never changed in place, and the
    // documentation of `Artefact::open` forbids others to change the file while it is loaded.
    let map = unsafe { Mmap::map(&file) }.map_err(io_error("map it"))?;
    let header = Header::decode(&map).map_err(|refusal| match refusal {
        Refusal::Foreign(what) => Error::NotArtefact { path: name.clone(), what: what.into() },
        Refusal::Version(found) => Error::Version { path: name.clone(), found, expected: VERSION },
        Refusal::Damaged(what) => Error::Damaged { path: name.clone(), what },
    })?;
    let damaged = |what| Error::Damaged { path: name.clone(), what };
    for kind in Kind::ALL {
        if (kind != Kind::Weights || check == Check::Weights)
            && xxh3_64(slice(&map, &header, kind)) != checksum(&header, kind)
        {
            return Err(damaged(format!("the checksum of its {} is wrong", kind.name())));
        }
    }
    let program = decode(slice(&map, &header, Kind::Program)).map_err(damaged)?;
    let (code, weights) = (header.section(Kind::Code), header.section(Kind::Weights));
    validate(&program, code.length, weights.length).map_err(damaged)?;
    let code = Code::from_file(&file, code.offset, slice(&map, &header, Kind::Code))?;
    let weights = Weights::mapped(map, weights.offset as usize, weights.length as usize);
    Ok(Artefact { label: name, program, code, weights })
}

fn slice<'a>(map: &'a Mmap, header: &Header, kind: Kind) -> &'a [u8] {
    let section = header.section(kind);
    &map[section.offset as usize..(section.offset + section.length) as usize]
}

fn checksum(header: &Header, kind: Kind) -> u64 {
    header.section(kind).checksum
}

fn decode(bytes: &[u8]) -> Result<Program, String> {
    match postcard::take_from_bytes::<Program>(bytes) {
        Ok((program, [])) => Ok(program),
        Ok((_, rest)) => Err(format!("{} bytes follow its program", rest.len())),
        Err(error) => Err(format!("its program cannot be decoded ({error})")),
    }
}
