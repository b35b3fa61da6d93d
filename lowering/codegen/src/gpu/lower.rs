//! `gpu.module`s to LLVM IR through MLIR's own conversions.

use super::GpuChip;
use crate::{CodegenError, context};
use melior::{
    ir::{Module, OperationRef},
    pass::{PassManager, conversion},
    utility::register_all_llvm_translations,
};

fn bug(reason: impl std::fmt::Display) -> CodegenError {
    CodegenError::bug("gpu module to llvm", reason)
}

/// A copy of `module` with its `gpu.module`s in the LLVM dialect.
pub(super) fn to_llvm_dialect<'c>(module: &Module<'c>, chip: GpuChip) -> Result<Module<'c>, CodegenError> {
    let reference = module.context();
    // SAFETY: the context outlives `module`, which is borrowed for the whole call.
    let cx = unsafe { reference.to_ref() };
    let mut copy = context::copy(module).ok_or_else(|| bug("cannot copy the module"))?;
    let passes = PassManager::new(cx);
    passes.enable_verifier(cfg!(debug_assertions));
    passes.add_pass(conversion::create_scf_to_control_flow());
    if chip == GpuChip::Gfx942 {
        // Before the device conversion, which would call AMD's library. NVIDIA's refuses intrinsics: see `intrinsics`.
        passes.add_pass(conversion::create_math_to_llvm());
    }
    passes.nested_under("gpu.module").add_pass(match chip {
        GpuChip::Sm90a => conversion::create_gpu_ops_to_nvvm_ops(),
        GpuChip::Gfx942 => conversion::create_gpu_ops_to_rocdl_ops(),
    });
    passes.add_pass(conversion::create_reconcile_unrealized_casts());
    context::run_passes(cx, &passes, &mut copy).map_err(bug)?;
    register_all_llvm_translations(cx);
    Ok(copy)
}

/// LLVM IR of a lowered `gpu.module`.
pub(super) fn translate<'l>(
    device_module: OperationRef<'_, '_>,
    llvm: &'l inkwell::context::Context,
) -> Result<inkwell::module::Module<'l>, CodegenError> {
    // SAFETY: both objects are alive; the LLVM module that comes back belongs to `llvm` and is owned here.
    unsafe {
        let raw = mlir_sys::mlirTranslateModuleToLLVMIR(device_module.to_raw(), llvm.raw().cast());
        if raw.is_null() {
            return Err(bug("translation to llvm ir failed"));
        }
        Ok(inkwell::module::Module::new(raw.cast()))
    }
}
