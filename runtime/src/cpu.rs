//! Whether this machine can run an artefact's code.

use crate::error::Error;
use crate::program::Program;

/// Refuses code for another instruction set, or for a CPU feature that this machine (or its operating system) lacks.
pub(crate) fn check(label: &str, program: &Program) -> Result<(), Error> {
    let host = std::env::consts::ARCH;
    if program.arch != host {
        return Err(Error::Arch { path: label.into(), arch: program.arch.clone(), host });
    }
    match program.features.iter().find(|f| !has(f)) {
        Some(feature) => Err(Error::Feature { path: label.into(), feature: feature.clone() }),
        None => Ok(()),
    }
}

/// Features that compiled kernels never use, though LLVM lists them for a CPU: what every x86-64 has, and what only an
/// operating system or a special intrinsic uses.
const UNUSED: &[&str] = &[
    "64bit",
    "64bit-mode",
    "branch-hint",
    "cldemote",
    "clflushopt",
    "clwb",
    "clzero",
    "cmov",
    "cmpccxadd",
    "crc32",
    "cx8",
    "enqcmd",
    "ermsb",
    "evex512",
    "fsgsbase",
    "fsrm",
    "hreset",
    "invpcid",
    "lwp",
    "mmx",
    "movdir64b",
    "movdiri",
    "movrs",
    "mwaitx",
    "nopl",
    "pconfig",
    "pku",
    "prefetchi",
    "prfchw",
    "ptwrite",
    "raoint",
    "rdpid",
    "rdpru",
    "sahf",
    "serialize",
    "sgx",
    "shstk",
    "tsxldtrk",
    "uintr",
    "usermsr",
    "vzeroupper",
    "waitpkg",
    "wbnoinvd",
    "x87",
];

/// Starts of the names of tuning hints, and of the tile instructions, which kernels do not use.
const UNUSED_STARTS: &[&str] =
    &["fast-", "slow-", "prefer-", "no-bypass-", "allow-light-", "false-deps-", "idivl-", "idivq-", "tuning-", "amx-"];

fn unused(feature: &str) -> bool {
    UNUSED.contains(&feature) || UNUSED_STARTS.iter().any(|start| feature.starts_with(start))
}

/// Whether the feature, by its LLVM name, may be relied on here. A name this runtime does not know is not.
#[cfg(target_arch = "x86_64")]
pub fn has(feature: &str) -> bool {
    macro_rules! detect {
        ($($llvm:literal => $rust:tt),* $(,)?) => {
            match feature {
                $($llvm => std::arch::is_x86_feature_detected!($rust),)*
                other => unused(other) || newer(other),
            }
        };
    }
    detect!(
        "adx" => "adx", "aes" => "aes", "avx" => "avx", "avx2" => "avx2", "avx512bf16" => "avx512bf16",
        "avx512bitalg" => "avx512bitalg", "avx512bw" => "avx512bw", "avx512cd" => "avx512cd",
        "avx512dq" => "avx512dq", "avx512f" => "avx512f", "avx512fp16" => "avx512fp16",
        "avx512ifma" => "avx512ifma", "avx512vbmi" => "avx512vbmi", "avx512vbmi2" => "avx512vbmi2",
        "avx512vl" => "avx512vl", "avx512vnni" => "avx512vnni", "avx512vp2intersect" => "avx512vp2intersect",
        "avx512vpopcntdq" => "avx512vpopcntdq", "avxifma" => "avxifma", "avxneconvert" => "avxneconvert",
        "avxvnni" => "avxvnni", "avxvnniint16" => "avxvnniint16", "avxvnniint8" => "avxvnniint8", "bmi" => "bmi1",
        "bmi2" => "bmi2", "cx16" => "cmpxchg16b", "f16c" => "f16c", "fma" => "fma", "fxsr" => "fxsr",
        "gfni" => "gfni", "kl" => "kl", "lzcnt" => "lzcnt", "movbe" => "movbe", "pclmul" => "pclmulqdq",
        "popcnt" => "popcnt", "rdrnd" => "rdrand", "rdseed" => "rdseed", "rtm" => "rtm", "sha" => "sha",
        "sha512" => "sha512", "sm3" => "sm3", "sm4" => "sm4", "sse" => "sse", "sse2" => "sse2", "sse3" => "sse3",
        "sse4.1" => "sse4.1", "sse4.2" => "sse4.2", "sse4a" => "sse4a", "ssse3" => "ssse3", "tbm" => "tbm",
        "vaes" => "vaes", "vpclmulqdq" => "vpclmulqdq", "widekl" => "widekl", "xsave" => "xsave",
        "xsavec" => "xsavec", "xsaveopt" => "xsaveopt", "xsaves" => "xsaves",
    )
}

/// Features that the standard library does not yet detect: AVX10 (which needs the same state as AVX-512) and APX.
#[cfg(target_arch = "x86_64")]
fn newer(feature: &str) -> bool {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    let edx = if __cpuid(0).eax >= 7 { __cpuid_count(7, 1).edx } else { 0 };
    let avx10 = |version| {
        let there = edx >> 19 & 1 == 1 && std::arch::is_x86_feature_detected!("avx512f");
        there && __cpuid_count(0x24, 0).ebx & 0xff >= version
    };
    match feature {
        "avx10.1" | "avx10.1-512" => avx10(1),
        "avx10.2" | "avx10.2-512" => avx10(2),
        "ccmp" | "cf" | "egpr" | "ndd" | "nf" | "ppx" | "push2pop2" | "zu" => {
            edx >> 21 & 1 == 1 && saves_apx_registers()
        }
        _ => false,
    }
}

/// Whether the operating system keeps the registers that APX adds.
#[cfg(target_arch = "x86_64")]
fn saves_apx_registers() -> bool {
    // AVX is detected only if `xgetbv` may be used.
    if !std::arch::is_x86_feature_detected!("avx") {
        return false;
    }
    let low: u32;
    // SAFETY: reads register XCR0, as checked above; clobbers only what it says.
    unsafe { std::arch::asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") _, options(nomem, nostack)) };
    low >> 19 & 1 == 1
}

/// Whether the feature, by its LLVM name, may be relied on here: on this architecture no code is made for more than its
/// baseline.
#[cfg(not(target_arch = "x86_64"))]
pub fn has(feature: &str) -> bool {
    unused(feature)
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::has;

    #[test]
    fn baseline_is_there_and_the_unknown_is_not() {
        assert!(has("sse2") && has("cmov") && has("fast-gather"));
        assert!(!has("avx4096f") && !has(""));
        assert!(!has("avx10.1") || has("avx512bw"), "AVX10 includes AVX-512");
    }
}
