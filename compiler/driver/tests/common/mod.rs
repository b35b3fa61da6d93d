//! Running the program in a folder of its own, on small models made in memory.
#![allow(dead_code, reason = "each test binary uses some of these")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use neap_onnx::proto::*;
use prost::Message;

/// A folder in which `neap` runs; it is deleted afterwards.
pub struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Bench {
        Bench { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `neap` with these arguments.
    pub fn neap(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_neap")).args(args).current_dir(self.folder.path()).output().unwrap()
    }

    /// Runs it and returns what it printed; it must succeed.
    pub fn accepts(&self, args: &[&str]) -> String {
        let output = self.neap(args);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "neap {}: {error}", args.join(" "));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs it; it must exit with this code, and print these words in one line (usage errors may take more).
    pub fn refuses(&self, args: &[&str], code: i32, words: &[&str]) {
        let output = self.neap(args);
        let error = String::from_utf8_lossy(&output.stderr);
        let call = format!("neap {}\n{error}", args.join(" "));
        assert_eq!(output.status.code(), Some(code), "{call}");
        assert!(code == 2 || error.trim_end().lines().count() == 1, "not one line: {call}");
        assert!(!error.contains("panicked") && !error.contains("backtrace"), "{call}");
        for word in words {
            assert!(error.contains(word), "no `{word}` in: {call}");
        }
    }

    /// Whether a temporary file is left.
    pub fn leftovers(&self) -> bool {
        let names = fs::read_dir(self.folder.path()).unwrap().flatten().map(|e| e.file_name());
        names.into_iter().any(|n| n.to_string_lossy().starts_with('.') || n.to_string_lossy().contains("tmp"))
    }

    pub fn encode(&self, model: &ModelProto) -> Vec<u8> {
        model.encode_to_vec()
    }

    /// Writes a `.npy` file that says this type and shape and holds so many zero bytes.
    pub fn npy(&self, name: &str, dtype: &str, dims: &[u64], bytes: usize) {
        let dims: String = dims.iter().map(|d| format!("{d}, ")).collect();
        let mut header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({dims}), }}");
        while (10 + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.resize(file.len() + bytes, 0);
        fs::write(self.path(name), file).unwrap();
    }
}

pub fn value(name: &str, dims: &[i64]) -> ValueInfoProto {
    let dim =
        dims.iter().map(|&d| Dimension { value: Some(DimensionValue::DimValue(d)), ..Default::default() }).collect();
    let tensor = TensorTypeProto { elem_type: DataType::Float as i32, shape: Some(TensorShapeProto { dim }) };
    let ty = TypeProto { value: Some(TypeValue::TensorType(tensor)), ..Default::default() };
    ValueInfoProto { name: name.into(), r#type: Some(ty), ..Default::default() }
}

pub fn node(op: &str, name: &str, inputs: &[&str], outputs: &[&str]) -> NodeProto {
    NodeProto {
        op_type: op.into(),
        name: name.into(),
        input: inputs.iter().map(|s| s.to_string()).collect(),
        output: outputs.iter().map(|s| s.to_string()).collect(),
        ..Default::default()
    }
}

/// An attribute of integers.
pub fn attribute(name: &str, ints: &[i64]) -> AttributeProto {
    AttributeProto { name: name.into(), r#type: AttributeType::Ints as i32, ints: ints.to_vec(), ..Default::default() }
}

pub fn tensor(name: &str, dims: &[i64], data: &[f32]) -> TensorProto {
    let raw: Vec<u8> = data.iter().flat_map(|v| v.to_le_bytes()).collect();
    TensorProto { raw_data: Some(raw.into()), ..tensor_of(name, dims, DataType::Float) }
}

pub fn tensor_of(name: &str, dims: &[i64], ty: DataType) -> TensorProto {
    TensorProto { name: name.into(), dims: dims.to_vec(), data_type: ty as i32, ..Default::default() }
}

/// `y = f(x)` by these nodes, over [2, 3] floats.
pub fn model(nodes: Vec<NodeProto>) -> ModelProto {
    ModelProto {
        ir_version: 8,
        opset_import: vec![OperatorSetIdProto { domain: String::new(), version: 17 }],
        graph: Some(GraphProto {
            name: "g".into(),
            node: nodes,
            input: vec![value("x", &[2, 3])],
            output: vec![value("y", &[2, 3])],
            ..Default::default()
        }),
        ..Default::default()
    }
}

pub fn with(mut m: ModelProto, edit: impl FnOnce(&mut GraphProto)) -> ModelProto {
    edit(m.graph.as_mut().expect("built with a graph"));
    m
}

pub fn relu() -> ModelProto {
    model(vec![node("Relu", "r", &["x"], &["y"])])
}

/// `y = x + w` of these shapes.
pub fn add(x: &[i64], w: &[i64]) -> ModelProto {
    with(model(vec![node("Add", "n", &["x", "w"], &["y"])]), |g| {
        g.input[0] = value("x", x);
        g.initializer.push(tensor("w", w, &vec![0.0; w.iter().product::<i64>() as usize]));
    })
}

/// `y` gathered from `x` by this initialiser.
pub fn gather(indices: TensorProto) -> ModelProto {
    with(model(vec![node("Gather", "n", &["x", &indices.name], &["y"])]), |g| g.initializer.push(indices))
}

/// A model whose weight lies in another file.
pub fn external(location: &str) -> ModelProto {
    let entry = |key: &str, value: &str| StringStringEntryProto { key: key.into(), value: value.into() };
    let mut weight = tensor_of("w", &[2, 3], DataType::Float);
    weight.data_location = DataLocation::External as i32;
    weight.external_data = vec![entry("location", location)];
    with(model(vec![node("Add", "n", &["x", "w"], &["y"])]), |g| g.initializer.push(weight))
}
