//! The network around NASNet's, AmoebaNet's and PNASNet's cells, as TensorFlow Slim builds it and the PyTorch ports after it.

use super::cell::{Cell, Style};
use crate::builder::Builder;
use crate::map::{Conv, Map, NORM, Norm};
use crate::{Options, ZooError};

const STYLE: Style = Style { epsilon: 1e-3, slim: true };

/// What differs between the networks.
pub(super) struct Network {
    pub(super) normal: Cell,
    pub(super) reduction: Cell,
    /// Filters of the first convolution.
    pub(super) stem: u64,
    /// Filters of the first stack's cells; the next stack has twice as many.
    pub(super) filters: u64,
    /// Normal cells of each of the three stacks.
    pub(super) cells: u64,
    /// Whether a stack's first cell is the one that halves, instead of one more before it.
    pub(super) halves_within: bool,
    pub(super) classes: u64,
    pub(super) image: u64,
}

impl Network {
    /// The small configuration: a cell a stack.
    pub(super) fn small(self) -> Self {
        Network { stem: 8, filters: 8, cells: if self.halves_within { 2 } else { 1 }, classes: 10, image: 64, ..self }
    }

    pub(super) fn write(&self, b: &mut Builder, options: &Options) -> Result<(), ZooError> {
        let x = Map::images(b, options, self.image, 64)?;
        let x = x.conv(b, "conv0.conv", Conv::new(self.stem, 3).stride(2).pad(0));
        let x = x.norm(b, "conv0.bn", Norm { epsilon: STYLE.epsilon, ..NORM });
        // What the cells made, and what was before the first.
        let mut made = vec![x];
        self.cell(b, "cell_stem_0", &mut made, self.filters / 4, true);
        self.cell(b, "cell_stem_1", &mut made, self.filters / 2, true);
        let mut index = 0;
        for stack in 0..3 {
            let filters = self.filters << stack;
            if stack > 0 && !self.halves_within {
                self.cell(b, &format!("reduction_cell_{}", stack - 1), &mut made, filters, true);
            }
            for i in 0..self.cells {
                let halves = stack > 0 && i == 0 && self.halves_within;
                self.cell(b, &format!("cell_{index}"), &mut made, filters, halves);
                index += 1;
            }
        }
        if let Some(x) = made.last() {
            x.relu(b, "/relu").classify(b, "last_linear", self.classes);
        }
        Ok(())
    }

    /// Adds a cell that reads the last two results.
    fn cell(&self, b: &mut Builder, name: &str, made: &mut Vec<Map>, filters: u64, halves: bool) {
        let Some(last) = made.last() else { return };
        // The first cell has one input only, and takes it as it is in the place of the one before.
        let before = match made.len().checked_sub(2) {
            Some(i) => fit(b, name, &made[i], last, filters),
            None => last.clone(),
        };
        let last = STYLE.relu_conv_norm(b, &format!("{name}.conv_1x1"), last, Conv::new(filters, 1));
        let (cell, stride) = if halves { (&self.reduction, 2) } else { (&self.normal, 1) };
        made.push(STYLE.cell(b, name, cell, [last, before], filters, stride));
    }
}

/// The result before the last in the last one's size and this many channels.
fn fit(b: &mut Builder, name: &str, before: &Map, last: &Map, filters: u64) -> Map {
    if before.size != last.size {
        STYLE.halve(b, &format!("{name}.conv_prev_1x1"), before, filters)
    } else if before.channels != filters {
        STYLE.relu_conv_norm(b, &format!("{name}.conv_prev_1x1"), before, Conv::new(filters, 1))
    } else {
        before.clone()
    }
}
