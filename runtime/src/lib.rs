//! neap's runtime: loads an artefact and runs it in one arena. Links neither MLIR nor LLVM.
//!
//! - [`program`]: the host program as plain data; [`abi`]: how compiled code is called.
//! - [`artefact`]: the `.neap` container, written by the compiler, mapped and checked here.
//! - [`capi`]: the same for C, declared in `include/neap.h`.
//! - [`Model`]: an artefact that this machine can run; [`Session`]: the memory and threads to run it.
//!
//! ```no_run
//! use neap_runtime::{Options, Session};
//!
//! let mut session = Session::load("model.neap", &Options { threads: 2, ..Options::default() })?;
//! let x = vec![0u8; session.model().inputs()[0].bytes().unwrap_or(0) as usize];
//! let mut y = vec![0u8; session.model().outputs()[0].bytes().unwrap_or(0) as usize];
//! session.run(&[&x], &mut [&mut y])?;
//! # Ok::<(), neap_runtime::Error>(())
//! ```

pub mod abi;
mod arena;
pub mod artefact;
pub mod capi;
mod code;
pub mod cpu;
mod error;
mod fpenv;
mod liveness;
mod map;
mod model;
mod poison;
mod pool;
mod profile;
pub mod program;
mod scratch;
mod session;
mod signature;
mod steps;
mod view;
mod weights;

pub use artefact::{Artefact, Check};
pub use error::Error;
pub use map::MappedFile;
pub use model::Model;
pub use profile::LaunchTime;
pub use scratch::scratch_offsets;
pub use session::{Options, Session};
pub use view::{Element, RawInput, RawOutput, View, ViewMut};
