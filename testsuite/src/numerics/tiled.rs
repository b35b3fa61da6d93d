//! Tiling changes no bit: random small nets compiled whole and with `graph-tile` along the batch, rows, columns or positions,
//! on every back end over poisoned memory, and in the reference interpreter.

use libtest_mimic::Trial;
use neap_optable::{Attrs, BinaryKind, Body, GraphOp, PoolKind, ReduceKind, Tensor, UnaryKind, ValueId};
use neap_passes::{Cx, Func, Manager};
use neap_reference::eval_body;

use super::maker::Maker;
use super::{back_ends, run};

/// Random nets that are compiled.
const COMPILED: usize = 16;
/// Random nets that only the reference computes.
const INTERPRETED: usize = 300;
/// What the compiler does before tiling.
const BEFORE: &str = "graph-simplify,graph-fuse,graph-copy-outputs";

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut out = vec![];
    for i in 0..COMPILED {
        out.push(Trial::test(format!("numerics tiled {i}"), move || Ok(compiled(i)?)));
    }
    out.push(Trial::test("numerics tiled in the reference", || {
        let mut done = 0;
        for i in 0..INTERPRETED {
            done += usize::from(interpreted(i)?);
        }
        // A generator whose nets cannot be tiled would test nothing.
        if done * 3 > INTERPRETED { Ok(()) } else { Err(format!("only {done} of {INTERPRETED} could be tiled").into()) }
    }));
    out
}

/// A net, and a segment of it after [`BEFORE`] that can be tiled.
fn sample(seed: &str) -> Result<Option<(Maker, Body, String)>, String> {
    let mut m = Maker::new(seed);
    if m.dice.once_in(4) {
        sequence(&mut m)
    } else {
        image(&mut m)
    }
    let before = optimised(&m, &m.body, BEFORE)?;
    let n = before.nodes.len() as u64;
    for _ in 0..12 {
        let (a, b) = (m.dice.below(n), m.dice.below(n));
        let (axis, tiles) = (m.dice.below(4), 2 + m.dice.below(4));
        let pass = format!("graph-tile{{axis={axis} tiles={tiles} from={} to={}}}", a.min(b), a.max(b));
        // A second one tiles what is tiled already.
        let again = format!("graph-tile{{axis={} tiles=2}}", m.dice.pick(&[0, 2]));
        if optimised(&m, &before, &format!("{pass},{again}")).is_ok() && m.dice.once_in(2) {
            return Ok(Some((m, before, format!("{pass},{again}"))));
        }
        if optimised(&m, &before, &pass).is_ok() {
            return Ok(Some((m, before, pass)));
        }
    }
    Ok(None)
}

fn optimised(m: &Maker, body: &Body, pipeline: &str) -> Result<Body, String> {
    let steps = neap_passes::parse(pipeline).map_err(|e| e.to_string())?;
    let mut cx = Cx { weights: m.weights.clone(), ..Cx::default() };
    let mut funcs = vec![Func { name: "test".into(), body: body.clone() }];
    let mut manager = Manager { verify: true, ..Manager::default() };
    manager.run(&steps, &mut cx, &mut funcs).map_err(|e| e.to_string())?;
    funcs.pop().map(|f| f.body).ok_or_else(|| "the function is gone".into())
}

fn interpreted(i: usize) -> Result<bool, String> {
    let Some((m, before, pass)) = sample(&format!("tiled {i}"))? else { return Ok(false) };
    let after = optimised(&m, &before, &pass)?;
    let eval = |b: &Body| eval_body(b, &m.weights, &m.inputs, &mut |_, _: &[Tensor]| {}).map_err(|e| e.to_string());
    run::same_bits(&eval(&after)?, &eval(&before)?).map_err(|e| format!("net {i} after {pass}: {e}\n{before:#?}"))?;
    Ok(true)
}

fn compiled(i: usize) -> Result<(), String> {
    let Some((m, _, pass)) = sample(&format!("tiled {i}"))? else { return Ok(()) };
    for b in back_ends::all() {
        let at = |e| format!("{} after {pass}: {e}\n{:#?}", b.name, m.body);
        let whole = run::run(&m.body, &m.weights, &m.inputs, &b.target, BEFORE).map_err(at)?;
        let tiled = run::run(&m.body, &m.weights, &m.inputs, &b.target, &format!("{BEFORE},{pass}")).map_err(at)?;
        run::same_bits(&tiled, &whole).map_err(at)?;
    }
    Ok(())
}

/// A small convolutional net: convolutions of every kind, pools, resizes, residuals, branches, squeeze and excitation.
fn image(m: &mut Maker) {
    let (batch, c) = (1 + m.dice.below(3), m.dice.pick(&[2, 4, 6]));
    let side = 6 + m.dice.below(14);
    let width = side + m.dice.below(5);
    let mut x = m.input(&[batch, c, side, width]);
    let steps = 2 + m.dice.below(5);
    for _ in 0..steps {
        x = match m.dice.below(8) {
            0 => pool(m, x),
            1 => transposed(m, x),
            2 => resized(m, x),
            3 => residual(m, x),
            4 => branches(m, x),
            5 => excited(m, x),
            _ => conv(m, x, None),
        };
        if m.dice.once_in(3) {
            x = m.chain(x, 1);
        }
        if m.dice.once_in(6) {
            m.result(x);
        }
    }
    let x = m.tame(x);
    m.result(x);
}

/// A convolution with bias and a function behind it; with `same` its result has the operand's shape.
fn conv(m: &mut Maker, x: ValueId, same: Option<u64>) -> ValueId {
    let dims = m.dims(x);
    let (k, dilation) = (m.dice.pick(&[1, 3, 3, 5]), m.dice.pick(&[1, 1, 2]));
    let reach = (k - 1) * dilation + 1;
    let stride = if same.is_some() { 1 } else { m.dice.pick(&[1, 1, 2]) };
    let (k, dilation) = if reach <= dims[2].min(dims[3]) { (k, dilation) } else { (1, 1) };
    let pad = if same.is_some() || !m.dice.once_in(4) { (k - 1) * dilation / 2 } else { 0 };
    let groups = if m.dice.once_in(3) && same.is_none_or(|o| o == dims[1]) { dims[1] } else { 1 };
    let out = same.unwrap_or(if groups > 1 { dims[1] } else { m.dice.pick(&[2, 4, 6]) });
    let f = m.weight(&[out, dims[1] / groups, k, k]);
    let attrs = Attrs::new()
        .ints("strides", vec![stride; 2])
        .ints("pads", vec![pad as i64; 4])
        .ints("dilations", vec![dilation as i64; 2])
        .int("groups", groups as i64);
    let y = m.op(GraphOp::Conv, attrs, &[x, f]);
    biased(m, y)
}

fn biased(m: &mut Maker, y: ValueId) -> ValueId {
    let dims = m.dims(y);
    let bias = m.weight(&[dims[1], 1, 1]);
    let bias = m.broadcast(bias, &dims);
    let y = m.binary(BinaryKind::Add, y, bias);
    m.tame(y)
}

fn transposed(m: &mut Maker, x: ValueId) -> ValueId {
    let dims = m.dims(x);
    let (k, stride) = (m.dice.pick(&[2, 3, 4]), 2);
    let pad = m.dice.below(k.min(3) - 1);
    if dims[2] > 20 {
        return x;
    }
    let out = m.dice.pick(&[2, 4]);
    let f = m.weight(&[dims[1], out, k, k]);
    let attrs = Attrs::new()
        .ints("strides", vec![stride as i64; 2])
        .ints("pads", vec![pad as i64; 4])
        .ints("dilations", vec![1; 2])
        .int("groups", 1);
    let to = |n: u64| (n - 1) * stride + k - 2 * pad;
    let y = m.typed(GraphOp::ConvTranspose, attrs, &[x, f], &[dims[0], out, to(dims[2]), to(dims[3])]);
    biased(m, y)
}

fn pool(m: &mut Maker, x: ValueId) -> ValueId {
    let dims = m.dims(x);
    let kind = m.dice.pick(&[PoolKind::Max, PoolKind::Average, PoolKind::AverageIncludePad]);
    let (k, stride) = (m.dice.pick(&[2, 3]), m.dice.pick(&[1, 2]));
    if dims[2].min(dims[3]) < k {
        return x;
    }
    let pad = m.dice.below(2);
    // Half of them with a last window that may hang over.
    let over = if m.dice.once_in(2) { stride - 1 } else { 0 };
    let to = |n: u64| {
        let count = (n + 2 * pad - k + over) / stride + 1;
        // ONNX leaves out a window that would start in the padding.
        if (count - 1) * stride >= n + pad { count - 1 } else { count }
    };
    let attrs = Attrs::new()
        .int("kind", kind)
        .ints("kernel", vec![k as i64; 2])
        .ints("strides", vec![stride as i64; 2])
        .ints("pads", vec![pad as i64; 4])
        .ints("dilations", vec![1; 2]);
    m.typed(GraphOp::Pool, attrs, &[x], &[dims[0], dims[1], to(dims[2]), to(dims[3])])
}

fn resized(m: &mut Maker, x: ValueId) -> ValueId {
    let dims = m.dims(x);
    if dims[2] > 16 {
        return x;
    }
    let attrs = Attrs::new()
        .int("mode", m.dice.pick(&[neap_optable::ResizeMode::Nearest, neap_optable::ResizeMode::Linear]))
        .int(
            "coordinates",
            m.dice.pick(&[
                neap_optable::CoordinateMode::HalfPixel,
                neap_optable::CoordinateMode::Asymmetric,
                neap_optable::CoordinateMode::AlignCorners,
            ]),
        )
        .int("nearest", m.dice.pick(&[neap_optable::NearestMode::Floor, neap_optable::NearestMode::RoundPreferFloor]))
        .float("cubic_a", -0.75)
        .with("scales", neap_optable::Attr::Floats(vec![1.0, 1.0, 2.0, 2.0]));
    m.typed(GraphOp::Resize, attrs, &[x], &[dims[0], dims[1], dims[2] * 2, dims[3] * 2])
}

fn residual(m: &mut Maker, x: ValueId) -> ValueId {
    let c = m.dims(x)[1];
    let y = conv(m, x, Some(c));
    let y = conv(m, y, Some(c));
    let z = m.binary(BinaryKind::Add, y, x);
    m.unary(UnaryKind::Relu, z)
}

fn branches(m: &mut Maker, x: ValueId) -> ValueId {
    let parts: Vec<ValueId> = (0..2 + m.dice.below(2)).map(|_| conv(m, x, Some(2))).collect();
    m.op(GraphOp::Concat, Attrs::new().int("axis", 1), &parts)
}

/// Scales channels by a function of their means: rows cannot be tiled through it.
fn excited(m: &mut Maker, x: ValueId) -> ValueId {
    let dims = m.dims(x);
    let attrs = Attrs::new().int("kind", ReduceKind::Mean).ints("axes", vec![2, 3]).flag("keep_dims", true);
    let mean = m.op(GraphOp::Reduce, attrs, &[x]);
    let gate = m.unary(UnaryKind::Sigmoid, mean);
    let gate = m.broadcast(gate, &dims);
    m.binary(BinaryKind::Mul, x, gate)
}

/// A transformer's block: products, heads, softmax, norms.
fn sequence(m: &mut Maker) {
    let (batch, rows, heads, width) = (1 + m.dice.below(3), 3 + m.dice.below(9), 2, 3);
    let x = m.input(&[batch, rows, heads * width]);
    let plain = Attrs::new().flag("transpose_lhs", false).flag("transpose_rhs", false);
    let head = |m: &mut Maker| {
        let w = m.weight(&[heads * width, heads * width]);
        let y = m.op(GraphOp::Matmul, plain.clone(), &[x, w]);
        let y = m.typed(GraphOp::Reshape, Attrs::new(), &[y], &[batch, rows, heads, width]);
        m.op(GraphOp::Transpose, Attrs::new().ints("permutation", vec![0, 2, 1, 3]), &[y])
    };
    let (q, k, v) = (head(m), head(m), head(m));
    let scores = Attrs::new().flag("transpose_lhs", false).flag("transpose_rhs", true);
    let s = m.op(GraphOp::Matmul, scores, &[q, k]);
    let s = m.op(GraphOp::Softmax, Attrs::new().int("axis", 3).flag("log", false), &[s]);
    let y = m.op(GraphOp::Matmul, plain.clone(), &[s, v]);
    let y = m.op(GraphOp::Transpose, Attrs::new().ints("permutation", vec![0, 2, 1, 3]), &[y]);
    let y = m.typed(GraphOp::Reshape, Attrs::new(), &[y], &[batch, rows, heads * width]);
    let y = m.binary(BinaryKind::Add, y, x);
    let y = m.op(GraphOp::LayerNorm, Attrs::new().int("axis", 2).float("epsilon", 1e-3).flag("rms", false), &[y]);
    let z = m.chain(y, 2);
    m.result(z);
}
