//! Small models in protobuf messages.

use neap_onnx::proto::*;
use prost::Message;

/// A value of f32 with these dims; names become symbols.
pub fn value(name: &str, dims: &[Dim]) -> ValueInfoProto {
    typed(name, DataType::Float, dims)
}

/// A size or the name of one.
#[derive(Clone, Copy)]
pub enum Dim {
    /// Known.
    N(i64),
    /// Open.
    Open(&'static str),
}

/// Known dims.
pub fn sizes(dims: &[i64]) -> Vec<Dim> {
    dims.iter().map(|&d| Dim::N(d)).collect()
}

/// A value of an element type.
pub fn typed(name: &str, ty: DataType, dims: &[Dim]) -> ValueInfoProto {
    let dim = |d: &Dim| match d {
        Dim::N(n) => DimensionValue::DimValue(*n),
        Dim::Open(name) => DimensionValue::DimParam((*name).into()),
    };
    let dim = dims.iter().map(|d| Dimension { value: Some(dim(d)), ..Default::default() }).collect();
    let tensor = TensorTypeProto { elem_type: ty as i32, shape: Some(TensorShapeProto { dim }) };
    let ty = TypeProto { value: Some(TypeValue::TensorType(tensor)), ..Default::default() };
    ValueInfoProto { name: name.into(), r#type: Some(ty), ..Default::default() }
}

/// `op inputs -> outputs`, named after its first output.
pub fn node(op: &str, inputs: &[&str], outputs: &[&str]) -> NodeProto {
    NodeProto {
        op_type: op.into(),
        name: format!("{op}_{}", outputs[0]),
        input: inputs.iter().map(|s| s.to_string()).collect(),
        output: outputs.iter().map(|s| s.to_string()).collect(),
        ..Default::default()
    }
}

/// An attribute of integers.
pub fn ints(name: &str, v: &[i64]) -> AttributeProto {
    AttributeProto { name: name.into(), r#type: AttributeType::Ints as i32, ints: v.to_vec(), ..Default::default() }
}

/// A weight of f32.
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

/// `y = f(x)` for x of [2, 3], by these nodes.
pub fn model(nodes: Vec<NodeProto>) -> ModelProto {
    ModelProto {
        ir_version: 8,
        opset_import: vec![OperatorSetIdProto { domain: String::new(), version: 17 }],
        graph: Some(GraphProto {
            name: "g".into(),
            node: nodes,
            input: vec![value("x", &sizes(&[2, 3]))],
            output: vec![value("y", &sizes(&[2, 3]))],
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// A model with its graph changed.
pub fn with(mut m: ModelProto, edit: impl FnOnce(&mut GraphProto)) -> ModelProto {
    edit(m.graph.get_or_insert_with(GraphProto::default));
    m
}

/// `y = relu(x)`
pub fn relu() -> ModelProto {
    model(vec![node("Relu", &["x"], &["y"])])
}

/// The bytes of the file.
pub fn bytes(m: &ModelProto) -> Vec<u8> {
    m.encode_to_vec()
}

/// `c = a + b` of f32[n, 3] with n open.
pub fn open_sum() -> neap_onnx::proto::ModelProto {
    with(model(vec![node("Add", &["a", "b"], &["c"])]), |g| {
        let dims = [Dim::Open("n"), Dim::N(3)];
        g.input = vec![value("a", &dims), value("b", &dims)];
        g.output = vec![value("c", &dims)];
    })
}
