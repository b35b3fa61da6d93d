//! Contractions and windows.

use neap_optable::{Attrs, DType, GraphOp, PoolKind, TensorType};

use super::Row;
use crate::numerics::sample::{Dice, Sample, Style};

pub const ROWS: &[Row] = &[
    Row { name: "matmul", count: 48, make: matmul },
    Row { name: "matmul integers", count: 6, make: matmul_int },
    Row { name: "conv", count: 40, make: conv },
    Row { name: "conv depthwise", count: 12, make: depthwise },
    Row { name: "conv_transpose", count: 16, make: conv_transpose },
    Row { name: "conv_transpose apart", count: 12, make: conv_transpose_apart },
    Row { name: "pool", count: 24, make: pool },
];

/// Mostly plain numbers; NaN and infinities now and then, which must not leak out of padded tiles (0 * inf).
fn style(dice: &mut Dice) -> Style {
    if dice.once_in(4) { Style::Special } else { Style::Plain }
}

fn matmul(dice: &mut Dice, i: usize) -> Sample {
    const M: &[u64] = &[1, 2, 3, 5, 6, 7, 8, 12, 13, 14, 15, 27, 29, 33];
    const N: &[u64] = &[1, 2, 4, 7, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 97];
    const K: &[u64] = &[1, 2, 3, 8, 16, 33, 64, 100, 257];
    let (m, n, k) = match i {
        0 => (1, 1, 1),
        1 => (5, 7, 0),
        2 => (0, 3, 4),
        3 => (3, 0, 4),
        4 => (1, 300, 129),
        5 => (300, 1, 129),
        // Several blocks in every direction.
        6 => (130, 150, 530),
        _ => (dice.pick(M), dice.pick(N), dice.pick(K)),
    };
    let (tl, tr) = (dice.once_in(3), dice.once_in(2));
    let (lhs, rhs) = match i % 4 {
        0 | 1 => (vec![], vec![]),
        2 => (vec![3], vec![3]),
        _ => (vec![2, 1], vec![dice.pick(&[1, 3])]),
    };
    let dims = |batch: &[u64], a, b, turned: bool| [batch, &if turned { [b, a] } else { [a, b] }].concat();
    let style = style(dice);
    let x = dice.tensor(DType::F32, &dims(&lhs, m, k, tl), style);
    let y = dice.tensor(DType::F32, &dims(&rhs, k, n, tr), style);
    let attrs = Attrs::new().flag("transpose_lhs", tl).flag("transpose_rhs", tr);
    let s = Sample::new(GraphOp::Matmul, attrs, vec![x, y]);
    match dice.below(4) {
        0 | 1 => s.with_weight(1),
        2 => s,
        _ => s.with_weight(0),
    }
}

fn matmul_int(dice: &mut Dice, i: usize) -> Sample {
    let t = [DType::I32, DType::I64, DType::U32, DType::U64, DType::I8, DType::U16][i % 6];
    let (x, y) = (dice.tensor(t, &[5, 33], Style::Wild), dice.tensor(t, &[33, 19], Style::Wild));
    Sample::new(GraphOp::Matmul, Attrs::new().flag("transpose_lhs", false).flag("transpose_rhs", false), vec![x, y])
}

struct Window {
    kernel: Vec<u64>,
    strides: Vec<i64>,
    pads: Vec<i64>,
    dilations: Vec<i64>,
    /// Input sizes that hold at least one window.
    sizes: Vec<u64>,
}

fn window(dice: &mut Dice, rank: usize, most: u64) -> Window {
    let mut w = Window { kernel: vec![], strides: vec![], pads: vec![0; 2 * rank], dilations: vec![], sizes: vec![] };
    for i in 0..rank {
        let (k, d) = (dice.pick(&[1, 1, 2, 3, 3, 5]), dice.pick(&[1, 1, 1, 2]));
        w.kernel.push(k);
        w.dilations.push(d);
        w.strides.push(dice.pick(&[1, 1, 2, 3]));
        for side in [i, rank + i] {
            w.pads[side] = dice.below(k) as i64;
        }
        let reach = d as u64 * (k - 1) + 1;
        let within = (w.pads[i] + w.pads[rank + i]) as u64;
        w.sizes.push(reach.saturating_sub(within).max(1) + dice.below(most));
    }
    w
}

fn attrs(w: &Window) -> Attrs {
    Attrs::new().ints("strides", w.strides.clone()).ints("pads", w.pads.clone()).ints("dilations", w.dilations.clone())
}

fn spatial(dice: &mut Dice) -> (usize, u64) {
    match dice.below(6) {
        0 => (1, 40),
        1 => (3, 4),
        _ => (2, 12),
    }
}

fn conv(dice: &mut Dice, i: usize) -> Sample {
    let (rank, most) = if i.is_multiple_of(5) { (2, 20) } else { spatial(dice) };
    let w = window(dice, rank, most);
    let groups = dice.pick(&[1, 1, 1, 2, 3]);
    let (c, o) = (dice.pick(&[1, 2, 3, 5, 8, 16, 19]), dice.pick(&[1, 2, 4, 7, 16, 17, 33]));
    let style = style(dice);
    let images = dice.pick(&[1, 1, 2]);
    let x = dice.tensor(DType::F32, &[&[images, c * groups], w.sizes.as_slice()].concat(), style);
    let f = dice.tensor(DType::F32, &[&[o * groups, c], w.kernel.as_slice()].concat(), style);
    let s = Sample::new(GraphOp::Conv, attrs(&w).int("groups", groups as i64), vec![x, f]);
    if dice.once_in(4) { s } else { s.with_weight(1) }
}

fn depthwise(dice: &mut Dice, _: usize) -> Sample {
    let w = window(dice, 2, 20);
    let (c, multiplier) = (dice.pick(&[1, 3, 8, 16, 17]), dice.pick(&[1, 1, 1, 2]));
    let images = dice.pick(&[1, 2]);
    let x = dice.floats(&[&[images, c], w.sizes.as_slice()].concat());
    let f = dice.floats(&[&[c * multiplier, 1], w.kernel.as_slice()].concat());
    let s = Sample::new(GraphOp::Conv, attrs(&w).int("groups", c as i64), vec![x, f]);
    if dice.once_in(4) { s } else { s.with_weight(1) }
}

fn conv_transpose(dice: &mut Dice, _: usize) -> Sample {
    let (rank, most) = spatial(dice);
    let mut w = window(dice, rank, most);
    let groups = dice.pick(&[1, 1, 2]);
    let (c, o) = (dice.pick(&[1, 2, 3, 8]), dice.pick(&[1, 2, 5, 16, 17]));
    let mut to = vec![dice.pick(&[1, 2]), o * groups];
    for i in 0..rank {
        let full = |w: &Window| (w.sizes[i] as i64 - 1) * w.strides[i] + w.dilations[i] * (w.kernel[i] as i64 - 1) + 1;
        if full(&w) <= w.pads[i] + w.pads[rank + i] {
            (w.pads[i], w.pads[rank + i]) = (0, 0);
        }
        let more = dice.below(w.strides[i] as u64) as i64;
        to.push((full(&w) - w.pads[i] - w.pads[rank + i] + more) as u64);
    }
    let x = dice.floats(&[&[to[0], c * groups], w.sizes.as_slice()].concat());
    let f = dice.floats(&[&[c * groups, o], w.kernel.as_slice()].concat());
    let types = vec![TensorType::fixed(DType::F32, &to)];
    let s = Sample::typed(GraphOp::ConvTranspose, attrs(&w).int("groups", groups as i64), vec![x, f], types);
    if dice.once_in(3) { s } else { s.with_weight(1) }
}

/// Windows that do not overlap: a product of matrices whose columns are stored apart.
fn conv_transpose_apart(dice: &mut Dice, _: usize) -> Sample {
    let (rank, most) = spatial(dice);
    let mut w = window(dice, rank, most);
    w.strides = w.kernel.iter().map(|k| *k as i64).collect();
    (w.pads, w.dilations) = (vec![0; 2 * rank], vec![1; rank]);
    let groups = dice.pick(&[1, 1, 2]);
    let (c, o) = (dice.pick(&[3, 16, 33]), dice.pick(&[1, 2, 5, 16, 17]));
    let mut to = vec![dice.pick(&[1, 2]), o * groups];
    to.extend(w.sizes.iter().zip(&w.kernel).map(|(s, k)| s * k));
    let x = dice.floats(&[&[to[0], c * groups], w.sizes.as_slice()].concat());
    let f = dice.floats(&[&[c * groups, o], w.kernel.as_slice()].concat());
    let types = vec![TensorType::fixed(DType::F32, &to)];
    let s = Sample::typed(GraphOp::ConvTranspose, attrs(&w).int("groups", groups as i64), vec![x, f], types);
    if dice.once_in(3) { s } else { s.with_weight(1) }
}

fn pool(dice: &mut Dice, i: usize) -> Sample {
    let kind = PoolKind::ALL[i % PoolKind::ALL.len()];
    let (rank, most) = spatial(dice);
    let w = window(dice, rank, most);
    let mut to = vec![dice.pick(&[1, 2]), dice.pick(&[1, 3, 8])];
    let style = style(dice);
    let x = dice.tensor(DType::F32, &[to.as_slice(), &w.sizes].concat(), style);
    for a in 0..rank {
        let span = w.sizes[a] as i64 + w.pads[a] + w.pads[rank + a] - w.dilations[a] * (w.kernel[a] as i64 - 1) - 1;
        let stride = w.strides[a];
        let ceil = (span + stride - 1) / stride + 1;
        // ONNX drops a last window that starts in the high padding.
        let starts_inside = (ceil - 1) * stride < w.sizes[a] as i64 + w.pads[a];
        to.push(if dice.once_in(3) && starts_inside { ceil as u64 } else { (span / stride + 1) as u64 });
    }
    let kernel: Vec<i64> = w.kernel.iter().map(|&k| k as i64).collect();
    let types = vec![TensorType::fixed(DType::F32, &to)];
    Sample::typed(GraphOp::Pool, attrs(&w).ints("kernel", kernel).int("kind", kind), vec![x], types)
}
