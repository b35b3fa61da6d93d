//! What decoding gives for sound models.

mod common;

use common::{decode, model, node, tensor, with};
use neap_onnx::proto::*;
use neap_onnx::{Attribute, ElementType, inspect};

fn int(name: &str, i: i64) -> AttributeProto {
    AttributeProto { name: name.into(), r#type: AttributeType::Int as i32, i: Some(i), ..Default::default() }
}

#[test]
fn long_chains_and_shuffled_nodes() {
    let n = 50_000;
    let mut nodes: Vec<NodeProto> = (0..n)
        .map(|i| {
            let from = if i == 0 { "x".to_string() } else { format!("v{i}") };
            let to = if i + 1 == n { "y".to_string() } else { format!("v{}", i + 1) };
            node("Relu", "", &[&from], &[&to])
        })
        .collect();
    let before = std::time::Instant::now();
    let sorted = decode(&model(nodes.clone())).expect("a chain");
    assert_eq!(sorted.graph.nodes[0].name, "Relu_0");
    assert_eq!(sorted.graph.nodes[n - 1].outputs, ["y"]);
    nodes.reverse();
    let shuffled = decode(&model(nodes)).expect("a chain backwards");
    assert_eq!(shuffled.graph.nodes[0].inputs, ["x"]);
    assert_eq!(shuffled.graph.nodes[n - 1].outputs, ["y"]);
    assert!(before.elapsed().as_secs() < 10, "{:?}", before.elapsed());
}

#[test]
fn data_fields() {
    let cases: Vec<(DataType, TensorProto, Vec<u8>)> = vec![
        (DataType::Int64, TensorProto { int64_data: vec![-1], ..Default::default() }, vec![0xff; 8]),
        (DataType::Uint64, TensorProto { uint64_data: vec![1], ..Default::default() }, vec![1, 0, 0, 0, 0, 0, 0, 0]),
        (DataType::Uint32, TensorProto { uint64_data: vec![1], ..Default::default() }, vec![1, 0, 0, 0]),
        (DataType::Double, TensorProto { double_data: vec![1.0], ..Default::default() }, 1f64.to_le_bytes().into()),
        (DataType::Float, TensorProto { float_data: vec![1.0], ..Default::default() }, 1f32.to_le_bytes().into()),
        (DataType::Float16, TensorProto { int32_data: vec![0x3c00], ..Default::default() }, vec![0, 0x3c]),
        (DataType::Bool, TensorProto { int32_data: vec![1], ..Default::default() }, vec![1]),
        (DataType::Int8, TensorProto { int32_data: vec![-2], ..Default::default() }, vec![0xfe]),
        (DataType::Uint8, TensorProto { int32_data: vec![200], ..Default::default() }, vec![200]),
        (DataType::Int4, TensorProto { int32_data: vec![0x7], ..Default::default() }, vec![7]),
    ];
    for (ty, mut t, want) in cases {
        t.name = "w".into();
        t.dims = vec![1];
        t.data_type = ty as i32;
        let m = with(model(vec![node("Relu", "", &["x"], &["y"])]), |g| g.initializer.push(t));
        assert_eq!(decode(&m).expect("a model").graph.initialisers["w"].data[..], want, "{ty:?}");
    }
    let empty = tensor("w", &[0, 1 << 40, 1 << 40], &[]);
    let m =
        decode(&with(model(vec![node("Relu", "", &["x"], &["y"])]), |g| g.initializer.push(empty))).expect("a model");
    assert_eq!(inspect(&m).parameters, 0);
}

#[test]
fn functions_are_inlined_with_their_attributes() {
    let mut call = node("Twice", "call", &["x"], &["y"]);
    call.domain = "local".into();
    call.attribute.push(int("axis", 3));
    let reference = |name: &str, of: &str| AttributeProto {
        name: name.into(),
        ref_attr_name: of.into(),
        r#type: AttributeType::Int as i32,
        ..Default::default()
    };
    let mut inner = node("Softmax", "s", &["a"], &["t"]);
    inner.attribute = vec![reference("axis", "axis"), reference("other", "missing"), reference("defaulted", "d")];
    let mut nested = node("Pass", "p", &["t"], &["b"]);
    nested.domain = "local".into();
    let import = |domain: &str, version| OperatorSetIdProto { domain: domain.into(), version };
    let function = |name: &str, node: Vec<NodeProto>, input: &str, output: &str| FunctionProto {
        name: name.into(),
        domain: "local".into(),
        input: vec![input.into()],
        output: vec![output.into()],
        node,
        opset_import: vec![import("", 13), import("local", 1)],
        ..Default::default()
    };
    let mut m = model(vec![call]);
    m.opset_import.push(import("local", 1));
    let mut twice = function("Twice", vec![inner, nested], "a", "b");
    twice.attribute_proto = vec![int("d", 9)];
    m.functions = vec![twice, function("Pass", vec![], "u", "u")];
    let got = decode(&m).expect("a model");
    let names: Vec<_> = got.graph.nodes.iter().map(|n| (n.name.as_str(), n.op.as_str(), n.opset)).collect();
    assert_eq!(names, [("call/s", "Softmax", 13), ("call/p", "Identity", 28)]);
    let softmax = &got.graph.nodes[0];
    assert_eq!(softmax.inputs, ["x"]);
    assert!(matches!(softmax.attributes["axis"], Attribute::Int(3)));
    assert!(matches!(softmax.attributes["defaulted"], Attribute::Int(9)));
    assert!(!softmax.attributes.contains_key("other"));
    assert_eq!(got.graph.nodes[1].outputs, ["y"]);

    let mut again = node("Twice", "again", &["a"], &["b"]);
    again.domain = "local".into();
    m.functions[0].node = vec![again];
    assert!(decode(&m).expect_err("recursion").to_string().contains("function Twice: it calls itself"));
}

#[test]
fn subgraphs_see_outer_values() {
    let branch = |op: &str| {
        let g = GraphProto {
            name: op.into(),
            node: vec![node(op, "inner", &["late"], &["r"])],
            output: vec![common::value("r", &[2, 3])],
            ..Default::default()
        };
        AttributeProto { name: op.into(), r#type: AttributeType::Graph as i32, g: Some(g), ..Default::default() }
    };
    let mut cond = node("If", "if", &["c"], &["y"]);
    cond.attribute = vec![branch("Relu"), branch("Neg")];
    // The branch reads `late`, so the node that makes it must come first although the file lists it last.
    let nodes = vec![cond, node("Cast", "cast", &["x"], &["c"]), node("Abs", "abs", &["x"], &["late"])];
    let got = decode(&model(nodes)).expect("a model");
    assert_eq!(got.graph.nodes.iter().map(|n| n.op.as_str()).collect::<Vec<_>>(), ["Cast", "Abs", "If"]);
    assert_eq!(inspect(&got).ops[&(String::new(), "Neg".to_string())], 1);
}

#[test]
fn inputs_with_initialisers_are_constants() {
    let m = with(model(vec![node("Add", "", &["x", "w"], &["y"])]), |g| {
        g.input.push(common::value("w", &[3]));
        g.initializer.push(tensor("w", &[3], &[1.0, 2.0, 3.0]));
    });
    let got = decode(&m).expect("a model");
    assert_eq!(got.graph.inputs.len(), 1);
    assert_eq!(got.graph.initialisers["w"].elem, ElementType::F32);
    assert_eq!((inspect(&got).parameters, inspect(&got).weight_bytes), (3, 12));
}
