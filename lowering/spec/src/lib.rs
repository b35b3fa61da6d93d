//! Target descriptions: what the schedules and the cost model know of a machine.

use serde::{Deserialize, Serialize};

/// Which code generator makes the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Backend {
    /// LLVM, optimising.
    Llvm,
    /// Cranelift, compiling fast; vectors of 128 bits, no masks.
    Cranelift,
}

/// Instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Arch {
    /// 64-bit x86.
    X86_64,
    /// 64-bit Arm.
    Aarch64,
}

impl Arch {
    /// As `std::env::consts::ARCH` and target triples name it.
    pub const fn name(self) -> &'static str {
        match self {
            Arch::X86_64 => "x86_64",
            Arch::Aarch64 => "aarch64",
        }
    }
}

impl Backend {
    /// As the command line and artefacts spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Backend::Llvm => "llvm",
            Backend::Cranelift => "cranelift",
        }
    }
}

/// A CPU as the schedules see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CpuTarget {
    /// Name for `-mcpu`, such as `znver5` or `x86-64-v3`.
    pub cpu: String,
    /// Instruction set.
    pub arch: Arch,
    /// LLVM feature names that are on, sorted.
    pub features: Vec<String>,
    /// Code generator.
    pub backend: Backend,
    /// Widest useful vector in bits: 128, 256 or 512.
    pub vector_bits: u32,
    /// Architectural vector registers.
    pub vector_registers: u32,
    /// Whether masked loads and stores are cheap.
    pub masked_memory: bool,
    /// Whether fused multiply-add is one instruction; without it, it is emulated.
    pub fma: bool,
    /// L1 data cache bytes of one core.
    pub l1: u64,
    /// L2 cache bytes of one core.
    pub l2: u64,
    /// L3 cache bytes.
    pub l3: u64,
}

impl CpuTarget {
    /// Whether one instruction adds the products of four unsigned with four signed bytes to each 32-bit lane, for vectors of the
    /// width used (VNNI).
    pub fn quad_products(&self) -> bool {
        let feature = match self.vector_bits {
            512 => "avx512vnni",
            256 => "avxvnni",
            _ => return false,
        };
        self.backend == Backend::Llvm && self.features.iter().any(|f| f == feature)
    }

    /// Lanes of one vector of 32-bit elements.
    pub const fn lanes32(&self) -> u64 {
        self.vector_bits as u64 / 32
    }
}
