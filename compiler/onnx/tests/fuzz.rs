//! Damaged files never panic.

mod common;

use bytes::Bytes;
use common::{model, node, tensor, with};
use neap_onnx::external::NoExternal;
use neap_onnx::proto::*;
use proptest::prelude::*;
use prost::Message;

fn sample() -> Vec<u8> {
    let mut cond = node("If", "if", &["c"], &["y"]);
    let g = GraphProto {
        node: vec![node("Relu", "", &["h"], &["r"])],
        output: vec![common::value("r", &[2])],
        ..Default::default()
    };
    for name in ["then_branch", "else_branch"] {
        let g = Some(g.clone());
        cond.attribute.push(AttributeProto { name: name.into(), r#type: 5, g, ..Default::default() });
    }
    let mut call = node("F", "call", &["x", "w"], &["h"]);
    call.domain = "local".into();
    let mut m = with(model(vec![call, node("Cast", "cast", &["x"], &["c"]), cond]), |g| {
        g.initializer = vec![tensor("w", &[2, 2], &[1.0; 4])];
    });
    let local = OperatorSetIdProto { domain: "local".into(), version: 1 };
    m.opset_import.push(local.clone());
    m.functions.push(FunctionProto {
        name: "F".into(),
        domain: "local".into(),
        input: vec!["a".into(), "b".into()],
        output: vec!["o".into()],
        node: vec![node("Add", "", &["a", "b"], &["o"])],
        opset_import: vec![OperatorSetIdProto { domain: String::new(), version: 13 }, local],
        ..Default::default()
    });
    m.encode_to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn mutated_models(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in prop::option::of(any::<prop::sample::Index>())) {
        let mut bytes = sample();
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(m) = neap_onnx::decode(Bytes::from(bytes), &NoExternal) {
            neap_onnx::inspect(&m);
        }
    }

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = neap_onnx::decode(Bytes::from(bytes), &NoExternal);
    }
}

#[test]
fn the_sample_is_sound() {
    neap_onnx::decode(Bytes::from(sample()), &NoExternal).expect("sound");
}
