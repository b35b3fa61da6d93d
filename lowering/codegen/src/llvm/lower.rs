//! Explicit level to LLVM IR through MLIR's own conversions.

use crate::{CodegenError, context, legality::functions, stage::op_name};
use melior::{
    ir::{Module, operation::OperationMutLike},
    pass::{PassManager, conversion},
    utility::register_all_llvm_translations,
};

/// Translates a copy of `module`; functions keep their names, memrefs become five arguments each
/// (allocated pointer, aligned pointer, offset, size, stride).
pub(crate) fn translate<'l>(
    module: &Module<'_>,
    llvm: &'l inkwell::context::Context,
) -> Result<inkwell::module::Module<'l>, CodegenError> {
    let bug = |reason: String| CodegenError::bug("explicit level to llvm", reason);
    let reference = module.context();
    // SAFETY: the context outlives `module`, which is borrowed for the whole call.
    let cx = unsafe { reference.to_ref() };
    let mut copy = context::copy(module).ok_or_else(|| bug("cannot copy the module".to_owned()))?;
    strip(&copy);
    let passes = PassManager::new(cx);
    passes.enable_verifier(cfg!(debug_assertions));
    passes.add_pass(conversion::create_vector_to_llvm());
    passes.add_pass(conversion::create_scf_to_control_flow());
    passes.add_pass(conversion::create_finalize_mem_ref_to_llvm());
    passes.add_pass(conversion::create_math_to_llvm());
    passes.add_pass(conversion::create_arith_to_llvm());
    passes.add_pass(conversion::create_func_to_llvm());
    passes.add_pass(conversion::create_control_flow_to_llvm());
    passes.add_pass(conversion::create_ub_to_llvm());
    passes.add_pass(conversion::create_reconcile_unrealized_casts());
    context::run_passes(cx, &passes, &mut copy).map_err(bug)?;
    register_all_llvm_translations(cx);
    // SAFETY: both objects are alive; the LLVM module that comes back belongs to `llvm` and is owned here.
    unsafe {
        let raw = mlir_sys::mlirTranslateModuleToLLVMIR(copy.as_operation().to_raw(), llvm.raw().cast());
        if raw.is_null() {
            return Err(bug("translation to llvm ir failed".to_owned()));
        }
        Ok(inkwell::module::Module::new(raw.cast()))
    }
}

/// Takes off the attributes that only [`crate::stage::Stage`] reads.
fn strip(module: &Module<'_>) {
    for func in functions(module).filter(|f| op_name(f) == "func.func") {
        // SAFETY: the copy is ours alone, and attributes are no part of what the iterator follows.
        let mut func = unsafe { melior::ir::operation::OperationRefMut::from_raw(func.to_raw()) };
        let _ = func.remove_attribute("neap.kernel");
        let _ = func.remove_attribute("arg_attrs");
    }
}
