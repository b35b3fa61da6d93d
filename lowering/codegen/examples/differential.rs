//! Runs every operation of the explicit level through both back ends on random inputs and compares bits.
//!
//! `differential [PART OF A NAME]`; the modules are `cases/*.mlir` and what `generate` makes of its tables.
#![allow(clippy::print_stdout, reason = "a command-line tool")]

#[path = "support/cases.rs"]
mod cases;
mod support;

use neap_codegen::{Elem, Emit, Stage, check, compile, host_target, link, parse};
use neap_mlir::context;
use neap_spec::Backend;
use std::{error::Error, time::Instant};
use support::{Buffer, Loaded};

/// Elements of each buffer.
const ELEMENTS: usize = 1024;
/// End of the parallel range: all cases step through it in vectors.
const EXTENT: i64 = 960;
/// Run-time sizes that cases may take.
const DIMS: [i64; 4] = [37, 5, 960, 3];

fn main() -> Result<(), Box<dyn Error>> {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let mut sources = cases::generate();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/cases");
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        sources.push((path.display().to_string(), std::fs::read_to_string(&path)?));
    }
    let (mut ran, mut wrong) = (0, 0);
    let mut times = [0.0; 2];
    for (name, text) in sources.iter().filter(|(name, _)| name.contains(&filter)) {
        let context = context();
        let module = parse(&context, text.as_bytes()).map_err(|e| format!("{name}: {e}\n{text}"))?;
        let stages = check(&module).map_err(|e| format!("{name}: {e}"))?;
        let mut loaded = Vec::new();
        for (i, backend) in [Backend::Llvm, Backend::Cranelift].into_iter().enumerate() {
            let start = Instant::now();
            let compiled = compile(&module, &host_target(backend), Emit::Object)
                .map_err(|e| format!("{name}: {backend:?}: {e}\n{text}"))?;
            times[i] += start.elapsed().as_secs_f64();
            loaded.push(Loaded::new(link(&[compiled.object])?)?);
        }
        for stage in &stages {
            ran += 1;
            if let Some(difference) = compare(stage, &loaded) {
                wrong += 1;
                println!("{name}: @{}: {difference}", stage.name);
            }
        }
    }
    println!("{ran} stages, {wrong} differ; llvm {:.2} s, cranelift {:.2} s", times[0], times[1]);
    if wrong == 0 { Ok(()) } else { Err("bits differ".into()) }
}

/// The first difference between the back ends' results; NaNs are equal.
fn compare(stage: &Stage, loaded: &[Loaded]) -> Option<String> {
    let results: Vec<Vec<Buffer>> = loaded
        .iter()
        .map(|image| {
            let mut buffers = inputs(stage);
            let mut scratch = Buffer::new(1 << 16);
            image.call(&stage.name, &mut buffers, &DIMS[..stage.dims], (0, EXTENT), &mut scratch);
            buffers
        })
        .collect();
    for (i, param) in stage.buffers.iter().enumerate() {
        let bytes = (param.elem.bits() / 8) as usize;
        let (a, b) = (results[0][i].bytes(), results[1][i].bytes());
        for (element, (x, y)) in a.chunks_exact(bytes).zip(b.chunks_exact(bytes)).enumerate() {
            if x != y && !(is_nan(param.elem, x) && is_nan(param.elem, y)) {
                let sources: Vec<String> = inputs(stage)
                    .iter()
                    .zip(&stage.buffers)
                    .map(|(b, p)| {
                        let n = (p.elem.bits() / 8) as usize;
                        format!("{:02x?}", &b.bytes()[element * n..(element + 1) * n])
                    })
                    .collect();
                return Some(format!("buffer {i} element {element}: {x:02x?} and {y:02x?} from {}", sources.join(" ")));
            }
        }
    }
    None
}

fn is_nan(elem: Elem, bytes: &[u8]) -> bool {
    match (elem, bytes) {
        (Elem::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).is_nan(),
        (Elem::F64, bytes) => bytes.try_into().is_ok_and(|b| f64::from_le_bytes(b).is_nan()),
        _ => false,
    }
}

/// Random buffers, with the values in them that go wrong most often.
fn inputs(stage: &Stage) -> Vec<Buffer> {
    const SPECIAL: [f64; 14] =
        [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-40, 3e38, 0.1];
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut fill = |elem: Elem| {
        let bytes = (elem.bits() / 8) as usize;
        let mut buffer = Buffer::new(ELEMENTS * bytes);
        for chunk in buffer.bytes_mut().chunks_exact_mut(bytes) {
            let random = next();
            let special = random % 4 == 0;
            let number = if special {
                SPECIAL[(random >> 8) as usize % SPECIAL.len()]
            } else {
                ((random >> 20) as f64 / (1u64 << 43) as f64 - 1.0) * if random % 4 == 1 { 2.0 } else { 300.0 }
            };
            match elem {
                Elem::F32 => chunk.copy_from_slice(&(number as f32).to_le_bytes()),
                Elem::F64 => chunk.copy_from_slice(&number.to_le_bytes()),
                _ if special => chunk.copy_from_slice(&((random >> 8) as i64 % 4 - 1).to_le_bytes()[..bytes]),
                _ => chunk.copy_from_slice(&(random >> 8).to_le_bytes()[..bytes]),
            }
        }
        buffer
    };
    stage.buffers.iter().map(|p| fill(p.elem)).collect()
}
