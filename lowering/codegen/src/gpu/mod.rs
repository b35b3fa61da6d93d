//! GPU kernels: `gpu.module`s of `gpu.func` kernels at the explicit level to PTX or AMDGPU assembly, without device libraries.
//!
//! Kernels take flat memrefs and sizes as the stages of CPUs do; in the code each memref is one pointer.

mod intrinsics;
mod lower;
mod machine;
mod signature;

use crate::CodegenError;
use melior::ir::{BlockLike, Module};

/// A GPU that code is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuChip {
    /// NVIDIA Hopper; the code is PTX.
    Sm90a,
    /// AMD CDNA 3; the code is assembly.
    Gfx942,
}

/// Compiles every `gpu.module` of a module and gives the assembly, one after another.
///
/// # Errors
/// An operation that the device code generator does not have, such as a function of `math` that is not expanded.
pub fn compile_gpu(module: &Module<'_>, chip: GpuChip) -> Result<String, CodegenError> {
    let lowered = lower::to_llvm_dialect(module, chip)?;
    let machine = machine::machine(chip)?;
    let mut text = String::new();
    let kernels = signature::read(module)?;
    let device_modules = crate::legality::operations(lowered.body().first_operation())
        .filter(|op| crate::stage::op_name(op) == "gpu.module");
    for device_module in device_modules {
        let context = inkwell::context::Context::create();
        let ir = lower::translate(device_module, &context)?;
        intrinsics::replace_libdevice(&ir)?;
        for kernel in &kernels {
            signature::flatten(&context, &ir, kernel)?;
        }
        text.push_str(&machine::assembly(&ir, &machine)?);
    }
    Ok(text)
}
