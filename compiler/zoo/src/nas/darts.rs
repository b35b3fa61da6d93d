//! DARTS, second order, on ImageNet (Liu et al., "DARTS: Differentiable Architecture Search", 2018; genotype `DARTS_V2`).

use super::cell::{Cell, Op, Style};
use crate::builder::Builder;
use crate::map::{Conv, Map};
use crate::{Options, ZooError};

const STYLE: Style = Style { epsilon: 1e-5, slim: false };

/// State 1 is the result of the cell before, state 0 of the one before that.
const NORMAL: Cell = Cell {
    steps: &[
        [(Op::Separable(3), 0), (Op::Separable(3), 1)],
        [(Op::Separable(3), 0), (Op::Separable(3), 1)],
        [(Op::Separable(3), 1), (Op::Skip, 0)],
        [(Op::Skip, 0), (Op::Dilated(3), 2)],
    ],
    joined: &[2, 3, 4, 5],
};

const REDUCTION: Cell = Cell {
    steps: &[
        [(Op::Max, 0), (Op::Max, 1)],
        [(Op::Skip, 2), (Op::Max, 1)],
        [(Op::Max, 0), (Op::Skip, 2)],
        [(Op::Skip, 2), (Op::Max, 1)],
    ],
    joined: &[2, 3, 4, 5],
};

pub(crate) fn write(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let (first, cells, classes, image) = if options.small { (8, 4, 10, 64) } else { (48, 14, 1000, 224) };
    let x = Map::images(b, options, image, 64)?;
    // Halving takes odd and even pixels apart, so that sizes must be even down to the last cells.
    if x.size[0] % 32 != 0 {
        return Err(ZooError::Size { what: "image", found: x.size[0], expected: "a multiple of 32".into() });
    }
    let x = x.conv_norm(b, "stem0.0", "stem0.1", Conv::new(first / 2, 3).stride(2), 1.0).relu(b, "/stem0/stem0.2");
    let mut before = x.conv_norm(b, "stem0.3", "stem0.4", Conv::new(first, 3).stride(2), 1.0);
    let x = before.relu(b, "/stem1/stem1.0");
    let mut last = x.conv_norm(b, "stem1.1", "stem1.2", Conv::new(first, 3).stride(2), 1.0);
    let mut filters = first;
    for i in 0..cells {
        let name = format!("cells.{i}");
        let halves = i == cells / 3 || i == 2 * cells / 3;
        if halves {
            filters *= 2;
        }
        let older = if before.size == last.size {
            STYLE.relu_conv_norm(b, &format!("{name}.preprocess0"), &before, Conv::new(filters, 1))
        } else {
            STYLE.halve(b, &format!("{name}.preprocess0"), &before, filters)
        };
        let newer = STYLE.relu_conv_norm(b, &format!("{name}.preprocess1"), &last, Conv::new(filters, 1));
        let (cell, stride) = if halves { (&REDUCTION, 2) } else { (&NORMAL, 1) };
        let made = STYLE.cell(b, &name, cell, [older, newer], filters, stride);
        before = std::mem::replace(&mut last, made);
    }
    last.classify(b, "classifier", classes);
    Ok(())
}
