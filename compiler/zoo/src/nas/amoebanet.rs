//! AmoebaNet-A (N = 4, F = 50) (Real et al., "Regularized Evolution for Image Classifier Architecture Search", 2018; the cells as
//! in `amoeba_net_a` of TensorFlow's TPU models).

use super::cell::{Cell, Op};
use super::slim::Network;
use crate::builder::Builder;
use crate::{Options, ZooError};

/// State 0 is the result of the cell before, state 1 of the one before that.
const NORMAL: Cell = Cell {
    steps: &[
        [(Op::Average, 0), (Op::Max, 0)],
        [(Op::Separable(3), 1), (Op::Skip, 1)],
        [(Op::Skip, 0), (Op::Average, 1)],
        [(Op::Separable(3), 0), (Op::Separable(5), 2)],
        [(Op::Average, 5), (Op::Separable(3), 0)],
    ],
    joined: &[1, 3, 4, 6],
};

const REDUCTION: Cell = Cell {
    steps: &[
        [(Op::Separable(3), 1), (Op::Average, 0)],
        [(Op::Max, 0), (Op::Separable(7), 2)],
        [(Op::Max, 1), (Op::Max, 0)],
        [(Op::Separable(3), 4), (Op::Seven, 0)],
        [(Op::Average, 1), (Op::Separable(7), 0)],
    ],
    joined: &[2, 3, 4, 5, 6],
};

pub(crate) fn write(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let network = Network {
        normal: NORMAL,
        reduction: REDUCTION,
        stem: 32,
        filters: 50,
        cells: 4,
        halves_within: false,
        classes: 1000,
        image: 224,
    };
    if options.small { network.small().write(b, options) } else { network.write(b, options) }
}
