//! Models and artefacts from files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use neap_codegen::{aarch64_target, host_target, named_target};
use neap_onnx::{DimInfo, Model, ValueType};
use neap_optable::{Body, DType};
use neap_passes::import::{ImportOptions, import};
use neap_passes::{Dump, Manager};
use neap_runtime::artefact::{Artefact, Check};
use neap_runtime::{MappedFile, Session, program};
use neap_spec::{Backend as SpecBackend, CpuTarget};

use crate::cli::{Backend, CompileOptions, System};
use crate::compile::{Compiled, Compiler, DEFAULT_PIPELINE, Graph, MemoryFigures, Sharing, Timing};
use crate::failure::{At, Failure};
use crate::feed::{Given, Wanted};

/// Whether the file starts like an artefact.
pub fn is_artefact(path: &Path) -> bool {
    let mut head = [0u8; 4];
    let named = path.extension().is_some_and(|e| e == "neap");
    named || File::open(path).and_then(|mut f| f.read_exact(&mut head)).is_ok_and(|()| &head == b"NEAP")
}

/// Reads a model; its weights and external data stay in the mapped files.
pub fn read(path: &Path) -> Result<Model, Failure> {
    let map = |p: &Path| MappedFile::open(p).map(Bytes::from_owner);
    neap_onnx::load_with(path, &map).map_err(Failure::new)
}

/// Reads and imports a model. Dims still open after `dims` are taken from the shapes of `given`.
pub fn graph(path: &Path, dims: &[(String, u64)], given: &Given, timing: &mut Timing) -> Result<Graph, Failure> {
    let model = timing.phase("read", || read(path))?;
    let mut bound: BTreeMap<String, u64> = BTreeMap::new();
    for (name, n) in dims {
        if bound.insert(name.clone(), *n).is_some_and(|old| old != *n) {
            return Err(Failure::usage(format!("--dim gives '{name}' two sizes")));
        }
    }
    take_dims(&model, given, &mut bound)?;
    let mut imported = timing.phase("import", || import(&model, &ImportOptions { dims: bound })).map_err(|errors| {
        Failure::new(errors.iter().map(|e| format!("{}: {e}", path.display())).collect::<Vec<_>>().join("\n"))
    })?;
    // A model may list one value as an output twice; outputs are told apart by name, so it is given once.
    let mut names = BTreeSet::new();
    let keep: Vec<bool> = imported.body.result_names.iter().map(|n| names.insert(n.clone())).collect();
    let mut kept = keep.iter();
    imported.body.results.retain(|_| kept.next() == Some(&true));
    let mut kept = keep.iter();
    imported.body.result_names.retain(|_| kept.next() == Some(&true));
    let name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_else(|| "model".into());
    Ok(Graph { name, body: imported.body, weights: imported.weights, tiling: Default::default(), applied: vec![] })
}

/// Sizes of open dims from the given arrays' shapes.
fn take_dims(model: &Model, given: &Given, bound: &mut BTreeMap<String, u64>) -> Result<(), Failure> {
    for input in &model.graph.inputs {
        let (Some(t), ValueType::Tensor(_, Some(shape))) = (given.get(&input.name), &input.ty) else { continue };
        if shape.len() != t.dims.len() {
            return Err(Failure::new(format!(
                "input '{}' has shape {:?}, expected {} dims",
                input.name,
                t.dims,
                shape.len()
            )));
        }
        for (axis, (dim, &size)) in shape.iter().zip(&t.dims).enumerate() {
            let name = match dim {
                DimInfo::Named(n) => n.clone(),
                DimInfo::Open | DimInfo::Known(0) => format!("{}.{axis}", input.name),
                DimInfo::Known(_) => continue,
            };
            let by_place = format!("{}.{axis}", input.name);
            if bound.contains_key(&by_place) {
                continue;
            }
            let known = *bound.entry(name.clone()).or_insert(size);
            if known != size {
                return Err(Failure::new(format!(
                    "input '{}' has {size} along axis {axis}, but dim '{name}' is {known}",
                    input.name
                )));
            }
        }
    }
    Ok(())
}

/// Names of dims that are still open, in order of appearance.
pub fn open_dims(body: &Body) -> Vec<String> {
    let mut out: Vec<String> = vec![];
    for s in body.args.iter().flat_map(|&a| &body.ty(a).dims).flat_map(|d| d.symbols()) {
        if !out.contains(&s.to_string()) {
            out.push(s.to_string());
        }
    }
    out
}

/// The inputs of a graph whose dims are all known.
pub fn wanted(body: &Body) -> Result<Vec<Wanted>, Failure> {
    let open = open_dims(body);
    if !open.is_empty() {
        let hints: Vec<String> = open.iter().map(|n| format!("--dim '{n}=1'")).collect();
        return Err(Failure::new(format!("open dims need sizes, such as {}", hints.join(" "))));
    }
    body.args
        .iter()
        .zip(&body.arg_names)
        .map(|(&a, name)| {
            let ty = body.ty(a);
            let dims =
                ty.static_dims().ok_or_else(|| Failure::new(format!("input '{name}' has no fixed shape: {ty}")))?;
            Ok(Wanted { name: name.clone(), dtype: ty.dtype, dims })
        })
        .collect()
}

/// The target that the options ask for.
pub fn target(options: &CompileOptions) -> Result<CpuTarget, Failure> {
    let backend = match options.backend() {
        Backend::Llvm => SpecBackend::Llvm,
        Backend::Cranelift => SpecBackend::Cranelift,
    };
    let cpu = options.target_cpu.as_deref();
    match (options.target, cpu) {
        (Some(System::Aarch64), None | Some("generic")) if backend == SpecBackend::Llvm => Ok(aarch64_target()),
        (Some(System::Aarch64), None | Some("generic")) => {
            Err(Failure::usage("--backend cranelift makes code for x86-64 alone; take --backend llvm"))
        }
        (Some(System::Aarch64), Some(name)) => {
            Err(Failure::usage(format!("target cpu {name}: not one of aarch64-linux-gnu; use generic")))
        }
        (Some(System::X86_64), None) => named_target("x86-64-v2", backend).map_err(Failure::usage),
        (None, None | Some("native")) => Ok(host_target(backend)),
        (_, Some(name)) => named_target(name, backend).map_err(Failure::usage),
    }
}

/// Optimises and compiles a graph.
pub fn compile(
    graph: Graph,
    options: &CompileOptions,
    observe: bool,
    json: bool,
    timing: &mut Timing,
) -> Result<(Graph, Compiled), Failure> {
    let compiler = compiler(options, observe, json)?;
    let graph = optimise(graph, options, &compiler, timing)?;
    let compiled = compiler.compile(&graph, timing)?;
    Ok((graph, compiled))
}

/// Whether somebody wants to see how far long work is.
pub fn progress(json: bool) -> bool {
    use std::io::IsTerminal;
    !json && std::io::stderr().is_terminal()
}

/// A compiler for the options' target.
pub fn compiler(options: &CompileOptions, observe: bool, json: bool) -> Result<Compiler, Failure> {
    Ok(Compiler {
        target: target(options)?,
        observe,
        // What is observed lies in the caller's buffers.
        hold_outputs: options.hold_outputs && !observe,
        sharing: Sharing::default(),
        tile_until: None,
        limits: options.steps.limits(),
        progress: progress(json),
    })
}

/// Runs the graph passes.
pub fn optimise(
    graph: Graph,
    options: &CompileOptions,
    compiler: &Compiler,
    timing: &mut Timing,
) -> Result<Graph, Failure> {
    wanted(&graph.body)?;
    let dump = match (&options.dump_ir_after, &options.dump_ir_dir) {
        (Some(after), Some(dir)) => Some(Dump { after: after.clone(), dir: dir.clone() }),
        _ => None,
    };
    let mut manager = Manager { verify: cfg!(debug_assertions), dump, times: vec![] };
    let pipeline = options.passes.as_deref().unwrap_or(DEFAULT_PIPELINE);
    let graph = timing.phase("optimise", || compiler.optimise(graph, pipeline, &mut manager));
    timing.0.extend(manager.times.into_iter().map(|t| (format!("  {}", t.pass), t.time)));
    match options.recompute_limit {
        Some(limit) => compiler.tile(graph?, limit, timing),
        None => graph,
    }
}

/// Anything that can run: loaded from an artefact, or compiled from a model in memory.
#[derive(Debug)]
pub struct Loaded {
    /// Ready to run.
    pub model: Arc<neap_runtime::Model>,
    /// What it wants.
    pub wanted: Vec<Wanted>,
    /// The plan's figures, when compiled here.
    pub memory: Option<MemoryFigures>,
}

/// Loads an artefact, or compiles a model for the shapes of `given`.
pub fn load(
    path: &Path,
    options: &CompileOptions,
    given: &Given,
    check: Check,
    json: bool,
    timing: &mut Timing,
) -> Result<Loaded, Failure> {
    if is_artefact(path) {
        if let Some(option) = options.for_models() {
            let fixed = if option == "--dim" { "sizes are fixed" } else { "code is made already" };
            return Err(Failure::usage(format!(
                "{option} is for models; an artefact's {fixed}, compile the model again"
            )));
        }
        let model = neap_runtime::Model::open(path, check).map_err(Failure::new)?;
        let wanted = model.inputs().iter().map(wanted_of).collect();
        return Ok(Loaded { model: Arc::new(model), wanted, memory: None });
    }
    let graph = graph(path, &options.dims, given, timing)?;
    let (_, compiled) = compile(graph, options, false, json, timing)?;
    let memory = Some(compiled.memory.clone());
    let model = in_memory(compiled)?;
    let wanted = model.inputs().iter().map(wanted_of).collect();
    Ok(Loaded { model: Arc::new(model), wanted, memory })
}

/// A model straight from the compiler.
pub fn in_memory(compiled: Compiled) -> Result<neap_runtime::Model, Failure> {
    let artefact = Artefact::from_parts(compiled.program, &compiled.code, compiled.weights).map_err(Failure::new)?;
    neap_runtime::Model::new(artefact).map_err(Failure::new)
}

/// A session, its error told with the model's path.
pub fn session(
    model: &Arc<neap_runtime::Model>,
    options: &neap_runtime::Options,
    path: &Path,
) -> Result<Session, Failure> {
    Session::new(model.clone(), options).at(path.display())
}

fn wanted_of(t: &program::TensorInfo) -> Wanted {
    Wanted { name: t.name.clone(), dtype: dtype(t.dtype), dims: t.dims.clone() }
}

/// The compiler's element type for the artefact's.
pub fn dtype(d: program::DType) -> DType {
    match d {
        program::DType::F32 => DType::F32,
        program::DType::F64 => DType::F64,
        program::DType::F16 => DType::F16,
        program::DType::BF16 => DType::BF16,
        program::DType::I8 => DType::I8,
        program::DType::I16 => DType::I16,
        program::DType::I32 => DType::I32,
        program::DType::I64 => DType::I64,
        program::DType::U8 => DType::U8,
        program::DType::U16 => DType::U16,
        program::DType::U32 => DType::U32,
        program::DType::U64 => DType::U64,
        program::DType::Bool => DType::Bool,
    }
}
