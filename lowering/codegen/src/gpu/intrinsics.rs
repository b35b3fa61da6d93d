//! Intrinsics in place of NVIDIA's libdevice, which is not linked: each of these is one instruction or a short sequence.

use crate::CodegenError;
use inkwell::{intrinsics::Intrinsic, module::Module};

/// Names in libdevice without its prefix, and LLVM's; names with a final `f` are for f32.
const FUNCTIONS: &[(&str, &str)] = &[
    ("ceil", "llvm.ceil"),
    ("copysign", "llvm.copysign"),
    ("fabs", "llvm.fabs"),
    ("floor", "llvm.floor"),
    ("fma", "llvm.fma"),
    ("rint", "llvm.roundeven"),
    ("sqrt", "llvm.sqrt"),
    ("trunc", "llvm.trunc"),
];

/// Replaces the library functions that the explicit level may reach.
pub(super) fn replace_libdevice(ir: &Module<'_>) -> Result<(), CodegenError> {
    for (name, intrinsic) in FUNCTIONS {
        for suffix in ["f", ""] {
            let Some(library) = ir.get_function(&format!("__nv_{name}{suffix}")) else { continue };
            let missing = || CodegenError::bug("gpu intrinsics", format!("llvm has no {intrinsic}"));
            let ty = library.get_type().get_return_type().ok_or_else(missing)?;
            let own = Intrinsic::find(intrinsic).and_then(|i| i.get_declaration(ir, &[ty])).ok_or_else(missing)?;
            library.replace_all_uses_with(own);
            // SAFETY: nothing uses it any more.
            unsafe { library.delete() };
        }
    }
    Ok(())
}
