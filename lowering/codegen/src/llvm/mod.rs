//! The optimising path: explicit level, LLVM dialect, LLVM IR, x86-64 ELF.

mod entry;
mod lower;
mod machine;
mod object;
mod optimise;

pub(crate) use entry::{DESCRIPTOR, enumerated, push_descriptor};
pub(crate) use machine::{emit, host_cpu};
pub use object::object;

use crate::{CodegenError, Compiled, Emit, image::ObjectCode, stage::Stage};
use inkwell::targets::FileType;
use melior::ir::Module;
use neap_spec::CpuTarget;

/// Compiles the stages of a checked module.
pub(crate) fn compile(
    module: &Module<'_>,
    stages: &[Stage],
    target: &CpuTarget,
    text: Emit,
) -> Result<Compiled, CodegenError> {
    let machine = machine::machine(target)?;
    let context = inkwell::context::Context::create();
    let ir = lower::translate(module, &context)?;
    ir.set_triple(&machine.get_triple());
    ir.set_data_layout(&machine.get_target_data().get_data_layout());
    for stage in stages {
        entry::add(&context, &ir, stage, target)?;
    }
    optimise::run(&ir, &machine)?;
    let text = match text {
        Emit::Llvm => Some(ir.print_to_string().to_string()),
        Emit::Asm => Some(emit(&ir, &machine, FileType::Assembly).map(|b| String::from_utf8_lossy(&b).into_owned())?),
        Emit::Object | Emit::Clif => None,
    };
    let elf = emit(&ir, &machine, FileType::Object)?;
    let names: Vec<&str> = stages.iter().map(|s| s.name.as_str()).collect();
    Ok(Compiled { object: ObjectCode::from_elf(&elf, &names)?, text })
}
