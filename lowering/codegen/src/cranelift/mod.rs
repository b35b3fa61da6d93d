//! The quick path: explicit level to Cranelift's IR, one function a stage, x86-64.
//!
//! An MLIR vector is a list of 128-bit values; a vector of truth values is a list of lane masks. Constants lie behind
//! the code of their function, so that an object has no relocations.

mod arith;
mod cast;
mod constant;
mod control;
mod float;
mod isa;
mod masked;
mod memory;
mod shape;
mod translate;
mod value;

use crate::{
    CodegenError, Compiled, Emit,
    image::{ObjectCode, Place, Section},
    legality::functions,
    stage::Stage,
};
use cranelift_codegen::{Context, control::ControlPlane};
use cranelift_frontend::FunctionBuilderContext;
use melior::ir::Module;
use neap_spec::CpuTarget;

/// Alignment of each function; constants of 16 bytes lie behind it.
const FUNCTION_ALIGN: u64 = 64;

/// Compiles the stages of a checked module.
pub(crate) fn compile(
    module: &Module<'_>,
    stages: &[Stage],
    target: &CpuTarget,
    emit: Emit,
) -> Result<Compiled, CodegenError> {
    let isa = isa::isa(target)?;
    let mut object = ObjectCode { sections: Vec::new(), relocations: Vec::new(), entries: Vec::new() };
    let mut text = String::new();
    let mut builder = FunctionBuilderContext::new();
    for (func, stage) in functions(module).zip(stages) {
        let bug = |reason: String| CodegenError::bug(format!("@{}", stage.name), reason);
        let function = translate::function(func, stage, isa.frontend_config(), &mut builder)?;
        let mut context = Context::for_function(function);
        if emit == Emit::Clif {
            text.push_str(&context.func.display().to_string());
        }
        context.set_disasm(emit == Emit::Asm);
        let compiled = context
            .compile(&*isa, &mut ControlPlane::default())
            .map_err(|error| bug(cranelift_codegen::print_errors::pretty_error(error.func, error.inner)))?;
        if let Some(relocation) = compiled.buffer.relocs().first() {
            return Err(bug(format!("undefined symbol {:?}", relocation.target)));
        }
        if let Some(assembly) = &compiled.vcode {
            text.push_str(assembly);
        }
        object.entries.push((stage.name.clone(), Place { section: object.sections.len(), offset: 0 }));
        let align = FUNCTION_ALIGN.max(u64::from(compiled.buffer.alignment));
        object.sections.push(Section { code: true, align, bytes: compiled.buffer.data().to_vec() });
    }
    Ok(Compiled { object, text: matches!(emit, Emit::Clif | Emit::Asm).then_some(text) })
}
