//! The example C program, compiled against the header and both libraries, runs an artefact.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{CODE, bytes, expected, floats, program, weights};
use neap_runtime::artefact::write;

const N: u64 = 32;

/// Where cargo put this test and the libraries it built along with it.
fn libraries() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_path_buf()
}

fn compile(dir: &Path, name: &str, link: &[&str]) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = dir.join(name);
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let output = Command::new(compiler)
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(here.join("include"))
        .arg(here.join("examples/c/run.c"))
        .arg("-o")
        .arg(&program)
        .args(link)
        .output()
        .expect("a C compiler is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

fn run(program: &Path, args: &[&Path]) -> Output {
    Command::new(program).args(args).output().unwrap()
}

#[test]
fn the_c_example_runs_an_artefact() {
    let dir = tempfile::tempdir().unwrap();
    let model = dir.path().join("m.neap");
    write(&model, &program(N), CODE, weights(N)).unwrap();
    let (a, b) = (floats(N, 1), floats(N, 2));
    let (a_file, b_file) = (dir.path().join("a.bin"), dir.path().join("b.bin"));
    fs::write(&a_file, bytes(&a)).unwrap();
    fs::write(&b_file, bytes(&b)).unwrap();

    let folder = libraries();
    let rpath = format!("-Wl,-rpath,{}", folder.display());
    let shared = compile(dir.path(), "shared", &["-L", folder.to_str().unwrap(), "-lneap_runtime", &rpath]);
    let archive = folder.join("libneap_runtime.a");
    let fixed = compile(dir.path(), "static", &[archive.to_str().unwrap(), "-lpthread", "-ldl", "-lm"]);

    let head: String = expected(&a, &b)[..4].iter().map(|y| format!("  {y}\n")).collect();
    let text = format!(
        "input a: dtype 0 [2, 16]\ninput b: dtype 0 [2, 16]\narena: {} bytes\noutput y: dtype 0 [2, 16]\n{head}",
        8 * N + 2 * 64
    );
    for program in [&shared, &fixed] {
        let output = run(program, &[&model, &a_file, &b_file]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stdout), text);

        let output = run(program, &[&a_file]);
        assert_eq!(output.status.code(), Some(1));
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains("a.bin: not a neap artefact") && error.lines().count() == 1, "{error}");
    }
}
