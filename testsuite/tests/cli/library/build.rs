//! C programs around libraries, made from their headers and run.

use std::fmt::Write;
use std::process::Command;

use crate::neap::Place;
use crate::numpy::{npy, npz};

/// A library of a model, with inputs stored for C and what `neap run` makes of them.
pub struct Use {
    prefix: String,
    /// Names and bytes, in order.
    outputs: Vec<(String, u64)>,
    expected: Vec<Vec<u8>>,
}

/// A tensor as the header tells of it: ONNX name, type, dims.
type Told = (String, String, Vec<u64>);

fn told(header: &str, side: &str) -> Vec<Told> {
    let begin = format!("/* {side} '");
    let tensors = header.lines().filter_map(|l| l.strip_prefix(&begin)?.strip_suffix("] */"));
    let parts = tensors.filter_map(|t| {
        let (name, ty) = t.split_once("': ")?;
        let (dtype, dims) = ty.split_once('[')?;
        Some((name.into(), dtype.into(), dims.split(", ").filter_map(|d| d.parse().ok()).collect()))
    });
    parts.collect()
}

fn elements(t: &Told) -> u64 {
    t.2.iter().product()
}

fn size(t: &Told) -> u64 {
    if t.1 == "i64" { 8 } else { 4 }
}

impl Use {
    /// Compiles a model of the zoo, and writes a function in C that runs it on stored inputs.
    pub fn compile(place: &Place, model: &str, prefix: &str, options: &str) -> Result<Use, String> {
        place.succeed(&format!("zoo {model} --small -o {prefix}.onnx"))?;
        let made = place.succeed(&format!("compile {prefix}.onnx {options}"))?;
        let header = String::from_utf8(place.read(&format!("{prefix}.h"))?).map_err(|e| e.to_string())?;
        if !made.lines().any(|l| l == format!("{prefix}.h")) {
            return Err(format!("the header is not among what was written:\n{made}"));
        }
        let (inputs, outputs) = (told(&header, "input"), told(&header, "output"));
        let mut stored = vec![];
        for (i, t) in inputs.iter().enumerate() {
            let mut state = i as u32 + 1;
            let mut data = vec![];
            for _ in 0..elements(t) {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                match t.1.as_str() {
                    "f32" => data.extend(((state >> 8) as f32 / (1 << 23) as f32 - 1.0).to_le_bytes()),
                    "i64" => data.extend(i64::from(state >> 31).to_le_bytes()),
                    other => return Err(format!("no test inputs of {other}")),
                }
            }
            place.write(&format!("{prefix}_in{i}"), &data)?;
            stored.push((t.0.as_str(), npy(if t.1 == "i64" { "<i8" } else { "<f4" }, &t.2, &data)));
        }
        place.write("in.npz", npz(&stored))?;
        let mut flags: Vec<&str> = vec![];
        let words: Vec<&str> = options.split_whitespace().collect();
        for pair in words.windows(2).filter(|p| ["--backend", "--target-cpu"].contains(&p[0])) {
            flags.extend(pair);
        }
        place.succeed(&format!("run {prefix}.onnx {} --inputs in.npz --output-dir {prefix}_out", flags.join(" ")))?;
        let mut expected = vec![];
        for t in &outputs {
            let safe: String =
                t.0.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
            let file = place.read(&format!("{prefix}_out/{safe}.npy"))?;
            let head = u16::from_le_bytes([file[8], file[9]]) as usize;
            expected.push(file[10 + head..].to_vec());
        }
        let beside = header.contains("_weights_open");
        place.write(&format!("use_{prefix}.c"), source(prefix, &inputs, &outputs, beside)?)?;
        let outputs = outputs.iter().map(|t| (t.0.clone(), elements(t) * size(t))).collect();
        Ok(Use { prefix: prefix.into(), outputs, expected })
    }

    /// Compares what a caller wrote with what `neap run` gives.
    pub fn check(&self, place: &Place, caller: &str, how: &str) -> Result<(), String> {
        for (i, ((name, bytes), expected)) in self.outputs.iter().zip(&self.expected).enumerate() {
            let file = format!("{}_out{i}.{caller}", self.prefix);
            let found = place.read(&file)?;
            std::fs::remove_file(place.path(&file)).map_err(|e| e.to_string())?;
            if found.len() as u64 != *bytes || found != *expected {
                return Err(format!("{how}: output '{name}' has other bits than `neap run` gives"));
            }
        }
        Ok(())
    }
}

/// `int use_<prefix>(threads, caller)`: 0 threads means without a context.
fn source(m: &str, inputs: &[Told], outputs: &[Told], beside: bool) -> Result<String, String> {
    let mut body = String::new();
    let mut line = |text: String| writeln!(body, "    {text}").map_err(|e| e.to_string());
    for (i, t) in inputs.iter().enumerate() {
        line(format!("void *in{i} = load(\"{m}_in{i}\", {});", elements(t) * size(t)))?;
    }
    for (i, t) in outputs.iter().enumerate() {
        line(format!("void *out{i} = memory({});", elements(t) * size(t)))?;
    }
    let list = |side: &str, n: usize| (0..n).map(|i| format!("{side}{i}")).collect::<Vec<_>>().join(", ");
    line(format!("{m}_inputs in = {{{}}};", list("in", inputs.len())))?;
    line(format!("{m}_outputs out = {{{}}};", list("out", outputs.len())))?;
    let (open, close, weights) = if beside {
        let open = format!(
            "const void *weights = {m}_weights_open(\"{m}.weights\"); if (!weights) return fail(\"no weights\");"
        );
        (open, format!("{m}_weights_close(weights);"), ", weights")
    } else {
        (String::new(), String::new(), "")
    };
    line(open)?;
    line("if (threads == 0) {".into())?;
    line(format!("    void *arena = memory({}_ARENA_BYTES);", m.to_uppercase()))?;
    line(format!("    for (int i = 0; i < 3; i++) if ({m}_run(&in, &out, arena{weights})) return fail(\"run\");"))?;
    line("    free(arena);".into())?;
    line("} else {".into())?;
    line(format!("    {m}_context *context = {m}_create(threads{weights});"))?;
    line("    if (!context) return fail(\"create\");".into())?;
    line(format!("    for (int i = 0; i < 30; i++) if ({m}_run_mt(context, &in, &out)) return fail(\"run_mt\");"))?;
    line(format!("    {m}_destroy(context);"))?;
    line("}".into())?;
    line(close)?;
    for (i, t) in outputs.iter().enumerate() {
        line(format!("if (save(\"{m}_out{i}\", caller, out{i}, {})) return 1;", elements(t) * size(t)))?;
        line(format!("free(out{i});"))?;
    }
    (0..inputs.len()).try_for_each(|i| line(format!("free(in{i});")))?;
    line("return 0;".into())?;
    Ok(format!(
        "#include \"{m}.h\"\n{}\nint use_{m}(unsigned threads, int caller) {{\n{body}}}\n",
        include_str!("files.c")
    ))
}

/// Compiles sources with a `main` that runs `callers` threads at once, each using every library.
pub fn cc(place: &Place, program: &str, sources: &[&str], uses: &[&Use], callers: u32) -> Result<(), String> {
    write_main(place, uses, callers)?;
    let flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", program];
    tool(place, "cc", &[&flags[..], sources].concat()).map(drop)
}

/// Writes `main.c`.
pub fn write_main(place: &Place, uses: &[&Use], callers: u32) -> Result<(), String> {
    let declared: String = uses.iter().map(|u| format!("int use_{}(unsigned, int);\n", u.prefix)).collect();
    let called: Vec<String> = uses.iter().map(|u| format!("use_{}(threads, *(int *)caller)", u.prefix)).collect();
    let main = include_str!("main.c").replace("DECLARED", &declared);
    place.write("main.c", main.replace("CALLED", &called.join(" || ")).replace("CALLERS", &callers.to_string()))
}

/// Runs a program in the folder and gives its standard output.
pub fn tool(place: &Place, program: &str, args: &[&str]) -> Result<String, String> {
    let path = if program.contains('/') { place.path(program) } else { program.into() };
    let out = Command::new(path).args(args).current_dir(place.path(".")).output();
    let out = out.map_err(|e| format!("{program}: {e}"))?;
    let (said, wrong) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    if out.status.success() {
        Ok(said.into())
    } else {
        Err(format!("{program} {args:?}: {}\n{said}{wrong}", out.status))
    }
}

/// A library exports the model's functions alone, and needs nothing but the C library's.
pub fn symbols(place: &Place, library: &str, prefix: &str) -> Result<(), String> {
    const LIBC: &[&str] = &[
        "aligned_alloc",
        "free",
        "pthread_create",
        "pthread_join",
        "syscall",
        "sysconf",
        "open",
        "close",
        "lseek",
        "mmap",
        "munmap",
        "memcmp",
        "memcpy",
        "memset",
        "memmove",
    ];
    for line in tool(place, "nm", &["-D", "--undefined-only", library])?.lines() {
        let name = line.split_whitespace().last().unwrap_or_default();
        if !LIBC.contains(&name) {
            return Err(format!("{library} needs {name}"));
        }
    }
    let exported = tool(place, "nm", &["-D", "--defined-only", library])?;
    let mut names: Vec<&str> = exported.lines().filter_map(|l| l.split_whitespace().last()).collect();
    names.retain(|n| !n.contains("_weights_"));
    names.sort_unstable();
    let expected = ["create", "destroy", "run", "run_mt"].map(|f| format!("{prefix}_{f}"));
    if names != expected { Err(format!("{library} exports {names:?}")) } else { Ok(()) }
}
