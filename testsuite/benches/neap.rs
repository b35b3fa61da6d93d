//! Criterion benches: phases of the compiler, and a few kernels as they run. `just bench-criterion`.
//!
//! Times on a shared machine only mean something side by side; the FMA and copy rows measure the machine in the same run.

#![allow(missing_docs, reason = "criterion's macros define undocumented items")]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use neap_codegen::host_target;
use neap_driver::compile::{Compiler, DEFAULT_PIPELINE, Graph, Sharing, Timing};
use neap_optable::{Attrs, BinaryKind, Body, DType, GraphOp, TensorType, UnaryKind, ValueId, Weights};
use neap_passes::import::{ImportOptions, import};
use neap_passes::{Limits, Manager};
use neap_runtime::{Options, Session};
use neap_spec::Backend;

fn zoo(name: &str) -> neap_onnx::Model {
    let options = neap_zoo::Options { small: true, ..neap_zoo::Options::default() };
    neap_onnx::from_proto(neap_zoo::build(name, &options).expect("in the zoo"), &neap_onnx::external::NoExternal)
        .expect("the zoo writes valid models")
}

fn compiler(backend: Backend) -> Compiler {
    Compiler {
        target: host_target(backend),
        observe: false,
        hold_outputs: false,
        tile_until: None,
        sharing: Sharing::default(),
        limits: Limits::default(),
        progress: false,
    }
}

fn phases(c: &mut Criterion) {
    let mut group = c.benchmark_group("phases");
    group.sample_size(10);
    for name in ["resnet50", "bert-base"] {
        let model = zoo(name);
        let imported = || import(&model, &ImportOptions::default()).expect("neap imports its zoo");
        let graph = || {
            let i = imported();
            Graph { name: name.into(), body: i.body, weights: i.weights, tiling: Default::default(), applied: vec![] }
        };
        group.bench_function(format!("import/{name}"), |b| b.iter(|| black_box(imported())));
        let llvm = compiler(Backend::Llvm);
        let optimise = |g: Graph| llvm.optimise(g, DEFAULT_PIPELINE, &mut Manager::default()).expect("passes run");
        group.bench_function(format!("optimise/{name}"), |b| b.iter_batched(graph, optimise, BatchSize::LargeInput));
        let ready = optimise(graph());
        for (backend, label) in [(Backend::Llvm, "llvm"), (Backend::Cranelift, "cranelift")] {
            let compiler = compiler(backend);
            group.bench_function(format!("schedule-plan-code/{label}/{name}"), |b| {
                b.iter(|| compiler.compile(&ready, &mut Timing::default()).expect("compiles"));
            });
        }
    }
    group.finish();
}

/// A graph with one operator chain, built by `f` from its arguments.
fn graph(args: &[&[u64]], f: impl FnOnce(&mut Body, &[ValueId]) -> ValueId) -> Graph {
    let mut body = Body::default();
    let values: Vec<ValueId> = args.iter().map(|d| body.arg(TensorType::fixed(DType::F32, d))).collect();
    body.arg_names = (0..values.len()).map(|i| format!("in{i}")).collect();
    let out = f(&mut body, &values);
    body.results.push(out);
    body.result_names.push("out".into());
    Graph { name: "bench".into(), body, weights: Weights::default(), tiling: Default::default(), applied: vec![] }
}

fn push(b: &mut Body, op: GraphOp, attrs: Attrs, ins: &[ValueId], dims: &[u64]) -> ValueId {
    b.push(op, attrs, ins, [TensorType::fixed(DType::F32, dims)], op.name())[0]
}

fn conv(channels: u64, size: u64) -> Graph {
    graph(&[&[1, channels, size, size], &[channels, channels, 3, 3]], |b, v| {
        let attrs =
            Attrs::new().ints("strides", [1, 1]).ints("pads", [1, 1, 1, 1]).ints("dilations", [1, 1]).int("groups", 1);
        push(b, GraphOp::Conv, attrs, v, &[1, channels, size, size])
    })
}

fn matmul(n: u64) -> Graph {
    graph(&[&[n, n], &[n, n]], |b, v| {
        push(b, GraphOp::Matmul, Attrs::new().flag("transpose_lhs", false).flag("transpose_rhs", false), v, &[n, n])
    })
}

fn kernels(c: &mut Criterion) {
    const ROWS: [u64; 2] = [512, 1000];
    let rows = |op: GraphOp, attrs: Attrs| graph(&[&ROWS], |b, v| push(b, op, attrs, v, &ROWS));
    let gelu = graph(&[&ROWS], |b, v| {
        let erf = push(b, GraphOp::Unary, Attrs::new().int("kind", UnaryKind::Erf), v, &ROWS);
        push(b, GraphOp::Binary, Attrs::new().int("kind", BinaryKind::Mul), &[v[0], erf], &ROWS)
    });
    let copy = graph(&[&ROWS], |b, v| {
        push(b, GraphOp::Slice, Attrs::new().ints("starts", [0, 0]).ints("steps", [1, 1]), v, &ROWS)
    });
    let transpose =
        graph(&[&ROWS], |b, v| push(b, GraphOp::Transpose, Attrs::new().ints("permutation", [1, 0]), v, &[1000, 512]));
    let cases = [
        ("copy", copy),
        ("matmul-512", matmul(512)),
        ("conv-3x3-64x56", conv(64, 56)),
        ("softmax", rows(GraphOp::Softmax, Attrs::new().int("axis", 1).flag("log", false))),
        ("layer-norm", rows(GraphOp::LayerNorm, Attrs::new().int("axis", 1).float("epsilon", 1e-5).flag("rms", false))),
        ("erf-mul", gelu),
        ("transpose", transpose),
    ];
    let mut group = c.benchmark_group("kernels");
    for (name, graph) in cases {
        let flops = graph.body.flops().as_const().unwrap_or(0);
        let bytes: u64 = graph.body.types.iter().filter_map(TensorType::bytes).sum();
        group.throughput(if flops > bytes { Throughput::Elements(flops) } else { Throughput::Bytes(bytes) });
        for (backend, label) in [(Backend::Llvm, "llvm"), (Backend::Cranelift, "cranelift")] {
            let compiler = compiler(backend);
            let fused =
                compiler.optimise(graph.clone(), DEFAULT_PIPELINE, &mut Manager::default()).expect("passes run");
            let compiled = compiler.compile(&fused, &mut Timing::default()).expect("compiles");
            let model = Arc::new(neap_driver::load::in_memory(compiled).expect("the runtime takes it"));
            let mut session =
                Session::new(model.clone(), &Options { threads: 1, ..Options::default() }).expect("memory");
            let words = |bytes: Option<u64>| vec![0.5f32; bytes.unwrap_or(0) as usize / 4];
            let inputs: Vec<Vec<f32>> = model.inputs().iter().map(|i| words(i.bytes())).collect();
            let mut outputs: Vec<Vec<f32>> = model.outputs().iter().map(|o| words(o.bytes())).collect();
            group.bench_function(format!("{name}/{label}"), |b| {
                b.iter(|| {
                    let inputs: Vec<&[u8]> = inputs.iter().map(|i| bytemuck::cast_slice(i)).collect();
                    let mut outputs: Vec<&mut [u8]> = outputs.iter_mut().map(|o| bytemuck::cast_slice_mut(o)).collect();
                    session.run(&inputs, &mut outputs).expect("runs");
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, phases, kernels);
criterion_main!(benches);
