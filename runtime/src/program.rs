//! The host program as plain data: what the artefact's metadata section holds.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Element type; the discriminants are part of the artefact format and of the C API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u32)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum DType {
    F32 = 0,
    F64 = 1,
    F16 = 2,
    BF16 = 3,
    I8 = 4,
    I16 = 5,
    I32 = 6,
    I64 = 7,
    U8 = 8,
    U16 = 9,
    U32 = 10,
    U64 = 11,
    Bool = 12,
}

impl DType {
    /// Bytes of one element.
    pub const fn size(self) -> u64 {
        match self {
            DType::Bool | DType::I8 | DType::U8 => 1,
            DType::F16 | DType::BF16 | DType::I16 | DType::U16 => 2,
            DType::F32 | DType::I32 | DType::U32 => 4,
            DType::F64 | DType::I64 | DType::U64 => 8,
        }
    }

    /// The short name used in messages and by the command line: `f32`, `i64`, `bool`.
    pub const fn name(self) -> &'static str {
        match self {
            DType::F32 => "f32",
            DType::F64 => "f64",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::I8 => "i8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::U8 => "u8",
            DType::U16 => "u16",
            DType::U32 => "u32",
            DType::U64 => "u64",
            DType::Bool => "bool",
        }
    }
}

/// An input or output of the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorInfo {
    /// ONNX name.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Shape; all sizes are fixed at compile time.
    pub dims: Vec<u64>,
}

impl TensorInfo {
    /// Bytes of the tensor, or none where they do not fit in memory.
    pub fn bytes(&self) -> Option<u64> {
        let elements = self.dims.iter().try_fold(1u64, |n, &d| n.checked_mul(d))?;
        elements.checked_mul(self.dtype.size()).filter(|&n| n <= isize::MAX as u64)
    }
}

impl fmt::Display for TensorInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}{:?}", self.name, self.dtype.name(), self.dims)
    }
}

/// Where a buffer lies at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// Caller's input by position, at a byte offset.
    Input(u32, u64),
    /// Caller's output by position, at a byte offset.
    Output(u32, u64),
    /// Byte offset in the weight section.
    Weight(u64),
    /// Byte offset in the arena.
    Arena(u64),
}

impl Place {
    /// The place so many bytes further on.
    pub fn at(self, bytes: u64) -> Place {
        match self {
            Place::Input(i, offset) => Place::Input(i, offset + bytes),
            Place::Output(i, offset) => Place::Output(i, offset + bytes),
            Place::Weight(offset) => Place::Weight(offset + bytes),
            Place::Arena(offset) => Place::Arena(offset + bytes),
        }
    }
}

/// One argument of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferRef {
    /// Where it starts.
    pub place: Place,
    /// How many bytes the kernel may touch from there.
    pub bytes: u64,
    /// Whether the kernel writes it: then it writes every byte the model reads later, and what lay there before is lost.
    /// A kernel that works in place has the range twice, once read and once written.
    pub written: bool,
}

/// One call of a compiled stage over its parallel range, split over threads; launches run one after another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// Byte offset of the entry in the code section.
    pub entry: u64,
    /// Kernel symbol, for profiles.
    pub kernel: String,
    /// ONNX nodes it computes, joined by `+`.
    pub nodes: String,
    /// Buffer arguments.
    pub buffers: Vec<BufferRef>,
    /// Run-time sizes.
    pub dims: Vec<i64>,
    /// Units of the parallel range; every split of [0, extent) gives the same bits.
    pub extent: u64,
    /// Fewest units worth a thread of their own.
    pub grain: u64,
    /// Scratch bytes each thread needs.
    pub scratch: u64,
    /// Floating-point operations.
    pub flops: u64,
    /// Bytes of its arguments, each counted when it is read and when it is written: what it moves if nothing is cached.
    pub bytes: u64,
}

/// A whole compiled model but its code and weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// Model name.
    pub model: String,
    /// `llvm` or `cranelift`.
    pub backend: String,
    /// Instruction set of the code, as `std::env::consts::ARCH` names it (`x86_64`).
    pub arch: String,
    /// CPU the code was made for, such as `znver5` or `x86-64-v3`.
    pub cpu: String,
    /// CPU features the code needs, by their LLVM names (`avx512f`, `fma`, ...).
    pub features: Vec<String>,
    /// Model inputs.
    pub inputs: Vec<TensorInfo>,
    /// Model outputs.
    pub outputs: Vec<TensorInfo>,
    /// Planned bytes for intermediates, and for the scratch of one thread where the compiler counts it.
    pub arena_bytes: u64,
    /// Where each output lies in the arena after a run; empty where launches write into the caller's buffers.
    pub held: Vec<u64>,
    /// Launches in order.
    pub launches: Vec<Launch>,
}

impl Program {
    /// Bytes of each output that is the caller's memory while launches run.
    pub(crate) fn foreign_outputs(&self) -> impl Iterator<Item = u64> {
        let outputs = if self.held.is_empty() { &self.outputs[..] } else { &[] };
        outputs.iter().map(|t| t.bytes().unwrap_or(0))
    }

    /// Start and end in the arena of each output that is held there.
    pub(crate) fn held_ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        self.held.iter().zip(&self.outputs).map(|(at, t)| (*at, at + t.bytes().unwrap_or(0)))
    }
}
