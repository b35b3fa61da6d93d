//! Stages, axes, blocks and scratch of kernels that are lowered to loops.

use neap_optable::{DType, Dim};
use neap_spec::CpuTarget;

use super::linear::{Action, LoopNest, Loops};
use super::{LoopSchedule, Schedule, cost, in_place};
use crate::ir::{BufferId, Combine, Iter, IterKind, Kernel, Role, ScalarOp};
use crate::scheduled::{Scheduled, Stage, StageBuffer};

/// Lanes of an accumulator of a reduction along a contiguous run, on every target.
pub const LANES: u32 = 16;
/// Accumulators of such a reduction if the run is long.
pub const ACCUMULATORS: u32 = 4;
/// Elements from which a run is long.
pub const RUN_FOR_ACCUMULATORS: u64 = 256;

/// What the vectors of a stage run along, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One nest of parallel iterators.
    Map,
    /// Nests vectorised along rows.
    Row,
    /// Reductions vectorised across an outer iterator.
    Column,
    /// As `Column`, with reads that may fall outside.
    Window,
    /// No vectors.
    Scalar,
}

impl Kind {
    /// In lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Map => "map",
            Kind::Row => "row",
            Kind::Column => "column",
            Kind::Window => "window",
            Kind::Scalar => "scalar",
        }
    }
}

/// How one nest is vectorised inside an outer iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NestPlan {
    /// As the stage is (along its outer axis, or not at all).
    Plain,
    /// Along this own parallel iterator (numbered among all in scope).
    Parallel(usize),
    /// Along the innermost reduction, by [`lane_rule`].
    Run,
}

/// One stage.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopStage {
    /// For reports.
    pub kind: Kind,
    /// What it runs.
    pub loops: Loops,
    /// The outer parallel iterator that all nests are vectorised along.
    pub axis: Option<usize>,
    /// Lanes of a vector.
    pub lanes: u32,
    /// Iterations of the axis in one parallel unit; a multiple of `lanes`.
    pub block: u64,
    /// One a nest.
    pub nests: Vec<NestPlan>,
    /// Temporaries in scratch with their byte offsets; the others are values.
    pub scratch: Vec<(BufferId, u64)>,
}

/// Whether a nest's reductions keep lanes along the innermost reduction iterator: its run has 16 or more elements, known, is
/// read with step 1, and never from outside. Contractions, arg-reductions and reductions of bools keep their order.
pub fn lane_rule(loops: &Loops, n: &LoopNest, buffers: &[crate::ir::Buffer]) -> bool {
    let Some(last) = n.iters.last().filter(|i| i.kind == IterKind::Reduction) else { return false };
    let run = loops.outer.len() + n.iters.len() - 1;
    let combines = n.actions.iter().all(|a| match a {
        Action::Reduce { to, combine, .. } => {
            !matches!(combine, Combine::Fma | Combine::Arg(..)) && buffers[to.buffer.0].dtype != DType::Bool
        }
        Action::Store { when, .. } => when.is_none(),
        Action::StoreAt { .. } => false,
    });
    let reduces = n.actions.iter().any(|a| matches!(a, Action::Reduce { .. }));
    combines
        && reduces
        && last.extent.as_const().is_some_and(|e| e >= u64::from(LANES))
        && n.reads.iter().any(|p| p.offset.coefficient(run).as_i64() == Some(1))
        && n.reads.iter().all(|p| p.guards.iter().all(|(g, _)| !g.mentions(run)))
}

/// Lowers to loops.
pub(super) fn loops(kernel: &Kernel, target: &CpuTarget) -> Scheduled<Schedule> {
    let stages: Vec<Loops> = if kernel.outer.is_empty() && kernel.buffers.iter().all(|b| b.role != Role::Temp) {
        // Each nest is a stage whose leading parallel iterators are the range.
        kernel
            .nests
            .iter()
            .map(|n| {
                let lead = n.iters.iter().take_while(|i| i.kind == IterKind::Parallel).count();
                let mut inner = n.clone();
                let outer: Vec<Iter> = inner.iters.drain(..lead).collect();
                Loops::new(kernel, &outer, &[inner])
            })
            .collect()
    } else {
        vec![Loops::new(kernel, &kernel.outer, &kernel.nests)]
    };
    let in_place = in_place::pairs(kernel, &stages);
    let mut out = vec![];
    let mut descriptions = vec![];
    let several = stages.len() > 1;
    for (i, l) in stages.into_iter().enumerate() {
        // A range of no units needs no code, and its sizes of 0 nobody to divide by them.
        if l.outer.iter().any(|i| i.extent.as_const() == Some(0)) {
            continue;
        }
        let stage = plan(kernel, l, target);
        let function = if several { format!("{}_{i}", kernel.name) } else { kernel.name.clone() };
        descriptions.push(describe(kernel, &stage, function));
        out.push(stage);
    }
    let inputs = kernel.buffers.iter().filter(|b| b.role == Role::In).count();
    Scheduled {
        kernel: kernel.clone(),
        schedule: Schedule::Loops(LoopSchedule { stages: out, masked: target.masked_memory }),
        stages: descriptions,
        shared: vec![],
        packed: vec![None; inputs],
        in_place,
    }
}

/// For kernels without outer iterations.
pub(super) fn nothing(kernel: &Kernel, target: &CpuTarget) -> Scheduled<Schedule> {
    let inputs = kernel.buffers.iter().filter(|b| b.role == Role::In).count();
    Scheduled {
        kernel: kernel.clone(),
        schedule: Schedule::Loops(LoopSchedule { stages: vec![], masked: target.masked_memory }),
        stages: vec![],
        shared: vec![],
        packed: vec![None; inputs],
        in_place: vec![],
    }
}

fn plan(kernel: &Kernel, loops: Loops, target: &CpuTarget) -> LoopStage {
    let lanes = target.lanes32().clamp(4, u64::from(LANES)) as u32;
    let runs: Vec<bool> = loops.nests.iter().map(|n| lane_rule(&loops, n, &kernel.buffers)).collect();
    let bools = loops.nests.iter().any(|n| reduces_bool(n, kernel));
    let parallel = loops.outer.iter().take_while(|i| i.kind == IterKind::Parallel).count();
    let wide = |i: &Iter| i.extent.as_const().is_none_or(|e| e >= 4);

    // Along an outer iterator, all nests together.
    let mut best: (f64, Option<usize>) = (f64::INFINITY, None);
    if !runs.contains(&true) && !bools {
        for v in (0..parallel).filter(|v| wide(&loops.outer[*v])) {
            // Lanes past the end of a short axis are wasted.
            let waste = loops.outer[v].extent.as_const().map_or(1.0, |e| {
                let whole = e.div_ceil(u64::from(lanes)) * u64::from(lanes);
                whole as f64 / e as f64
            });
            let c: f64 = loops.nests.iter().map(|n| cost::nest(n, Some(v), lanes)).sum::<f64>() * waste;
            if c < best.0 {
                best = (c, Some(v));
            }
        }
    }
    // Each nest for itself.
    let mut nests = vec![];
    let mut apart = 0.0;
    for (n, run) in loops.nests.iter().zip(&runs) {
        let first = loops.outer.len();
        let plain = cost::nest(n, None, 1);
        let mut choice = (plain, NestPlan::Plain);
        if *run {
            choice = (cost::nest(n, Some(first + n.iters.len() - 1), LANES), NestPlan::Run);
        } else if !bools {
            for (i, it) in n.iters.iter().enumerate() {
                let c = cost::nest(n, Some(first + i), lanes);
                if it.kind == IterKind::Parallel && wide(it) && c < choice.0 {
                    choice = (c, NestPlan::Parallel(first + i));
                }
            }
        }
        apart += choice.0;
        nests.push(choice.1);
    }
    let axis = if best.0 < apart { best.1 } else { None };
    if axis.is_some() {
        nests = vec![NestPlan::Plain; loops.nests.len()];
    }
    let guarded = loops.nests.iter().flat_map(|n| &n.reads).any(|p| !p.guards.is_empty());
    let kind = match axis {
        Some(_) if loops.nests.len() == 1 && loops.nests[0].iters.is_empty() => Kind::Map,
        Some(_) if guarded => Kind::Window,
        Some(_) => Kind::Column,
        None if nests.iter().all(|n| *n == NestPlan::Plain) => Kind::Scalar,
        None => Kind::Row,
    };
    let block = match axis {
        None => 1,
        Some(v) => block(&loops, v, parallel, best.0, lanes),
    };
    let width = if axis.is_some() { u64::from(lanes) } else { 1 };
    let scratch = scratch(kernel, &loops, width);
    LoopStage { kind, loops, axis, lanes, block, nests, scratch }
}

fn reduces_bool(n: &LoopNest, kernel: &Kernel) -> bool {
    n.actions.iter().any(|a| matches!(a, Action::Reduce { to, .. } if kernel.buffers[to.buffer.0].dtype.size() == 1))
}

/// Iterations of the axis in a unit: all if the other iterators give units enough, else as many as are worth a unit.
fn block(loops: &Loops, axis: usize, parallel: usize, cost_of_one: f64, lanes: u32) -> u64 {
    let rows = (0..parallel).filter(|i| *i != axis).try_fold(1u64, |a, i| Some(a * loops.outer[i].extent.as_const()?));
    let l = u64::from(lanes);
    let vectors = (4000.0 / (cost_of_one * lanes as f64).max(1.0)).ceil() as u64;
    let worth = (vectors.max(1) * l).min(1 << 16);
    match (loops.outer[axis].extent.as_const(), rows) {
        (Some(e), Some(rows)) if rows >= 64 && e <= 4 * worth => e.next_multiple_of(l).max(l),
        (Some(e), _) => worth.min(e.next_multiple_of(l).max(l)),
        (None, _) => worth,
    }
}

/// Whether a temporary never needs memory: one element, computed by a nest that has no iterators but reductions.
fn is_value(kernel: &Kernel, loops: &Loops, t: BufferId) -> bool {
    let one = kernel.buffers[t.0].dims.iter().all(|d| d.as_const() == Some(1));
    let mut writes = 0;
    let fits = loops.nests.iter().all(|n| {
        let own = n.iters.iter().any(|i| i.kind != IterKind::Reduction);
        let loaded = n.ops.iter().any(|o| matches!(o, ScalarOp::Load(b, _) if *b == t));
        !loaded
            && n.actions.iter().all(|a| match a {
                Action::Store { to, when, .. } if to.buffer == t => {
                    writes += 1;
                    when.is_none() && n.iters.is_empty()
                }
                Action::Reduce { to, .. } if to.buffer == t => {
                    writes += 1;
                    !own
                }
                Action::StoreAt { to, .. } => *to != t,
                Action::Store { .. } | Action::Reduce { .. } => true,
            })
    });
    one && fits && writes == 1
}

/// The temporaries that need memory, with their byte offsets; `width` elements for each of theirs.
pub(crate) fn scratch(kernel: &Kernel, loops: &Loops, width: u64) -> Vec<(BufferId, u64)> {
    let mut at = 0;
    let mut out = vec![];
    for (i, b) in kernel.buffers.iter().enumerate() {
        let id = BufferId(i);
        if b.role == Role::Temp && !is_value(kernel, loops, id) {
            out.push((id, at));
            at += (scratch_elements(kernel, id) * width * b.dtype.size()).next_multiple_of(64);
        }
    }
    out
}

/// Elements of a temporary; its dims are known.
pub(crate) fn scratch_elements(kernel: &Kernel, t: BufferId) -> u64 {
    kernel.buffers[t.0].dims.iter().map(|d| d.as_const().unwrap_or(0)).product()
}

/// The extent of a stage's range.
pub(crate) fn units(stage: &LoopStage) -> Dim {
    let rows =
        stage.loops.outer.iter().enumerate().filter(|(i, o)| Some(*i) != stage.axis && o.kind == IterKind::Parallel);
    let rows = rows.fold(Dim::constant(1), |a, (_, o)| a.mul(&o.extent));
    match stage.axis {
        None => rows,
        Some(v) => rows.mul(&blocks(stage, v)),
    }
}

/// Blocks of the axis.
pub(crate) fn blocks(stage: &LoopStage, axis: usize) -> Dim {
    let block = Dim::from(stage.block);
    let extent = &stage.loops.outer[axis].extent;
    let up = extent.add(&block).sub(&Dim::constant(1));
    up.floor_div(&block).unwrap_or_else(|| extent.clone())
}

fn describe(kernel: &Kernel, stage: &LoopStage, function: String) -> Stage {
    let width = if stage.axis.is_some() { u64::from(stage.lanes) } else { 1 };
    let per_unit: f64 = stage
        .loops
        .nests
        .iter()
        .zip(&stage.nests)
        .map(|(n, p)| match (stage.axis, p) {
            (Some(v), _) => cost::nest(n, Some(v), stage.lanes) * stage.block as f64,
            (None, NestPlan::Plain) => cost::nest(n, None, 1),
            (None, NestPlan::Parallel(i)) => cost::nest(n, Some(*i), stage.lanes),
            (None, NestPlan::Run) => cost::nest(n, Some(stage.loops.outer.len() + n.iters.len() - 1), LANES),
        })
        .sum();
    let steps: f64 = (stage.loops.outer.iter().filter(|o| o.kind != IterKind::Parallel))
        .map(|o| o.extent.as_const().map_or(256.0, |v| v as f64))
        .product();
    // About 40 microseconds at one vector instruction in a third of a nanosecond.
    let grain = (120_000.0 / (per_unit * steps).max(1.0)).ceil().max(1.0) as u64;
    Stage {
        function,
        buffers: arguments(kernel, &stage.loops),
        extent: units(stage).as_const().unwrap_or(0),
        units: units(stage),
        grain,
        scratch: stage
            .scratch
            .iter()
            .map(|(t, at)| at + scratch_elements(kernel, *t) * width * kernel.buffers[t.0].dtype.size())
            .max()
            .unwrap_or(0),
    }
}

/// The inputs and outputs that a stage touches, in order, and whether it writes them.
pub(crate) fn arguments(kernel: &Kernel, loops: &Loops) -> Vec<(StageBuffer, bool)> {
    let mut out = vec![];
    for (i, b) in kernel.buffers.iter().enumerate() {
        let id = BufferId(i);
        if b.role == Role::Temp {
            continue;
        }
        let mut touched = false;
        let mut written = false;
        for n in &loops.nests {
            touched |= n.places().any(|p| p.buffer == id);
            touched |= n.ops.iter().any(|o| matches!(o, ScalarOp::Load(b, _) if *b == id));
            written |= n.actions.iter().any(|a| match a {
                Action::Store { to, .. } | Action::Reduce { to, .. } => to.buffer == id,
                Action::StoreAt { to, .. } => *to == id,
            });
        }
        if touched || written {
            out.push((StageBuffer::Arg(id), written));
        }
    }
    out
}
