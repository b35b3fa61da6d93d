//! Runs one kernel: lowered, scheduled, compiled, linked, and called by the runtime like any model.

use std::sync::Arc;

use neap_codegen::{Emit, compile, link};
use neap_kernels::graph_to_loop::lower;
use neap_kernels::loop_to_scf::emit;
use neap_kernels::schedule::{Schedule, schedule};
use neap_kernels::scheduled::{Facts, Scheduled, StageBuffer};
use neap_optable::{Body, DType, Tensor, TensorType};
use neap_runtime::program::{self, BufferRef, Launch, Place, Program, TensorInfo};
use neap_runtime::{Artefact, Model, Options, Session};
use neap_spec::CpuTarget;

/// A kernel compiled for a target.
pub struct Compiled {
    scheduled: Scheduled<Schedule>,
    code: Vec<u8>,
    entries: Vec<u64>,
    target: CpuTarget,
}

/// Lowers the only node of a body and compiles it. `Ok(None)`: refused by lowering, with the reason.
pub fn build(body: &Body, facts: &Facts, target: &CpuTarget) -> Result<Result<Compiled, String>, String> {
    let kernel = match lower(&body.nodes[0], body) {
        Ok(k) => k,
        Err(e) => return Ok(Err(e.to_string())),
    };
    let scheduled = schedule(&kernel, facts, target);
    let cx = neap_mlir::context();
    let module = emit(&scheduled, &cx).map_err(|e| e.to_string())?;
    let text = || format!("{kernel:#?}\n{}", module.as_operation());
    let compiled = compile(&module, target, Emit::Object).map_err(|e| format!("{e}\n{}", text()))?;
    let image = link(&[compiled.object]).map_err(|e| format!("{e}\n{}", text()))?;
    let entry = |f: &str| image.entries.get(f).copied().ok_or_else(|| format!("no entry {f}"));
    let entries = scheduled.stages.iter().map(|s| entry(&s.function)).collect::<Result<_, _>>()?;
    Ok(Ok(Compiled { scheduled, code: image.code, entries, target: target.clone() }))
}

impl Compiled {
    /// The schedule's family.
    pub fn family(&self) -> &'static str {
        self.scheduled.schedule.name()
    }

    /// Runs on operands with the given result types; sizes by symbol.
    pub fn run(
        &self,
        inputs: &[Tensor],
        outputs: &[TensorType],
        sizes: &dyn Fn(&str) -> i64,
        threads: usize,
    ) -> Result<Vec<Tensor>, String> {
        let packed: Vec<Tensor> = (inputs.iter().zip(&self.scheduled.packed))
            .map(|(t, p)| p.as_ref().map_or_else(|| t.clone(), |p| p.apply(t)))
            .collect();
        let kernel = &self.scheduled.kernel;
        let dims: Vec<i64> = kernel.sizes.iter().map(|s| sizes(s)).collect();
        let bytes = |t: &TensorType| t.bytes().ok_or("a symbolic result");
        let buffer = |b: &StageBuffer, written: bool| -> Result<BufferRef, String> {
            Ok(match b {
                StageBuffer::Arg(id) if id.0 < inputs.len() => {
                    BufferRef { place: Place::Input(id.0 as u32, 0), bytes: packed[id.0].data.len() as u64, written }
                }
                StageBuffer::Arg(id) => {
                    let at = id.0 - inputs.len();
                    BufferRef { place: Place::Output(at as u32, 0), bytes: bytes(&outputs[at])?, written }
                }
                StageBuffer::Shared(i) => {
                    let offset: u64 = self.scheduled.shared[..*i].iter().map(|b| b.next_multiple_of(64)).sum();
                    BufferRef { place: Place::Arena(offset), bytes: self.scheduled.shared[*i], written }
                }
            })
        };
        let mut launches = vec![];
        for (stage, entry) in self.scheduled.stages.iter().zip(&self.entries) {
            launches.push(Launch {
                entry: *entry,
                kernel: stage.function.clone(),
                nodes: "test".into(),
                buffers: stage.buffers.iter().map(|(b, w)| buffer(b, *w)).collect::<Result<_, _>>()?,
                dims: dims.clone(),
                extent: stage.extent_at(&kernel.sizes, &dims),
                // Every unit on a thread of its own, to try the splits.
                grain: 1,
                scratch: stage.scratch,
                flops: 0,
                bytes: 0,
            });
        }
        let info = |name: String, dtype, dims: &[u64]| TensorInfo { name, dtype: memory(dtype), dims: dims.to_vec() };
        let out_dims: Vec<Vec<u64>> =
            outputs.iter().map(|t| t.static_dims().ok_or("a symbolic result")).collect::<Result<_, _>>()?;
        let program = Program {
            model: "kernel".into(),
            backend: self.target.backend.name().into(),
            arch: std::env::consts::ARCH.into(),
            cpu: self.target.cpu.clone(),
            features: vec![],
            inputs: packed.iter().enumerate().map(|(i, t)| info(format!("x{i}"), t.dtype, &t.dims)).collect(),
            outputs: outputs
                .iter()
                .zip(&out_dims)
                .enumerate()
                .map(|(i, (t, d))| info(format!("y{i}"), t.dtype, d))
                .collect(),
            arena_bytes: self.scheduled.shared.iter().map(|b| b.next_multiple_of(64)).sum(),
            held: vec![],
            launches,
        };
        let artefact = Artefact::from_parts(program, &self.code, Vec::<Vec<u8>>::new()).map_err(|e| e.to_string())?;
        let model = Model::new(artefact).map_err(|e| e.to_string())?;
        let options = Options { threads, ..Options::default() };
        let mut session = Session::new(Arc::new(model), &options).map_err(|e| e.to_string())?;
        let given: Vec<&[u8]> = packed.iter().map(|t| t.data.as_ref()).collect();
        let mut results: Vec<Vec<u8>> = vec![];
        for t in outputs {
            results.push(vec![0xA5; bytes(t)? as usize]);
        }
        let mut slices: Vec<&mut [u8]> = results.iter_mut().map(|r| r.as_mut_slice()).collect();
        session.run(&given, &mut slices).map_err(|e| e.to_string())?;
        Ok((results.into_iter().zip(outputs).zip(out_dims))
            .map(|((data, t), dims)| Tensor { dtype: t.dtype, dims, data: data.into() })
            .collect())
    }
}

fn memory(t: DType) -> program::DType {
    match t {
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
