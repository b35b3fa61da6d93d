//! Schedules contractions, compiles them, checks sampled elements bit by bit and times them against this machine's peak.
//!
//! `contract [--cranelift] [--cpu NAME] [--mlir] [--asm] [--runs N] SPEC...` with SPEC `mm:B,M,N,K[,ta][,tb][,const][,epi]`
//! (B = 0: the right operand has no batch) or `conv:N,C,H,W,O,KH,KW,STRIDE,PAD,GROUPS[,epi][,dyn]`.
#![allow(clippy::print_stdout, reason = "a command-line tool")]

use std::error::Error;
use std::time::Instant;

use melior::ir::{Location, Module};
use memmap2::MmapMut;
use neap_codegen::{Emit, compile, link, named_target};
use neap_kernels::contract::{ContractSchedule, emit};
use neap_kernels::explicit::{BufferArg, Elem, Stage, build_stage};
use neap_kernels::graph_to_loop::lower;
use neap_kernels::ir::{Access, Effect, Index, Kernel, Role, Scalar, ScalarOp};
use neap_kernels::scheduled::Facts;
use neap_mlir::context;
use neap_optable::{Attrs, BinaryKind, Body, DType, Dim, GraphOp, Node, Tensor, TensorType, UnaryKind, ValueId};
use neap_spec::{Backend, CpuTarget};

type Entry = unsafe extern "C" fn(*const *mut u8, *const i64, i64, i64, *mut u8);
type Res<T> = Result<T, Box<dyn Error>>;

fn main() -> Res<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let flag = |n: &str| args.iter().any(|a| a == n);
    let value = |n: &str| args.iter().position(|a| a == n).and_then(|i| args.get(i + 1));
    let backend = if flag("--cranelift") { Backend::Cranelift } else { Backend::Llvm };
    let target = named_target(value("--cpu").map_or("native", |s| s.as_str()), backend)?;
    let runs: usize = value("--runs").map_or(Ok(10), |s| s.parse())?;
    let mut peak = 0f64;
    let peak_code = if runs > 0 { Some(peak_code(&target)?) } else { None };
    for spec in args.iter().filter(|a| a.contains(':')) {
        let (kernel, facts, flops) = parse(spec, false)?;
        let (open, _, _) = parse(spec, true)?;
        let values: Vec<i64> =
            open.sizes.iter().map(|s| s.rsplit('_').next().unwrap_or("").parse().unwrap_or(0)).collect();
        let Some(sched) = ContractSchedule::choose(&open, &facts, &target) else {
            println!("{spec}: no contraction");
            continue;
        };
        let s = &sched.schedule;
        let cx = context();
        let module = Module::new(Location::unknown(&cx));
        let t0 = Instant::now();
        emit(&cx, &module, &sched)?;
        let t_emit = t0.elapsed();
        let text = module.as_operation().to_string();
        if flag("--mlir") {
            println!("{text}");
        }
        let t0 = Instant::now();
        let what = if flag("--asm") { Emit::Asm } else { Emit::Object };
        let compiled = compile(&module, &target, what)?;
        let t_compile = t0.elapsed();
        if let Some(t) = &compiled.text {
            println!("{t}");
        }
        let code = Code::new(compiled.object)?;
        let mut data: Vec<Vec<f32>> = vec![];
        for (i, b) in kernel.buffers.iter().enumerate().filter(|(_, b)| b.role != Role::Temp) {
            let n: u64 = b.dims.iter().map(|d| d.as_const().unwrap()).product();
            data.push(if b.role == Role::In { fill(n as usize, i as u64 + 1) } else { vec![f32::NAN; n as usize] });
        }
        let mut laid = data.clone();
        for (i, p) in sched.packed.iter().enumerate() {
            if let Some(p) = p {
                let bytes: Vec<u8> = data[i].iter().flat_map(|v| v.to_le_bytes()).collect();
                let t = p.apply(&Tensor { dtype: DType::F32, dims: vec![data[i].len() as u64], data: bytes.into() });
                laid[i] = t.data.chunks_exact(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect();
            }
        }
        let st = &sched.stages[0];
        let mut scratch = vec![[0u8; 64]; st.scratch as usize / 64 + 2];
        let mut call = |from: u64, to: u64| {
            let ptrs: Vec<*mut u8> = laid.iter_mut().map(|b| b.as_mut_ptr().cast()).collect();
            let at = scratch.as_mut_ptr().cast::<u8>();
            // SAFETY: buffers, range and scratch are what the schedule says.
            unsafe {
                let at = at.add(at.align_offset(64));
                code.entry(&st.function)(ptrs.as_ptr(), values.as_ptr(), from as i64, to as i64, at);
            }
        };
        // Uneven slices, as threads would take them.
        let extent = st.extent_at(&open.sizes, &values);
        let cut = [0, extent / 3, extent / 3 + 1, extent];
        for w in cut.windows(2) {
            call(w[0].min(extent), w[1].min(extent));
        }
        let mut best = f64::MAX;
        for _ in 0..runs {
            if let Some(p) = &peak_code {
                peak = peak.max(measure_peak(p, &target));
            }
            let t0 = seconds();
            call(0, extent);
            best = best.min(seconds() - t0);
        }
        let out = laid.last().unwrap();
        let bad = check(&kernel, &data, out);
        println!(
            "{spec}: tile {}x{} rows {:?} panels {:?} units {} (of {}x{}) scratch {}K block {:?} mlir {} lines, emit {:.0} ms compile {:.0} ms; {:.3} ms {:.1} GF/s = {:.0}% of {:.0}; {}",
            s.rows,
            s.width(),
            s.row_source,
            s.panel_source,
            st.extent,
            s.unit_rows,
            s.unit_panels,
            st.scratch / 1024,
            s.block,
            text.lines().count(),
            t_emit.as_secs_f64() * 1e3,
            t_compile.as_secs_f64() * 1e3,
            best * 1e3,
            flops / best / 1e9,
            100.0 * flops / best / 1e9 / peak,
            peak,
            if bad == 0 { "ok".to_string() } else { format!("{bad} WRONG") }
        );
    }
    Ok(())
}

struct Code {
    map: memmap2::Mmap,
    image: neap_codegen::Image,
}

impl Code {
    fn new(object: neap_codegen::ObjectCode) -> Res<Code> {
        let image = link(&[object])?;
        let mut map = MmapMut::map_anon(image.code.len().max(1))?;
        map[..image.code.len()].copy_from_slice(&image.code);
        Ok(Code { map: map.make_exec()?, image })
    }

    fn entry(&self, name: &str) -> Entry {
        // SAFETY: the offset is that of a compiled entry, and the map is executable.
        unsafe { std::mem::transmute::<*const u8, Entry>(self.map.as_ptr().add(self.image.entries[name] as usize)) }
    }
}

/// Independent fused multiply-adds in registers, 20000 steps of 24 vectors.
fn peak_code(target: &CpuTarget) -> Res<Code> {
    let cx = context();
    let module = Module::new(Location::unknown(&cx));
    let lanes = target.lanes32() as u32;
    let n = if target.vector_registers > 16 { 24 } else { 12 };
    let stage = Stage { name: "peak", buffers: vec![BufferArg { elem: Elem::F32, noalias: true }], dims: 0 };
    build_stage(&cx, &module, &stage, |b, a| {
        let x = b.vload(a.buffers[0], b.index(0), lanes);
        let init: Vec<_> = (0..n).map(|i| b.vload(a.buffers[0], b.index(i * 16), lanes)).collect();
        let r = b.for_iter(a.begin, a.end, 1, &init, |b, _, s| s.iter().map(|v| b.fma(x, *v, *v)).collect());
        for (i, v) in r.iter().enumerate() {
            b.vstore(*v, a.buffers[0], b.index(i as i64 * 16));
        }
    })?;
    Code::new(compile(&module, target, Emit::Object)?.object)
}

fn measure_peak(code: &Code, target: &CpuTarget) -> f64 {
    let mut data = vec![0f32; 1024];
    let ptrs = [data.as_mut_ptr().cast::<u8>()];
    let n = if target.vector_registers > 16 { 24 } else { 12 };
    let t0 = seconds();
    // SAFETY: the buffer is larger than what is stored.
    unsafe { code.entry("peak")(ptrs.as_ptr(), std::ptr::null(), 0, 20000, std::ptr::null_mut()) };
    20000.0 * n as f64 * 2.0 * target.lanes32() as f64 / (seconds() - t0) / 1e9
}

/// CPU time of this thread: other work on the machine does not count.
fn seconds() -> f64 {
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
    }
    let mut time = [0; 2];
    // SAFETY: the clock (CLOCK_THREAD_CPUTIME_ID) exists, and a timespec is two 64-bit integers here.
    unsafe { clock_gettime(3, &mut time) };
    time[0] as f64 + time[1] as f64 * 1e-9
}

fn fill(n: usize, seed: u64) -> Vec<f32> {
    let mut s = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        (s >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

/// The op, perhaps fused with bias, residual and relu.
fn parse(spec: &str, open: bool) -> Res<(Kernel, Facts, f64)> {
    let (kind, rest) = spec.split_once(':').unwrap();
    let n: Vec<u64> = rest.split(',').filter_map(|t| t.parse().ok()).collect();
    let has = |w: &str| rest.split(',').any(|t| t == w);
    let (op, attrs, types, out, bias, constants, flops) = if kind == "mm" {
        let [b, m, nn, k] = n[..] else { return Err("mm:B,M,N,K".into()) };
        let batch = |dims: [u64; 2], with: bool| if with && b > 0 { vec![b, dims[0], dims[1]] } else { dims.to_vec() };
        let lhs = batch(if has("ta") { [k, m] } else { [m, k] }, true);
        let rhs = batch(if has("tb") { [nn, k] } else { [k, nn] }, !has("const"));
        let attrs = Attrs::new().flag("transpose_lhs", has("ta")).flag("transpose_rhs", has("tb"));
        let out = batch([m, nn], true);
        let mut bias = vec![1; out.len()];
        *bias.last_mut().unwrap() = nn;
        (
            GraphOp::Matmul,
            attrs,
            [lhs, rhs],
            out,
            bias,
            vec![false, has("const"), true, false],
            2.0 * b.max(1) as f64 * m as f64 * nn as f64 * k as f64,
        )
    } else {
        let [i, c, h, w, o, kh, kw, s, p, g] = n[..] else { return Err("conv:N,C,H,W,O,KH,KW,S,P,G".into()) };
        let (oh, ow) = ((h + 2 * p - kh) / s + 1, (w + 2 * p - kw) / s + 1);
        let two = |v: u64| vec![v as i64; 2];
        let attrs = Attrs::new()
            .ints("strides", two(s))
            .ints("pads", vec![p as i64; 4])
            .ints("dilations", two(1))
            .int("groups", g as i64);
        (
            GraphOp::Conv,
            attrs,
            [vec![i, c, h, w], vec![o, c / g, kh, kw]],
            vec![i, o, oh, ow],
            vec![1, o, 1, 1],
            vec![false, !has("dyn"), true, false],
            2.0 * (i * o * oh * ow * c / g * kh * kw) as f64,
        )
    };
    let name = spec.replace([':', ','], "_");
    let mut outer = Body::default();
    let mut types: Vec<Vec<u64>> = types.into();
    if has("epi") {
        types.extend([bias, out.clone()]);
    }
    // `sym*` names every size that was given as `*`; the names carry the values.
    let symbols: Vec<u64> = rest.split(',').filter_map(|t| t.strip_prefix("sym")?.parse().ok()).collect();
    let f32s = |dims: &[u64]| {
        let dim = |d: &u64| {
            if open && symbols.contains(d) { Dim::symbol(&format!("s_{d}")) } else { Dim::from(*d) }
        };
        TensorType { dims: dims.iter().map(dim).collect(), ..TensorType::fixed(DType::F32, dims) }
    };
    let args: Vec<ValueId> = types.iter().map(|t| outer.arg(f32s(t))).collect();
    let node = if has("epi") {
        let mut r = Body::default();
        let a: Vec<ValueId> = types.iter().map(|t| r.arg(f32s(t))).collect();
        let o = f32s(&out);
        let v = r.push(op, attrs, &a[..2], [o.clone()], "c")[0];
        let wide = r.push(GraphOp::Broadcast, Attrs::new(), &a[2..3], [o.clone()], "wide")[0];
        let v =
            r.push(GraphOp::Binary, Attrs::new().int("kind", BinaryKind::Add as i64), &[v, wide], [o.clone()], "b")[0];
        let v =
            r.push(GraphOp::Binary, Attrs::new().int("kind", BinaryKind::Add as i64), &[v, a[3]], [o.clone()], "r")[0];
        let v = r.push(GraphOp::Unary, Attrs::new().int("kind", UnaryKind::Relu as i64), &[v], [o.clone()], "relu")[0];
        r.results = vec![v];
        let y = outer.value(o);
        Node {
            op: GraphOp::Fusion,
            attrs: Attrs::new(),
            inputs: args,
            outputs: vec![y],
            name,
            region: Some(Box::new(r)),
        }
    } else {
        let y = outer.value(f32s(&out));
        Node { op, attrs, inputs: args, outputs: vec![y], name, region: None }
    };
    let mut kernel = lower(&node, &outer)?;
    kernel.name = node.name.clone();
    let inputs = kernel.buffers.iter().filter(|b| b.role == Role::In).count();
    Ok((kernel, Facts { constant_inputs: constants[..inputs].to_vec() }, flops))
}

/// Number of wrong ones among some output elements.
fn check(k: &Kernel, data: &[Vec<f32>], out: &[f32]) -> usize {
    let dims = |d: &Dim| d.as_const().unwrap();
    let extents: Vec<u64> = k.outer.iter().map(|i| dims(&i.extent)).collect();
    let total: u64 = extents.iter().product();
    let steps: u64 = k.nests[0].iters.iter().map(|i| dims(&i.extent)).product();
    let wanted = (400_000_000 / steps.max(1) / 40).clamp(50, total.max(50));
    let mut bad = out.iter().filter(|v| v.is_nan()).count();
    for i in 0..wanted {
        let linear = if wanted >= total { i } else { (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % total };
        if linear >= total {
            break;
        }
        let mut at = vec![0i64; extents.len()];
        let mut rest = linear;
        for (a, e) in at.iter_mut().zip(&extents).rev() {
            *a = (rest % e) as i64;
            rest /= e;
        }
        let mut temps = vec![0f32; k.buffers.len()];
        let mut stored = None;
        for nest in &k.nests {
            let ext: Vec<u64> = nest.iters.iter().map(|i| dims(&i.extent)).collect();
            let count: u64 = ext.iter().product();
            let mut acc = 0f32;
            for j in 0..count {
                let mut it = at.clone();
                let mut rest = j;
                let mut own = vec![0i64; ext.len()];
                for (a, e) in own.iter_mut().zip(&ext).rev() {
                    *a = (rest % e) as i64;
                    rest /= e;
                }
                it.extend(own);
                let mut vals: Vec<f32> = vec![];
                for op in &nest.ops {
                    vals.push(match op {
                        ScalarOp::Read(r) => {
                            let a = &nest.reads[*r];
                            if k.buffers[a.buffer.0].role == Role::Temp {
                                temps[a.buffer.0]
                            } else {
                                place(k, a, &it).map_or(0.0, |p| data[a.buffer.0][p])
                            }
                        }
                        ScalarOp::Const(_, Scalar::Float(v)) => *v as f32,
                        ScalarOp::Binary(BinaryKind::Add, x, y) => vals[x.0] + vals[y.0],
                        ScalarOp::Binary(BinaryKind::Max, x, y) => vals[x.0].max(vals[y.0]),
                        ScalarOp::Unary(UnaryKind::Relu, x) => vals[x.0].max(0.0),
                        other => panic!("{other:?}"),
                    });
                }
                match &nest.effects[0] {
                    Effect::Reduce { to, value, second, .. } => {
                        acc = vals[value.0].mul_add(vals[second.unwrap().0], acc);
                        if j + 1 == count {
                            if k.buffers[to.buffer.0].role == Role::Temp {
                                temps[to.buffer.0] = acc;
                            } else {
                                stored = Some((place(k, to, &it).unwrap(), acc));
                            }
                        }
                    }
                    Effect::Store { to, value, .. } => stored = Some((place(k, to, &it).unwrap(), vals[value.0])),
                    other => panic!("{other:?}"),
                }
            }
        }
        let (p, v) = stored.unwrap();
        if out[p].to_bits() != v.to_bits() {
            bad += 1;
        }
    }
    bad
}

fn place(k: &Kernel, a: &Access, it: &[i64]) -> Option<usize> {
    let mut at = 0;
    for (x, d) in a.index.iter().zip(&k.buffers[a.buffer.0].dims) {
        let (v, d) = (eval(x, it), d.as_i64().unwrap());
        if v < 0 || v >= d {
            return None;
        }
        at = at * d + v;
    }
    Some(at as usize)
}

fn eval(x: &Index, it: &[i64]) -> i64 {
    match x {
        Index::Size(d) => d.as_i64().unwrap(),
        Index::Iter(i) => it[*i],
        Index::Add(a, b) => eval(a, it) + eval(b, it),
        Index::Mul(a, d) => eval(a, it) * d.as_i64().unwrap(),
        Index::FloorDiv(a, d) => eval(a, it).div_euclid(d.as_i64().unwrap()),
        Index::Mod(a, d) => eval(a, it).rem_euclid(d.as_i64().unwrap()),
    }
}
