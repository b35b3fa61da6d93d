//! MLIR contexts and modules for one worker: contexts are neither `Send` nor `Sync`, so kernels travel as text or bytecode.

use crate::CodegenError;
use melior::{Context, dialect::DialectRegistry, ir::Module, pass::PassManager, utility::register_all_dialects};
use std::{cell::RefCell, rc::Rc};

/// A single-threaded context with every upstream dialect.
pub fn context() -> Context {
    let registry = DialectRegistry::new();
    register_all_dialects(&registry);
    let context = Context::new_with_registry(&registry, false);
    // `neap.kernel` and `neap.noalias` are attributes without a dialect of their own.
    context.set_allow_unregistered_dialects(true);
    context
}

/// Parses MLIR text or bytecode.
///
/// # Errors
/// MLIR's own message.
pub fn parse<'c>(context: &'c Context, source: &[u8]) -> Result<Module<'c>, CodegenError> {
    let (module, messages) = with_messages(context, || {
        // SAFETY: the reference points at `source` for the length given and is only read; MLIR knows bytecode by its
        // magic number and asks for text to end in NUL, which the copy below has.
        unsafe {
            let mut bytes = source.to_vec();
            bytes.push(0);
            let raw = mlir_sys::MlirStringRef { data: bytes.as_ptr().cast(), length: source.len() };
            Module::from_option_raw(mlir_sys::mlirModuleCreateParse(context.to_raw(), raw))
        }
    });
    module.ok_or(CodegenError::Parse(messages))
}

/// Runs a pass manager over a module.
pub(crate) fn run_passes(context: &Context, passes: &PassManager<'_>, module: &mut Module<'_>) -> Result<(), String> {
    let (result, messages) = with_messages(context, || passes.run(module));
    result.map_err(|error| if messages.is_empty() { error.to_string() } else { messages })
}

/// A copy of a module that passes may change.
pub(crate) fn copy<'c>(module: &Module<'c>) -> Option<Module<'c>> {
    Module::from_operation((*module.as_operation()).clone())
}

/// Runs `f` and collects the diagnostics it causes.
fn with_messages<T>(context: &Context, f: impl FnOnce() -> T) -> (T, String) {
    let messages = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&messages);
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        sink.borrow_mut().push(format!("{}: {diagnostic}", diagnostic.location()));
        true
    });
    let value = f();
    context.detach_diagnostic_handler(handler);
    let text = messages.borrow().join("; ");
    (value, text)
}
