//! From a model to a program: the phases in order.

mod ancestry;
mod assemble;
mod code;
mod eager;
mod fit;
mod memory;
mod moves;
mod pipeline;
mod pose;
mod segment;
mod tile;
mod units;

use std::time::{Duration, Instant};

use neap_optable::{Body, Weights};
use neap_passes::{Applied, Cx, Func, Limits, Manager, Steps};
use neap_runtime::program::Program;
use neap_spec::CpuTarget;

pub use memory::MemoryFigures;
pub use pipeline::DEFAULT_PIPELINE;
pub use pose::Sharing;
pub use tile::Tiling;
pub use units::computes;

use crate::cli::Emit;
use crate::failure::Failure;

/// A graph ready to be compiled, and the graph as imported.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Model name.
    pub name: String,
    /// As it stands now.
    pub body: Body,
    /// Tensors behind its weights.
    pub weights: Weights,
    /// Which of its segments run tile by tile.
    pub tiling: Tiling,
    /// The steps of the graph passes that led here.
    pub applied: Vec<Applied>,
}

/// What comes out: the parts of an artefact.
#[derive(Debug)]
pub struct Compiled {
    /// Host program.
    pub program: Program,
    /// Flat code image.
    pub code: Vec<u8>,
    /// Weight blocks in order.
    pub weights: Vec<bytes::Bytes>,
    /// What the plan says of memory.
    pub memory: MemoryFigures,
    /// Distinct kernels compiled.
    pub kernels: usize,
}

/// Wall time of each phase, in order.
#[derive(Debug, Default)]
pub struct Timing(pub Vec<(String, Duration)>);

impl Timing {
    /// Runs a phase and notes its time.
    pub fn phase<T>(&mut self, name: &str, f: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let span = tracing::info_span!("phase", name);
        let out = span.in_scope(f);
        tracing::info!(phase = name, time = ?start.elapsed(), "done");
        self.0.push((name.into(), start.elapsed()));
        out
    }
}

/// Compiles graphs for one target.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// What to make code for.
    pub target: CpuTarget,
    /// Keep every kernel's results in outputs of their own, for op-by-op comparison.
    pub observe: bool,
    /// Keep the outputs in the arena instead of the caller's buffers.
    pub hold_outputs: bool,
    /// When to stop looking for segments to tile; what is found then depends on the machine.
    pub tile_until: Option<Instant>,
    /// Which ways of sharing memory the plan may use.
    pub sharing: Sharing,
    /// Which steps the graph passes may take.
    pub limits: Limits,
    /// Show a progress bar.
    pub progress: bool,
}

impl Compiler {
    /// Runs a pipeline of graph passes.
    pub fn optimise(&self, graph: Graph, pipeline: &str, manager: &mut Manager) -> Result<Graph, Failure> {
        let steps = neap_passes::parse(pipeline).map_err(Failure::usage)?;
        let mut cx = Cx { weights: graph.weights, steps: Steps::within(self.limits.clone()) };
        let mut funcs = vec![Func { name: graph.name.clone(), body: graph.body }];
        manager.run(&steps, &mut cx, &mut funcs).map_err(Failure::new)?;
        let body = funcs.pop().expect("the function stays").body;
        Ok(Graph { name: graph.name, body, weights: cx.weights, tiling: graph.tiling, applied: cx.steps.applied })
    }

    /// Lowers an optimised graph to an artefact's parts.
    pub fn compile(&self, graph: &Graph, timing: &mut Timing) -> Result<Compiled, Failure> {
        let graph = &Graph { body: timing.phase("legalise", || units::legalise(&graph.body)), ..graph.clone() };
        let mut store = units::WeightStore::new(&graph.weights);
        let mut units = timing.phase("schedule", || units::units(&graph.body, &mut store, &self.target))?;
        let plan = timing.phase("plan", || memory::plan(graph, &mut units, &store, self))?;
        let code = timing.phase("code", || code::compile(&mut units, &self.target, self.progress))?;
        timing.phase("assemble", || assemble::assemble(graph, &self.target, units, plan, code, store))
    }

    /// Kernels of the loop level, scheduled and lowered to the explicit level.
    pub fn emit_kernels(&self, kernels: &[neap_kernels::ir::Kernel]) -> Result<String, Failure> {
        code::explicit(kernels, &self.target)
    }

    /// The memory problem that compiling an optimised graph would solve.
    pub fn memory_problem(&self, graph: &Graph, timing: &mut Timing) -> Result<neap_plan::Problem, Failure> {
        let graph = &Graph { body: timing.phase("legalise", || units::legalise(&graph.body)), ..graph.clone() };
        let mut store = units::WeightStore::new(&graph.weights);
        let mut units = timing.phase("schedule", || units::units(&graph.body, &mut store, &self.target))?;
        Ok(timing.phase("plan", || memory::settle(graph, &mut units, &store, self))?.0.problem)
    }

    /// Text of a level below the graph.
    pub fn emit(&self, graph: &Graph, emit: Emit) -> Result<String, Failure> {
        if emit == Emit::MlirSegment {
            return segment::text(&self.compile(graph, &mut Timing::default())?.program);
        }
        let graph = &Graph { body: units::legalise(&graph.body), ..graph.clone() };
        let mut store = units::WeightStore::new(&graph.weights);
        let mut units = units::units(&graph.body, &mut store, &self.target)?;
        memory::plan(graph, &mut units, &store, self)?;
        code::text(&mut units, &self.target, emit)
    }
}

/// The kernels of a graph, in order, unscheduled.
pub fn kernels(body: &Body) -> Result<Vec<neap_kernels::ir::Kernel>, Failure> {
    let body = units::legalise(body);
    let lower = |n| neap_kernels::graph_to_loop::lower(n, &body).map_err(Failure::new);
    body.nodes.iter().filter(|n| units::computes(n.op)).map(lower).collect()
}

/// The graph as MLIR text, with locations.
pub fn graph_text(graph: &Graph) -> Result<String, Failure> {
    let func = Func { name: graph.name.clone(), body: graph.body.clone() };
    neap_passes::graph::upstream::print(&[func]).map_err(Failure::new)
}
