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

/// Optimises a module in place.
pub(crate) fn run(module: &Module<'_>, machine: &TargetMachine) -> Result<(), CodegenError> {
    let bug = |reason: String| CodegenError::bug("llvm optimisation", reason);
    if cfg!(debug_assertions) {
        module.verify().map_err(|message| bug(message.to_string()))?;
    }
    let options = PassBuilderOptions::create();
    options.set_verify_each(false);
    module.run_passes(PASSES, machine, options).map_err(|message| bug(message.to_string()))
}
