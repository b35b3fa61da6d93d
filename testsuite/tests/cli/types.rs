//! Every element type from a `.npy` file through a compiled model into a `.npy` file: x + x.

use libtest_mimic::Trial;
use neap_onnx::proto::DataType;

use crate::models::{Dim, bytes, model, node, typed, with};
use crate::neap::Place;
use crate::numpy::npy;

/// numpy's name, ONNX's type, an element and twice that; integers wrap.
type Row = (&'static str, DataType, Vec<u8>, Vec<u8>);

fn rows() -> Vec<Row> {
    let two = |a: &[u8], b: &[u8]| (a.to_vec(), b.to_vec());
    let row = |descr, ty, (a, b)| (descr, ty, a, b);
    vec![
        row("<f4", DataType::Float, two(&1.25f32.to_le_bytes(), &2.5f32.to_le_bytes())),
        row("<f8", DataType::Double, two(&0.1f64.to_le_bytes(), &0.2f64.to_le_bytes())),
        // 1.5 and 3
        row("<f2", DataType::Float16, two(&0x3e00u16.to_le_bytes(), &0x4200u16.to_le_bytes())),
        row("|V2", DataType::Bfloat16, two(&0x3fc0u16.to_le_bytes(), &0x4040u16.to_le_bytes())),
        row("|i1", DataType::Int8, two(&100i8.to_le_bytes(), &(-56i8).to_le_bytes())),
        row("|u1", DataType::Uint8, two(&[200], &[144])),
        row("<i2", DataType::Int16, two(&(-20_000i16).to_le_bytes(), &25_536i16.to_le_bytes())),
        row("<u2", DataType::Uint16, two(&40_000u16.to_le_bytes(), &14_464u16.to_le_bytes())),
        row("<i4", DataType::Int32, two(&i32::MIN.to_le_bytes(), &0i32.to_le_bytes())),
        row("<u4", DataType::Uint32, two(&0x9000_0001u32.to_le_bytes(), &0x2000_0002u32.to_le_bytes())),
        row("<i8", DataType::Int64, two(&(-3i64).to_le_bytes(), &(-6i64).to_le_bytes())),
        row("<u8", DataType::Uint64, two(&(1u64 << 63 | 5).to_le_bytes(), &10u64.to_le_bytes())),
    ]
}

/// One trial a type.
pub fn trials() -> Vec<Trial> {
    rows().into_iter().map(|r| Trial::test(format!("cli type {}", r.0), move || Ok(check(&r)?))).collect()
}

fn check((descr, ty, element, twice): &Row) -> Result<(), String> {
    let place = Place::new()?;
    let dims = [Dim::N(3)];
    let m = with(model(vec![node("Add", &["x", "x"], &["y"])]), |g| {
        (g.input[0], g.output[0]) = (typed("x", *ty, &dims), typed("y", *ty, &dims));
    });
    place.write("model.onnx", bytes(&m))?;
    place.write("x.npy", npy(descr, &[3], &element.repeat(3)))?;
    for backend in ["llvm", "cranelift"] {
        place.succeed(&format!("run model.onnx --backend {backend} --input x=x.npy --output-dir out"))?;
        let file = place.read("out/y.npy")?;
        let header = String::from_utf8_lossy(&file[..file.len() - 3 * twice.len()]).into_owned();
        if !file.ends_with(&twice.repeat(3)) || !header.contains(&format!("'descr': '{descr}'")) {
            return Err(format!("{backend} writes {header} {:02x?}", &file[file.len() - 3 * twice.len()..]));
        }
    }
    if place.json("verify model.onnx --random 3")?["ok"] != true {
        return Err("does not agree with the reference".into());
    }
    Ok(())
}
