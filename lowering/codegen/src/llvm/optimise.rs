//! The LLVM passes that kernels need.

use crate::CodegenError;
use inkwell::{module::Module, passes::PassBuilderOptions, targets::TargetMachine};

/// Kernels arrive vectorised, tiled and unrolled, so what is left is: fold the memref descriptors away before inlining
/// (alias scopes are built from the pointers seen then), then scalar clean-up. Vectorisers, unrolling and idiom
/// recognition are left out: they would undo register tiles, cost compile time or call memset.
const PASSES: &str = "function(instsimplify),always-inline,globaldce,\
    function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,\
    loop-mssa(loop-rotate,licm),early-cse<memssa>,instcombine<no-verify-fixpoint>,\
    loop(indvars,loop-deletion),gvn,loop-mssa(licm),dse,\
    instcombine<no-verify-fixpoint>,simplifycfg,adce)";

/// Optimises kernels in place.
pub(crate) fn run(module: &Module<'_>, machine: &TargetMachine) -> Result<(), CodegenError> {
    if cfg!(debug_assertions) {
        module.verify().map_err(|message| bug(message.to_string()))?;
    }
    pipeline(module, machine, PASSES)
}

/// Optimises what is not a kernel in place, as compilers of C do.
pub(crate) fn light(module: &Module<'_>, machine: &TargetMachine) -> Result<(), CodegenError> {
    pipeline(module, machine, "default<O1>")
}

fn bug(reason: String) -> CodegenError {
    CodegenError::bug("llvm optimisation", reason)
}

fn pipeline(module: &Module<'_>, machine: &TargetMachine, passes: &str) -> Result<(), CodegenError> {
    let options = PassBuilderOptions::create();
    options.set_verify_each(false);
    module.run_passes(passes, machine, options).map_err(|message| bug(message.to_string()))
}
