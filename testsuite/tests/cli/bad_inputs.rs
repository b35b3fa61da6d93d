//! Inputs, options and places that do not fit the model.

use libtest_mimic::Trial;

use crate::models::*;
use crate::neap::{Place, snapshot};
use crate::numpy::{floats, npy, npz};

struct Row {
    name: &'static str,
    args: &'static str,
    code: i32,
    /// Files besides `model.onnx`, which is `y = relu(x)` of f32[2, 3], and `open.onnx`, `c = a + b` of f32[n, 3].
    files: fn() -> Vec<(&'static str, Vec<u8>)>,
}

const fn row(name: &'static str, args: &'static str, code: i32, files: fn() -> Vec<(&'static str, Vec<u8>)>) -> Row {
    Row { name, args, code, files }
}

const RUN: &str = "run model.onnx --inputs in.npz --output-dir out";
const RUN_X: &str = "run model.onnx --input x=x.npy --output-dir out";

const ROWS: &[Row] = &[
    row("input missing", "run model.onnx --output-dir out", 1, Vec::new),
    row("input of another name", RUN, 1, || vec![("in.npz", npz(&[("z", floats(&[2, 3], &[0.0; 6]))]))]),
    row("input of another shape", RUN, 1, || vec![("in.npz", npz(&[("x", floats(&[3, 2], &[0.0; 6]))]))]),
    row("input of another rank", RUN, 1, || vec![("in.npz", npz(&[("x", floats(&[6], &[0.0; 6]))]))]),
    row("input of another type", RUN, 1, || vec![("in.npz", npz(&[("x", npy("<i8", &[2, 3], &[0; 48]))]))]),
    row("input of doubles", RUN, 1, || vec![("in.npz", npz(&[("x", npy("<f8", &[2, 3], &[0; 48]))]))]),
    row("npz of junk", RUN, 1, || vec![("in.npz", b"this is no zip archive".to_vec())]),
    row("npz empty", RUN, 1, || vec![("in.npz", vec![])]),
    row("npz truncated", RUN, 1, || {
        let mut whole = npz(&[("x", floats(&[2, 3], &[0.0; 6]))]);
        whole.truncate(whole.len() / 2);
        vec![("in.npz", whole)]
    }),
    row("npz damaged", RUN, 1, || {
        let mut whole = npz(&[("x", floats(&[2, 3], &[0.0; 6]))]);
        whole[150] ^= 0x40;
        vec![("in.npz", whole)]
    }),
    row("npz with something else inside", RUN, 1, || vec![("in.npz", npz(&[("x", b"no array".to_vec())]))]),
    row("npz missing", RUN, 1, Vec::new),
    row("npz a folder", "run model.onnx --inputs out --output-dir out", 1, Vec::new),
    row("npy truncated", RUN_X, 1, || {
        let mut whole = floats(&[2, 3], &[0.0; 6]);
        whole.truncate(whole.len() - 4);
        vec![("x.npy", whole)]
    }),
    row("npy of complex numbers", RUN_X, 1, || vec![("x.npy", npy("<c8", &[2, 3], &[0; 48]))]),
    row("npy of strings", RUN_X, 1, || vec![("x.npy", npy("<U4", &[2, 3], &[0; 96]))]),
    row("npy of absurd shape", RUN_X, 1, || vec![("x.npy", npy("<f4", &[1 << 40, 1 << 40], &[0; 24]))]),
    row("npy of more than is there", RUN_X, 1, || vec![("x.npy", npy("<f4", &[1 << 46], &[0; 24]))]),
    row("npy missing", RUN_X, 1, Vec::new),
    row("dim unknown", "run model.onnx --random 1 --dim batch=3 --output-dir out", 1, Vec::new),
    row("dim twice", "run open.onnx --random 1 --dim n=3 --dim n=4 --output-dir out", 2, Vec::new),
    row("dim against itself", "run open.onnx --random 1 --dim a.0=3 --dim b.0=4 --output-dir out", 1, Vec::new),
    row("dim open", "run open.onnx --random 1 --output-dir out", 1, Vec::new),
    row("dim against input", "run open.onnx --inputs in.npz --dim n=5 --output-dir out", 1, || {
        vec![("in.npz", npz(&[("a", floats(&[2, 3], &[0.0; 6])), ("b", floats(&[2, 3], &[0.0; 6]))]))]
    }),
    row("inputs against each other", "run open.onnx --inputs in.npz --output-dir out", 1, || {
        vec![("in.npz", npz(&[("a", floats(&[2, 3], &[0.0; 6])), ("b", floats(&[1, 3], &[0.0; 3]))]))]
    }),
    row("cpu unknown", "compile model.onnx --target-cpu pentium -o out/m.neap", 2, Vec::new),
    row("pass unknown", "compile model.onnx --passes graph-fus -o out/m.neap", 2, Vec::new),
    row("pass option unknown", "compile model.onnx --passes graph-fuse{max-opz=3} -o out/m.neap", 2, Vec::new),
    row("pass option wrong", "compile model.onnx --passes graph-fuse{max-ops=many} -o out/m.neap", 2, Vec::new),
    row("output folder missing", "compile model.onnx -o nowhere/m.neap", 1, Vec::new),
    row("output a folder", "compile model.onnx -o out", 1, Vec::new),
    row("output folder a file", "run model.onnx --random 1 --output-dir model.onnx", 1, Vec::new),
    row("zoo unknown", "zoo alexnet -o out/m.onnx", 1, Vec::new),
    row("zoo size wrong", "zoo resnet50 --image 5 -o out/m.onnx", 1, Vec::new),
    row("zoo folder missing", "zoo resnet50 --small -o nowhere/m.onnx", 1, Vec::new),
];

/// One trial a row.
pub fn trials() -> Vec<Trial> {
    let trial = |r: &'static Row| {
        Trial::test(format!("cli bad input: {}", r.name), move || {
            let place = Place::new()?;
            place.write("model.onnx", bytes(&relu()))?;
            place.write("open.onnx", bytes(&open_sum()))?;
            for (name, bytes) in (r.files)() {
                place.write(name, bytes)?;
            }
            snapshot(&format!("bad-input-{}", r.name.replace(' ', "-")), &place.refuse(r.args, r.code)?);
            Ok(())
        })
    };
    ROWS.iter().map(trial).collect()
}
