//! NASNet-A (4 @ 1056), "mobile" (Zoph et al., "Learning Transferable Architectures for Scalable Image Recognition", 2017;
//! figure 4 shows its cells).

use super::cell::{Cell, Op};
use super::slim::Network;
use crate::builder::Builder;
use crate::{Options, ZooError};

/// State 0 is the result of the cell before, state 1 of the one before that.
const NORMAL: Cell = Cell {
    steps: &[
        [(Op::Separable(5), 0), (Op::Separable(3), 1)],
        [(Op::Separable(5), 1), (Op::Separable(3), 1)],
        [(Op::Average, 0), (Op::Skip, 1)],
        [(Op::Average, 1), (Op::Average, 1)],
        [(Op::Separable(3), 0), (Op::Skip, 0)],
    ],
    joined: &[1, 2, 3, 4, 5, 6],
};

const REDUCTION: Cell = Cell {
    steps: &[
        [(Op::Separable(5), 0), (Op::Separable(7), 1)],
        [(Op::Max, 0), (Op::Separable(7), 1)],
        [(Op::Average, 0), (Op::Separable(5), 1)],
        [(Op::Average, 2), (Op::Skip, 3)],
        [(Op::Separable(3), 2), (Op::Max, 0)],
    ],
    joined: &[3, 4, 5, 6],
};

pub(crate) fn write(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let network = Network {
        normal: NORMAL,
        reduction: REDUCTION,
        stem: 32,
        // A normal cell gives six times its filters, and the last stack has four times the first one's: 1056 / 24.
        filters: 44,
        cells: 4,
        halves_within: false,
        classes: 1000,
        image: 224,
    };
    if options.small { network.small().write(b, options) } else { network.write(b, options) }
}
