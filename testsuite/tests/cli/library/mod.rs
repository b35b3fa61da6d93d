//! Libraries for C: linked into C programs, they give the bits of `neap run`, need the C library alone, and share nothing.

mod build;

use libtest_mimic::Trial;

use crate::neap::Place;
use build::{Use, cc, symbols, tool, write_main};

/// Models small and unlike each other: many inputs, integers, several outputs, convolutions, recurrence. The last has launches
/// that are worth a thread each; what is smaller runs on one thread, however many there are.
const MODELS: &[&str] = &["resnet18", "mobilenet-v2", "bert-base", "gpt2-decode", "lstm", "moe", "unet --image 128"];

/// The trials.
pub fn trials() -> Vec<Trial> {
    if !cfg!(target_os = "linux") {
        return vec![];
    }
    let mut out = vec![];
    for backend in ["llvm", "cranelift"] {
        for model in MODELS {
            out.push(Trial::test(format!("cli library {model}, {backend}"), move || Ok(bits(model, backend, "")?)));
        }
    }
    out.push(Trial::test("cli library with weights beside", || {
        Ok(bits("resnet18", "llvm", "--weights beside").and_then(|()| foreign_weights())?)
    }));
    type Row = (&'static str, fn() -> Result<(), String>);
    let rows: [Row; 8] = [
        ("for the x86-64 levels", levels),
        ("cross builds", cross),
        ("refusals", refusals),
        ("two models in one program", two_models),
        ("two threads at once", at_once),
        ("example with cc", example),
        ("bad calls", bad_calls),
        ("no linker", no_linker),
    ];
    out.push(needing(&["cmake"], "example with cmake", cmake));
    let cross = ["aarch64-linux-gnu-gcc", "qemu-aarch64"];
    out.push(needing(&cross, "for aarch64, run by qemu, against x86-64's bits", emulated));
    out.extend(rows.into_iter().map(|(name, f)| Trial::test(format!("cli library {name}"), move || Ok(f()?))));
    out
}

/// A trial that needs programs; where one is not installed the trial is ignored, and its name says so.
fn needing(programs: &[&str], name: &str, f: fn() -> Result<(), String>) -> Trial {
    let missing = programs.iter().find(|p| std::process::Command::new(p).arg("--version").output().is_err());
    let why = missing.map_or(String::new(), |p| format!(" (skipped: {p} is not installed)"));
    Trial::test(format!("cli library {name}{why}"), move || Ok(f()?)).with_ignored_flag(missing.is_some())
}

/// A program against the `.so` gives the same bits as `neap run`, on one thread and two; the library needs libc alone.
fn bits(model: &str, backend: &str, options: &str) -> Result<(), String> {
    let place = Place::new()?;
    let library =
        Use::compile(&place, model, "model", &format!("--backend {backend} --emit so -o libmodel.so {options}"))?;
    symbols(&place, "libmodel.so", "model")?;
    cc(&place, "use", &["use_model.c", "main.c", "-L.", "-lmodel", "-Wl,-rpath,$ORIGIN"], &[&library], 1)?;
    // The header is C++ too.
    tool(&place, "c++", &["-std=c++11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", "model.h"])?;
    for threads in ["0", "1", "2", "3"] {
        tool(&place, "./use", &[threads])?;
        library.check(&place, "0", &format!("{model} on {threads} threads"))?;
    }
    Ok(())
}

fn foreign_weights() -> Result<(), String> {
    let place = Place::new()?;
    let library = Use::compile(&place, "resnet18", "model", "--emit so -o libmodel.so --weights beside")?;
    cc(&place, "use", &["use_model.c", "main.c", "-L.", "-lmodel", "-Wl,-rpath,$ORIGIN"], &[&library], 1)?;
    let whole = place.read("model.weights")?;
    for (what, bytes) in
        [("another's", [&whole[..whole.len() - 1], &[!whole[whole.len() - 1]]].concat()), ("cut", whole[1..].to_vec())]
    {
        place.write("model.weights", bytes)?;
        match tool(&place, "./use", &["1"]) {
            Err(e) if e.contains("no weights") => {}
            other => return Err(format!("weights that are {what}: expected a refusal, found {other:?}")),
        }
    }
    Ok(())
}

fn levels() -> Result<(), String> {
    let place = Place::new()?;
    let mut levels = vec!["x86-64-v2"];
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        levels.push("x86-64-v3");
    }
    for level in levels {
        let library =
            Use::compile(&place, "squeezenet", "model", &format!("--target-cpu {level} --emit so -o libmodel.so"))?;
        symbols(&place, "libmodel.so", "model")?;
        cc(&place, "use", &["use_model.c", "main.c", "-L.", "-lmodel", "-Wl,-rpath,$ORIGIN"], &[&library], 1)?;
        tool(&place, "./use", &["2"])?;
        library.check(&place, "0", level)?;
    }
    Ok(())
}

/// Every target is compiled and linked here, though it may not run here.
fn cross() -> Result<(), String> {
    let place = Place::new()?;
    place.succeed("zoo mobilenet-v2 --small -o model.onnx")?;
    for (target, machine) in [
        ("x86_64-linux-gnu", 62),
        ("x86_64-linux-gnu --target-cpu x86-64-v2", 62),
        ("x86_64-linux-gnu --target-cpu x86-64-v3", 62),
        ("x86_64-linux-gnu --target-cpu x86-64-v4", 62),
        ("aarch64-linux-gnu", 183),
    ] {
        place.succeed(&format!("compile model.onnx --target {target} --emit so -o libmodel.so"))?;
        symbols(&place, "libmodel.so", "model")?;
        let found = place.read("libmodel.so")?;
        if found[..4] != *b"\x7fELF" || u16::from_le_bytes([found[18], found[19]]) != machine {
            return Err(format!("--target {target} gives a library for another machine"));
        }
    }
    // NEON's fused multiply-add, from the kernels.
    let assembly = place.succeed("compile model.onnx --target aarch64-linux-gnu --emit asm")?;
    if assembly.contains("fmla\tv") { Ok(()) } else { Err("no NEON in the code for aarch64".into()) }
}

fn refusals() -> Result<(), String> {
    let place = Place::new()?;
    place.succeed("zoo squeezenet --small -o model.onnx")?;
    for (args, part) in [
        ("--target aarch64-linux-gnu --backend cranelift", "--backend llvm"),
        ("--target aarch64-linux-gnu --target-cpu x86-64-v3", "use generic"),
        ("--emit so --hold-outputs", "--hold-outputs"),
        ("--emit asm --weights beside", "--weights"),
    ] {
        let said = place.refuse(&format!("compile model.onnx {args} -o out/made"), 2)?;
        if !said.contains(part) {
            return Err(format!("{args}: expected `{part}` in {said}"));
        }
    }
    Ok(())
}

/// The same bits on another machine.
fn emulated() -> Result<(), String> {
    let place = Place::new()?;
    for model in ["resnet18", "mobilenet-v2", "bert-base", "gpt2-decode", "unet --image 128"] {
        let library = Use::compile(&place, model, "model", "--target aarch64-linux-gnu --emit so -o libmodel.so")?;
        write_main(&place, &[&library], 1)?;
        let sources = ["-std=c11", "-O1", "-pthread", "-o", "use", "use_model.c", "main.c", "libmodel.so"];
        tool(&place, "aarch64-linux-gnu-gcc", &sources)?;
        for threads in ["0", "2"] {
            tool(&place, "qemu-aarch64", &["-L", "/usr/aarch64-linux-gnu", "-E", "LD_LIBRARY_PATH=.", "use", threads])?;
            library.check(&place, "0", &format!("{model} on {threads} threads of aarch64"))?;
        }
    }
    Ok(())
}

/// Two objects linked into one program.
fn two_models() -> Result<(), String> {
    let place = Place::new()?;
    let one = Use::compile(&place, "resnet18", "one", "--emit obj --prefix one -o one.o")?;
    let two = Use::compile(&place, "lstm", "two", "--emit obj --prefix two -o two.o")?;
    cc(&place, "use", &["use_one.c", "use_two.c", "main.c", "one.o", "two.o"], &[&one, &two], 1)?;
    tool(&place, "./use", &["2"])?;
    one.check(&place, "0", "the first of two")?;
    two.check(&place, "0", "the second of two")
}

/// Threads that share a library, each with an arena or context of its own.
fn at_once() -> Result<(), String> {
    let place = Place::new()?;
    let library = Use::compile(&place, "unet --image 128", "model", "--emit so -o libmodel.so")?;
    cc(&place, "use", &["use_model.c", "main.c", "-L.", "-lmodel", "-Wl,-rpath,$ORIGIN"], &[&library], 3)?;
    for threads in ["0", "2"] {
        tool(&place, "./use", &[threads])?;
        for caller in ["0", "1", "2"] {
            library.check(&place, caller, &format!("caller {caller} of three, {threads} threads each"))?;
        }
    }
    Ok(())
}

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../runtime/examples/library");

fn example() -> Result<(), String> {
    let place = Place::new()?;
    place.succeed("zoo mobilenet-v2 --small -o model.onnx")?;
    place.succeed("compile model.onnx --emit so -o libmodel.so")?;
    let source = format!("{EXAMPLE}/classify.c");
    let flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-I.", &source, "-o", "classify", "-L.", "-lmodel"];
    tool(&place, "cc", &[&flags[..], &["-Wl,-rpath,$ORIGIN"]].concat())?;
    says_twice(&tool(&place, "./classify", &[])?)
}

fn cmake() -> Result<(), String> {
    let place = Place::new()?;
    place.succeed("zoo mobilenet-v2 --small -o model.onnx")?;
    place.succeed("compile model.onnx --emit so -o libmodel.so")?;
    let here = format!("-DMODEL_DIR={}", place.path(".").display());
    tool(&place, "cmake", &["-S", EXAMPLE, "-B", "build", &here])?;
    tool(&place, "cmake", &["--build", "build"])?;
    says_twice(&tool(&place, "build/classify", &[])?)
}

/// The example prints the arena's size, then the same result for one thread and two.
fn says_twice(text: &str) -> Result<(), String> {
    match text.lines().collect::<Vec<_>>().as_slice() {
        [arena, one, two] if arena.starts_with("arena: ") && one.starts_with("class ") && one == two => Ok(()),
        _ => Err(format!("the example prints {text}")),
    }
}

/// Null and unaligned pointers are refused.
fn bad_calls() -> Result<(), String> {
    let place = Place::new()?;
    place.succeed("zoo squeezenet --small -o model.onnx")?;
    place.succeed("compile model.onnx --emit obj -o model.o")?;
    place.write("bad.c", include_str!("bad.c"))?;
    tool(&place, "cc", &["-std=c11", "-Wall", "-Wextra", "-Werror", "bad.c", "model.o", "-o", "bad"])?;
    tool(&place, "./bad", &[]).map(drop)
}

fn no_linker() -> Result<(), String> {
    let place = Place::new()?;
    place.succeed("zoo squeezenet --small -o model.onnx")?;
    let mut command = std::process::Command::new(crate::neap::binary()?);
    command.args(["compile", "model.onnx", "--emit", "so", "-o", "out/libmodel.so"]).current_dir(place.path("."));
    let out = command.env("PATH", "").output().map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&out.stderr);
    if out.status.code() != Some(1) || !said.starts_with("error: no linker on the PATH") || said.lines().count() != 1 {
        return Err(format!("expected one line on the linker, found {said}"));
    }
    if place.left()?.is_empty() { Ok(()) } else { Err(format!("left {:?} behind", place.left()?)) }
}
