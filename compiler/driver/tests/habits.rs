//! What the commands do with options that contradict each other, with names and folders that do not fit, and when interrupted.

mod common;

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Bench, add, node, relu, value, with};

#[test]
fn options_that_contradict_each_other() {
    let bench = Bench::new();
    fs::write(bench.path("m.onnx"), bench.encode(&relu())).unwrap();
    bench.accepts(&["compile", "m.onnx", "-o", "m.neap"]);
    bench.npy("x.npy", "<f4", &[2, 3], 24);
    // An archive of that one array, stored.
    let npy = fs::read(bench.path("x.npy")).unwrap();
    fs::write(bench.path("x.npz"), stored_zip("x.npy", &npy)).unwrap();
    bench.accepts(&["run", "m.neap", "--inputs", "x.npz"]);
    bench.refuses(&["run", "m.neap", "--inputs", "x.npz", "--input", "x=x.npy"], 2, &["--inputs and --input", "'x'"]);
    bench.refuses(&["run", "m.neap", "--input", "x=x.npy", "--input", "x=x.npy"], 2, &["'x' twice"]);
    bench.refuses(&["compile", "m.onnx", "--emit", "asm", "--json"], 2, &["--emit", "--json"]);
    for level in ["llvm", "asm"] {
        bench.refuses(&["compile", "m.onnx", "--emit", level, "--backend", "cranelift"], 2, &["--backend llvm"]);
        assert!(bench.accepts(&["compile", "m.onnx", "--emit", level]).trim().len() > 100);
    }
    bench.refuses(&["compile", "m.onnx", "--emit", "clif"], 2, &["--backend cranelift"]);
    let clif = bench.accepts(&["compile", "m.onnx", "--emit", "clif", "--backend", "cranelift"]);
    assert!(clif.contains("function"), "{clif}");
    for option in [["--backend", "llvm"], ["--target-cpu", "native"], ["--passes", "graph-fuse"], ["--dim", "n=1"]] {
        for command in ["run", "bench"] {
            let args = [&[command, "m.neap", "--random", "1"][..], &option].concat();
            bench.refuses(&args, 2, &[option[0], "is for models", "artefact"]);
        }
    }
}

#[test]
fn outputs_that_have_no_place() {
    let bench = Bench::new();
    let named = |name: &str| {
        bench.encode(&with(relu(), |g| {
            g.node = vec![node("Relu", "r", &["x"], &[name])];
            g.output = vec![value(name, &[2, 3])];
        }))
    };
    let long = "n".repeat(252);
    fs::write(bench.path("long.onnx"), named(&long)).unwrap();
    bench.refuses(&["run", "long.onnx", "--random", "1", "--output-dir", "o"], 1, &["nnnn", "256 bytes", "255"]);
    assert!(!bench.path("o").exists());
    fs::write(bench.path("fits.onnx"), named(&long[..251])).unwrap();
    bench.accepts(&["run", "fits.onnx", "--random", "1", "--output-dir", "o"]);
    assert!(bench.path("o").join(format!("{}.npy", &long[..251])).exists());
    fs::write(bench.path("file"), b"").unwrap();
    let args = ["run", "fits.onnx", "--random", "1", "--output-dir", "file"];
    bench.refuses(&args, 1, &["file: is a file, expected a folder"]);
}

#[test]
fn deep_nesting_is_refused_by_neap_opt() {
    let bench = Bench::new();
    let run = |text: &str| {
        fs::write(bench.path("deep.mlir"), text).unwrap();
        let opt = Command::new(env!("CARGO_BIN_EXE_neap-opt")).arg(bench.path("deep.mlir")).output().unwrap();
        (opt.status.code(), String::from_utf8_lossy(&opt.stderr).into_owned())
    };
    for (open, close) in [("module {\n", "}\n"), ("tuple<", ">"), ("[", "]"), ("(", ")")] {
        let (code, error) = run(&format!("{}{}", open.repeat(20_000), close.repeat(20_000)));
        assert_eq!(code, Some(1), "{error}");
        assert!(error.contains("deep.mlir:") && error.contains("levels deep"), "{error}");
        assert_eq!(error.trim_end().lines().count(), 1, "{error}");
    }
    let (code, error) = run(&format!("{}{}", "module {\n".repeat(400), "}\n".repeat(400)));
    assert_eq!(code, Some(0), "{error}");
    let (code, error) =
        run(&format!("// {}\nmodule attributes {{neap.a = \"{}\"}} {{}}", "{".repeat(9_000), "<\\\"".repeat(9_000)));
    assert_eq!(code, Some(0), "{error}");
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    let bench = Bench::new();
    // 100 MB of weights take long enough to write that an interrupt finds the file half-written.
    let size = 25_000_000;
    let tidy = |args: &[&str], written: &str| {
        let child = Command::new(env!("CARGO_BIN_EXE_neap"))
            .args(args)
            .current_dir(bench.path(""))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut child = child.unwrap();
        let start = Instant::now();
        while !bench.leftovers() && child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(120), "nothing is written");
            std::thread::sleep(Duration::from_micros(200));
        }
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let code = child.wait().unwrap().code();
        assert!(!bench.leftovers(), "temporary files are left");
        // It may have been done before the signal came.
        assert!(code == Some(130) || (code == Some(0) && bench.path(written).exists()), "{code:?}");
        code == Some(130)
    };
    fs::write(bench.path("m.onnx"), bench.encode(&add(&[1, size], &[1, size]))).unwrap();
    tidy(&["compile", "m.onnx", "-o", "m.neap", "--backend", "cranelift"], "m.neap");
    tidy(&["zoo", "resnet50", "-o", "r.onnx"], "r.onnx");
}

/// A zip archive of one entry, not compressed.
fn stored_zip(name: &str, data: &[u8]) -> Vec<u8> {
    let mut crc = u32::MAX;
    for byte in data {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    let mut facts = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    for n in [!crc, data.len() as u32, data.len() as u32] {
        facts.extend(n.to_le_bytes());
    }
    facts.extend((name.len() as u16).to_le_bytes());
    facts.extend([0, 0]);
    let mut zip = [b"PK\x03\x04", facts.as_slice(), name.as_bytes(), data].concat();
    let directory = zip.len() as u32;
    zip.extend([b"PK\x01\x02\x14\x00", facts.as_slice(), &[0; 10], &[0; 4], name.as_bytes()].concat());
    let length = zip.len() as u32 - directory;
    zip.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    zip.extend(length.to_le_bytes());
    zip.extend(directory.to_le_bytes());
    zip.extend([0, 0]);
    zip
}
