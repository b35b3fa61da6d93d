//! What this machine can do, measured with code of the same kind as the kernels': the yardstick of `neap profile`.

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use neap_codegen::{Emit, compile_source, host_target, link};
use neap_runtime::artefact::Artefact;
use neap_runtime::program::{BufferRef, DType, Launch, Place, Program, TensorInfo};
use neap_runtime::{Model, Options, Session};
use neap_spec::{Backend, CpuTarget};
use serde::Serialize;

use crate::buffers::Buffer;
use crate::failure::Failure;

/// Peak rates on so many threads.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Peaks {
    /// f32 operations a second; a fused multiply-add is two.
    pub flops: f64,
    /// Bytes a second read plus written by a copy between buffers that together exceed the second-level cache.
    pub bytes: f64,
}

/// Both rates, and how to take them again: the best of all readings counts, since a busy machine only ever lowers them.
pub struct Machine {
    fma: Session,
    fma_flops: f64,
    copy: Session,
    copy_bytes: f64,
}

/// Floats of one unit of the copy kernel.
const BLOCK: u64 = 4096;
/// Rounds of fused multiply-adds in one unit of the kernel.
const ROUNDS: u64 = 1 << 14;
/// Time for one reading of one rate.
const READING: Duration = Duration::from_millis(60);

impl Machine {
    /// Compiles the two kernels for this machine.
    pub fn new(threads: usize, backend: Backend) -> Result<Machine, Failure> {
        let target = host_target(backend);
        let lanes = target.lanes32();
        // Chains enough to hide the latency of two units of four to five cycles; two registers hold the factors.
        let chains = u64::from(target.vector_registers.min(28)) - 4;
        let units = 8 * threads as u64;
        let copied = (4 * target.l2.max(1 << 20) / (4 * BLOCK)).max(1) * threads as u64;
        let fma =
            session(&fma_source(&target, chains), "fma", &target, threads, (chains + 2) * lanes, units * lanes, units)?;
        let copy = session(&copy_source(lanes), "copy", &target, threads, copied * BLOCK, copied * BLOCK, copied)?;
        Ok(Machine {
            fma,
            fma_flops: (2 * chains * lanes * ROUNDS * units) as f64,
            copy,
            copy_bytes: (2 * 4 * copied * BLOCK) as f64,
        })
    }

    /// One reading of both rates.
    pub fn measure(&mut self) -> Result<Peaks, Failure> {
        Ok(Peaks { flops: self.fma_flops / fastest(&mut self.fma)?, bytes: self.copy_bytes / fastest(&mut self.copy)? })
    }
}

impl Peaks {
    /// The better of two readings, rate by rate.
    pub fn or(self, other: Peaks) -> Peaks {
        Peaks { flops: self.flops.max(other.flops), bytes: self.bytes.max(other.bytes) }
    }
}

/// Seconds of the fastest run.
fn fastest(session: &mut Session) -> Result<f64, Failure> {
    let size = |t: &TensorInfo| t.bytes().unwrap_or(0) as usize;
    let mut input = Buffer::zeroed(size(&session.model().inputs()[0]));
    // Halves: x * 0.5 + 0.5 neither grows nor becomes denormal.
    bytemuck::cast_slice_mut::<u8, f32>(input.bytes_mut()).fill(0.5);
    let mut output = Buffer::zeroed(size(&session.model().outputs()[0]));
    let mut best = f64::INFINITY;
    let start = Instant::now();
    while start.elapsed() < READING {
        let one = Instant::now();
        session.run(&[input.bytes()], &mut [output.bytes_mut()]).map_err(Failure::new)?;
        best = best.min(one.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// A session of one kernel from an input to an output of so many floats.
fn session(
    source: &str,
    name: &str,
    target: &CpuTarget,
    threads: usize,
    input: u64,
    output: u64,
    extent: u64,
) -> Result<Session, Failure> {
    let object = compile_source(source.as_bytes(), target, Emit::Object).map_err(Failure::new)?.object;
    let image = link(&[object]).map_err(Failure::new)?;
    let entry = *image.entries.get(name).ok_or_else(|| Failure::new(format!("bug: {name} was not compiled")))?;
    let tensor = |name: &str, n| TensorInfo { name: name.into(), dtype: DType::F32, dims: vec![n] };
    let buffer = |place, n, written| BufferRef { place, bytes: 4 * n, written };
    let program = Program {
        model: name.into(),
        backend: target.backend.name().into(),
        arch: std::env::consts::ARCH.into(),
        cpu: target.cpu.clone(),
        features: vec![],
        inputs: vec![tensor("x", input)],
        outputs: vec![tensor("y", output)],
        arena_bytes: 0,
        held: vec![],
        launches: vec![Launch {
            entry,
            kernel: name.into(),
            nodes: name.into(),
            buffers: vec![buffer(Place::Input(0, 0), input, false), buffer(Place::Output(0, 0), output, true)],
            dims: vec![],
            extent,
            grain: 1,
            scratch: 0,
            flops: 0,
            bytes: 0,
        }],
    };
    let none: [&[u8]; 0] = [];
    let artefact = Artefact::from_parts(program, &image.code, none).map_err(Failure::new)?;
    let model = Arc::new(Model::new(artefact).map_err(Failure::new)?);
    Session::new(model, &Options { threads, ..Options::default() }).map_err(Failure::new)
}

/// Head of a stage with two buffers.
fn head(name: &str) -> String {
    format!(
        "func.func @{name}(%x: memref<?xf32>, %y: memref<?xf32>, %begin: index, %end: index, %scratch: memref<?xi8>)
            attributes {{neap.kernel = {{buffers = 2 : i64, dims = 0 : i64}}}} {{
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index\n"
    )
}

/// Independent chains of fused multiply-adds, all in registers.
fn fma_source(target: &CpuTarget, chains: u64) -> String {
    let lanes = target.lanes32();
    let vector = format!("vector<{lanes}xf32>");
    let list = |f: &dyn Fn(u64) -> String| (0..chains).map(f).collect::<Vec<_>>().join(", ");
    let mut s = head("fma");
    // Chains that start from the same value would be one chain to the compiler.
    for i in 0..chains + 2 {
        let _ = writeln!(s, "%at{i} = arith.constant {} : index", i * lanes);
        let _ = writeln!(s, "%v{i} = vector.load %x[%at{i}] : memref<?xf32>, {vector}");
    }
    let (scale, shift) = (format!("%v{chains}"), format!("%v{}", chains + 1));
    let _ = writeln!(s, "%rounds = arith.constant {ROUNDS} : index\n%lanes = arith.constant {lanes} : index");
    let _ = writeln!(s, "scf.for %u = %begin to %end step %c1 {{");
    let starts = list(&|i| format!("%a{i} = %v{i}"));
    let types = list(&|_| vector.clone());
    let _ = writeln!(s, "%r:{chains} = scf.for %i = %c0 to %rounds step %c1 iter_args({starts}) -> ({types}) {{");
    for i in 0..chains {
        let _ = if target.fma {
            writeln!(s, "%f{i} = math.fma %a{i}, {scale}, {shift} : {vector}")
        } else {
            writeln!(s, "%m{i} = arith.mulf %a{i}, {scale} : {vector}\n%f{i} = arith.addf %m{i}, {shift} : {vector}")
        };
    }
    let _ = writeln!(s, "scf.yield {} : {types}\n}}", list(&|i| format!("%f{i}")));
    let _ = writeln!(s, "%s0 = arith.addf %r#0, %r#1 : {vector}");
    for i in 2..chains {
        let _ = writeln!(s, "%s{} = arith.addf %s{}, %r#{i} : {vector}", i - 1, i - 2);
    }
    let _ = writeln!(s, "%to = arith.muli %u, %lanes : index");
    let _ = writeln!(s, "vector.store %s{}, %y[%to] : memref<?xf32>, {vector}\n}}\nreturn\n}}", chains - 2);
    s
}

/// A copy, a block a unit.
fn copy_source(lanes: u64) -> String {
    let vector = format!("vector<{lanes}xf32>");
    format!(
        "{}
          %block = arith.constant {BLOCK} : index
          %lanes = arith.constant {lanes} : index
          scf.for %u = %begin to %end step %c1 {{
            %from = arith.muli %u, %block : index
            %to = arith.addi %from, %block : index
            scf.for %i = %from to %to step %lanes {{
              %v = vector.load %x[%i] : memref<?xf32>, {vector}
              vector.store %v, %y[%i] : memref<?xf32>, {vector}
            }}
          }}
          return
        }}",
        head("copy")
    )
}
