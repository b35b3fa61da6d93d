//! Operators that move elements.

use neap_optable::{Attr, Attrs, CoordinateMode, DType, GraphOp, NearestMode, PadMode, ResizeMode, TensorType};

use super::Row;
use crate::numerics::sample::{Dice, Sample, Style};

pub const ROWS: &[Row] = &[
    Row { name: "broadcast", count: 16, make: broadcast },
    Row { name: "reshape", count: 4, make: reshape },
    Row { name: "transpose", count: 24, make: transpose },
    Row { name: "slice", count: 20, make: slice },
    Row { name: "concat", count: 16, make: concat },
    Row { name: "pad", count: 20, make: pad },
    Row { name: "resize", count: 40, make: resize },
];

fn dtype(dice: &mut Dice) -> DType {
    dice.pick(&[DType::F32, DType::F32, DType::F32, DType::I64, DType::I32, DType::Bool, DType::U8])
}

fn broadcast(dice: &mut Dice, _: usize) -> Sample {
    let rank = dice.below(5) as usize;
    let to = dice.dims(rank);
    let new = dice.below(rank as u64 + 1) as usize;
    let from: Vec<u64> = to[new..].iter().map(|&d| if dice.once_in(2) { 1 } else { d }).collect();
    let t = dtype(dice);
    let x = dice.tensor(t, &from, Style::Wild);
    Sample::typed(GraphOp::Broadcast, Attrs::new(), vec![x], vec![TensorType::fixed(t, &to)])
}

fn reshape(dice: &mut Dice, _: usize) -> Sample {
    let dims = dice.dims(3);
    let t = dtype(dice);
    let to = TensorType::fixed(t, &[dims[0] * dims[1], 1, dims[2]]);
    let x = dice.tensor(t, &dims, Style::Wild);
    Sample::typed(GraphOp::Reshape, Attrs::new(), vec![x], vec![to])
}

fn transpose(dice: &mut Dice, i: usize) -> Sample {
    let rank = [2, 2, 3, 4, 3, 5][i % 6];
    let mut permutation: Vec<i64> = (0..rank as i64).collect();
    for j in (1..rank).rev() {
        permutation.swap(j, dice.below(j as u64 + 1) as usize);
    }
    if rank == 2 {
        permutation = vec![1, 0];
    }
    let dims = dice.dims(rank);
    let t = dtype(dice);
    let x = dice.tensor(t, &dims, Style::Wild);
    Sample::new(GraphOp::Transpose, Attrs::new().ints("permutation", permutation), vec![x])
}

fn slice(dice: &mut Dice, _: usize) -> Sample {
    let rank = 1 + dice.below(4) as usize;
    let dims = dice.dims(rank);
    let (mut starts, mut steps, mut counts) = (vec![], vec![], vec![]);
    for &d in &dims {
        let step = dice.pick(&[1, 1, 1, 2, 3, -1, -2]);
        let start = if d == 0 { 0 } else { dice.below(d) as i64 };
        let room = match (d, step > 0) {
            (0, _) => 0,
            (_, true) => (d as i64 - start + step - 1) / step,
            (_, false) => start / -step + 1,
        };
        starts.push(start);
        steps.push(step);
        counts.push(if dice.once_in(3) { dice.below(room as u64 + 1) } else { room as u64 });
    }
    let t = dtype(dice);
    let x = dice.tensor(t, &dims, Style::Wild);
    let attrs = Attrs::new().ints("starts", starts).ints("steps", steps);
    Sample::typed(GraphOp::Slice, attrs, vec![x], vec![TensorType::fixed(t, &counts)])
}

fn concat(dice: &mut Dice, _: usize) -> Sample {
    let rank = 1 + dice.below(4) as usize;
    let axis = dice.below(rank as u64) as usize;
    let dims = dice.dims(rank);
    let t = dtype(dice);
    let parts = 1 + dice.below(5);
    let inputs = (0..parts).map(|_| {
        let mut dims = dims.clone();
        dims[axis] = dice.pick(&[0, 1, 2, 3, 5, 16, 17]);
        dice.tensor(t, &dims, Style::Wild)
    });
    let inputs = inputs.collect();
    Sample::new(GraphOp::Concat, Attrs::new().int("axis", axis as i64), inputs)
}

fn pad(dice: &mut Dice, i: usize) -> Sample {
    let mode = PadMode::ALL[i % PadMode::ALL.len()];
    let rank = 1 + dice.below(4) as usize;
    // Something to repeat in every dim.
    let dims: Vec<u64> = dice.dims(rank).into_iter().map(|d| d.max(1)).collect();
    let mut one = |d: u64| {
        if dice.once_in(3) {
            return 0;
        }
        let most = if mode == PadMode::Constant { 6 } else { (d as i64 - 1).clamp(0, 6) };
        dice.between(-(d as i64 / 3).min(3), most + 1)
    };
    let low: Vec<i64> = dims.iter().map(|&d| one(d)).collect();
    let high: Vec<i64> = dims.iter().map(|&d| one(d)).collect();
    let t = dtype(dice);
    let (x, value) = (dice.tensor(t, &dims, Style::Wild), dice.tensor(t, &[], Style::Plain));
    let attrs = Attrs::new().int("mode", mode).ints("low", low).ints("high", high);
    Sample::new(GraphOp::Pad, attrs, vec![x, value])
}

fn resize(dice: &mut Dice, i: usize) -> Sample {
    let mode = ResizeMode::ALL[i % ResizeMode::ALL.len()];
    let coordinates = CoordinateMode::ALL[i / 3 % CoordinateMode::ALL.len()];
    let nearest = NearestMode::ALL[dice.below(NearestMode::ALL.len() as u64) as usize];
    let dims = [dice.pick(&[1, 2]), dice.pick(&[1, 3]), 2 + dice.below(12), 2 + dice.below(20)];
    let mut scales = vec![1.0, 1.0];
    let mut to = dims.to_vec();
    for axis in 2..4 {
        let scale = dice.pick(&[2.0, 0.5, 1.7, 3.0, 0.6, 1.0, 2.5]);
        to[axis] = (dims[axis] as f64 * scale) as u64;
        scales.push(scale);
    }
    let attrs = Attrs::new()
        .int("mode", mode)
        .int("coordinates", coordinates)
        .int("nearest", nearest)
        .with("scales", Attr::Floats(scales))
        .float("cubic_a", -0.75);
    let x = dice.floats(&dims);
    Sample::typed(GraphOp::Resize, attrs, vec![x], vec![TensorType::fixed(DType::F32, &to)])
}
