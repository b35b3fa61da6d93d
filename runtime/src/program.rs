//! The host program as plain data: what the artefact's metadata section holds.

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

/// One argument of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferRef {
    /// Where it starts.
    pub place: Place,
    /// How many bytes the kernel may touch from there.
    pub bytes: u64,
    /// Whether the kernel writes it.
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
}

/// A whole compiled model but its code and weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// Model name.
    pub model: String,
    /// `llvm` or `cranelift`.
    pub backend: String,
    /// CPU the code was made for, such as `znver5` or `x86-64-v3`.
    pub cpu: String,
    /// CPU features the code needs, by their LLVM names (`avx512f`, `fma`, ...).
    pub features: Vec<String>,
    /// Model inputs.
    pub inputs: Vec<TensorInfo>,
    /// Model outputs.
    pub outputs: Vec<TensorInfo>,
    /// Planned bytes for intermediates, without scratch.
    pub arena_bytes: u64,
    /// Launches in order.
    pub launches: Vec<Launch>,
}
