//! Operators that read or write where data says.

use neap_optable::{Attrs, DType, GraphOp, ScatterKind, Tensor, TensorType};

use super::Row;
use crate::numerics::sample::{Dice, Sample, Style};

pub const ROWS: &[Row] = &[
    Row { name: "gather", count: 16, make: gather },
    Row { name: "gather_elements", count: 10, make: gather_elements },
    Row { name: "gather_nd", count: 12, make: gather_nd },
    Row { name: "scatter_elements", count: 20, make: scatter_elements },
    Row { name: "scatter_nd", count: 20, make: scatter_nd },
    Row { name: "iota", count: 8, make: iota },
];

fn dtype(dice: &mut Dice) -> DType {
    dice.pick(&[DType::F32, DType::F32, DType::F32, DType::I64, DType::I32, DType::U8, DType::U16, DType::U64])
}

/// A shape without empty dims, and one of its axes.
fn along(dice: &mut Dice) -> (Vec<u64>, usize) {
    let rank = 1 + dice.below(3) as usize;
    let dims = dice.dims(rank).into_iter().map(|d| d.max(1)).collect();
    (dims, dice.below(rank as u64) as usize)
}

fn gather(dice: &mut Dice, i: usize) -> Sample {
    let (dims, axis) = along(dice);
    let of = [vec![], vec![7], vec![2, 3], vec![0], vec![1], vec![17]][i % 6].clone();
    let t = dtype(dice);
    let x = dice.tensor(t, &dims, Style::Wild);
    let at = dice.indices(&of, dims[axis]);
    let s = Sample::new(GraphOp::Gather, Attrs::new().int("axis", axis as i64), vec![x, at]);
    if dice.once_in(3) { s.with_weight(0) } else { s }
}

fn gather_elements(dice: &mut Dice, _: usize) -> Sample {
    let (dims, axis) = along(dice);
    let mut of = dims.clone();
    of[axis] = dice.pick(&[1, 2, 5, 17]);
    let t = dtype(dice);
    let x = dice.tensor(t, &dims, Style::Wild);
    let at = dice.indices(&of, dims[axis]);
    Sample::new(GraphOp::GatherElements, Attrs::new().int("axis", axis as i64), vec![x, at])
}

/// Rows of `depth` indices, one for each of the dims after `skip`.
fn rows(dice: &mut Dice, shape: &[u64], dims: &[u64], depth: usize) -> Tensor {
    let count: u64 = shape.iter().product();
    let mut v = vec![];
    for _ in 0..count {
        for &d in &dims[..depth] {
            let d = d as i64;
            v.push(if dice.once_in(8) { dice.between(-d - 2, d + 2) } else { dice.between(-d, d) });
        }
    }
    Tensor::new(&[shape, &[depth as u64]].concat(), &v)
}

fn gather_nd(dice: &mut Dice, i: usize) -> Sample {
    let (batch, dims): (usize, Vec<u64>) = [
        (0, vec![5, 7]),
        (0, vec![9, 3, 17]),
        (1, vec![3, 5, 4]),
        (1, vec![2, 33]),
        (0, vec![6]),
        (2, vec![2, 3, 4, 5]),
    ][i % 6]
        .clone();
    let depth = 1 + dice.below((dims.len() - batch) as u64) as usize;
    let shape = [&dims[..batch], &[dice.pick(&[1, 4, 17])]].concat();
    let at = rows(dice, &shape, &dims[batch..], depth);
    let t = dtype(dice);
    let x = dice.tensor(t, &dims, Style::Wild);
    Sample::new(GraphOp::GatherNd, Attrs::new().int("batch_dims", batch as i64), vec![x, at])
}

fn kind(i: usize) -> ScatterKind {
    ScatterKind::ALL[i % ScatterKind::ALL.len()]
}

fn scatter_elements(dice: &mut Dice, i: usize) -> Sample {
    let (dims, axis) = along(dice);
    let of: Vec<u64> = dims.iter().map(|&d| 1 + dice.below(d.min(20))).collect();
    let t = dtype(dice);
    let style = if i.is_multiple_of(5) { Style::Special } else { Style::Plain };
    let (x, u) = (dice.tensor(t, &dims, style), dice.tensor(t, &of, style));
    let at = dice.indices(&of, dims[axis]);
    let attrs = Attrs::new().int("axis", axis as i64).int("kind", kind(i));
    Sample::new(GraphOp::ScatterElements, attrs, vec![x, at, u])
}

fn scatter_nd(dice: &mut Dice, i: usize) -> Sample {
    let dims: Vec<u64> = [vec![5, 7], vec![9, 3, 17], vec![6], vec![4, 4, 4]][dice.below(4) as usize].clone();
    let depth = 1 + dice.below(dims.len() as u64) as usize;
    let shape = if dice.once_in(2) { vec![3] } else { vec![2, 4] };
    let at = rows(dice, &shape, &dims, depth);
    let t = dtype(dice);
    let style = if i.is_multiple_of(5) { Style::Special } else { Style::Plain };
    let of = [shape.as_slice(), &dims[depth..]].concat();
    let (x, u) = (dice.tensor(t, &dims, style), dice.tensor(t, &of, style));
    Sample::new(GraphOp::ScatterNd, Attrs::new().int("kind", kind(i)), vec![x, at, u])
}

fn iota(dice: &mut Dice, i: usize) -> Sample {
    let t = [DType::F32, DType::I64, DType::I32][i % 3];
    let dims = if i.is_multiple_of(2) { vec![dice.size()] } else { vec![3, dice.size(), 2] };
    let (start, step) = (dice.tensor(t, &[], Style::Plain), dice.tensor(t, &[], Style::Plain));
    let types = vec![TensorType::fixed(t, &dims)];
    Sample::typed(GraphOp::Iota, Attrs::new().int("axis", (i % 2) as i64), vec![start, step], types)
}
