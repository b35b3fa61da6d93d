//! Which code generators and CPUs this machine can run.

use neap_codegen::{host_target, named_target};
use neap_spec::{Backend, CpuTarget};

/// One way to make machine code.
#[derive(Clone, Debug)]
pub struct BackEnd {
    /// For reports.
    pub name: &'static str,
    /// What to compile for.
    pub target: CpuTarget,
}

/// All that run here: Cranelift, LLVM for x86-64-v3 (256 bits, edges peeled), and LLVM for this machine (where it has AVX-512:
/// 512 bits, edges masked). Code for a level this machine lacks is compiled by the code generator's own tests only.
pub fn all() -> Vec<BackEnd> {
    let host = host_target(Backend::Llvm);
    let mut out = vec![BackEnd { name: "cranelift", target: host_target(Backend::Cranelift) }];
    if let Ok(target) = named_target("x86-64-v3", Backend::Llvm) {
        // Some features of the levels have no bit of their own that the host reports.
        let vital = ["avx2", "bmi2", "fma"];
        let runs = vital.iter().all(|f| host.features.iter().any(|h| h == f));
        if runs && host.vector_bits > 256 {
            out.push(BackEnd { name: "llvm x86-64-v3", target });
        }
    }
    out.push(BackEnd { name: "llvm native", target: host });
    out
}
