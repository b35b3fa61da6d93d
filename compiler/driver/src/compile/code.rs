//! Machine code for the units: equal kernels once, distinct ones on several threads.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::{ProgressBar, ProgressStyle};
use neap_codegen::ObjectCode;
use neap_kernels::ir::Kernel;
use neap_kernels::schedule::Schedule;
use neap_kernels::scheduled::{Facts, Scheduled};
use neap_spec::CpuTarget;

use crate::cli::Emit;
use crate::compile::units::Unit;
use crate::failure::Failure;

/// The linked image and the entry of each unit's stages.
#[derive(Debug)]
pub struct Code {
    /// Position-independent code and constants.
    pub image: Vec<u8>,
    /// For each unit the image offset of each stage.
    pub entries: Vec<Vec<u64>>,
    /// Distinct kernels.
    pub kernels: usize,
}

/// Groups units with equal kernels and gives each distinct one a name of its own; `(distinct, index for each unit)`.
fn distinct(units: &mut [Unit]) -> (Vec<Scheduled<Schedule>>, Vec<usize>) {
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut list: Vec<Scheduled<Schedule>> = vec![];
    let mut of = vec![];
    for u in units.iter() {
        let mut nameless = u.scheduled.clone();
        nameless.kernel.name.clear();
        for s in &mut nameless.stages {
            s.function.clear();
        }
        let index = *known.entry(format!("{nameless:?}")).or_insert_with(|| {
            let mut named = u.scheduled.clone();
            named.kernel.name = format!("k{}_{}", list.len(), u.scheduled.kernel.name);
            for (i, s) in named.stages.iter_mut().enumerate() {
                s.function = format!("{}_{i}", named.kernel.name);
            }
            list.push(named);
            list.len() - 1
        });
        of.push(index);
    }
    for (u, &i) in units.iter_mut().zip(&of) {
        u.scheduled.kernel.name.clone_from(&list[i].kernel.name);
        u.scheduled.stages.clone_from(&list[i].stages);
    }
    (list, of)
}

/// Compiles and links all kernels.
pub fn compile(units: &mut [Unit], target: &CpuTarget, progress: bool) -> Result<Code, Failure> {
    let (list, of) = distinct(units);
    let bar = if progress { ProgressBar::new(list.len() as u64) } else { ProgressBar::hidden() };
    if let Ok(style) = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len} kernels, {elapsed} (eta {eta})") {
        bar.set_style(style);
    }
    bar.set_message("compiling");
    let next = AtomicUsize::new(0);
    let done: Mutex<BTreeMap<usize, Result<ObjectCode, Failure>>> = Mutex::new(BTreeMap::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(list.len().max(1));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            // MLIR contexts are neither Send nor Sync: one a worker.
            scope.spawn(|| {
                let cx = neap_mlir::context();
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(kernel) = list.get(i) else { break };
                    let object = one(kernel, target, &cx, neap_codegen::Emit::Object).map(|(o, _)| o);
                    bar.inc(1);
                    done.lock().unwrap_or_else(|e| e.into_inner()).insert(i, object);
                }
            });
        }
    });
    bar.finish_and_clear();
    let done = done.into_inner().unwrap_or_else(|e| e.into_inner());
    let objects = done.into_values().collect::<Result<Vec<_>, _>>()?;
    let image = neap_codegen::link(&objects).map_err(Failure::new)?;
    let mut entries = vec![];
    for i in of {
        let stages = list[i].stages.iter().map(|s| {
            let entry = image.entries.get(&s.function).copied();
            entry.ok_or_else(|| Failure::new(format!("bug: stage {} was not compiled", s.function)))
        });
        entries.push(stages.collect::<Result<Vec<u64>, _>>()?);
    }
    Ok(Code { image: image.code, entries, kernels: list.len() })
}

fn one(
    kernel: &Scheduled<Schedule>,
    target: &CpuTarget,
    cx: &melior::Context,
    emit: neap_codegen::Emit,
) -> Result<(ObjectCode, Option<String>), Failure> {
    let module = module(kernel, cx)?;
    let compiled = neap_codegen::compile(&module, target, emit)
        .map_err(|e| Failure::new(format!("kernel {}: {e}", kernel.kernel.name)))?;
    Ok((compiled.object, compiled.text))
}

fn module<'c>(kernel: &Scheduled<Schedule>, cx: &'c melior::Context) -> Result<melior::ir::Module<'c>, Failure> {
    neap_kernels::loop_to_scf::emit(kernel, cx)
        .map_err(|e| Failure::new(format!("bug: kernel {}: {e}", kernel.kernel.name)))
}

/// Kernels scheduled without knowledge of their operands, as text of the explicit level.
pub fn explicit(kernels: &[Kernel], target: &CpuTarget) -> Result<String, Failure> {
    let cx = neap_mlir::context();
    let mut out = String::new();
    for k in kernels {
        let facts = Facts { constant_inputs: vec![false; k.buffers.len()] };
        let scheduled = neap_kernels::schedule::schedule(k, &facts, target);
        out.push_str(&module(&scheduled, &cx)?.as_operation().to_string());
    }
    Ok(out)
}

/// All distinct kernels as text of one level.
pub fn text(units: &mut [Unit], target: &CpuTarget, emit: Emit) -> Result<String, Failure> {
    let (list, _) = distinct(units);
    let cx = neap_mlir::context();
    let mut out = String::new();
    for k in &list {
        let text = match emit {
            Emit::MlirGraph | Emit::MlirSegment | Emit::So | Emit::Obj | Emit::CHeader => {
                unreachable!("the caller prints the graph and the program, and writes libraries")
            }
            Emit::MlirLoop => {
                neap_kernels::mlir::write_scheduled(&cx, k).map_err(Failure::new)?.as_operation().to_string()
            }
            Emit::MlirScf => module(k, &cx)?.as_operation().to_string(),
            Emit::Llvm => one(k, target, &cx, neap_codegen::Emit::Llvm)?.1.unwrap_or_default(),
            Emit::Asm => one(k, target, &cx, neap_codegen::Emit::Asm)?.1.unwrap_or_default(),
            Emit::Clif => one(k, target, &cx, neap_codegen::Emit::Clif)?.1.unwrap_or_default(),
        };
        writeln!(out, "{}", text.trim_end()).map_err(Failure::new)?;
    }
    Ok(out)
}
