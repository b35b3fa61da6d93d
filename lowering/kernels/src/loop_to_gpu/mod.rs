//! Kernels to GPUs: one `gpu.func` a stage of loops.
//!
//! Where a nest reduces along a run in lanes (see [`crate::schedule::lane_rule`]), a block computes one outer iteration and its
//! threads are the lanes, so that the bits are those of CPUs. Elsewhere a thread computes one outer iteration, so that
//! neighbouring threads touch neighbouring elements.

mod rows;

use melior::Context;
use melior::ir::{Location, Module};
use neap_optable::Dim;

use crate::explicit::{BufferArg, BuildError, Cmp, Elem, Sizes, Stage, build_device_kernel};
use crate::ir::{BufferId, Iter, IterKind, Kernel, Role};
use crate::loop_to_scf::stage::Env;
use crate::schedule::{
    ACCUMULATORS, Action, Kind, LANES, LoopNest, LoopStage, Loops, NestPlan, arguments, lane_rule, scratch,
    scratch_elements, units,
};
use crate::scheduled::StageBuffer;

/// Threads of a block where every thread computes for itself.
const THREADS: u32 = 256;

/// How one device kernel is launched.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceLaunch {
    /// Function name.
    pub function: String,
    /// Buffer arguments in order, and whether it writes each; then come the run-time sizes and the scratch.
    pub buffers: Vec<(BufferId, bool)>,
    /// Blocks of the grid.
    pub blocks: Dim,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of scratch in global memory.
    pub scratch: Dim,
}

/// Emits a kernel for GPUs: a `gpu.module` with one kernel for each launch, in order.
///
/// # Errors
/// MLIR's verifier refusing a function, which is a bug of this lowering.
pub fn emit<'c>(kernel: &Kernel, cx: &'c Context) -> Result<(Module<'c>, Vec<DeviceLaunch>), BuildError> {
    let module = Module::new(Location::unknown(cx));
    let mut launches = vec![];
    let all = stages(kernel);
    for (i, loops) in all.iter().enumerate() {
        let function = if all.len() > 1 { format!("{}_{i}", kernel.name) } else { kernel.name.clone() };
        launches.push(stage(kernel, loops.clone(), function, cx, &module)?);
    }
    Ok((module, launches))
}

fn stages(kernel: &Kernel) -> Vec<Loops> {
    if !kernel.outer.is_empty() || kernel.buffers.iter().any(|b| b.role == Role::Temp) {
        return vec![Loops::new(kernel, &kernel.outer, &kernel.nests)];
    }
    let split = |n: &crate::ir::Nest| {
        let lead = n.iters.iter().take_while(|i| i.kind == IterKind::Parallel).count();
        let mut inner = n.clone();
        let outer: Vec<Iter> = inner.iters.drain(..lead).collect();
        Loops::new(kernel, &outer, &[inner])
    };
    kernel.nests.iter().map(split).collect()
}

fn stage<'c>(
    kernel: &Kernel,
    loops: Loops,
    function: String,
    cx: &'c Context,
    module: &Module<'c>,
) -> Result<DeviceLaunch, BuildError> {
    // Lanes meet in shared memory of 32 bits a thread; the order of wider ones, which are integers, does not matter.
    let narrow = |n: &LoopNest| {
        n.actions.iter().all(|a| match a {
            Action::Reduce { to, .. } => crate::scalar::elem(kernel.buffers[to.buffer.0].dtype).bits() == 32,
            Action::Store { .. } | Action::StoreAt { .. } => true,
        })
    };
    let plan = |n| match lane_rule(&loops, n, &kernel.buffers) && narrow(n) {
        true => NestPlan::Run,
        false => NestPlan::Plain,
    };
    let nests: Vec<NestPlan> = loops.nests.iter().map(plan).collect();
    let rows = nests.contains(&NestPlan::Run);
    let threads = if rows { LANES * ACCUMULATORS } else { THREADS };
    let temporaries = scratch(kernel, &loops, 1);
    let kind = if rows { Kind::Row } else { Kind::Scalar };
    let stage = LoopStage { kind, loops, axis: None, lanes: 1, block: 1, nests, scratch: temporaries };
    let bytes = |t: BufferId| scratch_elements(kernel, t) * kernel.buffers[t.0].dtype.size();
    // Each outer iteration has its own part of the scratch.
    let part = stage.scratch.iter().map(|(t, at)| (at + bytes(*t)).next_multiple_of(64)).max().unwrap_or(0);
    let buffers: Vec<(BufferId, bool)> = arguments(kernel, &stage.loops)
        .into_iter()
        .filter_map(|(b, written)| match b {
            StageBuffer::Arg(id) => Some((id, written)),
            StageBuffer::Shared(_) => None,
        })
        .collect();
    let signature = Stage {
        name: &function,
        buffers: buffers
            .iter()
            .map(|(id, _)| BufferArg { elem: Elem::of(kernel.buffers[id.0].dtype), noalias: false })
            .collect(),
        dims: kernel.sizes.len(),
    };
    let range = units(&stage);
    build_device_kernel(cx, module, &signature, threads, |b, args| {
        let sizes = Sizes::new(&kernel.sizes, &args.dims);
        let unit = match rows {
            true => b.block_id(),
            false => b.add(b.mul(b.block_id(), b.index(i64::from(threads))), b.thread_id()),
        };
        let inside = b.cmp(Cmp::Lt, unit, b.size(&range, &sizes));
        b.when(inside, |b| {
            let mut all: std::collections::HashMap<_, _> =
                buffers.iter().map(|(id, _)| *id).zip(args.buffers.iter().copied()).collect();
            for (t, at) in &stage.scratch {
                let offset = b.add(b.mul(unit, b.index(part as i64)), b.index(*at as i64));
                let elem = Elem::of(kernel.buffers[t.0].dtype);
                all.insert(*t, b.view(args.scratch, offset, elem, b.index(scratch_elements(kernel, *t) as i64)));
            }
            let values = std::cell::RefCell::default();
            let env = Env { b, kernel, stage: &stage, masked: false, buffers: all, sizes: sizes.clone(), values };
            match rows {
                true => rows::unit(&env, unit, args.shared, threads),
                false => env.unit(unit),
            }
        });
    })?;
    let per_block = if rows { 1 } else { u64::from(threads) };
    let blocks = range.add(&Dim::from(per_block - 1)).floor_div(&Dim::from(per_block)).unwrap_or_else(|| range.clone());
    Ok(DeviceLaunch { function, buffers, blocks, threads, scratch: range.mul(&Dim::from(part)) })
}
