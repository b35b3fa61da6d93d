//! Program, code and weights from the finished units.

use neap_kernels::scheduled::StageBuffer;
use neap_optable::{Body, DType, ValueId};
use neap_runtime::program::{self, BufferRef, Launch, Place, Program, TensorInfo};
use neap_spec::CpuTarget;

use crate::compile::code::Code;
use crate::compile::memory::Plan;
use crate::compile::pose::ALIGN;
use crate::compile::units::{Root, Unit, WeightStore, roots};
use crate::compile::{Compiled, Graph};
use crate::failure::Failure;

/// Puts an artefact's parts together.
pub fn assemble(
    graph: &Graph,
    target: &CpuTarget,
    units: Vec<Unit>,
    plan: Plan,
    code: Code,
    store: WeightStore<'_>,
) -> Result<Compiled, Failure> {
    let body = &graph.body;
    let offsets = store.offsets();
    let mut launches = vec![];
    for step in &plan.steps {
        let (u, entries) = (&units[step.unit], &code.entries[step.unit]);
        let mut shared_at = vec![];
        let mut at = step.shared;
        for &bytes in &u.scheduled.shared {
            shared_at.push(at);
            at += bytes.next_multiple_of(ALIGN);
        }
        let mut earlier: Vec<StageBuffer> = vec![];
        for &s in &step.stages {
            let stage = &u.scheduled.stages[s];
            // What others wrote of a buffer stays: after the arguments, the range once more as read.
            let kept =
                stage.buffers.iter().filter(|(b, written)| *written && earlier.contains(b)).map(|&(b, _)| (b, false));
            let buffers = stage.buffers.iter().copied().chain(kept).map(|(b, written)| match b {
                StageBuffer::Shared(i) => {
                    Ok(BufferRef { place: Place::Arena(shared_at[i]), bytes: u.scheduled.shared[i], written })
                }
                StageBuffer::Arg(b) => argument(body, u, b.0, written, &plan, &store, &offsets),
            });
            let mut buffers = buffers.collect::<Result<Vec<_>, Failure>>()?;
            let bytes = buffers.iter().take(stage.buffers.len()).map(|b| b.bytes).sum();
            for &(from, bytes) in step.kept.iter().filter(|_| earlier.is_empty()) {
                buffers.push(BufferRef { place: plan.places[&u.outputs[0]].at(from), bytes, written: false });
            }
            earlier.extend(stage.buffers.iter().filter(|(_, written)| *written).map(|(b, _)| *b));
            launches.push(Launch {
                entry: entries[s],
                kernel: stage.function.clone(),
                nodes: u.name.clone(),
                buffers,
                dims: vec![],
                extent: stage.extent,
                grain: stage.grain.max(1),
                scratch: stage.scratch,
                flops: u.flops / u.scheduled.stages.len() as u64,
                bytes,
            });
        }
    }
    let info = |names: &[String], values: &[ValueId]| -> Result<Vec<TensorInfo>, Failure> {
        values
            .iter()
            .enumerate()
            .map(|(i, &v)| tensor_info(body, names.get(i).cloned().unwrap_or_else(|| format!("{i}")), v))
            .collect()
    };
    let inputs = info(&body.arg_names, &body.args)?;
    let mut outputs = info(&body.result_names, &body.results)?;
    // Observed values follow the model's own outputs, named after the value.
    let mut observed: Vec<(u32, ValueId)> = plan
        .places
        .iter()
        .filter_map(|(v, p)| match p {
            Place::Output(i, 0) if *i as usize >= body.results.len() => Some((*i, *v)),
            _ => None,
        })
        .collect();
    observed.sort_unstable();
    for (_, v) in observed {
        outputs.push(tensor_info(body, format!("%{}", v.0), v)?);
    }
    let held = held(body, &plan)?;
    let program = Program {
        model: graph.name.clone(),
        backend: target.backend.name().into(),
        cpu: target.cpu.clone(),
        arch: target.arch.name().into(),
        features: target.features.clone(),
        inputs,
        outputs,
        arena_bytes: plan.arena_bytes,
        held,
        launches,
    };
    Ok(Compiled { program, code: code.image, weights: store.blocks, memory: plan.figures, kernels: code.kernels })
}

/// Where each output lies in the arena, if outputs are held there.
fn held(body: &Body, plan: &Plan) -> Result<Vec<u64>, Failure> {
    let roots = roots(body)?;
    let place = |v: &ValueId| match &roots[v.0 as usize] {
        Some(Root::Value(v)) => plan.places.get(v).copied(),
        _ => None,
    };
    let places: Vec<Option<Place>> = body.results.iter().map(place).collect();
    let at = |p: &Option<Place>| match p {
        Some(Place::Arena(offset)) => Some(*offset),
        _ => None,
    };
    let held: Vec<u64> = places.iter().filter_map(at).collect();
    if held.is_empty() || held.len() == places.len() {
        return Ok(held);
    }
    Err(Failure::new("bug: some outputs lie in the arena and some outside"))
}

fn argument(
    body: &Body,
    u: &Unit,
    position: usize,
    written: bool,
    plan: &Plan,
    store: &WeightStore<'_>,
    offsets: &[u64],
) -> Result<BufferRef, Failure> {
    let bytes_of =
        |v: ValueId| body.ty(v).bytes().ok_or_else(|| Failure::new(format!("node '{}': no fixed size", u.name)));
    let value = |v: ValueId| -> Result<BufferRef, Failure> {
        Ok(BufferRef { place: plan.places[&v], bytes: bytes_of(v)?, written })
    };
    match u.inputs.get(position) {
        Some(Root::Input(i)) => {
            Ok(BufferRef { place: Place::Input(*i, 0), bytes: bytes_of(body.args[*i as usize])?, written })
        }
        Some(Root::Weight(b)) => {
            Ok(BufferRef { place: Place::Weight(offsets[*b]), bytes: store.blocks[*b].len() as u64, written })
        }
        Some(Root::Value(v)) => value(*v),
        None => value(u.outputs[position - u.inputs.len()]),
    }
}

fn tensor_info(body: &Body, name: String, v: ValueId) -> Result<TensorInfo, Failure> {
    let ty = body.ty(v);
    let dims =
        ty.static_dims().ok_or_else(|| Failure::new(format!("'{name}' has open dims: {ty}; give sizes with --dim")))?;
    Ok(TensorInfo { name, dtype: runtime_dtype(ty.dtype), dims })
}

/// The artefact's number for an element type.
pub fn runtime_dtype(d: DType) -> program::DType {
    match d {
        DType::F32 => program::DType::F32,
        DType::F64 => program::DType::F64,
        DType::F16 => program::DType::F16,
        DType::BF16 => program::DType::BF16,
        DType::I8 => program::DType::I8,
        DType::I16 => program::DType::I16,
        DType::I32 => program::DType::I32,
        DType::I64 => program::DType::I64,
        DType::U8 => program::DType::U8,
        DType::U16 => program::DType::U16,
        DType::U32 => program::DType::U32,
        DType::U64 => program::DType::U64,
        DType::Bool => program::DType::Bool,
    }
}
