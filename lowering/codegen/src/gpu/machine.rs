//! Target machines of GPUs and their assembly.

use super::GpuChip;
use crate::{CodegenError, llvm};
use inkwell::{
    OptimizationLevel,
    module::Module,
    passes::PassBuilderOptions,
    targets::{
        CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetMachineOptions, TargetTriple,
    },
};
use std::sync::Once;

/// LLVM's machine for a chip.
pub(super) fn machine(chip: GpuChip) -> Result<TargetMachine, CodegenError> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        Target::initialize_nvptx(&InitializationConfig::default());
        Target::initialize_amd_gpu(&InitializationConfig::default());
    });
    let bug = |reason: String| CodegenError::bug("llvm target machine", reason);
    let (triple, cpu, features) = match chip {
        GpuChip::Sm90a => ("nvptx64-nvidia-cuda", "sm_90a", "+ptx80"),
        GpuChip::Gfx942 => ("amdgcn-amd-amdhsa", "gfx942", ""),
    };
    let triple = TargetTriple::create(triple);
    let target = Target::from_triple(&triple).map_err(|message| bug(message.to_string()))?;
    let options = TargetMachineOptions::new()
        .set_cpu(cpu)
        .set_features(features)
        .set_level(OptimizationLevel::Default)
        .set_reloc_mode(RelocMode::PIC)
        .set_code_model(CodeModel::Default);
    target
        .create_target_machine_from_options(&triple, options)
        .ok_or_else(|| bug(format!("llvm has no machine for {cpu}")))
}

/// Optimises a device module and gives its assembly; what it would call is a bug.
pub(super) fn assembly(ir: &Module<'_>, machine: &TargetMachine) -> Result<String, CodegenError> {
    ir.set_triple(&machine.get_triple());
    ir.set_data_layout(&machine.get_target_data().get_data_layout());
    let bug = |reason: String| CodegenError::bug("gpu code", reason);
    ir.verify().map_err(|message| bug(message.to_string()))?;
    ir.run_passes("default<O2>", machine, PassBuilderOptions::create()).map_err(|message| bug(message.to_string()))?;
    let called = ir.get_functions().find(|f| f.count_basic_blocks() == 0 && f.get_intrinsic_id() == 0);
    if let Some(function) = called {
        return Err(bug(format!("undefined symbol {}", function.get_name().to_string_lossy())));
    }
    let bytes = llvm::emit(ir, machine, FileType::Assembly)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
