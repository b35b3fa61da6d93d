//! One ONNX node written in a line, imported and evaluated by the reference interpreter.
//!
//! A node is `Op(x, y) name=value ...`; its operands are `x`, `y`, `z`, `u`, `v`, in this order, an empty place an absent
//! one; `-> 2` asks for two results. Values are integers, floats (with a point), `[lists]` or words.
//! A tensor is `f32[2,3] 1 2 3 4 5 6`, `const` before it makes it an initialiser; a single element stands for all; initialisers may be `i4` and `u4`.

use std::collections::BTreeMap;

use neap_onnx::proto::*;
use neap_optable::{DType, Tensor};
use neap_passes::import::{ImportOptions, import};

/// Types of 4 bits, of initialisers only.
const FOUR_BITS: [(&str, DataType); 2] = [("i4", DataType::Int4), ("u4", DataType::Uint4)];

/// Names of the operands.
const NAMES: [&str; 8] = ["x", "y", "z", "u", "v", "w", "s", "t"];

/// Imports the node with these operands and evaluates it; errors joined to one line.
pub fn run(opset: i64, node: &str, operands: &[&str]) -> Result<Vec<Tensor>, String> {
    let (model, inputs) = model(opset, node, operands);
    let model = neap_onnx::from_proto(model, &neap_onnx::external::NoExternal).map_err(|e| e.to_string())?;
    let imported = import(&model, &ImportOptions { dims: BTreeMap::new() })
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
    imported.body.verify()?;
    neap_reference::eval_body(&imported.body, &imported.weights, &inputs, &mut |_, _| {}).map_err(|e| e.to_string())
}

/// The model, and the values of its inputs.
pub fn model(opset: i64, node: &str, operands: &[&str]) -> (ModelProto, Vec<Tensor>) {
    let (mut graph, mut inputs) = (GraphProto { name: "case".into(), ..Default::default() }, vec![]);
    for (name, text) in NAMES.iter().zip(operands).filter(|(_, t)| !t.is_empty()) {
        match text.strip_prefix("const ") {
            Some(text) => {
                let mut proto = initialiser(name, &tensor(text));
                if let Some(ty) = FOUR_BITS.iter().find(|t| text.starts_with(t.0)) {
                    proto.data_type = ty.1 as i32;
                    let bytes = proto.raw_data.take().unwrap_or_default();
                    let pair = |p: &[u8]| p[0] & 15 | p.get(1).map_or(0, |high| high << 4);
                    proto.raw_data = Some(bytes.chunks(2).map(pair).collect::<Vec<_>>().into());
                }
                graph.initializer.push(proto);
            }
            None => {
                let t = tensor(text);
                graph.input.push(value(name, Some(&t)));
                inputs.push(t);
            }
        }
    }
    let node = parse_node(node);
    graph.output = node.output.iter().map(|o| value(o, None)).collect();
    graph.node.push(node);
    let import = OperatorSetIdProto { domain: String::new(), version: opset };
    (ModelProto { ir_version: 8, opset_import: vec![import], graph: Some(graph), ..Default::default() }, inputs)
}

fn parse_node(text: &str) -> NodeProto {
    let (op, rest) = text.split_once('(').expect("a node has operands");
    let (names, rest) = rest.split_once(')').expect("operands end");
    let (attributes, results) = rest.split_once(" -> ").unwrap_or((rest, "1"));
    let count: usize = results.trim().parse().expect("a number of results");
    let input = names.split(',').map(|n| n.trim().to_string()).collect();
    NodeProto {
        op_type: op.into(),
        name: "n".into(),
        input,
        output: (0..count).map(|i| format!("r{i}")).collect(),
        attribute: attributes.split_whitespace().map(attribute).collect(),
        ..Default::default()
    }
}

fn attribute(text: &str) -> AttributeProto {
    let (name, value) = text.split_once('=').expect("name=value");
    let mut a = AttributeProto { name: name.into(), ..Default::default() };
    if let Some(list) = value.strip_prefix('[').and_then(|v| v.strip_suffix(']')) {
        let parts: Vec<&str> = list.split(',').filter(|p| !p.is_empty()).collect();
        if parts.iter().all(|p| p.parse::<i64>().is_ok()) {
            a.r#type = AttributeType::Ints as i32;
            a.ints = parts.iter().filter_map(|p| p.parse().ok()).collect();
        } else {
            a.r#type = AttributeType::Floats as i32;
            a.floats = parts.iter().map(|p| p.parse().expect("a float")).collect();
        }
    } else if let Ok(i) = value.parse() {
        (a.r#type, a.i) = (AttributeType::Int as i32, Some(i));
    } else if let Ok(f) = value.parse() {
        (a.r#type, a.f) = (AttributeType::Float as i32, Some(f));
    } else {
        (a.r#type, a.s) = (AttributeType::String as i32, Some(value.to_string().into()));
    }
    a
}

fn value(name: &str, t: Option<&Tensor>) -> ValueInfoProto {
    let known = |&d: &u64| Dimension { value: Some(DimensionValue::DimValue(d as i64)), ..Default::default() };
    let ty = t.map(|t| TypeProto {
        value: Some(TypeValue::TensorType(TensorTypeProto {
            elem_type: number(t.dtype),
            shape: Some(TensorShapeProto { dim: t.dims.iter().map(known).collect() }),
        })),
        ..Default::default()
    });
    ValueInfoProto { name: name.into(), r#type: ty, ..Default::default() }
}

fn initialiser(name: &str, t: &Tensor) -> TensorProto {
    TensorProto {
        name: name.into(),
        dims: t.dims.iter().map(|&d| d as i64).collect(),
        data_type: number(t.dtype),
        raw_data: Some(t.data.clone()),
        ..Default::default()
    }
}

fn number(t: DType) -> i32 {
    let ty = match t {
        DType::F32 => DataType::Float,
        DType::F64 => DataType::Double,
        DType::F16 => DataType::Float16,
        DType::BF16 => DataType::Bfloat16,
        DType::I8 => DataType::Int8,
        DType::I16 => DataType::Int16,
        DType::I32 => DataType::Int32,
        DType::I64 => DataType::Int64,
        DType::U8 => DataType::Uint8,
        DType::U16 => DataType::Uint16,
        DType::U32 => DataType::Uint32,
        DType::U64 => DataType::Uint64,
        DType::Bool => DataType::Bool,
    };
    ty as i32
}

/// A tensor from its text.
pub fn tensor(text: &str) -> Tensor {
    let (ty, rest) = text.split_once('[').expect("a tensor has dims");
    let (dims, data) = rest.split_once(']').expect("dims end");
    let dims: Vec<u64> = dims.split(',').filter(|d| !d.is_empty()).map(|d| d.trim().parse().expect("a size")).collect();
    let count = dims.iter().product::<u64>() as usize;
    let mut values: Vec<f64> = data.split_whitespace().map(|v| v.parse().expect("a number")).collect();
    if let [one] = values[..] {
        values = vec![one; count];
    }
    match ty {
        "f32" => Tensor::new(&dims, &values.iter().map(|&v| v as f32).collect::<Vec<_>>()),
        "f64" => Tensor::new(&dims, &values),
        "i64" => Tensor::new(&dims, &values.iter().map(|&v| v as i64).collect::<Vec<_>>()),
        "i32" => Tensor::new(&dims, &values.iter().map(|&v| v as i32).collect::<Vec<_>>()),
        "i8" | "i4" => Tensor::new(&dims, &values.iter().map(|&v| v as i8).collect::<Vec<_>>()),
        "u8" | "u4" => Tensor::new(&dims, &values.iter().map(|&v| v as u8).collect::<Vec<_>>()),
        "bool" => Tensor::new(&dims, &values.iter().map(|&v| v != 0.0).collect::<Vec<_>>()),
        other => panic!("no element type {other}"),
    }
}

/// Whether two tensors agree within rounding.
pub fn agree(found: &Tensor, expected: &Tensor) -> bool {
    let floats = |t: &Tensor| match t.elements::<f32>() {
        Some(v) => v.into_iter().map(f64::from).collect::<Vec<_>>(),
        None => t.to_i64().unwrap_or_default().into_iter().map(|v| v as f64).collect(),
    };
    let near = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-5 + 1e-5 * b.abs();
    found.ty() == expected.ty() && floats(found).iter().zip(&floats(expected)).all(near)
}
