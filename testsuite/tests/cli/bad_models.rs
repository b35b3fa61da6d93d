//! Models that cannot be compiled: one clear line for each finding, and nothing half-written.

use libtest_mimic::Trial;
use neap_onnx::proto::*;

use crate::models::*;
use crate::neap::{Place, snapshot};

/// Name, and the file's bytes.
type Row = (&'static str, fn() -> Vec<u8>);

const ROWS: &[Row] = &[
    ("empty", Vec::new),
    ("jpeg", || b"\xff\xd8\xff\xe0\x00\x10JFIF\x00".to_vec()),
    ("text", || b"hello, world\n".to_vec()),
    ("html", || b"<!DOCTYPE html><html>not found</html>".to_vec()),
    ("git lfs pointer", || b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n".to_vec()),
    ("truncated", || {
        let options = neap_zoo::Options { small: true, ..Default::default() };
        let whole = neap_zoo::build("mobilenet-v2", &options).map(|m| neap_zoo::encode(&m)).unwrap_or_default();
        whole[..whole.len() / 2].to_vec()
    }),
    ("no graph", || bytes(&ModelProto { ir_version: 8, ..relu_with(|m| m.graph = None) })),
    ("unknown op", || one_node(node("Frobnicate", &["x"], &["y"]))),
    ("unknown domain", || {
        let mut n = node("FancyGelu", &["x"], &["y"]);
        n.domain = "com.acme".into();
        let mut m = model(vec![n]);
        m.opset_import.push(OperatorSetIdProto { domain: "com.acme".into(), version: 1 });
        bytes(&m)
    }),
    ("domain without opset", || {
        let mut n = node("FancyGelu", &["x"], &["y"]);
        n.domain = "com.acme".into();
        one_node(n)
    }),
    ("three unknown ops", || {
        let nodes = vec![
            node("Frobnicate", &["x"], &["a"]),
            node("Relu", &["a"], &["b"]),
            node("Defenestrate", &["x", "b"], &["c"]),
            node("Frobnicate", &["x"], &["d"]),
            node("Add", &["c", "d"], &["y"]),
        ];
        bytes(&model(nodes))
    }),
    ("cycle", || {
        bytes(&model(vec![
            node("Add", &["x", "q"], &["p"]),
            node("Relu", &["p"], &["q"]),
            node("Relu", &["q"], &["y"]),
        ]))
    }),
    ("undefined value", || one_node(node("Add", &["x", "biass"], &["y"]))),
    ("undefined output", || bytes(&with(relu(), |g| g.output[0] = value("z", &sizes(&[2, 3]))))),
    ("produced twice", || bytes(&model(vec![node("Relu", &["x"], &["y"]), node("Exp", &["x"], &["y"])]))),
    ("negative dim", || bytes(&with(relu(), |g| g.input[0] = value("x", &sizes(&[2, -3]))))),
    ("negative weight dim", || weight(&[-2, 3], 6)),
    ("data too short", || weight(&[2, 3], 5)),
    ("data too long", || weight(&[2, 3], 7)),
    ("2^70 bytes", || weight(&[1 << 34, 1 << 34], 6)),
    ("2^70 bytes of input", || bytes(&with(relu(), |g| g.input[0] = value("x", &sizes(&[1 << 34, 1 << 34]))))),
    ("external data outside", || external("../secret.bin")),
    ("external data absolute", || external("/etc/passwd")),
    ("external data missing", || external("weights.bin")),
    ("shapes cannot broadcast", || {
        bytes(&with(model(vec![node("Add", &["x", "w"], &["y"])]), |g| {
            g.initializer.push(tensor("w", &[4], &[0.0; 4]));
        }))
    }),
    ("shapes cannot multiply", || {
        bytes(&with(model(vec![node("MatMul", &["x", "w"], &["y"])]), |g| {
            g.initializer.push(tensor("w", &[4, 2], &[0.0; 8]));
        }))
    }),
    ("zero strides", || conv(ints("strides", &[0, 0]))),
    ("negative dilations", || conv(ints("dilations", &[-1, 1]))),
    ("wrong count of pads", || conv(ints("pads", &[1, 1]))),
    ("float index", || {
        bytes(&with(model(vec![node("Gather", &["x", "i"], &["y"])]), |g| {
            g.initializer.push(tensor("i", &[1], &[1.0]));
        }))
    }),
    ("future opset", || bytes(&relu_with(|m| m.opset_import[0].version = 999))),
    ("ancient opset", || bytes(&relu_with(|m| m.opset_import[0].version = 3))),
    ("string input", || bytes(&with(relu(), |g| g.input[0] = typed("x", DataType::String, &sizes(&[2]))))),
    ("string weight", || {
        let mut t = tensor("w", &[1], &[]);
        (t.raw_data, t.data_type, t.string_data) = (None, DataType::String as i32, vec!["a".into()]);
        bytes(&with(model(vec![node("Add", &["x", "w"], &["y"])]), |g| g.initializer.push(t)))
    }),
    ("complex input", || of_type(DataType::Complex64)),
    ("too few inputs", || one_node(node("Add", &["x"], &["y"]))),
    ("attribute of another type", || {
        let mut n = node("Softmax", &["x"], &["y"]);
        n.attribute = vec![AttributeProto { name: "axis".into(), r#type: 1, f: Some(1.5), ..Default::default() }];
        one_node(n)
    }),
    ("axis out of range", || {
        let mut n = node("Softmax", &["x"], &["y"]);
        n.attribute = vec![AttributeProto { name: "axis".into(), r#type: 2, i: Some(5), ..Default::default() }];
        one_node(n)
    }),
    ("reshape to another count", || {
        bytes(&with(model(vec![node("Reshape", &["x", "s"], &["y"])]), |g| {
            let raw: Vec<u8> = [4i64, 2].iter().flat_map(|v| v.to_le_bytes()).collect();
            let mut t = tensor("s", &[2], &[]);
            (t.raw_data, t.data_type) = (Some(raw.into()), DataType::Int64 as i32);
            g.initializer.push(t);
        }))
    }),
    ("open dims", || {
        bytes(&with(relu(), |g| {
            let dims = [Dim::Open("batch"), Dim::Open("seq len")];
            (g.input[0], g.output[0]) = (value("x", &dims), value("y", &dims));
        }))
    }),
    ("input without a type", || {
        bytes(&with(relu(), |g| g.input[0] = ValueInfoProto { name: "x".into(), ..Default::default() }))
    }),
];

fn one_node(n: NodeProto) -> Vec<u8> {
    bytes(&model(vec![n]))
}

fn relu_with(edit: impl FnOnce(&mut ModelProto)) -> ModelProto {
    let mut m = relu();
    edit(&mut m);
    m
}

fn weight(dims: &[i64], elements: usize) -> Vec<u8> {
    bytes(&with(model(vec![node("Add", &["x", "w"], &["y"])]), |g| {
        g.initializer.push(tensor("w", dims, &vec![0.5; elements]));
    }))
}

fn external(location: &str) -> Vec<u8> {
    let mut t = tensor("w", &[2, 3], &[]);
    t.raw_data = None;
    t.data_location = DataLocation::External as i32;
    t.external_data = vec![StringStringEntryProto { key: "location".into(), value: location.into() }];
    bytes(&with(model(vec![node("Add", &["x", "w"], &["y"])]), |g| g.initializer.push(t)))
}

fn conv(attribute: AttributeProto) -> Vec<u8> {
    let mut n = node("Conv", &["x", "w"], &["y"]);
    n.attribute.push(attribute);
    bytes(&with(model(vec![n]), |g| {
        (g.input[0], g.output[0]) = (value("x", &sizes(&[1, 1, 5, 5])), value("y", &sizes(&[1, 1, 3, 3])));
        g.initializer.push(tensor("w", &[1, 1, 3, 3], &[0.5; 9]));
    }))
}

fn of_type(ty: DataType) -> Vec<u8> {
    bytes(&with(relu(), |g| {
        let dims = sizes(&[2, 3]);
        (g.input[0], g.output[0]) = (typed("x", ty, &dims), typed("y", ty, &dims));
    }))
}

/// One trial a model, and those that are no file.
pub fn trials() -> Vec<Trial> {
    let mut out: Vec<Trial> = ROWS
        .iter()
        .map(|(name, make)| {
            Trial::test(format!("cli bad model: {name}"), move || {
                let place = Place::new()?;
                place.write("model.onnx", make())?;
                let lines = place.refuse("compile model.onnx -o out/model.neap", 1)?;
                snapshot(&format!("bad-model-{}", name.replace([' ', '^'], "-")), &lines);
                // The other commands say the same, and leave as little behind.
                if *name != "open dims" && place.refuse("run model.onnx --random 1 --output-dir out", 1)? != lines {
                    return Err("`run` says something else than `compile`".into());
                }
                Ok(())
            })
        })
        .collect();
    let others = [("folder", "compile out -o out/m.neap"), ("no file", "compile none.onnx -o out/m.neap")];
    for (name, args) in others {
        out.push(Trial::test(format!("cli bad model: {name}"), move || {
            snapshot(&format!("bad-model-{}", name.replace(' ', "-")), &Place::new()?.refuse(args, 1)?);
            Ok(())
        }));
    }
    out
}
