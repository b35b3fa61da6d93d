//! Each fault of a file gives one line that says what, where and how to mend it.

mod common;

use bytes::Bytes;
use common::{decode, model, node, tensor, value, with};
use neap_onnx::external::{Folder, NoExternal};
use neap_onnx::proto::*;
use prost::Message;

fn relu() -> ModelProto {
    model(vec![node("Relu", "r", &["x"], &["y"])])
}

fn with_weight(edit: impl FnOnce(&mut TensorProto)) -> ModelProto {
    let mut t = tensor("w", &[2, 3], &[0.0; 6]);
    edit(&mut t);
    with(relu(), |g| g.initializer.push(t))
}

fn entry(key: &str, value: &str) -> StringStringEntryProto {
    StringStringEntryProto { key: key.into(), value: value.into() }
}

fn external(location: &str, fields: &[(&str, &str)]) -> ModelProto {
    with_weight(|t| {
        t.raw_data = None;
        t.data_location = DataLocation::External as i32;
        t.external_data = vec![entry("location", location)];
        t.external_data.extend(fields.iter().map(|(k, v)| entry(k, v)));
    })
}

#[test]
fn faults_in_messages() {
    let opset = |version| {
        let mut m = relu();
        m.opset_import[0].version = version;
        m
    };
    let cases: Vec<(&str, ModelProto, &str)> = vec![
        ("no graph", ModelProto { ir_version: 8, ..Default::default() }, "the file holds no graph"),
        ("old opset", opset(6), "opset 6, neap reads opsets 7 to 28; convert it"),
        ("future opset", opset(99), "opset 99 from the future"),
        (
            "no opset",
            with(relu(), |g| g.node[0].domain = "com.acme".into()),
            "node `r` (Relu) uses operators of domain `com.acme`, but the model imports no opset",
        ),
        ("negative dim", with_weight(|t| t.dims[1] = -3), "initialiser `w` has the negative dim -3 (axis 1)"),
        (
            "negative input",
            with(relu(), |g| g.input[0] = value("x", &[-7])),
            "input `x` has the negative dim -7 (axis 0)",
        ),
        (
            "size",
            with_weight(|t| t.dims[1] = 4),
            "initialiser `w`: shape [2, 4] of f32 needs 32 bytes, the file holds 24",
        ),
        (
            "typed size",
            with_weight(|t| {
                t.raw_data = None;
                t.float_data = vec![1.0; 5];
            }),
            "shape [2, 3] of f32 needs 6 elements, the file holds 5",
        ),
        ("2^70 bytes", with_weight(|t| t.dims = vec![1 << 34, 1 << 34]), "has more than 2^63 bytes"),
        ("2^63 bytes", with_weight(|t| t.dims = vec![1 << 61]), "has more than 2^63 bytes"),
        ("strings", with_weight(|t| t.data_type = 8), "initialiser `w` holds strings; neap computes on numbers only"),
        ("type", with_weight(|t| t.data_type = 99), "initialiser `w` has element type 99"),
        (
            "undefined",
            model(vec![node("Relu", "r", &["X"], &["y"])]),
            "node `r` (Relu) reads `X`, which is no input, initialiser or result of another node; is `x` meant?",
        ),
        ("output", model(vec![node("Relu", "r", &["x"], &["other"])]), "the list of outputs reads `y`, which is no"),
        (
            "twice",
            model(vec![node("Relu", "a", &["x"], &["y"]), node("Relu", "b", &["x"], &["y"])]),
            "`y` is produced twice, by node `a` (Relu) and by node `b` (Relu)",
        ),
        (
            "input again",
            model(vec![node("Relu", "a", &["x"], &["x"])]),
            "`x` is produced twice, by an input or initialiser and by node `a`",
        ),
        ("inputs twice", with(relu(), |g| g.input.push(value("x", &[1]))), "`x` is produced twice"),
        (
            "weights twice",
            with(relu(), |g| g.initializer = vec![tensor("w", &[1], &[0.0]), tensor("w", &[1], &[0.0])]),
            "`w` is produced twice",
        ),
        (
            "cycle",
            model(vec![
                node("Add", "a", &["x", "q"], &["p"]),
                node("Relu", "b", &["p"], &["q"]),
                node("Relu", "c", &["q"], &["y"]),
            ]),
            "nodes depend on each other in a cycle: a -> b -> a",
        ),
        ("self", model(vec![node("Add", "a", &["x", "y"], &["y"])]), "cycle: a -> a"),
        ("no op", model(vec![node("", "a", &["x"], &["y"])]), "node 0 (`a`) has no operator"),
        ("outside", external("../w.bin", &[]), "initialiser `w`: external data"),
        ("bad number", external("w.bin", &[("offset", "-4")]), "external data has offset `-4`, which is no size"),
    ];
    for (name, m, want) in cases {
        let got = decode(&m).expect_err(name).to_string();
        assert!(got.contains(want), "{name}: {got}\nexpected: {want}");
        assert!(!got.contains('\n') && !got.ends_with('.'), "{name}: {got}");
    }
}

#[test]
fn faults_in_bytes() {
    let whole = relu().encode_to_vec();
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (vec![], "the file is empty"),
        (b"\xff\xd8\xff\xe0junk".to_vec(), "this is a JPEG image, not an ONNX model"),
        (whole[..whole.len() - 5].to_vec(), "a truncated or damaged one"),
        (vec![0xfe; 100], "not an ONNX model"),
        (b"hello, world".to_vec(), "not an ONNX model"),
    ];
    for (bytes, want) in cases {
        let got = neap_onnx::decode(Bytes::from(bytes), &NoExternal).expect_err(want).to_string();
        assert!(got.contains(want), "{got}\nexpected: {want}");
    }
}

#[test]
fn nested_too_deep() {
    let mut m = relu();
    for _ in 0..60 {
        let inner = m.graph.take();
        let mut outer = model(vec![node("If", "i", &["x"], &["y"])]);
        let attribute = AttributeProto { name: "then_branch".into(), r#type: 5, g: inner, ..Default::default() };
        outer.graph.as_mut().expect("built with a graph").node[0].attribute.push(attribute);
        m = outer;
    }
    assert!(decode(&m).expect_err("too deep").to_string().contains("nested too deep"));
}

#[test]
fn external_data_stays_in_the_folder() {
    let dir = tempfile::tempdir().expect("a folder");
    let inside = dir.path().join("m");
    std::fs::create_dir(&inside).expect("a folder");
    std::fs::write(dir.path().join("secret"), [0u8; 24]).expect("a file");
    std::fs::write(inside.join("w.bin"), [0u8; 28]).expect("a file");
    #[cfg(unix)]
    std::os::unix::fs::symlink(dir.path().join("secret"), inside.join("link")).expect("a link");
    let absolute = dir.path().join("secret").display().to_string();
    let get = |m: ModelProto| {
        let file = inside.join("model.onnx");
        std::fs::write(&file, m.encode_to_vec()).expect("a file");
        neap_onnx::load(&file).map(|m| m.graph.initialisers["w"].data.len()).map_err(|e| e.to_string())
    };
    assert_eq!(get(external("w.bin", &[("offset", "4"), ("length", "24")])), Ok(24));
    assert_eq!(get(external("w.bin", &[])), Ok(24));
    for (location, fields, want) in [
        ("../secret", vec![], "leaves the model's folder, which is refused"),
        (absolute.as_str(), vec![], "leaves the model's folder"),
        ("a/../../secret", vec![], "leaves the model's folder"),
        ("link", vec![], "leaves the model's folder"),
        ("", vec![], "leaves the model's folder"),
        ("none.bin", vec![], "cannot read `none.bin`"),
        (".", vec![], "cannot read `.`"),
        (
            "w.bin",
            vec![("offset", "8"), ("length", "24")],
            "bytes 8 to 32 of `w.bin` are asked for, but the file has 28",
        ),
        ("w.bin", vec![("offset", "18446744073709551615"), ("length", "24")], "but the file has 28"),
        ("w.bin", vec![("length", "20")], "needs 24 bytes, the file holds 20"),
    ] {
        let got = get(external(location, &fields)).expect_err(location);
        assert!(got.contains(want), "{location}: {got}\nexpected: {want}");
    }
    assert!(neap_onnx::load(&inside).expect_err("a folder").to_string().contains("is a folder; give the .onnx file"));
    let folder = Folder(inside);
    assert!(neap_onnx::decode(Bytes::from(external("w.bin", &[]).encode_to_vec()), &folder).is_ok());
}
