//! Recurrences.

use neap_optable::{Attrs, GraphOp};

use super::Row;
use crate::numerics::sample::{Dice, Sample};

pub const ROWS: &[Row] = &[Row { name: "lstm", count: 6, make: lstm }, Row { name: "gru", count: 8, make: gru }];

fn sizes(dice: &mut Dice, i: usize) -> (u64, u64, u64) {
    ([1, 4, 7][i % 3], dice.pick(&[1, 2, 3]), dice.pick(&[1, 3, 16, 17, 33]))
}

fn lstm(dice: &mut Dice, i: usize) -> Sample {
    let (t, b, h) = sizes(dice, i);
    let inputs =
        vec![dice.floats(&[t, b, 4 * h]), dice.floats(&[4 * h, h]), dice.floats(&[b, h]), dice.floats(&[b, h])];
    let s = Sample::new(GraphOp::Lstm, Attrs::new().flag("reverse", i % 2 == 1), inputs);
    if dice.once_in(3) { s } else { s.with_weight(1) }
}

fn gru(dice: &mut Dice, i: usize) -> Sample {
    let (t, b, h) = sizes(dice, i);
    let inputs = vec![dice.floats(&[t, b, 3 * h]), dice.floats(&[3 * h, h]), dice.floats(&[h]), dice.floats(&[b, h])];
    let attrs = Attrs::new().flag("reverse", i % 2 == 1).flag("linear_before_reset", i / 2 % 2 == 1);
    let s = Sample::new(GraphOp::Gru, attrs, inputs);
    if dice.once_in(3) { s } else { s.with_weight(1) }
}
