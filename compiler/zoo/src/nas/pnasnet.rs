//! PNASNet-5, large (N = 4, F = 216) (Liu et al., "Progressive Neural Architecture Search", 2017; figure 1 shows its cell).

use super::cell::{Cell, Op};
use super::slim::Network;
use crate::builder::Builder;
use crate::{Options, ZooError};

/// One cell, with stride 1 and 2. State 0 is the result of the cell before, state 1 of the one before that.
const CELL: Cell = Cell {
    steps: &[
        [(Op::Separable(5), 1), (Op::Max, 1)],
        [(Op::Separable(7), 0), (Op::Max, 0)],
        [(Op::Separable(5), 0), (Op::Separable(3), 0)],
        [(Op::Separable(3), 4), (Op::Max, 0)],
        [(Op::Separable(3), 1), (Op::Skip, 0)],
    ],
    joined: &[2, 3, 4, 5, 6],
};

pub(crate) fn write(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let network = Network {
        normal: CELL,
        reduction: CELL,
        stem: 96,
        filters: 216,
        cells: 4,
        halves_within: true,
        classes: 1000,
        image: 331,
    };
    if options.small { network.small().write(b, options) } else { network.write(b, options) }
}
