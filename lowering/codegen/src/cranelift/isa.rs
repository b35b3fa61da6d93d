//! Cranelift's settings for a target.

use crate::CodegenError;
use cranelift_codegen::{
    isa::{self, OwnedTargetIsa},
    settings::{self, Configurable},
};
use neap_spec::CpuTarget;

/// Cranelift's names of LLVM's features; it has no use for the others.
const FEATURES: &[(&str, &str)] = &[
    ("avx", "has_avx"),
    ("avx2", "has_avx2"),
    ("avx512bitalg", "has_avx512bitalg"),
    ("avx512dq", "has_avx512dq"),
    ("avx512f", "has_avx512f"),
    ("avx512vbmi", "has_avx512vbmi"),
    ("avx512vl", "has_avx512vl"),
    ("avx512vnni", "has_avx512vnni"),
    ("avxvnni", "has_avx_vnni"),
    ("bmi", "has_bmi1"),
    ("bmi2", "has_bmi2"),
    ("cx16", "has_cmpxchg16b"),
    ("fma", "has_fma"),
    ("lzcnt", "has_lzcnt"),
    ("popcnt", "has_popcnt"),
    ("sse3", "has_sse3"),
    ("sse4.1", "has_sse41"),
    ("sse4.2", "has_sse42"),
    ("ssse3", "has_ssse3"),
];

/// Settings that are not Cranelift's defaults: fast code, position independent, nothing called.
const FLAGS: &[(&str, &str)] = &[
    ("opt_level", "speed"),
    ("is_pic", "true"),
    ("enable_probestack", "false"),
    ("unwind_info", "false"),
    ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
];

/// The instruction set of a target.
pub(super) fn isa(target: &CpuTarget) -> Result<OwnedTargetIsa, CodegenError> {
    let bug = |reason: String| CodegenError::bug("cranelift target", reason);
    let mut flags = settings::builder();
    for (name, value) in FLAGS {
        flags.set(name, value).map_err(|error| bug(error.to_string()))?;
    }
    let mut builder = isa::lookup_by_name("x86_64-unknown-linux").map_err(|error| bug(error.to_string()))?;
    for (_, name) in FEATURES.iter().filter(|(llvm, _)| target.features.iter().any(|f| f == llvm)) {
        builder.enable(name).map_err(|error| bug(error.to_string()))?;
    }
    builder.finish(settings::Flags::new(flags)).map_err(|error| bug(error.to_string()))
}
