//! A model as a library for C and C++: an object or shared library and a header, which need no neap to run.
//!
//! The kernels are the same image as an artefact's; what a session does for it at run time is done by a runner in LLVM IR
//! (`support.ll`) over constant tables. So results are the same bits as those of `neap run`.

mod header;
mod linker;
mod names;
mod runner;

use std::io::Write;
use std::path::Path;

use neap_runtime::artefact::weight_offsets;
use neap_runtime::program::Program;
use neap_spec::CpuTarget;

pub use linker::Linker;
pub use names::{Form, Names};

use crate::compile::Compiled;
use crate::failure::{At, Failure};
use crate::files;

/// Bytes after the weights in a file of their own: the digest that says which library they belong to.
const DIGEST: u64 = 32;
/// Code and weights are addressed relative to each other in 32 bits, with room for the runner.
const MOST: u64 = 0x7000_0000;

/// What a library says of its memory.
struct Layout {
    /// Bytes of arena and scratch of a run on one thread.
    arena: u64,
    /// Offset in the arena of each launch's scratch.
    scratch: Vec<u64>,
    /// Bytes of scratch of each further thread.
    stride: u64,
    /// Bytes of the weights.
    weights: u64,
}

impl Layout {
    fn new(program: &Program, weights: &[bytes::Bytes]) -> Result<Self, Failure> {
        let large = || Failure::new(format!("{}: the arena's size overflows", program.model));
        let (scratch, arena) = neap_runtime::scratch_offsets(program).ok_or_else(large)?;
        let align = neap_runtime::abi::ALIGN;
        let stride = program.launches.iter().map(|l| l.scratch).max().unwrap_or(0).checked_next_multiple_of(align);
        let weights = weight_offsets(weights.iter().map(|w| w.len() as u64)).1;
        Ok(Layout { arena, scratch, stride: stride.ok_or_else(large)?, weights })
    }
}

/// Writes all that `names` speaks of.
pub fn write(names: &Names, compiled: &Compiled, target: &CpuTarget, linker: Option<&Linker>) -> Result<(), Failure> {
    let program = &compiled.program;
    let layout = Layout::new(program, &compiled.weights)?;
    let header = header::text(names, program, &layout);
    if names.form == Form::Header {
        return files::write(&names.header, |w| w.write_all(header.as_bytes()));
    }
    let inside = if names.weights.is_none() { layout.weights } else { 0 };
    if inside + compiled.code.len() as u64 > MOST {
        return Err(Failure::new(format!(
            "{}: {inside} bytes of weights do not fit in a library; add --weights beside",
            program.model
        )));
    }
    let folder = tempfile::tempdir().at("temporary folder")?;
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("code"), &compiled.code).at("temporary folder")?;
    let digest = match &names.weights {
        None => {
            save(&path("weights"), &compiled.weights)?;
            None
        }
        Some(_) => Some(digest(&compiled.weights)),
    };
    let ir = runner::text(names, program, &layout, &compiled.code, folder.path(), digest.as_ref())?;
    let object = neap_codegen::object(&ir, target).map_err(Failure::new)?;
    let library = match linker {
        None => object,
        Some(linker) => linker.shared(names, &object, target, folder.path())?,
    };
    if let (Some(file), Some(digest)) = (&names.weights, digest) {
        files::write(file, |w| blocks(w, &compiled.weights).and_then(|()| w.write_all(&digest)))?;
    }
    files::write(&names.header, |w| w.write_all(header.as_bytes()))?;
    files::write(&names.library, |w| w.write_all(&library))
}

fn digest(weights: &[bytes::Bytes]) -> [u8; DIGEST as usize] {
    let mut hasher = blake3::Hasher::new();
    for block in weights {
        hasher.update(&(block.len() as u64).to_le_bytes());
        hasher.update(block);
    }
    *hasher.finalize().as_bytes()
}

fn save(path: &Path, weights: &[bytes::Bytes]) -> Result<(), Failure> {
    let mut out = std::io::BufWriter::new(std::fs::File::create(path).at("temporary folder")?);
    blocks(&mut out, weights).and_then(|()| out.flush()).at("temporary folder")
}

/// The weight section as it lies in memory.
fn blocks(out: &mut impl Write, weights: &[bytes::Bytes]) -> std::io::Result<()> {
    let (offsets, _) = weight_offsets(weights.iter().map(|w| w.len() as u64));
    let mut at = 0;
    for (block, offset) in weights.iter().zip(offsets) {
        out.write_all(&vec![0; (offset - at) as usize])?;
        out.write_all(block)?;
        at = offset + block.len() as u64;
    }
    Ok(())
}
