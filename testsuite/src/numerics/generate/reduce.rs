//! Reductions, normalisations, scans and sorting.

use neap_optable::{ArgKind, Attrs, DType, GraphOp, ReduceKind, Tensor, TensorType};

use super::Row;
use crate::numerics::sample::{Dice, Sample, Style};

pub const ROWS: &[Row] = &[
    Row { name: "reduce", count: 48, make: reduce },
    Row { name: "arg_reduce", count: 16, make: arg_reduce },
    Row { name: "softmax", count: 20, make: softmax },
    Row { name: "layer_norm", count: 16, make: layer_norm },
    Row { name: "cumsum", count: 14, make: cumsum },
    Row { name: "top_k", count: 16, make: top_k },
];

/// Floats as often as all else.
const NUMBERS: &[DType] = &[
    DType::F32,
    DType::F32,
    DType::F32,
    DType::F32,
    DType::I64,
    DType::I32,
    DType::I8,
    DType::U8,
    DType::I16,
    DType::U16,
    DType::U32,
    DType::U64,
];

fn reduce(dice: &mut Dice, i: usize) -> Sample {
    let kind = ReduceKind::ALL[i % ReduceKind::ALL.len()];
    let rank = 1 + dice.below(4) as usize;
    let mut dims = dice.dims(rank);
    let mut axes: Vec<i64> = (0..rank as i64).filter(|_| dice.once_in(2)).collect();
    match i / 7 {
        // Long contiguous runs: several accumulators.
        0 => (dims, axes) = (vec![3, 2, dice.pick(&[255, 256, 257, 511, 1000])], vec![2]),
        // Everything.
        1 => axes = (0..rank as i64).collect(),
        // The outermost alone: columns.
        2 => axes = vec![0],
        _ => {}
    }
    let t = match kind {
        ReduceKind::Any | ReduceKind::All => DType::Bool,
        ReduceKind::Mean => DType::F32,
        _ => dice.pick(NUMBERS),
    };
    let style = if matches!(kind, ReduceKind::Max | ReduceKind::Min) { Style::Wild } else { Style::Plain };
    let mut x = dice.tensor(t, &dims, style);
    if kind == ReduceKind::Prod && t == DType::F32 {
        // Products that stay in range.
        let v = x.elements::<f32>().unwrap_or_default();
        x = Tensor::new(&dims, &v.into_iter().map(|v| 1.0 + v / 64.0).collect::<Vec<_>>());
    }
    let attrs = Attrs::new().int("kind", kind).ints("axes", axes).flag("keep_dims", dice.once_in(2));
    Sample::new(GraphOp::Reduce, attrs, vec![x])
}

/// A shape with at least one element along an axis.
fn along(dice: &mut Dice) -> (Vec<u64>, usize) {
    let rank = 1 + dice.below(4) as usize;
    let axis = if dice.once_in(2) { rank - 1 } else { dice.below(rank as u64) as usize };
    let mut dims = dice.dims(rank);
    dims[axis] = dims[axis].max(1);
    (dims, axis)
}

fn arg_reduce(dice: &mut Dice, i: usize) -> Sample {
    let (dims, axis) = along(dice);
    let t = dice.pick(NUMBERS);
    let x = dice.tensor(t, &dims, if i.is_multiple_of(2) { Style::Wild } else { Style::Plain });
    let attrs =
        Attrs::new().int("kind", ArgKind::ALL[i / 2 % 2]).int("axis", axis as i64).flag("select_last", dice.once_in(2));
    Sample::new(GraphOp::ArgReduce, attrs, vec![x])
}

fn softmax(dice: &mut Dice, i: usize) -> Sample {
    let (dims, axis) = along(dice);
    let mut x = dice.floats(&dims);
    if i % 5 == 4 {
        // As attention masks have it.
        let v = x.elements::<f32>().unwrap_or_default();
        let masked = |v: f32| if v < 0.0 { f32::NEG_INFINITY } else { v };
        x = Tensor::new(&dims, &v.into_iter().map(masked).collect::<Vec<_>>());
    }
    let attrs = Attrs::new().int("axis", axis as i64).flag("log", i % 3 == 2);
    Sample::new(GraphOp::Softmax, attrs, vec![x])
}

fn layer_norm(dice: &mut Dice, i: usize) -> Sample {
    let rank = 2 + dice.below(2) as usize;
    let mut dims: Vec<u64> = dice.dims(rank).into_iter().map(|d| d.max(1)).collect();
    if i.is_multiple_of(4) {
        dims = vec![3, dice.pick(&[256, 300, 768])];
    }
    let axis = if dice.once_in(4) { 0 } else { dims.len() - 1 };
    let x = dice.floats(&dims);
    let attrs = Attrs::new().int("axis", axis as i64).float("epsilon", 1e-5).flag("rms", i % 3 == 2);
    Sample::new(GraphOp::LayerNorm, attrs, vec![x])
}

fn cumsum(dice: &mut Dice, i: usize) -> Sample {
    let (dims, axis) = along(dice);
    let t = dice.pick(NUMBERS);
    let x = dice.tensor(t, &dims, Style::Plain);
    let attrs = Attrs::new().int("axis", axis as i64).flag("exclusive", i % 2 == 1).flag("reverse", i / 2 % 2 == 1);
    Sample::new(GraphOp::Cumsum, attrs, vec![x])
}

fn top_k(dice: &mut Dice, i: usize) -> Sample {
    let (dims, axis) = along(dice);
    let t = dice.pick(NUMBERS);
    let x = dice.tensor(t, &dims, if i.is_multiple_of(2) { Style::Wild } else { Style::Plain });
    let mut to = dims;
    to[axis] = if i == 0 { 0 } else { 1 + dice.below(to[axis].min(40)) };
    let types = vec![TensorType::fixed(t, &to), TensorType::fixed(DType::I64, &to)];
    let attrs = Attrs::new().int("axis", axis as i64).flag("largest", i % 3 != 2);
    Sample::typed(GraphOp::TopK, attrs, vec![x], types)
}
