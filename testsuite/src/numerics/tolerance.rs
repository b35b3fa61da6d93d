//! How far a result may be from the reference, which computes in f64 and rounds once.
//!
//! Bounds follow from what an operator does: nothing where one rounding (or none) is all there is, the stated bound of an
//! elementary function, the rounding errors of a sum of so many terms. Integers and bools must be equal.

use neap_optable::{
    Attrs, BinaryKind, DType, GraphOp, PoolKind, ReduceKind, ResizeMode, ScatterKind, Tensor, UnaryKind,
};
use neap_reference::eval;

use super::sample::Sample;

/// For each float result the absolute error each element may have.
pub fn allowed(s: &Sample, expected: &[Tensor]) -> Vec<Vec<f64>> {
    expected.iter().map(|e| of_type(s, e)).collect()
}

/// f16 and bf16 are computed in f32: what may be off there may round to the neighbour. The reference computes f64 in f64: it
/// is off as much.
fn of_type(s: &Sample, expected: &Tensor) -> Vec<f64> {
    let allowed = one(s, expected);
    let more = |(a, e): (f64, f64)| match expected.dtype {
        _ if a == 0.0 => 0.0,
        DType::F64 => 2.0 * a,
        DType::F16 | DType::BF16 => a + ulp(expected.dtype, e),
        _ => a,
    };
    allowed.into_iter().zip(floats(expected)).map(more).collect()
}

/// The elements of a tensor of floats; of another type none.
pub fn floats(t: &Tensor) -> Vec<f64> {
    t.to_f64().unwrap_or_default()
}

/// Digits and the exponent of the least normal number.
fn format(dtype: DType) -> (i32, i32) {
    match dtype {
        DType::F64 => (53, -1022),
        DType::F16 => (11, -14),
        DType::BF16 => (8, -126),
        _ => (24, -126),
    }
}

/// The distance from `v` to the next number of the type.
fn ulp(dtype: DType, v: f64) -> f64 {
    if !v.is_finite() {
        return 0.0;
    }
    let (digits, least) = format(dtype);
    let exponent = if v == 0.0 { least } else { libm::ilogb(v).max(least) };
    libm::ldexp(1.0, exponent - digits + 1)
}

/// Rounding errors of a sum of `n` terms, in halves of a unit in the last place of the sum of magnitudes. Errors have either
/// sign, so that they grow as the square root; three standard deviations are far beyond what seeded samples show.
fn sum_error(n: f64) -> f64 {
    n.min(3.0 * n.sqrt()) + 2.0
}

/// Half a unit in the last place of 1.
fn half_ulp(dtype: DType) -> f64 {
    ulp(dtype, 1.0) / 2.0
}

fn one(s: &Sample, expected: &Tensor) -> Vec<f64> {
    let e = floats(expected);
    // Where results are rounded step by step, in their own type; else in the type that they are computed in.
    let stepwise = matches!(s.op, GraphOp::ScatterElements | GraphOp::ScatterNd);
    let dtype = if expected.dtype.is_half() && !stepwise { DType::F32 } else { expected.dtype };
    let (u, tiny) = (half_ulp(dtype), ulp(dtype, 0.0));
    let scaled = |factor: f64| scaled(s, dtype, factor);
    let ulps = |n: f64| e.iter().map(|v| n * ulp(dtype, *v)).collect::<Vec<_>>();
    let exact = || vec![0.0; e.len()];
    let ones = |f: f64| e.iter().map(|v| f * v.abs()).collect::<Vec<_>>();
    let largest = |t: &Tensor| floats(t).into_iter().filter(|v| v.is_finite()).fold(0.0, |m: f64, v| m.max(v.abs()));
    match s.op {
        GraphOp::Unary => ulps(unary(s.attrs.get_enum("kind"))),
        GraphOp::Binary => ulps(match s.attrs.get_enum("kind") {
            BinaryKind::Pow => 2.0,
            BinaryKind::Atan2 => 4.0,
            BinaryKind::Add
            | BinaryKind::Sub
            | BinaryKind::Mul
            | BinaryKind::Div
            | BinaryKind::Max
            | BinaryKind::Min
            | BinaryKind::Mod
            | BinaryKind::Fmod
            | BinaryKind::And
            | BinaryKind::Or
            | BinaryKind::Xor
            | BinaryKind::Shl
            | BinaryKind::Shr => 0.0,
        }),
        GraphOp::Matmul => {
            let lhs = &s.inputs[0].dims;
            let k = lhs[lhs.len() - if s.attrs.get_bool("transpose_lhs") { 2 } else { 1 }];
            scaled(sum_error(k as f64))
        }
        GraphOp::Conv | GraphOp::ConvTranspose => {
            let k: u64 = s.inputs[1].dims[1..].iter().product();
            let channels = if s.op == GraphOp::Conv { 1 } else { s.inputs[0].dims[1] };
            scaled(sum_error((k * channels) as f64))
        }
        GraphOp::Reduce | GraphOp::Cumsum => {
            let n = (s.inputs[0].len() as f64 / (e.len() as f64).max(1.0)).max(1.0);
            let axis_size = |a: usize| s.inputs[0].dims[a] as f64;
            match (s.op, s.attrs.get("kind").map(|_| s.attrs.get_enum("kind"))) {
                (GraphOp::Cumsum, _) => scaled(sum_error(axis_size(s.attrs.get_int("axis") as usize))),
                (_, Some(ReduceKind::Sum | ReduceKind::Mean)) => scaled(sum_error(n) + 2.0),
                (_, Some(ReduceKind::Prod)) => e.iter().map(|v| sum_error(n) * u * v.abs() + n * tiny).collect(),
                _ => exact(),
            }
        }
        GraphOp::Pool => match s.attrs.get_enum("kind") {
            PoolKind::Max => exact(),
            PoolKind::Average | PoolKind::AverageIncludePad => {
                let n: i64 = s.attrs.get_ints("kernel").iter().product();
                scaled(sum_error(n as f64) + 2.0)
            }
        },
        GraphOp::ScatterElements | GraphOp::ScatterNd => match s.attrs.get_enum("kind") {
            ScatterKind::Add => scaled(sum_error(s.inputs[2].len() as f64)),
            ScatterKind::Mul => ones(sum_error(s.inputs[2].len() as f64) * u),
            ScatterKind::Assign | ScatterKind::Max | ScatterKind::Min => exact(),
        },
        GraphOp::Softmax => {
            // exp magnifies the rounding of its argument.
            let spread = 2.0 * largest(&s.inputs[0]);
            let n = s.inputs[0].dims[s.attrs.get_int("axis") as usize] as f64;
            if s.attrs.get_bool("log") {
                e.iter().map(|v| (8.0 + sum_error(n)) * u + 2.0 * u * (v.abs() + spread)).collect()
            } else {
                e.iter().map(|v| (8.0 + sum_error(n) + spread) * u * v.abs() + tiny).collect()
            }
        }
        GraphOp::LayerNorm => layer_norm(s, &e, dtype),
        // Positions are the reference's own; weights and their sum are rounded.
        GraphOp::Resize => match s.attrs.get_enum("mode") {
            ResizeMode::Nearest => exact(),
            ResizeMode::Linear => vec![24.0 * u * largest(&s.inputs[0]); e.len()],
            ResizeMode::Cubic => vec![96.0 * u * largest(&s.inputs[0]); e.len()],
        },
        GraphOp::Lstm | GraphOp::Gru => {
            // States feed back; tanh and sigmoid damp what they pass on.
            let (steps, hidden) = (s.inputs[0].dims[0] as f64, s.inputs[1].dims[1] as f64);
            let scale = s.inputs.iter().map(largest).fold(1.0, f64::max);
            vec![(16.0 + sum_error(hidden)) * scale * steps.max(1.0) * u; e.len()]
        }
        GraphOp::Iota => {
            let (start, step) = (largest(&s.inputs[0]), largest(&s.inputs[1]));
            let n = s.types[0].elements().unwrap_or(0) as f64;
            vec![2.0 * u * (start + step * n); e.len()]
        }
        GraphOp::ArgReduce
        | GraphOp::Broadcast
        | GraphOp::Cast
        | GraphOp::Compare
        | GraphOp::Concat
        | GraphOp::Constant
        | GraphOp::Fusion
        | GraphOp::Gather
        | GraphOp::GatherElements
        | GraphOp::GatherNd
        | GraphOp::Pad
        | GraphOp::Reshape
        | GraphOp::Select
        | GraphOp::Slice
        | GraphOp::TopK
        | GraphOp::Transpose
        | GraphOp::Weight
        | GraphOp::Yield => exact(),
    }
}

/// The bounds that `neap_kernels::math` states, in units in the last place, and half a unit for the reference's own rounding.
fn unary(kind: UnaryKind) -> f64 {
    match kind {
        UnaryKind::Abs
        | UnaryKind::Neg
        | UnaryKind::Sign
        | UnaryKind::Sqrt
        | UnaryKind::Reciprocal
        | UnaryKind::Relu
        | UnaryKind::Floor
        | UnaryKind::Ceil
        | UnaryKind::Round
        | UnaryKind::Not
        | UnaryKind::Isnan
        | UnaryKind::Isinf => 0.0,
        UnaryKind::Exp | UnaryKind::Log | UnaryKind::Sin | UnaryKind::Cos | UnaryKind::Erf => 2.5,
        UnaryKind::Tanh | UnaryKind::Atan => 3.0,
        UnaryKind::Sigmoid
        | UnaryKind::Softplus
        | UnaryKind::Asin
        | UnaryKind::Acos
        | UnaryKind::Sinh
        | UnaryKind::Cosh
        | UnaryKind::Asinh
        | UnaryKind::Acosh
        | UnaryKind::Atanh => 3.5,
        UnaryKind::Tan => 4.5,
    }
}

/// `factor` halves of a unit in the last place of what the op gives on magnitudes.
fn scaled(s: &Sample, dtype: DType, factor: f64) -> Vec<f64> {
    let (u, tiny) = (half_ulp(dtype), ulp(dtype, 0.0));
    let inputs: Vec<Tensor> = s.inputs.iter().map(magnitude).collect();
    let of_magnitudes = eval(s.op, &s.attrs, &inputs.iter().collect::<Vec<_>>(), &s.types);
    let sums = of_magnitudes.map(|t| floats(&t[0])).unwrap_or_default();
    sums.iter().map(|m| if m.is_finite() { factor * u * m + tiny } else { 0.0 }).collect()
}

fn magnitude(t: &Tensor) -> Tensor {
    if !t.dtype.is_float() {
        return t.clone();
    }
    let found = eval(GraphOp::Unary, &Attrs::new().int("kind", UnaryKind::Abs), &[t], &[t.ty()]);
    found.ok().and_then(|mut t| t.pop()).unwrap_or_else(|| t.clone())
}

/// Errors of the mean weigh as much as the row lies off zero against its spread.
fn layer_norm(s: &Sample, expected: &[f64], dtype: DType) -> Vec<f64> {
    let (u, tiny) = (half_ulp(dtype), ulp(dtype, 0.0));
    let x = floats(&s.inputs[0]);
    let row = s.inputs[0].dims[s.attrs.get_int("axis") as usize..].iter().product::<u64>() as usize;
    let rms = s.attrs.get_bool("rms");
    let mut out = vec![];
    for (r, e) in x.chunks(row.max(1)).zip(expected.chunks(row.max(1))) {
        let n = r.len() as f64;
        let mean = if rms { 0.0 } else { r.iter().sum::<f64>() / n };
        let var = r.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
        let spread = (var + s.attrs.get_float("epsilon")).sqrt();
        let size = r.iter().map(|v| v.abs()).fold(0.0, f64::max);
        let of_mean = if rms { 0.0 } else { sum_error(n) * u * size / spread };
        out.extend(e.iter().map(|v| 2.0 * of_mean + (sum_error(n) + 8.0) * u * v.abs() + tiny));
    }
    out
}
