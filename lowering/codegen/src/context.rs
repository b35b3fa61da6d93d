//! Modules for one worker: contexts are neither `Send` nor `Sync`, so kernels travel as text or bytecode.

use crate::CodegenError;
use melior::{Context, ir::Module, pass::PassManager};
use neap_mlir::capture;

/// Parses MLIR text or bytecode.
///
/// # Errors
/// MLIR's own message.
pub fn parse<'c>(context: &'c Context, source: &[u8]) -> Result<Module<'c>, CodegenError> {
    let (module, messages) = capture(context, || {
        // SAFETY: the reference points at `bytes` for the length given and is only read; MLIR knows bytecode by its
        // magic number and asks for text to end in NUL, which the copy has.
        unsafe {
            let mut bytes = source.to_vec();
            bytes.push(0);
            let raw = mlir_sys::MlirStringRef { data: bytes.as_ptr().cast(), length: source.len() };
            Module::from_option_raw(mlir_sys::mlirModuleCreateParse(context.to_raw(), raw))
        }
    });
    module.ok_or_else(|| CodegenError::Parse(messages.to_string()))
}

/// Runs a pass manager over a module.
pub(crate) fn run_passes(context: &Context, passes: &PassManager<'_>, module: &mut Module<'_>) -> Result<(), String> {
    let (result, messages) = capture(context, || passes.run(module));
    result.map_err(|error| if messages.0.is_empty() { error.to_string() } else { messages.to_string() })
}

/// A copy of a module that passes may change.
pub(crate) fn copy<'c>(module: &Module<'c>) -> Option<Module<'c>> {
    Module::from_operation((*module.as_operation()).clone())
}
