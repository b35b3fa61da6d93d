//! Leaving rewrites and fusions out, and what is said of them.

use libtest_mimic::Trial;
use neap_onnx::proto::{AttributeProto, AttributeType, ModelProto};

use crate::models::{bytes, ints, model, node, relu, sizes, tensor, value, with};
use crate::neap::Place;

/// One trial each.
pub fn trials() -> Vec<Trial> {
    type Row = (&'static str, fn() -> Result<(), String>);
    let rows: [Row; 4] = [
        ("fusions of conv, batch norm, relu at [128, 256, 56, 56]", large),
        ("fusions of a model without any", none),
        ("bisect of a right model, and of a wrong reference", bisect),
        ("artefacts have no steps", artefact),
    ];
    rows.into_iter().map(|(name, f)| Trial::test(format!("cli {name}"), move || Ok(f()?))).collect()
}

/// relu(batch_norm(conv(x))) on 256 channels of 56 x 56.
fn conv_norm_relu(batch: i64) -> ModelProto {
    let mut conv = node("Conv", &["x", "w"], &["c"]);
    conv.attribute = vec![ints("kernel_shape", &[1, 1])];
    let mut norm = node("BatchNormalization", &["c", "s", "b", "m", "v"], &["n"]);
    norm.attribute.push(AttributeProto {
        name: "epsilon".into(),
        r#type: AttributeType::Float as i32,
        f: Some(1e-5),
        ..Default::default()
    });
    with(model(vec![conv, norm, node("Relu", &["n"], &["y"])]), |g| {
        let dims = sizes(&[batch, 256, 56, 56]);
        (g.input, g.output) = (vec![value("x", &dims)], vec![value("y", &dims)]);
        let vector =
            |name: &str, v: f32| tensor(name, &[256], &std::array::from_fn::<f32, 256, _>(|i| v + i as f32 / 512.0));
        let filter: Vec<f32> = (0..256 * 256).map(|i| (i % 13) as f32 * 0.01 - 0.06).collect();
        g.initializer = vec![tensor("w", &[256, 256, 1, 1], &filter), vector("s", 1.5), vector("b", 0.25)];
        g.initializer.extend([vector("m", -0.5), vector("v", 2.0)]);
    })
}

fn large() -> Result<(), String> {
    let place = Place::new()?;
    place.write("model.onnx", bytes(&conv_norm_relu(128)))?;
    let report = place.json("fusions model.onnx")?;
    // Two tensors of 392 MiB, written and read again each.
    let intermediate = 128 * 256 * 56 * 56 * 4u64;
    let group = &report["groups"][0];
    if report["kernels_after"] != 1 || group["kind"] != "conv" || group["bytes_saved"] != 4 * intermediate {
        return Err(format!("{report}"));
    }
    if intermediate != 411_041_792 || group["stops_at"] != serde_json::json!(["is a result of the model"]) {
        return Err(format!("{report}"));
    }
    // The same one image at a time, where there is time to run it.
    place.write("model.onnx", bytes(&conv_norm_relu(1)))?;
    for how in ["", " --no-fusion", " --no-rewrite --no-fusion", " --max-fusions 0", " --disable fuse-conv"] {
        let verified = place.json(&format!("verify model.onnx --random 2{how}"))?;
        if verified["ok"] != true {
            return Err(format!("{how}: {verified}"));
        }
    }
    Ok(())
}

fn none() -> Result<(), String> {
    let place = Place::new()?;
    place.write("model.onnx", bytes(&relu()))?;
    let report = place.json("fusions model.onnx")?;
    let kernels = (report["kernels_before"].as_u64(), report["kernels_after"].as_u64());
    let empty = report["groups"].as_array().is_some_and(Vec::is_empty);
    if kernels == (Some(1), Some(1)) && empty { Ok(()) } else { Err(format!("{report}")) }
}

fn bisect() -> Result<(), String> {
    let place = Place::new()?;
    place.write("model.onnx", bytes(&conv_norm_relu(1)))?;
    let report = place.json("bisect model.onnx --random 1")?;
    if report["runs"] != 1 || !report["guilty"].is_null() || place.path("g.bisect.mlir").exists() {
        return Err(format!("{report}"));
    }
    // A reference that no program meets: nothing that was rewritten is at fault.
    let zeros = crate::numpy::floats(&[1, 256, 56, 56], &vec![-1.0; 256 * 56 * 56]);
    place.write("ref.npz", crate::numpy::npz(&[("y", zeros)]))?;
    let report = place.json("bisect model.onnx --random 1 --reference ref.npz -o guilty.mlir")?;
    if report["runs"] != 2 || report["guilty"]["step"] != 0 || !place.path("guilty.mlir").exists() {
        return Err(format!("{report}"));
    }
    told(&place, "bisect model.onnx --reference model.onnx", 1, &["model.onnx", "npz"])
}

/// A refusal has these words.
fn told(place: &Place, args: &str, code: i32, words: &[&str]) -> Result<(), String> {
    let message = place.refuse(args, code)?;
    match words.iter().find(|w| !message.contains(**w)) {
        Some(word) => Err(format!("no '{word}' in: {message}")),
        None => Ok(()),
    }
}

fn artefact() -> Result<(), String> {
    let place = Place::new()?;
    place.write("model.onnx", bytes(&relu()))?;
    place.succeed("compile model.onnx -o model.neap")?;
    for command in ["bisect", "fusions"] {
        told(&place, &format!("{command} model.neap"), 1, &["is an artefact", "ONNX model"])?;
    }
    told(&place, "run model.neap --random 1 --no-fusion", 2, &["--no-fusion is for models", "compile the model again"])
}
