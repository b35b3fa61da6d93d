//! The zoo's models, small, through the whole program: the same bytes from two compilations, the same bits from both back
//! ends, on one and two threads and over poisoned memory, and what the reference interpreter computes.

mod common;

use std::fs;
use std::path::Path;

use common::Bench;
use serde_json::Value;

/// Name and content of each file of a folder, sorted.
fn content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(folder).unwrap().map(|e| e.unwrap());
    let mut files: Vec<(String, Vec<u8>)> =
        files.map(|e| (e.file_name().to_string_lossy().into_owned(), fs::read(e.path()).unwrap())).collect();
    files.sort();
    files
}

fn check(name: &str) {
    let bench = Bench::new();
    bench.accepts(&["zoo", name, "--small", "-o", "m.onnx"]);
    let mut first = None;
    for backend in ["llvm", "cranelift"] {
        for artefact in ["m.neap", "again.neap"] {
            bench.accepts(&["compile", "m.onnx", "-o", artefact, "--backend", backend]);
        }
        let [once, twice] = ["m.neap", "again.neap"].map(|file| fs::read(bench.path(file)).unwrap());
        assert!(once == twice, "{backend}: compiling twice gives other bytes");
        for options in [vec!["--threads", "1"], vec!["--threads", "2", "--poison"]] {
            let _ = fs::remove_dir_all(bench.path("out"));
            bench.accepts(&[&["run", "m.neap", "--random", "7", "--output-dir", "out"], &options[..]].concat());
            let outputs = content(&bench.path("out"));
            assert!(!outputs.is_empty());
            let want = first.get_or_insert_with(|| outputs.clone());
            assert!(outputs == *want, "{backend} {options:?}: not the same bits");
        }
        let report = bench.accepts(&["verify", "m.onnx", "--random", "7", "--backend", backend, "--json"]);
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["ok"], true, "{report}");
    }
}

macro_rules! models {
    ($($test:ident $name:literal,)*) => {
        $(#[test]
        fn $test() {
            check($name);
        })*
    };
}

models! {
    bert_base "bert-base",
    bert_base_dynamic "bert-base-dynamic",
    darts "darts",
    densenet121 "densenet121",
    efficientnet_b0 "efficientnet-b0",
    gpt2 "gpt2",
    gpt2_decode "gpt2-decode",
    hrnet_w18 "hrnet-w18",
    inception_v3 "inception-v3",
    llama "llama",
    lstm "lstm",
    mobilenet_v2 "mobilenet-v2",
    moe "moe",
    nasrnn "nasrnn",
    randwire_ws "randwire-ws",
    resnet50 "resnet50",
    resnet50_qdq "resnet50-qdq",
    squeezenet "squeezenet",
    swiftnet "swiftnet",
    swin_t "swin-t",
    t5_encoder "t5-encoder",
    unet "unet",
    vit_b16 "vit-b16",
    whisper_encoder "whisper-encoder",
}
