//! Machine code for the explicit level (docs/architecture.md): LLVM, which optimises, and Cranelift, which is quick.
//!
//! [`compile`] takes a module of `func.func` stages and gives an [`ObjectCode`]; [`link`] places many of them in one flat
//! position-independent [`Image`]. [`compile_source`] does the same from MLIR text or bytecode with a context of its own,
//! so that kernels may be compiled on worker threads. Both back ends give the same bits for the same module.

mod compile;
mod context;
mod cranelift;
mod error;
mod gpu;
mod image;
mod legality;
mod llvm;
mod soft_fma;
mod stage;
mod target;
mod types;

pub use compile::{Compiled, Emit, compile, compile_source};
pub use context::parse;
pub use error::CodegenError;
pub use gpu::{GpuChip, compile_gpu};
pub use image::{Image, ObjectCode, link};
pub use legality::{LEGAL_OPS, check};
pub use llvm::object;
pub use stage::{BufferParam, Stage};
pub use target::{aarch64_target, host_target, named_target, versions};
pub use types::{Elem, ValueType};
