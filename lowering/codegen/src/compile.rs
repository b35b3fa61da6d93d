//! The front door: legality, then the target's back end.

use crate::{CodegenError, ObjectCode, context, cranelift, legality, llvm, soft_fma};
use melior::ir::Module;
use neap_spec::{Backend, CpuTarget};
use std::time::Instant;

/// What text to give beside the object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Emit {
    /// None.
    #[default]
    Object,
    /// Optimised LLVM IR; LLVM only.
    Llvm,
    /// Assembly.
    Asm,
    /// Cranelift's IR; Cranelift only.
    Clif,
}

/// A compiled module.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Its code.
    pub object: ObjectCode,
    /// The text asked for, where the back end has it.
    pub text: Option<String>,
}

/// Compiles every stage of an explicit-level module.
///
/// # Errors
/// An operation outside the explicit level, or a target without what the kernels need.
pub fn compile(module: &Module<'_>, target: &CpuTarget, emit: Emit) -> Result<Compiled, CodegenError> {
    let start = Instant::now();
    let stages = legality::check(module)?;
    let expanded = if target.fma { None } else { Some(soft_fma::expand(module)?) };
    let module = expanded.as_ref().unwrap_or(module);
    let compiled = match target.backend {
        Backend::Llvm => llvm::compile(module, &stages, target, emit),
        Backend::Cranelift => cranelift::compile(module, &stages, target, emit),
    }?;
    let names: Vec<&str> = stages.iter().map(|s| s.name.as_str()).collect();
    tracing::debug!(stages = names.join(", "), bytes = compiled.object.size(), elapsed = ?start.elapsed(), "compiled");
    Ok(compiled)
}

/// Parses MLIR text or bytecode in a context of its own and compiles it.
///
/// # Errors
/// As [`compile`], and what MLIR says of the source.
pub fn compile_source(source: &[u8], target: &CpuTarget, emit: Emit) -> Result<Compiled, CodegenError> {
    let context = neap_mlir::context();
    let module = context::parse(&context, source)?;
    compile(&module, target, emit)
}
