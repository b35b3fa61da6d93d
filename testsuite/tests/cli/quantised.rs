//! Weights of 8 and 4 bits keep their size from the model through the artefact.

use libtest_mimic::Trial;
use neap_onnx::proto::{DataType, TensorProto};

use crate::models::{bytes, model, node, sizes, tensor, value, with};
use crate::neap::Place;

const ROWS: usize = 256;
const COLUMNS: usize = 768;

/// One trial a width.
pub fn trials() -> Vec<Trial> {
    [(DataType::Int8, 8), (DataType::Int4, 4)]
        .into_iter()
        .map(|(ty, bits)| Trial::test(format!("cli weights of {bits} bits stay small"), move || Ok(check(ty, bits)?)))
        .collect()
}

/// `y = x * dequantised(w)` with a scale a column: the artefact is no larger than the weights and 64 KiB for code and scales,
/// whether `w` stands alone or behind a transpose.
fn check(ty: DataType, bits: usize) -> Result<(), String> {
    let size = ROWS * COLUMNS * bits / 8;
    let data: Vec<u8> = (0..size).map(|i| (i * 37 % 251) as u8).collect();
    for transposed in [false, true] {
        let place = Place::new()?;
        let dims = if transposed { [COLUMNS, ROWS] } else { [ROWS, COLUMNS] };
        let w = TensorProto {
            name: "w".into(),
            dims: dims.map(|d| d as i64).to_vec(),
            data_type: ty as i32,
            raw_data: Some(data.clone().into()),
            ..Default::default()
        };
        let scales: Vec<f32> = (0..COLUMNS).map(|i| 0.001 * (1 + i % 7) as f32).collect();
        let mut dequantise = node("DequantizeLinear", &["w", "s"], &["d"]);
        dequantise.attribute.push(neap_onnx::proto::AttributeProto {
            name: "axis".into(),
            r#type: neap_onnx::proto::AttributeType::Int as i32,
            i: Some(i64::from(!transposed)),
            ..Default::default()
        });
        let mut nodes = vec![dequantise];
        if transposed {
            nodes.push(node("Transpose", &["d"], &["t"]));
        }
        nodes.push(node("MatMul", &["x", if transposed { "t" } else { "d" }], &["y"]));
        let mut m = with(model(nodes), |g| {
            g.input = vec![value("x", &sizes(&[3, ROWS as i64]))];
            g.output = vec![value("y", &sizes(&[3, COLUMNS as i64]))];
            g.initializer = vec![w, tensor("s", &[COLUMNS as i64], &scales)];
        });
        m.opset_import[0].version = 21;
        place.write("model.onnx", bytes(&m))?;
        if place.json("verify model.onnx --random 3")?["ok"] != true {
            return Err("does not agree with the reference".into());
        }
        place.succeed("compile model.onnx -o model.neap")?;
        let artefact = place.read("model.neap")?.len();
        if artefact > size + (64 << 10) {
            return Err(format!(
                "transposed {transposed}: {size} bytes of weights make an artefact of {artefact} bytes"
            ));
        }
    }
    Ok(())
}
