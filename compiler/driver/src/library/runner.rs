//! The runner of a library as LLVM IR: the model's tables, then the support code.

use std::fmt::Write;
use std::path::Path;

use neap_runtime::program::{Place, Program};

use super::{DIGEST, Layout, Names};
use crate::failure::Failure;

/// The number of `futex`, and the code of what differs between instruction sets.
fn machine(arch: &str) -> Result<(u32, &'static str), Failure> {
    match arch {
        "x86_64" => Ok((202, include_str!("x86_64.ll"))),
        "aarch64" => Ok((98, include_str!("aarch64.ll"))),
        other => Err(Failure::new(format!("no libraries are made for {other}; for x86_64 and aarch64 they are"))),
    }
}

/// The module's text; code and weights are read from `folder` when it is assembled.
pub fn text(
    names: &Names,
    program: &Program,
    layout: &Layout,
    code: &[u8],
    folder: &Path,
    digest: Option<&[u8; DIGEST as usize]>,
) -> Result<String, Failure> {
    let (futex, own) = machine(&program.arch)?;
    let mut out = blobs(program, code, folder, digest.is_none())?;
    let tensors = program.inputs.len() + program.outputs.len();
    let buffers = program.launches.iter().map(|l| l.buffers.len()).max().unwrap_or(0).max(1);
    let (parameter, value) = if digest.is_some() { (", ptr %weights", "%weights") } else { ("", "@neap.weights") };
    let mut support = format!("{own}\n{}", include_str!("support.ll"));
    if let Some(digest) = digest {
        let bytes: String = digest.iter().map(|b| format!("\\{b:02x}")).collect();
        let _ = writeln!(out, "@digest = internal constant [{DIGEST} x i8] c\"{bytes}\"");
        support.push_str(include_str!("beside.ll"));
    }
    for (hole, filling) in [
        ("{name}", names.prefix.clone()),
        ("{inputs}", program.inputs.len().to_string()),
        ("{outputs}", program.outputs.len().to_string()),
        ("{tensors}", tensors.to_string()),
        ("{bases}", (tensors + 2).to_string()),
        ("{launches}", program.launches.len().to_string()),
        ("{max_buffers}", buffers.to_string()),
        ("{arena}", layout.arena.to_string()),
        ("{scratch}", layout.stride.to_string()),
        ("{futex}", futex.to_string()),
        ("{weights_parameter}", parameter.into()),
        ("{weights_value}", value.into()),
        ("{weight_bytes}", layout.weights.to_string()),
        ("{file_bytes}", (layout.weights + DIGEST).to_string()),
    ] {
        support = support.replace(hole, &filling);
    }
    out.push_str(&support);
    // After the types they are of.
    tables(&mut out, program, layout);
    Ok(out)
}

/// Code and weights as the assembler takes them in: it copies files, where IR would hold each byte in memory many times.
fn blobs(program: &Program, code: &[u8], folder: &Path, weights: bool) -> Result<String, Failure> {
    let folder = folder.to_str().filter(|f| !f.contains(['"', '\\', '\n']));
    let folder = folder.ok_or_else(|| Failure::new("the temporary folder's name is not plain text; set TMPDIR"))?;
    let mut out = String::new();
    let mut line = |text: &str| {
        let _ = writeln!(out, "module asm \"{}\"", text.replace('\\', "\\5c").replace('"', "\\22"));
    };
    line(".section .text.neap_kernels,\"ax\",@progbits");
    line(".p2align 12");
    line("neap.kernels:");
    // Local symbols, for profilers and debuggers.
    let mut entries: Vec<(u64, &str)> = program.launches.iter().map(|l| (l.entry, l.kernel.as_str())).collect();
    entries.sort_unstable();
    entries.dedup();
    for (at, kernel) in entries {
        let kernel = super::names::identifier(kernel);
        line(&format!(".type {kernel}, @function"));
        line(&format!(".set {kernel}, neap.kernels + {at}"));
    }
    if program.arch == "aarch64" {
        // There bytes are data to disassemblers, unless they are given as instructions.
        for words in code.chunks(4 * 16) {
            let words: Vec<String> = words.chunks(4).map(|w| format!("0x{:08x}", word(w))).collect();
            line(&format!(".inst {}", words.join(", ")));
        }
    } else {
        line(&format!(".incbin \"{folder}/code\""));
    }
    if weights {
        line(".section .rodata.neap_weights,\"a\",@progbits");
        line(".p2align 6");
        line("neap.weights:");
        line(&format!(".incbin \"{folder}/weights\""));
        // A label must lie in its section, which no linker drops, even where a model has no weights.
        line(".byte 0");
    }
    line(".text");
    out.push_str("@neap.kernels = external hidden constant i8\n");
    if weights {
        out.push_str("@neap.weights = external hidden constant i8\n");
    }
    Ok(out)
}

/// An instruction; what lacks bytes at the end is padded with zeros.
fn word(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |w, b| w << 8 | u32::from(*b))
}

/// The model as constants; the types are `support.ll`'s.
fn tables(out: &mut String, program: &Program, layout: &Layout) {
    let (mut launches, mut refs, mut sizes) = (vec![], vec![], vec![]);
    for (l, scratch) in program.launches.iter().zip(&layout.scratch) {
        launches.push(format!(
            "%launch {{ i64 {}, i64 {}, i64 {}, i64 {}, i64 {}, i64 {}, i64 {scratch} }}",
            l.entry,
            refs.len(),
            l.buffers.len(),
            sizes.len(),
            l.extent,
            l.grain.max(1)
        ));
        sizes.extend(l.dims.iter().map(|d| format!("i64 {d}")));
        refs.extend(l.buffers.iter().map(|b| {
            let (base, offset) = match b.place {
                Place::Arena(at) => (0, at),
                Place::Weight(at) => (1, at),
                Place::Input(i, at) => (2 + i as usize, at),
                Place::Output(i, at) => (2 + program.inputs.len() + i as usize, at),
            };
            format!("%ref {{ i64 {base}, i64 {offset} }}")
        }));
    }
    let tensors = program.inputs.iter().chain(&program.outputs);
    let tensors =
        tensors.map(|t| format!("%tensor {{ i64 {}, i64 {} }}", t.dtype.size() - 1, t.bytes().unwrap_or(u64::MAX / 2)));
    table(out, "launches", "%launch", &launches);
    table(out, "refs", "%ref", &refs);
    table(out, "dims", "i64", &sizes);
    table(out, "tensors", "%tensor", &tensors.collect::<Vec<_>>());
}

fn table(out: &mut String, name: &str, ty: &str, rows: &[String]) {
    let _ = writeln!(out, "@{name} = internal constant [{} x {ty}] [{}]", rows.len(), rows.join(", "));
}
