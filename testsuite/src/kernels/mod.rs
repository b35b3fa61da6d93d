//! Numerics of kernels: every op case on every back end against the reference, and bit for bit between the back ends.

mod cases;
mod device;
mod fusions;
mod pixels;
mod quantised;
mod random;
mod run;
mod symbolic;
mod ulp;

use libtest_mimic::{Failed, Trial};
use neap_codegen::{host_target, named_target};
use neap_kernels::scheduled::Facts;
use neap_optable::{Body, DType, GraphOp, Node, Tensor};
use neap_spec::{Arch, Backend, CpuTarget};

use cases::Case;

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut out = vec![];
    let special = fusions::all().into_iter().chain(pixels::all()).chain(quantised::all());
    for case in cases::all().into_iter().chain(random::all()).chain(special) {
        out.push(Trial::test(format!("kernel {}", case.name), move || check(&case)));
    }
    out.extend(device::trials());
    out.extend(symbolic::trials());
    out.extend(ulp::trials());
    out
}

/// What this machine can run: both back ends for itself, and LLVM without masks and with narrow vectors.
fn targets() -> Vec<CpuTarget> {
    let mut out = vec![host_target(Backend::Llvm), host_target(Backend::Cranelift)];
    if out[0].masked_memory {
        out.extend(named_target("x86-64-v3", Backend::Llvm));
    }
    out
}

pub(super) fn body(case: &Case) -> Body {
    let mut body = Body::default();
    for t in &case.inputs {
        body.arg(t.ty());
    }
    let outputs = case.types.iter().map(|t| body.value(t.clone())).collect::<Vec<_>>();
    body.nodes.push(Node {
        op: case.op,
        attrs: case.attrs.clone(),
        inputs: body.args.clone(),
        outputs: outputs.clone(),
        name: case.name.clone(),
        region: case.region.clone().map(Box::new),
    });
    body.results = outputs;
    body
}

fn check(case: &Case) -> Result<(), Failed> {
    let body = body(case);
    let mut first: Option<(String, Vec<Tensor>)> = None;
    // Integers are exact without fused multiply-add too.
    let narrowest = named_target("x86-64-v2", Backend::Llvm);
    let integers = case.name.contains("quantised") && host_target(Backend::Llvm).arch == Arch::X86_64;
    for target in targets().into_iter().chain(narrowest.into_iter().filter(|_| integers)) {
        // As run-time values, as constants that may be laid out anew, and as a model's input with weights.
        for constants in ["none", "all", "but the first"] {
            if constants != "none" && !case.contracts() {
                continue;
            }
            let constant = |i: usize| constants == "all" || (constants == "but the first" && i > 0);
            let facts = Facts { constant_inputs: (0..case.inputs.len()).map(constant).collect() };
            let kernel = match run::build(&body, &facts, &target)? {
                Ok(k) => k,
                Err(why) if case.refused() => {
                    assert!(why.contains("cast to f32 around them"), "{why}");
                    return Ok(());
                }
                Err(why) => return Err(why.into()),
            };
            let name = format!("{} {:?} ({}, constants: {constants})", target.cpu, target.backend, kernel.family());
            let found = kernel.run(&case.inputs, &case.types, &|s| panic!("no size {s}"), 2)?;
            for (f, e) in found.iter().zip(&case.outputs) {
                close(f, e, case.tolerance).map_err(|m| format!("{name}: {m}"))?;
            }
            match &first {
                None => first = Some((name, found)),
                Some((other, expected)) => {
                    for (f, e) in found.iter().zip(expected) {
                        same(f, e).map_err(|m| format!("{name} against {other}: {m}"))?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// Bit for bit, but for the payload of a NaN.
fn same(found: &Tensor, expected: &Tensor) -> Result<(), String> {
    if let (Some(f), Some(e)) = (found.to_f64(), expected.to_f64()) {
        for (i, (x, y)) in f.iter().zip(&e).enumerate() {
            if x.to_bits() != y.to_bits() && !(x.is_nan() && y.is_nan()) {
                return Err(format!("element {i}: {x:e} is not {y:e}"));
            }
        }
        return Ok(());
    }
    if found.data == expected.data { Ok(()) } else { Err("other bytes".into()) }
}

/// Floats to a relative or absolute tolerance, the rest exactly.
fn close(found: &Tensor, expected: &Tensor, tolerance: f32) -> Result<(), String> {
    let tolerance = match found.dtype {
        DType::F16 => 1.0 / 1024.0,
        DType::BF16 => 1.0 / 128.0,
        _ => f64::from(tolerance),
    };
    if let (Some(f), Some(e)) = (found.to_f64(), expected.to_f64()) {
        for (i, (x, y)) in f.iter().zip(&e).enumerate() {
            let near = (x - y).abs() <= tolerance * y.abs().max(1.0);
            if !(near || x == y || x.is_nan() && y.is_nan()) {
                return Err(format!("element {i} of {:?}: {x:e}, expected {y:e}", found.dims));
            }
        }
        return Ok(());
    }
    let (f, e) = (found.to_i64(), expected.to_i64());
    match (f, e) {
        (Some(f), Some(e)) => match f.iter().zip(&e).position(|(x, y)| x != y) {
            Some(i) => Err(format!("element {i} of {:?}: {}, expected {}", found.dims, f[i], e[i])),
            None => Ok(()),
        },
        _ => Err(format!("a result of type {}", found.dtype)),
    }
}

impl Case {
    /// Only contractions lay constants out anew.
    fn contracts(&self) -> bool {
        matches!(self.op, GraphOp::Matmul | GraphOp::Conv | GraphOp::ConvTranspose | GraphOp::Fusion)
    }

    /// Recurrences in f16 and bf16 are.
    fn refused(&self) -> bool {
        matches!(self.op, GraphOp::Lstm | GraphOp::Gru) && self.inputs.iter().any(|t| t.dtype.is_half())
    }
}
