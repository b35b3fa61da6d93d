//! Fusion changes no bit: random small graphs compiled with and without `graph-fuse`, on every back end, against each other bit by
//! bit and against the reference within a tolerance.

use libtest_mimic::Trial;
use neap_optable::{Attrs, BinaryKind, CompareKind, DType, GraphOp, PoolKind, ReduceKind, Tensor, UnaryKind};
use neap_reference::eval_body;

use super::maker::Maker;
use super::{back_ends, run, tolerance};

/// Graphs of each family.
const COUNT: usize = 6;

type Family = (&'static str, fn(&mut Maker));

const FAMILIES: &[Family] = &[
    ("elementwise", elementwise),
    ("silu", silu),
    ("matmul with epilogue", matmul),
    ("conv with epilogue", conv),
    ("softmax", softmax),
    ("norm", norm),
    ("statistics", statistics),
    ("moves", moves),
    ("many readers", many_readers),
];

/// One trial a graph.
pub fn trials() -> Vec<Trial> {
    let mut out = vec![];
    for (name, make) in FAMILIES {
        for i in 0..COUNT {
            out.push(Trial::test(format!("numerics fused {name} {i}"), move || {
                let mut maker = Maker::new(&format!("{name} {i}"));
                make(&mut maker);
                Ok(check(&maker, 1e-5)?)
            }));
        }
        // The types with roundings of their own: one in memory is one in registers.
        for (dtype, tolerance) in [(DType::F64, 1e-13), (DType::F16, 1e-2), (DType::BF16, 8e-2)] {
            out.push(Trial::test(format!("numerics fused {name} as {dtype}"), move || {
                for i in 0..2 {
                    let mut maker = Maker::new(&format!("{name} {dtype} {i}"));
                    make(&mut maker);
                    maker.retype(dtype);
                    check(&maker, tolerance)?;
                }
                Ok(())
            }));
        }
    }
    out
}

/// `tolerance` is of the largest intermediate value.
fn check(m: &Maker, tolerance: f64) -> Result<(), String> {
    let mut largest = 1.0f64;
    let mut observe = |_: &neap_optable::Node, values: &[Tensor]| {
        let all = values.iter().flat_map(tolerance::floats).filter(|v| v.is_finite());
        largest = all.fold(largest, |m, v| m.max(v.abs()));
    };
    let expected = eval_body(&m.body, &m.weights, &m.inputs, &mut observe).map_err(|e| e.to_string())?;
    let mut first: Option<Vec<Tensor>> = None;
    for b in back_ends::all() {
        for pipeline in ["graph-fuse{max-ops=1},graph-copy-outputs", "graph-fuse,graph-copy-outputs"] {
            let at = |e| format!("{} after {pipeline}: {e}\n{:#?}", b.name, m.body);
            let found = run::run(&m.body, &m.weights, &m.inputs, &b.target, pipeline).map_err(at)?;
            if let Some(first) = &first {
                run::same_bits(&found, first).map_err(|e| at(format!("not the bits of the first: {e}")))?;
            }
            run::near_all(&found, &expected, tolerance * largest).map_err(at)?;
            first.get_or_insert(found);
        }
    }
    Ok(())
}

fn elementwise(m: &mut Maker) {
    let rank = 1 + m.dice.below(4) as usize;
    let dims = m.dice.dims(rank);
    let x = m.input(&dims);
    let steps = 3 + m.dice.below(6);
    let y = m.chain(x, steps);
    // A choice by a comparison of inputs, which no rounding can flip.
    let (a, b) = (m.input(&dims), m.operand(&dims));
    let c = m.op(GraphOp::Compare, Attrs::new().int("kind", CompareKind::Lt), &[a, b]);
    let s = m.op(GraphOp::Select, Attrs::new(), &[c, y, a]);
    let z = m.chain(s, 2);
    m.result(z);
}

fn silu(m: &mut Maker) {
    let dims = m.dice.dims(2);
    let (x, g) = (m.input(&dims), m.input(&dims));
    let s = m.silu(x);
    let gated = m.binary(BinaryKind::Mul, s, g);
    let h = m.chain(gated, 2);
    let again = m.silu(h);
    if m.dice.once_in(2) {
        m.result(gated);
    }
    m.result(again);
}

fn matmul(m: &mut Maker) {
    let (rows, n, k) = (m.dice.size_up_to(70), m.dice.size_up_to(100), m.dice.size_up_to(130));
    let batch: &[u64] = if m.dice.once_in(3) { &[2] } else { &[] };
    let dims = |a, b| [batch, &[a, b]].concat();
    let x = m.input(&dims(rows, k));
    let turned = m.dice.once_in(2);
    let rhs = if turned { [n, k] } else { [k, n] };
    let w = if m.dice.once_in(3) { m.input(&rhs) } else { m.weight(&rhs) };
    let attrs = Attrs::new().flag("transpose_lhs", false).flag("transpose_rhs", turned);
    let y = m.op(GraphOp::Matmul, attrs, &[x, w]);
    let steps = 1 + m.dice.below(4);
    let mut z = m.chain(y, steps);
    if m.dice.once_in(2) {
        let residual = m.input(&dims(rows, n));
        z = m.binary(BinaryKind::Add, z, residual);
    }
    m.result(z);
}

fn conv(m: &mut Maker) {
    let groups = m.dice.pick(&[1, 1, 2]);
    let (c, o, side) = (m.dice.pick(&[1, 3, 8]), m.dice.pick(&[2, 8, 17]), 4 + m.dice.below(10));
    let k = m.dice.pick(&[1, 3]);
    let x = m.input(&[1, c * groups, side, side + 1]);
    let f = m.weight(&[o * groups, c, k, k]);
    let pad = (k / 2) as i64;
    let stride = m.dice.pick(&[1, 2]);
    let attrs = Attrs::new()
        .ints("strides", vec![stride; 2])
        .ints("pads", vec![pad; 4])
        .ints("dilations", vec![1; 2])
        .int("groups", groups as i64);
    let y = m.op(GraphOp::Conv, attrs, &[x, f]);
    let dims = m.dims(y);
    let (scale, bias) = (m.weight(&[dims[1], 1, 1]), m.weight(&[dims[1], 1, 1]));
    let (scale, bias) = (m.broadcast(scale, &dims), m.broadcast(bias, &dims));
    let scaled = m.binary(BinaryKind::Mul, y, scale);
    let shifted = m.binary(BinaryKind::Add, scaled, bias);
    let mut z = if m.dice.once_in(2) { m.silu(shifted) } else { m.unary(UnaryKind::Relu, shifted) };
    if m.dice.once_in(2) {
        let residual = m.input(&dims);
        z = m.binary(BinaryKind::Add, z, residual);
    }
    if m.dice.once_in(2) {
        let attrs = Attrs::new()
            .int("kind", PoolKind::Average)
            .ints("kernel", vec![2, 2])
            .ints("strides", vec![2, 2])
            .ints("pads", vec![0; 4])
            .ints("dilations", vec![1; 2]);
        if dims[2] >= 2 && dims[3] >= 2 {
            let to = [dims[0], dims[1], dims[2] / 2, dims[3] / 2];
            z = m.typed(GraphOp::Pool, attrs, &[z], &to);
            z = m.tame(z);
        }
    }
    m.result(z);
}

fn softmax(m: &mut Maker) {
    let (rows, n) = (m.dice.size_up_to(17), m.dice.size());
    let dims = [2, rows, n];
    let x = m.input(&dims);
    let x = m.chain(x, 1);
    let mask = m.operand(&dims);
    let masked = m.binary(BinaryKind::Add, x, mask);
    let axis = if m.dice.once_in(4) { 1 } else { 2 };
    let log = m.dice.once_in(3);
    let s = m.op(GraphOp::Softmax, Attrs::new().int("axis", axis).flag("log", log), &[masked]);
    let y = m.chain(s, 2);
    if m.dice.once_in(3) {
        m.result(s);
    }
    m.result(y);
}

fn norm(m: &mut Maker) {
    let dims = [m.dice.size_up_to(9), m.dice.size_up_to(17), 2 + m.dice.size()];
    let (x, residual) = (m.input(&dims), m.input(&dims));
    let sum = m.binary(BinaryKind::Add, x, residual);
    let rms = m.dice.once_in(2);
    let attrs = Attrs::new().int("axis", 2).float("epsilon", 1e-3).flag("rms", rms);
    let y = m.op(GraphOp::LayerNorm, attrs, &[sum]);
    let (scale, bias) = (m.weight(&dims[2..]), m.weight(&dims[2..]));
    let (scale, bias) = (m.broadcast(scale, &dims), m.broadcast(bias, &dims));
    let y = m.binary(BinaryKind::Mul, y, scale);
    let y = m.binary(BinaryKind::Add, y, bias);
    let z = m.chain(y, 2);
    m.result(z);
    if m.dice.once_in(2) {
        m.result(sum);
    }
}

/// A norm spelled out: means of squares, epsilon, root, and back over the rows.
fn statistics(m: &mut Maker) {
    let dims = [m.dice.size_up_to(17), m.dice.size()];
    let x = m.input(&dims);
    let x = m.chain(x, 1);
    let axis = i64::from(!m.dice.once_in(3));
    let squares = m.binary(BinaryKind::Mul, x, x);
    let kind = m.dice.pick(&[ReduceKind::Mean, ReduceKind::Max, ReduceKind::Sum]);
    let attrs = Attrs::new().int("kind", kind).ints("axes", vec![axis]).flag("keep_dims", true);
    let mean = m.op(GraphOp::Reduce, attrs, &[squares]);
    let of = m.dims(mean);
    let one = m.weight(&[1]);
    let one = m.unary(UnaryKind::Softplus, one);
    let one = m.broadcast(one, &of);
    let safe = m.binary(BinaryKind::Add, mean, one);
    let root = m.unary(UnaryKind::Sqrt, safe);
    let inverse = m.unary(UnaryKind::Reciprocal, root);
    let wide = m.broadcast(inverse, &dims);
    let y = m.binary(BinaryKind::Mul, x, wide);
    let z = m.chain(y, 2);
    m.result(z);
}

/// Elementwise work around slices, transposes, concatenations and views.
fn moves(m: &mut Maker) {
    let (a, b) = (2 * m.dice.size_up_to(17), m.dice.size_up_to(65));
    let x = m.input(&[a, b]);
    let x = m.chain(x, 2);
    let half = |start: u64| Attrs::new().ints("starts", vec![start as i64, 0]).ints("steps", vec![1, 1]);
    let low = m.typed(GraphOp::Slice, half(0), &[x], &[a / 2, b]);
    let high = m.typed(GraphOp::Slice, half(a / 2), &[x], &[a / 2, b]);
    let high = m.unary(UnaryKind::Neg, high);
    let turned = m.op(GraphOp::Concat, Attrs::new().int("axis", 0), &[high, low]);
    let y = m.chain(turned, 2);
    let t = m.op(GraphOp::Transpose, Attrs::new().ints("permutation", vec![1, 0]), &[y]);
    let t = m.chain(t, 2);
    let v = m.typed(GraphOp::Reshape, Attrs::new(), &[t], &[b, 2, a / 2]);
    let z = m.chain(v, 2);
    m.result(z);
    if m.dice.once_in(2) {
        m.result(t);
    }
}

/// A graph where values have several readers, anywhere later.
fn many_readers(m: &mut Maker) {
    let dims = [m.dice.size_up_to(17), m.dice.size_up_to(130)];
    let mut pool = vec![m.input(&dims), m.input(&dims)];
    for _ in 0..10 {
        let (x, y) = (m.dice.pick(&pool), m.dice.pick(&pool));
        let kind = m.dice.pick(&[BinaryKind::Add, BinaryKind::Sub, BinaryKind::Max, BinaryKind::Min]);
        let z = if m.dice.once_in(3) { m.tame(x) } else { m.binary(kind, x, y) };
        // Products of products would grow without bound.
        let z = if m.dice.once_in(3) { m.unary(UnaryKind::Tanh, z) } else { z };
        pool.push(z);
    }
    for _ in 0..2 {
        let r = m.dice.pick(&pool[4..]);
        m.result(r);
    }
    m.result(pool[pool.len() - 1]);
}
