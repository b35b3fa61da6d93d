//! Target machines and the emission of ELF and assembly.

use crate::CodegenError;
use inkwell::{
    OptimizationLevel,
    module::Module,
    targets::{
        CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetMachineOptions, TargetTriple,
    },
};
use neap_spec::{Arch, CpuTarget};
use std::sync::Once;

/// Triple of the images: ELF is read by our relocator on every host.
fn triple(arch: Arch) -> TargetTriple {
    TargetTriple::create(&format!("{}-unknown-linux-gnu", arch.name()))
}

/// The CPU that has no more than every CPU of an instruction set; what a target has above it are features.
pub(crate) fn base_cpu(arch: Arch) -> &'static str {
    match arch {
        Arch::X86_64 => "x86-64",
        Arch::Aarch64 => "generic",
    }
}

/// A machine for exactly the target's features, position independent.
pub(crate) fn machine(target: &CpuTarget) -> Result<TargetMachine, CodegenError> {
    initialise();
    let bug = |reason: String| CodegenError::bug("llvm target machine", reason);
    let triple = triple(target.arch);
    let llvm_target = Target::from_triple(&triple).map_err(|message| bug(message.to_string()))?;
    let features: Vec<String> = target.features.iter().map(|f| format!("+{f}")).collect();
    let options = TargetMachineOptions::new()
        .set_cpu(base_cpu(target.arch))
        .set_features(&features.join(","))
        .set_level(OptimizationLevel::Default)
        .set_reloc_mode(RelocMode::PIC)
        .set_code_model(CodeModel::Small);
    llvm_target
        .create_target_machine_from_options(&triple, options)
        .ok_or_else(|| bug(format!("llvm has no machine for {}", target.cpu)))
}

/// Object or assembly bytes of a module.
pub(crate) fn emit(module: &Module<'_>, machine: &TargetMachine, kind: FileType) -> Result<Vec<u8>, CodegenError> {
    machine
        .write_to_memory_buffer(module, kind)
        .map(|buffer| buffer.as_slice().to_vec())
        .map_err(|message| CodegenError::bug("llvm emission", message))
}

/// Name and features (those that are there, LLVM's names) of the CPU this process runs on.
pub(crate) fn host_cpu() -> (String, Vec<String>) {
    let name = TargetMachine::get_host_cpu_name().to_string();
    let features = TargetMachine::get_host_cpu_features().to_string();
    (name, features.split(',').filter_map(|f| f.strip_prefix('+')).map(str::to_owned).collect())
}

fn initialise() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        Target::initialize_x86(&InitializationConfig::default());
        Target::initialize_aarch64(&InitializationConfig::default());
    });
}
