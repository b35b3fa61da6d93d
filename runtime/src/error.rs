//! What can go wrong, each as one line: where, what, how to mend it.

use std::io;

/// An error of the runtime.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused a file operation.
    #[error("{path}: cannot {doing}: {source}")]
    Io {
        /// File.
        path: String,
        /// What was tried.
        doing: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The file is something else.
    #[error("{path}: not a neap artefact ({what}): pass a file made by `neap compile`")]
    NotArtefact {
        /// File.
        path: String,
        /// What it is instead.
        what: String,
    },
    /// An artefact of another format version.
    #[error("{path}: artefact format {found}, but this runtime reads format {expected}: compile the model again")]
    Version {
        /// File.
        path: String,
        /// Version in the file.
        found: u32,
        /// Version of this runtime.
        expected: u32,
    },
    /// The artefact is broken: cut, changed, or inconsistent.
    #[error("{path}: damaged artefact: {what}: compile the model again")]
    Damaged {
        /// File.
        path: String,
        /// What is wrong.
        what: String,
    },
    /// The code is for another instruction set.
    #[error("{path}: its code is for {arch}, but this machine is {host}: compile the model again for {host}")]
    Arch {
        /// File.
        path: String,
        /// Instruction set of the code.
        arch: String,
        /// Instruction set of this machine.
        host: &'static str,
    },
    /// The code needs a CPU feature that is not there.
    #[error(
        "{path}: its code needs the CPU feature `{feature}`, which this machine lacks: compile the model again with a `--target-cpu` that this machine can run, such as `native` here"
    )]
    Feature {
        /// File.
        path: String,
        /// LLVM's name of the first feature missing.
        feature: String,
    },
    /// What was to be written as an artefact does not hold together; a bug of the compiler.
    #[error("{path}: the compiler made an inconsistent program: {what}; please report this as a bug")]
    Inconsistent {
        /// File.
        path: String,
        /// What is wrong.
        what: String,
    },
    /// Memory could not be had.
    #[error("cannot reserve {bytes} bytes of memory for {what}: {source}")]
    Memory {
        /// How many bytes.
        bytes: u64,
        /// What for.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// Threads could not be started.
    #[error("cannot start {threads} threads: {source}: ask for fewer threads")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// Why not.
        source: io::Error,
    },
    /// A wrong number of inputs or outputs.
    #[error("{found} {kind} buffers given, but the model has {expected} ({known})")]
    Count {
        /// `input` or `output`.
        kind: &'static str,
        /// Given.
        found: usize,
        /// Wanted.
        expected: usize,
        /// All of them, in order.
        known: String,
    },
    /// A name that is no input or output.
    #[error("the model has no {kind} `{name}`: it has {known}")]
    Name {
        /// `input` or `output`.
        kind: &'static str,
        /// Given.
        name: String,
        /// All of them, in order.
        known: String,
    },
    /// An input or output that is given twice or not at all.
    #[error("{kind} `{name}` is given {times} times: give each {kind} once ({known})")]
    Times {
        /// `input` or `output`.
        kind: &'static str,
        /// Its name.
        name: String,
        /// How often.
        times: usize,
        /// All of them, in order.
        known: String,
    },
    /// A wrong element type or shape.
    #[error(
        "{kind} `{name}` is {expected}, but {found} was given: convert it, or compile the model for other sizes with `--dim`"
    )]
    Type {
        /// `input` or `output`.
        kind: &'static str,
        /// Its name.
        name: String,
        /// Type the model was compiled for.
        expected: String,
        /// Type given.
        found: String,
    },
    /// A buffer of the wrong size.
    #[error("{kind} `{name}` takes {expected} bytes ({ty}), but the buffer has {found}")]
    Bytes {
        /// `input` or `output`.
        kind: &'static str,
        /// Its name.
        name: String,
        /// Its type.
        ty: String,
        /// Bytes wanted.
        expected: u64,
        /// Bytes given.
        found: u64,
    },
    /// A buffer that is not aligned to its element.
    #[error(
        "{kind} `{name}` must lie at an address that is not null and a multiple of {align}, the size of its elements"
    )]
    Unaligned {
        /// `input` or `output`.
        kind: &'static str,
        /// Its name.
        name: String,
        /// Bytes.
        align: u64,
    },
    /// Buffers that share memory.
    #[error("output `{output}` lies in the memory of `{other}`: give each output memory of its own")]
    Overlap {
        /// The output.
        output: String,
        /// An input or an earlier output.
        other: String,
    },
    /// Outputs wanted in place that are not held there.
    #[error(
        "the model writes its outputs into the caller's buffers: give buffers, or compile it with `--hold-outputs`"
    )]
    NotHeld,
    /// In poison mode: a write to bytes that nobody held. A bug of the compiler.
    #[error(
        "byte {at} of {memory} was written while nobody held it, seen before {before}: please report this as a bug"
    )]
    Stray {
        /// Byte offset.
        at: u64,
        /// `the arena`, or which output.
        memory: String,
        /// What would run next.
        before: String,
    },
}
