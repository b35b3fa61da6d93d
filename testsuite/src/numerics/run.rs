//! Compiles samples for every back end, runs them on one thread and on several, and compares.
//!
//! Many samples share one model, each with inputs and outputs of its own, so that compiling costs little beyond the kernels.
//! Outputs start as garbage between guards, dead arena bytes are poisoned, and every launch is split as finely as it may be.

use std::sync::Arc;

use neap_driver::compile::{Compiled, Compiler, Graph, Sharing, Timing};
use neap_driver::load::in_memory;
use neap_optable::{Attrs, Body, DType, GraphOp, Tensor, TensorType, Weights};
use neap_passes::{Limits, Manager};
use neap_reference::eval;
use neap_runtime::{Model, Options, Session};
use neap_spec::CpuTarget;

use super::back_ends::{self, BackEnd};
use super::sample::Sample;
use super::tolerance::{allowed, floats};

/// Bytes before and after each buffer.
const GUARD: usize = 64;

/// Fails with one paragraph a sample that any back end gets wrong.
pub fn check(samples: &[Sample]) -> Result<(), String> {
    let mut wrong = vec![];
    let mut expected = vec![];
    for s in samples {
        let e = eval(s.op, &s.attrs, &s.inputs.iter().collect::<Vec<_>>(), &s.types);
        expected.push(e.map_err(|e| format!("{}: the reference refuses it: {e}", s.name))?);
    }
    let back_ends = back_ends::all();
    let found: Vec<Vec<Result<Vec<Tensor>, String>>> = back_ends.iter().map(|b| run_all(samples, b)).collect();
    for (i, s) in samples.iter().enumerate() {
        let results: Vec<_> = found.iter().map(|f| &f[i]).collect();
        if let Err(e) = compare(s, &expected[i], &back_ends, &results) {
            wrong.push(format!("{}\n    {e}", s.name));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("{} of {} samples are wrong:\n  {}", wrong.len(), samples.len(), wrong.join("\n  ")))
    }
}

fn compare(
    s: &Sample,
    expected: &[Tensor],
    back_ends: &[BackEnd],
    found: &[&Result<Vec<Tensor>, String>],
) -> Result<(), String> {
    let mut first: Option<(&str, &[Tensor])> = None;
    for (b, f) in back_ends.iter().zip(found) {
        let f = f.as_ref().map_err(|e| format!("{}: {e}", b.name))?;
        near(s, expected, f).map_err(|e| format!("{}: {e}", b.name))?;
        if let Some((name, other)) = first {
            same_bits(f, other).map_err(|e| format!("{} against {name}: {e}", b.name))?;
        }
        first.get_or_insert((b.name, f));
    }
    Ok(())
}

/// Within the op's tolerance of the reference.
fn near(s: &Sample, expected: &[Tensor], found: &[Tensor]) -> Result<(), String> {
    for (r, ((f, e), allowed)) in found.iter().zip(expected).zip(allowed(s, expected)).enumerate() {
        if f.ty() != e.ty() {
            return Err(format!("result {r} is {}, expected {}", f.ty(), e.ty()));
        }
        if !f.dtype.is_float() {
            same_bits(std::slice::from_ref(f), std::slice::from_ref(e))?;
            continue;
        }
        for (i, ((x, y), a)) in floats(f).into_iter().zip(floats(e)).zip(allowed).enumerate() {
            if !(x == y || x.is_nan() && y.is_nan() || (x - y).abs() <= a) {
                return Err(format!("result {r}, element {i} is {x:e}, expected {y:e} within {a:e}"));
            }
        }
    }
    Ok(())
}

/// Floats within a tolerance, everything else bit by bit.
pub fn near_all(found: &[Tensor], expected: &[Tensor], tolerance: f64) -> Result<(), String> {
    for (r, (f, e)) in found.iter().zip(expected).enumerate() {
        if !f.dtype.is_float() {
            same_bits(std::slice::from_ref(f), std::slice::from_ref(e)).map_err(|e| format!("result {r}: {e}"))?;
            continue;
        }
        for (i, (x, y)) in floats(f).into_iter().zip(floats(e)).enumerate() {
            if !(x == y || x.is_nan() && y.is_nan() || (x - y).abs() <= tolerance) {
                return Err(format!("result {r}, element {i} is {x:e}, expected {y:e} within {tolerance:e}"));
            }
        }
    }
    Ok(())
}

/// The same bits; but a NaN is a NaN, since the CPU takes sign and payload from whichever operand comes first.
pub fn same_bits(a: &[Tensor], b: &[Tensor]) -> Result<(), String> {
    for (r, (x, y)) in a.iter().zip(b).enumerate() {
        let size = x.dtype.size() as usize;
        if x.ty() != y.ty() {
            return Err(format!("result {r} is {}, expected {}", x.ty(), y.ty()));
        }
        for (i, (p, q)) in x.data.chunks(size).zip(y.data.chunks(size)).enumerate() {
            if p != q && !(nan(x.dtype, p) && nan(x.dtype, q)) {
                return Err(format!("result {r}, element {i} is {}, expected {}", show(x.dtype, p), show(y.dtype, q)));
            }
        }
    }
    Ok(())
}

fn nan(dtype: DType, bytes: &[u8]) -> bool {
    let t = Tensor { dtype, dims: vec![], data: bytes.to_vec().into() };
    floats(&t).iter().any(|v| v.is_nan())
}

fn show(dtype: DType, bytes: &[u8]) -> String {
    let t = Tensor { dtype, dims: vec![], data: bytes.to_vec().into() };
    match floats(&t).as_slice() {
        [v] => format!("{v:e} ({bytes:02x?})"),
        _ => t.to_i64().map_or_else(|| format!("{bytes:?}"), |v| v[0].to_string()),
    }
}

/// Results of each sample; if the samples do not compile together, of each alone.
fn run_all(samples: &[Sample], back_end: &BackEnd) -> Vec<Result<Vec<Tensor>, String>> {
    let (body, weights, inputs) = together(samples);
    match run(&body, &weights, &inputs, &back_end.target, "graph-copy-outputs") {
        Ok(outputs) => {
            let mut outputs = outputs.into_iter();
            samples.iter().map(|s| Ok(outputs.by_ref().take(s.types.len()).collect())).collect()
        }
        Err(e) if samples.len() == 1 => vec![Err(e)],
        Err(_) => samples.iter().flat_map(|s| run_all(std::slice::from_ref(s), back_end)).collect(),
    }
}

/// One body that computes all samples.
fn together(samples: &[Sample]) -> (Body, Weights, Vec<Tensor>) {
    let (mut body, mut weights, mut inputs) = (Body::default(), Weights::default(), vec![]);
    for (i, s) in samples.iter().enumerate() {
        let mut operands = vec![];
        for (t, constant) in s.inputs.iter().zip(&s.constant) {
            operands.push(if *constant {
                let key = weights.insert_fresh(&format!("w{i}"), t.clone());
                body.push(GraphOp::Weight, Attrs::new().str("key", key).str("hash", ""), &[], [t.ty()], "w")[0]
            } else {
                inputs.push(t.clone());
                body.arg(t.ty())
            });
        }
        let results = body.push(s.op, s.attrs.clone(), &operands, s.types.clone(), format!("s{i}"));
        body.results.extend(results);
    }
    body.arg_names = (0..body.args.len()).map(|i| format!("in{i}")).collect();
    body.result_names = (0..body.results.len()).map(|i| format!("out{i}")).collect();
    (body, weights, inputs)
}

/// Compiles a body after a pipeline, runs it in two ways that must agree, and gives its results.
pub fn run(
    body: &Body,
    weights: &Weights,
    inputs: &[Tensor],
    target: &CpuTarget,
    pipeline: &str,
) -> Result<Vec<Tensor>, String> {
    run_with(body, weights, inputs, &compiler(target, Sharing::default(), false), pipeline)
}

/// A compiler with a choice of the ways of sharing memory.
pub fn compiler(target: &CpuTarget, sharing: Sharing, hold_outputs: bool) -> Compiler {
    Compiler {
        target: target.clone(),
        observe: false,
        hold_outputs,
        tile_until: None,
        sharing,
        limits: Limits::default(),
        progress: false,
    }
}

/// As [`run`], with a compiler of one's own.
pub fn run_with(
    body: &Body,
    weights: &Weights,
    inputs: &[Tensor],
    compiler: &Compiler,
    pipeline: &str,
) -> Result<Vec<Tensor>, String> {
    let compiled = compiled(body, weights, compiler, pipeline)?;
    let types: Vec<TensorType> = body.results.iter().map(|r| body.ty(*r).clone()).collect();
    run_compiled(compiled, inputs, &types)
}

/// Runs a program in two ways that must agree, and gives its results.
pub fn run_compiled(mut compiled: Compiled, inputs: &[Tensor], types: &[TensorType]) -> Result<Vec<Tensor>, String> {
    for launch in &mut compiled.program.launches {
        launch.grain = 1;
    }
    let model = Arc::new(in_memory(compiled).map_err(|e| e.to_string())?);
    let one = execute(&model, inputs, types, Options { threads: 1, ..Options::default() })?;
    let several = execute(&model, inputs, types, Options { threads: 3, poison: true, ..Options::default() })?;
    same_bits(&several, &one).map_err(|e| format!("3 threads against 1: {e}"))?;
    Ok(one)
}

/// Compiles a body after a pipeline.
pub fn compiled(body: &Body, weights: &Weights, compiler: &Compiler, pipeline: &str) -> Result<Compiled, String> {
    let graph = Graph {
        name: "test".into(),
        body: body.clone(),
        weights: weights.clone(),
        tiling: Default::default(),
        applied: vec![],
    };
    let mut manager = Manager { verify: true, ..Manager::default() };
    let graph = compiler.optimise(graph, pipeline, &mut manager).map_err(|e| e.to_string())?;
    compiler.compile(&graph, &mut Timing::default()).map_err(|e| e.to_string())
}

fn execute(
    model: &Arc<Model>,
    inputs: &[Tensor],
    types: &[TensorType],
    options: Options,
) -> Result<Vec<Tensor>, String> {
    let mut session = Session::new(model.clone(), &options).map_err(|e| e.to_string())?;
    // NaN around what is read, so that a read outside shows.
    let ins: Vec<Guarded> = inputs.iter().map(|t| Guarded::new(t.data.len(), 0xff).filled(&t.data)).collect();
    let mut outs: Vec<Guarded> = types.iter().map(|t| Guarded::new(t.bytes().unwrap_or(0) as usize, 0xa5)).collect();
    {
        let ins: Vec<&[u8]> = ins.iter().map(Guarded::bytes).collect();
        let mut outs: Vec<&mut [u8]> = outs.iter_mut().map(Guarded::bytes_mut).collect();
        session.run(&ins, &mut outs).map_err(|e| e.to_string())?;
    }
    let mut results = vec![];
    for (i, (o, t)) in outs.iter().zip(types).enumerate() {
        if session.output(i).is_some_and(|held| held != o.bytes()) {
            return Err(format!("output {i} is not what is held of it in the arena"));
        }
        if !o.intact() {
            return Err(format!("writes outside output {i} of {} threads", options.threads));
        }
        let dims = t.static_dims().unwrap_or_default();
        results.push(Tensor { dtype: t.dtype, dims, data: o.bytes().to_vec().into() });
    }
    Ok(results)
}

/// A buffer aligned to 8 bytes and no more, between guards.
struct Guarded {
    words: Vec<u64>,
    start: usize,
    len: usize,
    filling: u8,
}

impl Guarded {
    fn new(len: usize, filling: u8) -> Self {
        let words = vec![u64::from_ne_bytes([filling; 8]); (len + 2 * GUARD).div_ceil(8) + 16];
        // An odd multiple of 8 away from the cache line.
        let at = words.as_ptr().align_offset(64) * 8 + GUARD + 8;
        Guarded { words, start: at, len, filling }
    }

    fn filled(mut self, bytes: &[u8]) -> Self {
        self.bytes_mut().copy_from_slice(bytes);
        self
    }

    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[self.start..self.start + self.len]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[self.start..self.start + self.len]
    }

    fn intact(&self) -> bool {
        let all: &[u8] = bytemuck::cast_slice(&self.words);
        all[..self.start].iter().chain(&all[self.start + self.len..]).all(|b| *b == self.filling)
    }
}
