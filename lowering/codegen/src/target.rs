//! Which CPU code is made for: the host, one of the x86-64 levels, or any 64-bit Arm CPU.

use crate::{CodegenError, llvm};
use neap_spec::{Arch, Backend, CpuTarget};
use std::{fs, path::Path};

/// Bytes of the caches that a schedule may count on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Caches {
    l1: u64,
    l2: u64,
    l3: u64,
}

/// What every CPU of the named levels is taken to have, so that code for a name is the same on every machine.
const COMMON_CACHES: Caches = Caches { l1: 32 << 10, l2: 512 << 10, l3: 8 << 20 };

/// Features of x86-64-v2 above the base level, by their LLVM names.
const V2: &[&str] = &[
    "cmov", "crc32", "cx16", "cx8", "fxsr", "mmx", "popcnt", "sahf", "sse", "sse2", "sse3", "sse4.1", "sse4.2",
    "ssse3", "x87",
];
/// What x86-64-v3 adds.
const V3: &[&str] = &["avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"];
/// What x86-64-v4 adds.
const V4: &[&str] = &["avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl", "evex512"];

/// Versions of LLVM and of Cranelift that make the code.
pub fn versions() -> (String, &'static str) {
    let (major, minor, patch) = inkwell::support::get_llvm_version();
    (format!("{major}.{minor}.{patch}"), cranelift_codegen::VERSION)
}

/// The CPU this process runs on.
pub fn host_target(backend: Backend) -> CpuTarget {
    let (cpu, features) = llvm::host_cpu();
    describe(cpu, features, host_caches(), backend)
}

/// A CPU by name: `native`, `x86-64-v2`, `x86-64-v3` or `x86-64-v4`.
///
/// # Errors
/// Lists the names there are.
pub fn named_target(name: &str, backend: Backend) -> Result<CpuTarget, CodegenError> {
    let levels: &[&[&str]] = match name {
        "native" => return Ok(host_target(backend)),
        "x86-64-v2" => &[V2],
        "x86-64-v3" => &[V2, V3],
        "x86-64-v4" => &[V2, V3, V4],
        _ => {
            return Err(CodegenError::Target {
                cpu: name.to_owned(),
                reason: "not known; use native, x86-64-v2, x86-64-v3 or x86-64-v4".to_owned(),
            });
        }
    };
    let features = levels.concat().into_iter().map(str::to_owned).collect();
    Ok(describe(name.to_owned(), features, COMMON_CACHES, backend))
}

/// Every 64-bit Arm CPU: Armv8.0, whose NEON vectors have 128 bits and a fused multiply-add. LLVM alone makes code for it.
pub fn aarch64_target() -> CpuTarget {
    let Caches { l1, l2, l3 } = COMMON_CACHES;
    CpuTarget {
        cpu: "generic".to_owned(),
        arch: Arch::Aarch64,
        features: vec!["fp-armv8".to_owned(), "neon".to_owned()],
        backend: Backend::Llvm,
        vector_bits: 128,
        vector_registers: 32,
        masked_memory: false,
        fma: true,
        l1,
        l2,
        l3,
    }
}

fn describe(cpu: String, mut features: Vec<String>, caches: Caches, backend: Backend) -> CpuTarget {
    features.sort();
    features.dedup();
    let has = |name: &str| features.binary_search_by(|f| f.as_str().cmp(name)).is_ok();
    let fma = has("fma");
    let avx512 = ["avx512f", "avx512vl", "avx512bw", "avx512dq"].into_iter().all(has);
    let (vector_bits, vector_registers, masked_memory) = match backend {
        // Its vectors have 128 bits; it encodes with AVX where it is there, but sees 16 registers.
        Backend::Cranelift => (128, 16, true),
        Backend::Llvm if avx512 => (512, 32, true),
        Backend::Llvm if has("avx2") => (256, 16, false),
        Backend::Llvm => (128, 16, false),
    };
    let Caches { l1, l2, l3 } = caches;
    CpuTarget {
        cpu,
        arch: Arch::X86_64,
        features,
        backend,
        vector_bits,
        vector_registers,
        masked_memory,
        fma,
        l1,
        l2,
        l3,
    }
}

fn host_caches() -> Caches {
    let mut caches = COMMON_CACHES;
    let Ok(entries) = fs::read_dir("/sys/devices/system/cpu/cpu0/cache") else { return caches };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let Some((level, bytes)) = read_cache(&path) else { continue };
        match level {
            1 => caches.l1 = bytes,
            2 => caches.l2 = bytes,
            3 => caches.l3 = bytes,
            _ => {}
        }
    }
    caches
}

/// Level and bytes of a data or unified cache.
fn read_cache(path: &Path) -> Option<(u32, u64)> {
    let read = |file: &str| fs::read_to_string(path.join(file)).ok().map(|text| text.trim().to_owned());
    if read("type")? == "Instruction" {
        return None;
    }
    Some((read("level")?.parse().ok()?, parse_size(&read("size")?)?))
}

/// `1024K` and the like, in bytes.
fn parse_size(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let shift = match unit {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return None,
    };
    Some(number.parse::<u64>().ok()? << shift)
}
