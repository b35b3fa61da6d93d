//! Relocatable objects from LLVM IR as text: what is linked into C programs, as against the images that neap loads itself.

use super::{machine, optimise};
use crate::CodegenError;
use inkwell::{context::Context, memory_buffer::MemoryBuffer, targets::FileType};
use neap_spec::CpuTarget;

/// A position-independent ELF object of a module given as text, lightly optimised.
///
/// # Errors
/// A bug, with LLVM's message, where the text is no module.
pub fn object(ir: &str, target: &CpuTarget) -> Result<Vec<u8>, CodegenError> {
    let bug = |reason: String| CodegenError::bug("library", reason);
    let machine = machine::machine(target)?;
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(ir.as_bytes(), "library");
    let module = context.create_module_from_ir(buffer).map_err(|message| bug(message.to_string()))?;
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    module.verify().map_err(|message| bug(message.to_string()))?;
    optimise::light(&module, &machine)?;
    machine::emit(&module, &machine, FileType::Object)
}
