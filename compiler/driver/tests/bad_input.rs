//! Whatever is wrong with what a user gives, `neap` says so in one line that names it, exits with 1 (2 for usage), and
//! leaves nothing half-written.

mod common;

use std::fs;

use common::{Bench, add, attribute, external, gather, model, node, relu, tensor, tensor_of, value, with};
use neap_onnx::proto::*;
use neap_runtime::artefact::write;
use neap_runtime::program::Program;

#[test]
fn files_that_are_no_models() {
    let bench = Bench::new();
    fs::write(bench.path("empty.onnx"), b"").unwrap();
    fs::write(bench.path("photo.onnx"), b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01").unwrap();
    fs::create_dir(bench.path("folder.onnx")).unwrap();
    let whole = bench.encode(&relu());
    fs::write(bench.path("cut.onnx"), &whole[..whole.len() / 2]).unwrap();
    for (file, message) in [
        ("empty.onnx", "empty"),
        ("photo.onnx", "JPEG"),
        ("folder.onnx", "folder"),
        ("cut.onnx", "truncated"),
        ("none.onnx", "none.onnx"),
    ] {
        for command in [vec!["compile", file, "-o", "out.neap"], vec!["inspect", file], vec!["run", file]] {
            bench.refuses(&command, 1, &[file, message]);
        }
    }
    assert!(!bench.path("out.neap").exists());
}

#[test]
fn models_that_make_no_sense() {
    let bench = Bench::new();
    let weight = |t: TensorProto| with(relu(), |g| g.initializer.push(t));
    let cases: Vec<(&str, ModelProto, &[&str])> = vec![
        ("op", model(vec![node("Frobnicate", "n1", &["x"], &["y"])]), &["Frobnicate", "n1"]),
        (
            "domain",
            {
                let mut m = with(relu(), |g| g.node[0].domain = "com.acme".into());
                m.opset_import.push(OperatorSetIdProto { domain: "com.acme".into(), version: 1 });
                m
            },
            &["com.acme", "Relu"],
        ),
        (
            "cycle",
            model(vec![
                node("Add", "p", &["x", "b"], &["a"]),
                node("Relu", "q", &["a"], &["b"]),
                node("Relu", "r", &["b"], &["y"]),
            ]),
            &["cycle", "p"],
        ),
        ("undefined", model(vec![node("Relu", "r", &["z"], &["y"])]), &["`z`", "`r`"]),
        ("twice", model(vec![node("Relu", "r", &["x"], &["y"]), node("Abs", "s", &["x"], &["y"])]), &["`y`", "twice"]),
        ("negative", weight(tensor("w", &[2, -3], &[0.0; 6])), &["`w`", "-3"]),
        ("sizes", weight(tensor("w", &[2, 4], &[0.0; 6])), &["`w`", "32", "24"]),
        ("huge", weight(tensor("w", &[1 << 34, 1 << 34], &[])), &["`w`"]),
        ("external", external("../secret.bin"), &["../secret.bin"]),
        ("broadcast", add(&[2, 3], &[4]), &["[2, 3]", "[4]", "`n`"]),
        (
            "multiply",
            with(model(vec![node("MatMul", "n", &["x", "w"], &["y"])]), |g| {
                g.initializer.push(tensor("w", &[4, 5], &[0.0; 20]))
            }),
            &["`n`", "3", "4"],
        ),
        (
            "stride",
            with(model(vec![node("MaxPool", "n", &["x"], &["y"])]), |g| {
                g.input[0] = value("x", &[1, 1, 4, 4]);
                g.output[0] = value("y", &[1, 1, 4, 4]);
                g.node[0].attribute = vec![attribute("kernel_shape", &[1, 1]), attribute("strides", &[0, 1])];
            }),
            &["`n`", "stride"],
        ),
        ("index", gather(tensor("i", &[1], &[0.0])), &["`n`"]),
        (
            "future",
            {
                let mut m = relu();
                m.opset_import[0].version = 99;
                m
            },
            &["99", "future"],
        ),
        ("string", weight(tensor_of("w", &[1], DataType::String)), &["`w`", "string"]),
    ];
    for (name, model, messages) in cases {
        let file = format!("{name}.onnx");
        fs::write(bench.path(&file), bench.encode(&model)).unwrap();
        let words: Vec<&str> = messages.iter().copied().chain([file.as_str()]).collect();
        bench.refuses(&["compile", &file, "-o", "out.neap"], 1, &words);
        assert!(!bench.path("out.neap").exists(), "{name}");
    }
    assert!(!bench.leftovers(), "temporary files are left");
}

#[test]
fn a_chain_of_fifty_thousand_ops_compiles() {
    let bench = Bench::new();
    let n = 50_000;
    let name = |i: usize| {
        if i == 0 {
            "x".to_string()
        } else if i == n {
            "y".to_string()
        } else {
            format!("v{i}")
        }
    };
    let ops = ["Relu", "Neg", "Abs", "Sigmoid"];
    let chain = (0..n).map(|i| node(ops[i % 4], &format!("n{i}"), &[&name(i)], &[&name(i + 1)])).collect();
    fs::write(bench.path("chain.onnx"), bench.encode(&model(chain))).unwrap();
    bench.accepts(&["compile", "chain.onnx", "-o", "chain.neap", "--backend", "cranelift"]);
    bench.accepts(&["run", "chain.neap", "--random", "1"]);
}

#[test]
fn inputs_that_do_not_fit() {
    let bench = Bench::new();
    fs::write(bench.path("m.onnx"), bench.encode(&relu())).unwrap();
    bench.accepts(&["compile", "m.onnx", "-o", "m.neap"]);
    fs::write(bench.path("broken.npz"), b"PK\x03\x04 this is no archive").unwrap();
    fs::write(bench.path("junk.npy"), b"\x93NUMPY\x01\x00 and then nothing").unwrap();
    bench.npy("right.npy", "<f4", &[2, 3], 24);
    bench.npy("shape.npy", "<f4", &[3, 2], 24);
    bench.npy("dtype.npy", "<i8", &[2, 3], 48);
    bench.npy("short.npy", "<f4", &[2, 3], 20);
    for target in ["m.neap", "m.onnx"] {
        bench.accepts(&["run", target, "--input", "x=right.npy"]);
        bench.refuses(&["run", target, "--inputs", "broken.npz"], 1, &["broken.npz"]);
        bench.refuses(&["run", target, "--inputs", "none.npz"], 1, &["none.npz"]);
        bench.refuses(&["run", target, "--input", "z=right.npy"], 1, &["no input", "z", "x"]);
        bench.refuses(&["run", target, "--input", "x=junk.npy"], 1, &["junk.npy"]);
        bench.refuses(&["run", target, "--input", "x=short.npy"], 1, &["short.npy"]);
        bench.refuses(&["run", target, "--input", "x=shape.npy"], 1, &["x", "[2, 3]", "[3, 2]"]);
        bench.refuses(&["run", target, "--input", "x=dtype.npy"], 1, &["x", "f32", "i64"]);
        bench.refuses(&["run", target], 1, &["x"]);
    }
    fs::write(bench.path("file"), b"").unwrap();
    bench.refuses(&["run", "m.neap", "--random", "1", "--output-dir", "file"], 1, &["file"]);
    bench.refuses(&["compile", "m.onnx", "-o", "none/m.neap"], 1, &["none/m.neap"]);
    bench.refuses(&["compile", "m.onnx", "-o", "."], 1, &["."]);
}

#[test]
fn artefacts_that_are_damaged() {
    let bench = Bench::new();
    fs::write(bench.path("m.onnx"), bench.encode(&relu())).unwrap();
    bench.accepts(&["compile", "m.onnx", "-o", "m.neap"]);
    let whole = fs::read(bench.path("m.neap")).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.iter().position(|&b| b == b'r').unwrap_or(140)] ^= 4;
    let empty = Program {
        model: "m".into(),
        backend: "llvm".into(),
        arch: std::env::consts::ARCH.into(),
        cpu: "next".into(),
        features: vec!["avx4096f".into()],
        inputs: vec![],
        outputs: vec![],
        arena_bytes: 0,
        held: vec![],
        launches: vec![],
    };
    write(&bench.path("feature.neap"), &empty, &[], Vec::<Vec<u8>>::new()).unwrap();
    fs::write(bench.path("cut.neap"), &whole[..whole.len() - 100]).unwrap();
    fs::write(bench.path("empty.neap"), b"").unwrap();
    fs::write(bench.path("flipped.neap"), flipped).unwrap();
    fs::write(bench.path("junk.neap"), [0x5au8; 5000]).unwrap();
    for (file, message) in [
        ("cut.neap", "compile the model again"),
        ("empty.neap", "empty"),
        ("flipped.neap", "compile the model again"),
        ("junk.neap", "not a neap artefact"),
        ("feature.neap", "avx4096f"),
    ] {
        bench.refuses(&["run", file, "--random", "1"], 1, &[file, message]);
        bench.refuses(&["bench", file], 1, &[file, message]);
    }
}

#[test]
fn usage() {
    let bench = Bench::new();
    fs::write(bench.path("m.onnx"), bench.encode(&relu())).unwrap();
    bench.refuses(&["compile", "m.onnx", "--no-such-flag"], 2, &["--no-such-flag"]);
    bench.refuses(&["frobnicate"], 2, &["frobnicate"]);
    bench.refuses(&["compile", "m.onnx", "-o", "m.neap", "--backend", "gcc"], 2, &["gcc", "cranelift"]);
}
