//! Small models in protobuf messages.
#![allow(dead_code, reason = "each test binary uses some of these")]

use bytes::Bytes;
use neap_onnx::external::NoExternal;
use neap_onnx::proto::*;
use neap_onnx::{Error, Model};
use prost::Message;

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

pub fn tensor(name: &str, dims: &[i64], data: &[f32]) -> TensorProto {
    let raw: Vec<u8> = data.iter().flat_map(|v| v.to_le_bytes()).collect();
    TensorProto {
        name: name.into(),
        dims: dims.to_vec(),
        data_type: DataType::Float as i32,
        raw_data: Some(raw.into()),
        ..Default::default()
    }
}

/// `y = f(x)` by these nodes.
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

pub fn decode(m: &ModelProto) -> Result<Model, Error> {
    neap_onnx::decode(Bytes::from(m.encode_to_vec()), &NoExternal)
}
