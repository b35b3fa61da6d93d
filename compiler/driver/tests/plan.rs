//! `neap plan`: what it refuses, what it writes, what it shows.

mod common;

use std::fs;

use common::{Bench, add, node, relu, value, with};
use neap_onnx::proto::*;

const TABLE: &str = "id,lower,upper,size\na,0,2,4\nb,1,3,4\n";
const PROBLEM: &str = r#"{"tensors":[{"name":"x","size":8,"input":true},{"name":"y","size":8,"output":true}],
"ops":[{"name":"f","inputs":["x"],"outputs":["y"]}]}"#;

fn bench() -> Bench {
    let bench = Bench::new();
    fs::write(bench.path("m.onnx"), bench.encode(&relu())).unwrap();
    fs::write(bench.path("t.csv"), TABLE).unwrap();
    fs::write(bench.path("p.json"), PROBLEM).unwrap();
    bench
}

#[test]
fn nothing_is_written_over_what_is_read_or_written() {
    let bench = bench();
    for file in ["m.onnx", "t.csv", "p.json"] {
        let before = fs::read(bench.path(file)).unwrap();
        let absolute = bench.path(file).display().to_string();
        for option in ["--html", "--trace"] {
            for target in [file, absolute.as_str(), &format!("./{file}")] {
                bench.refuses(&["plan", file, option, target], 2, &[file, option, "would replace the file"]);
            }
        }
        bench.refuses(&["plan", file, "--html", "new", "--trace", "./new"], 2, &["--trace", "what --html writes"]);
        assert!(!bench.path("new").exists());
        assert_eq!(fs::read(bench.path(file)).unwrap(), before);
    }
    bench.refuses(&["plan", "m.onnx", "--problem", "m.onnx"], 2, &["--problem would replace"]);
    bench.refuses(&["plan", "m.onnx", "--problem", "o", "--html", "o"], 2, &["--problem", "what --html writes"]);
    bench.refuses(&["compile", "m.onnx", "-o", "m.onnx"], 2, &["-o would replace the model"]);
    bench.refuses(&["compile", "m.onnx", "--emit", "mlir-graph", "-o", "m.onnx"], 2, &["-o would replace the model"]);
    std::os::unix::fs::symlink("m.onnx", bench.path("link")).unwrap();
    bench.refuses(&["plan", "m.onnx", "--html", "link"], 2, &["link", "would replace"]);
    bench.accepts(&["plan", "m.onnx", "--html", "/dev/null", "--trace", "/dev/null"]);
    bench.accepts(&["plan", "m.onnx", "--html", "r.html", "--trace", "r.json", "--problem", "q.json"]);
    bench.accepts(&["plan", "q.json", "--html", "r.html"]);
}

#[test]
fn files_that_are_no_problems() {
    let bench = bench();
    let cases: [(&str, Vec<u8>, &str); 9] = [
        ("empty.json", vec![], "empty"),
        ("empty.csv", vec![], "empty"),
        ("latin.csv", b"id,lower,upper,size\n\xe4,0,1,4\n".to_vec(), "byte 20 is 0xe4"),
        ("utf16.json", b"\xff\xfe{\x00}\x00".to_vec(), "byte 0 is 0xff"),
        ("deep.json", vec![b'['; 10_000_000], "deep.json:1:1: "),
        ("cycle.json", PROBLEM.replace("[\"x\"]", "[\"y\"]").into(), "cycle through 'f'"),
        ("negative.json", PROBLEM.replacen('8', "-8", 1).into(), "size of 'x' is -8"),
        ("huge.json", PROBLEM.replacen('8', "9223372036854775807", 1).into(), "past 2^62"),
        ("twice.csv", format!("{TABLE}a,0,1,1\n").into(), "twice.csv:4: id 'a' stands twice"),
    ];
    for (file, bytes, says) in cases {
        fs::write(bench.path(file), bytes).unwrap();
        bench.refuses(&["plan", file], 1, &[file, says]);
        bench.refuses(&["plan", file, "--json"], 1, &[file, says]);
        bench.refuses(&["plan", file, "--html", "new.html"], 1, &[file, says]);
    }
    for folder in ["d.csv", "d.json", "d.onnx"] {
        fs::create_dir(bench.path(folder)).unwrap();
        bench.refuses(&["plan", folder], 1, &[folder, "folder"]);
    }
    bench.refuses(&["plan", "none.csv"], 1, &["none.csv"]);
    assert!(!bench.path("new.html").exists() && !bench.leftovers());
    fs::write(bench.path("windows.csv"), format!("\u{feff}{}", TABLE.replace('\n', "\r\n"))).unwrap();
    bench.accepts(&["plan", "windows.csv"]);
}

#[test]
fn options_that_make_no_sense() {
    let bench = bench();
    for option in [&["--max-batch"][..], &["--max-dim", "n"]] {
        let with = |more: &[&'static str]| [&["plan", "m.onnx"], option, more].concat();
        bench.refuses(&with(&[]), 2, &[option[0], "--capacity"]);
        bench.refuses(&with(&["--capacity", "1GB", "--html", "r.html"]), 2, &["--html"]);
        for file in ["t.csv", "p.json"] {
            let args = [&["plan", file, "--capacity", "9"], option].concat();
            bench.refuses(&args, 2, &[option[0], "is for models", file]);
        }
    }
    bench.refuses(&["plan", "t.csv", "--dim", "n=2"], 2, &["--dim is for models"]);
    bench.refuses(&["plan", "p.json", "--interval", "open"], 2, &["--interval is for tables"]);
    bench.refuses(&["plan", "m.onnx", "--interval", "open"], 2, &["--interval is for tables"]);
    bench.refuses(&["plan", "t.csv", "--problem", "o.json"], 2, &["--problem"]);
    bench.refuses(&["plan", "m.onnx", "--capacity", "lots"], 2, &["lots"]);
    let help = bench.accepts(&["plan", "--help"]);
    assert!(help.matches("up to 2^24").count() >= 2, "{help}");
}

#[test]
fn the_largest_batch_is_found() {
    let bench = Bench::new();
    let open = |name: &str| {
        let mut v = value(name, &[1, 32, 64]);
        if let Some(TypeValue::TensorType(t)) = v.r#type.as_mut().and_then(|t| t.value.as_mut()) {
            t.shape.as_mut().unwrap().dim[0].value = Some(DimensionValue::DimParam("batch".into()));
        }
        v
    };
    // What a transpose moves lies in the arena: 8 kB a sample.
    let model = with(add(&[1, 1024], &[1024]), |g| {
        g.node = vec![
            node("Transpose", "t", &["x"], &["a"]),
            node("Softmax", "s", &["a"], &["b"]),
            node("Transpose", "u", &["b"], &["y"]),
        ];
        g.input = vec![open("x")];
        g.output = vec![open("y")];
        g.initializer.clear();
    });
    fs::write(bench.path("m.onnx"), bench.encode(&model)).unwrap();
    let args = ["plan", "m.onnx", "--max-batch", "--capacity", "1MiB"];
    let text = bench.accepts(&args);
    assert!(text.starts_with("batch=") && text.contains("is the largest that fits"), "{text}");
    let n: u64 = text["batch=".len()..].split(' ').next().unwrap().parse().unwrap();
    let arena = |n: u64| {
        let text = bench.accepts(&["plan", "m.onnx", "--dim", &format!("batch={n}"), "--json"]);
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json["arena_bytes"].as_u64().unwrap()
    };
    assert!(arena(n) <= 1 << 20 && arena(n + 1) > 1 << 20, "{text}");
    let named = bench.accepts(&["plan", "m.onnx", "--max-dim", "batch", "--capacity", "1MiB"]);
    assert_eq!(named, text);
    let json: serde_json::Value = serde_json::from_str(&bench.accepts(&[&args[..], &["--json"]].concat())).unwrap();
    assert_eq!((json["dim"].as_str(), json["size"].as_u64()), (Some("batch"), Some(n)));
    bench.refuses(&["plan", "m.onnx", "--max-batch", "--capacity", "1kB"], 1, &["batch=1", "1000 B"]);
    bench.refuses(&["plan", "m.onnx", "--max-dim", "bach", "--capacity", "1MB"], 1, &["bach", "open are batch"]);
}

#[test]
fn the_table_and_the_json_say_the_same() {
    let bench = bench();
    for file in ["m.onnx", "t.csv", "p.json"] {
        let text = bench.accepts(&["plan", file]);
        for row in ["no reuse", "file order", "this plan", "proven bound", "planned in"] {
            assert!(text.contains(row), "no {row} in:\n{text}");
        }
        let json: serde_json::Value = serde_json::from_str(&bench.accepts(&["plan", file, "--json"])).unwrap();
        assert_eq!(json["bound_check"], "verified");
        assert!(text.contains(&format!(" {} ", json["arena_bytes"])), "{text}");
        let capacity = bench.accepts(&["plan", file, "--capacity", "1GB", "--json"]);
        assert!(capacity.contains("\"fits\":true"));
    }
    bench.refuses(&["plan", "t.csv", "--capacity", "7"], 1, &["t.csv", "the plan needs 8 B", "capacity of 7 B"]);
}
