//! The C header of a library.

use std::fmt::Write;

use neap_runtime::program::{DType, Program, TensorInfo};

use super::names::members;
use super::{Layout, Names};

/// The header's text.
pub fn text(names: &Names, program: &Program, layout: &Layout) -> String {
    let m = &names.prefix;
    let upper = m.to_ascii_uppercase();
    let mut out = String::new();
    let (parameter, argument) = match names.weights {
        Some(_) => (", const void *weights", "; weights from <m>_weights_open"),
        None => ("", ""),
    };
    let intro = include_str!("intro.txt");
    out.push_str(&intro.replace("{code}", &format!("{} code for {}", program.arch, comment(&program.cpu))));
    let _ =
        writeln!(out, "#ifndef NEAP_{upper}_H\n#define NEAP_{upper}_H\n\n#include <stddef.h>\n#include <stdint.h>\n");
    let _ = writeln!(out, "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n");
    let _ = writeln!(out, "/* Bytes of the arena of a run on one thread, and what it must be aligned to. */");
    let _ = writeln!(out, "#define {upper}_ARENA_BYTES ((size_t){})", layout.arena);
    let _ = writeln!(out, "#define {upper}_ARENA_ALIGN ((size_t){})", neap_runtime::abi::ALIGN);
    let _ = writeln!(out, "/* Bytes that a context holds for each thread after the first. */");
    let _ = writeln!(out, "#define {upper}_THREAD_BYTES ((size_t){})", layout.stride);
    let _ = writeln!(out, "/* Bytes of the weights. */\n#define {upper}_WEIGHT_BYTES ((size_t){})\n", layout.weights);
    side(&mut out, m, "input", &program.inputs, "const ");
    side(&mut out, m, "output", &program.outputs, "");
    let mut api = include_str!("api.txt").replace("{weights}", parameter);
    api = api.replace("{note}", &argument.replace("<m>", m));
    if names.weights.is_some() {
        api = format!("{}{api}", include_str!("weights.txt"));
    }
    out.push_str(&api.replace("{m}", m).replace("{M}", &upper));
    let _ = writeln!(out, "\n#ifdef __cplusplus\n}}\n#endif\n\n#endif");
    out
}

/// The sizes of a side's tensors, and the struct that points to them.
fn side(out: &mut String, m: &str, side: &str, tensors: &[TensorInfo], qualifier: &str) {
    let members = members(tensors.iter().map(|t| t.name.as_str()));
    let upper = m.to_ascii_uppercase();
    for (t, member) in tensors.iter().zip(&members) {
        let constant = format!("{upper}_{}_{member}", side.to_ascii_uppercase());
        let _ = writeln!(out, "/* {side} '{}': {}{:?} */", comment(&t.name), t.dtype.name(), t.dims);
        let _ = writeln!(out, "#define {constant}_RANK {}", t.dims.len());
        for (axis, n) in t.dims.iter().enumerate() {
            let _ = writeln!(out, "#define {constant}_DIM{axis} {n}");
        }
        let elements: u64 = t.dims.iter().product();
        let _ = writeln!(out, "#define {constant}_ELEMENTS ((size_t){elements})");
        let _ = writeln!(out, "#define {constant}_BYTES ((size_t){})", elements * t.dtype.size());
    }
    let _ =
        writeln!(out, "\n/* The {side}s, row-major, each aligned to its element. */\ntypedef struct {m}_{side}s {{");
    for (t, member) in tensors.iter().zip(&members) {
        let _ = writeln!(out, "    {qualifier}{} *{member}; /* {}{:?} */", c_type(t.dtype), t.dtype.name(), t.dims);
    }
    if tensors.is_empty() {
        out.push_str("    const void *none; /* the model has none */\n");
    }
    let _ = writeln!(out, "}} {m}_{side}s;\n");
}

fn c_type(t: DType) -> &'static str {
    match t {
        DType::F32 => "float",
        DType::F64 => "double",
        // Neither C nor C++ has these everywhere: the bits.
        DType::F16 | DType::BF16 | DType::U16 => "uint16_t",
        DType::I8 => "int8_t",
        DType::I16 => "int16_t",
        DType::I32 => "int32_t",
        DType::I64 => "int64_t",
        // 0 or 1; the size of C's bool is not fixed.
        DType::U8 | DType::Bool => "uint8_t",
        DType::U32 => "uint32_t",
        DType::U64 => "uint64_t",
    }
}

/// Text that may stand in a comment.
fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *").chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
