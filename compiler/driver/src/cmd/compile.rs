//! `neap compile`

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use neap_plan::report::human;
use serde::Serialize;

use crate::cli::{Backend, Compile, Emit, WeightPlace};
use crate::compile::{MemoryFigures, Tiling, Timing};
use crate::failure::Failure;
use crate::feed::Given;
use crate::files;
use crate::library;
use crate::load;

#[derive(Serialize)]
struct Report {
    output: String,
    artefact_bytes: u64,
    code_bytes: usize,
    weight_bytes: u64,
    kernels: usize,
    launches: usize,
    compile_ms: f64,
    #[serde(flatten)]
    memory: MemoryFigures,
    #[serde(flatten)]
    tiling: Option<Tiling>,
}

/// Runs the command.
pub fn run(args: &Compile) -> Result<(), Failure> {
    let start = Instant::now();
    let mut timing = Timing::default();
    if load::is_artefact(&args.model) {
        return Err(Failure::new(format!(
            "{}: is an artefact already; give the ONNX model it was made from",
            args.model.display()
        )));
    }
    let graph = load::graph(&args.model, &args.options.dims, &Given::new(), &mut timing)?;
    let form = args.emit.and_then(library::Form::of);
    if form.is_none() && (args.weights.is_some() || args.prefix.is_some()) {
        return Err(Failure::usage("--weights and --prefix are for --emit so, obj and c-header alone; leave them out"));
    }
    if let Some(form) = form {
        return emit_library(args, form, graph, &mut timing);
    }
    if let Some(emit) = args.emit {
        return emit_text(args, emit, graph, &mut timing);
    }
    let output = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.neap", graph.name)));
    files::apart(&args.model, "the model", &[("-o", Some(&output))])?;
    files::has_folder(&output)?;
    let (graph, compiled) = load::compile(graph, &args.options, false, args.json, &mut timing)?;
    let _pending = files::Pending::file(&output);
    let bytes = timing
        .phase("write", || neap_runtime::artefact::write(&output, &compiled.program, &compiled.code, &compiled.weights))
        .map_err(Failure::new)?;
    let report = Report {
        output: output.display().to_string(),
        artefact_bytes: bytes,
        code_bytes: compiled.code.len(),
        weight_bytes: compiled.weights.iter().map(|w| w.len() as u64).sum(),
        kernels: compiled.kernels,
        launches: compiled.program.launches.len(),
        compile_ms: start.elapsed().as_secs_f64() * 1e3,
        memory: compiled.memory,
        tiling: args.options.recompute_limit.map(|_| graph.tiling),
    };
    super::print_timing(&timing, args.options.timing);
    if args.json {
        return super::print_json(&report);
    }
    super::print(&format!(
        "{}: {} launches of {} kernels, {} code, {} weights, arena {} (model's own order {}, no reuse {}), {:.2} s\n{}",
        report.output,
        report.launches,
        report.kernels,
        human(report.code_bytes as u64),
        human(report.weight_bytes),
        human(report.memory.arena_bytes),
        human(report.memory.file_order_peak_bytes),
        human(report.memory.no_reuse_bytes),
        report.compile_ms / 1e3,
        report.tiling.map(|t| t.table()).unwrap_or_default(),
    ))
}

fn emit_library(
    args: &Compile,
    form: library::Form,
    graph: crate::compile::Graph,
    timing: &mut Timing,
) -> Result<(), Failure> {
    if args.options.hold_outputs {
        return Err(Failure::usage(
            "--hold-outputs is for artefacts; a library writes the caller's outputs, leave it out",
        ));
    }
    let arch = load::target(&args.options)?.arch.name();
    let beside = args.weights == Some(WeightPlace::Beside);
    let names =
        library::Names::new(args.prefix.as_deref().unwrap_or(&graph.name), form, beside, args.output.as_deref());
    for path in names.written() {
        files::apart(&args.model, "the model", &[("-o", Some(path))])?;
    }
    // Before the work of compiling: what cannot be linked need not be compiled.
    let linker = (form == library::Form::Shared).then(|| library::Linker::find(arch)).transpose()?;
    let compiler = load::compiler(&args.options, false, true)?;
    let (_, compiled) = load::compile(graph, &args.options, false, true, timing)?;
    timing.phase("library", || library::write(&names, &compiled, &compiler.target, linker.as_ref()))?;
    super::print_timing(timing, args.options.timing);
    super::print(&names.written().map(|p| format!("{}\n", p.display())).collect::<String>())
}

fn emit_text(args: &Compile, emit: Emit, graph: crate::compile::Graph, timing: &mut Timing) -> Result<(), Failure> {
    files::apart(&args.model, "the model", &[("-o", args.output.as_ref())])?;
    let only = match emit {
        Emit::Llvm | Emit::Asm => Some(("llvm", Backend::Llvm)),
        Emit::Clif => Some(("cranelift", Backend::Cranelift)),
        Emit::MlirGraph | Emit::MlirLoop | Emit::MlirScf | Emit::MlirSegment => None,
        Emit::So | Emit::Obj | Emit::CHeader => None,
    };
    if let Some((name, _)) = only.filter(|o| o.1 != args.options.backend()) {
        return Err(Failure::usage(format!("this level is made by --backend {name} alone; add that")));
    }
    let compiler = load::compiler(&args.options, false, true)?;
    let graph = load::optimise(graph, &args.options, &compiler, timing)?;
    let text = match emit {
        Emit::MlirGraph => crate::compile::graph_text(&graph)?,
        other => compiler.emit(&graph, other)?,
    };
    super::print_timing(timing, args.options.timing);
    match &args.output {
        Some(path) => files::write(path, |w| w.write_all(text.as_bytes())),
        None => super::print(&text),
    }
}
