//! Cells as searches over architectures find them: steps that add what two operators make of two earlier states.

use crate::builder::{Attr, Builder};
use crate::layers::node_name;
use crate::map::{Conv, Map, Norm, Pool, concat};

/// What is done with a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// Handed on; projected where its shape does not fit.
    Skip,
    /// 3x3.
    Max,
    /// 3x3, over the image alone.
    Average,
    /// Twice: ReLU, depthwise of this size, pointwise, batch norm.
    Separable(u64),
    /// ReLU, depthwise of this size with dilation 2, pointwise, batch norm.
    Dilated(u64),
    /// 1x7 and 7x1 in a bottleneck of a quarter of the width.
    Seven,
}

/// An operator and the state it reads: 0 and 1 are the cell's inputs, 2 is the first step's sum.
pub(super) type Branch = (Op, usize);

/// A cell.
pub(super) struct Cell {
    pub(super) steps: &'static [[Branch; 2]],
    /// The states that are concatenated to the cell's result.
    pub(super) joined: &'static [usize],
}

/// How a line of work writes its layers.
pub(super) struct Style {
    pub(super) epsilon: f32,
    /// Whether halving a map averages 1x1 windows before its convolutions, and skips project with one strided convolution
    /// (TensorFlow Slim), instead of striding in two convolutions (DARTS).
    pub(super) slim: bool,
}

impl Style {
    fn norm(&self, gain: f32) -> Norm {
        Norm { epsilon: self.epsilon, gain }
    }

    /// ReLU, convolution, batch norm.
    pub(super) fn relu_conv_norm(&self, b: &mut Builder, name: &str, x: &Map, conv: Conv) -> Map {
        let x = x.relu(b, &node_name(&format!("{name}.relu")));
        x.conv(b, &format!("{name}.conv"), conv).norm(b, &format!("{name}.bn"), self.norm(1.0))
    }

    /// Half the size to `filters` channels: half of them see the even pixels and half the odd ones.
    pub(super) fn halve(&self, b: &mut Builder, name: &str, x: &Map, filters: u64) -> Map {
        let at = node_name(name);
        let x = x.relu(b, &at);
        let (first, second) = (filters / 2, filters - filters / 2);
        let shifted = self.shift(b, &at, &x);
        let half = |b: &mut Builder, path: &str, x: &Map, filters| {
            let name = format!("{name}.{path}");
            if !self.slim {
                return x.conv(b, &name, Conv::new(filters, 1).stride(2));
            }
            let x = x.average_pool(b, &node_name(&name), Pool::new(1, 2).inside());
            x.conv(b, &format!("{name}.conv"), Conv::new(filters, 1))
        };
        let parts = [half(b, "path_1", &x, first), half(b, "path_2", &shifted, second)];
        concat(b, &at, &parts).norm(b, &format!("{name}.final_path_bn"), self.norm(1.0))
    }

    /// Without the first row and column; padded at the other end in Slim.
    fn shift(&self, b: &mut Builder, at: &str, x: &Map) -> Map {
        let mut x = x.clone();
        if self.slim {
            let pads = b.ints(&[0, 0, 0, 0, 0, 0, 1, 1]);
            x = x.with(b.node(at, "Pad", &[&x.value, &pads], &[Attr::Text("mode", "constant")]));
        } else {
            x.size = x.size.map(|s| s - 1);
        }
        let (from, to, axes) = (b.ints(&[1, 1]), b.ints(&[i64::MAX, i64::MAX]), b.ints(&[2, 3]));
        x.with(b.node(at, "Slice", &[&x.value, &from, &to, &axes], &[]))
    }

    /// The cell's result for its two inputs; with stride 2 operators on these halve their size.
    pub(super) fn cell(
        &self,
        b: &mut Builder,
        name: &str,
        cell: &Cell,
        inputs: [Map; 2],
        filters: u64,
        stride: u64,
    ) -> Map {
        let mut states = inputs.to_vec();
        for (i, pair) in cell.steps.iter().enumerate() {
            let [left, right] = [("left", pair[0]), ("right", pair[1])].map(|(side, (op, from))| {
                let stride = if from < 2 { stride } else { 1 };
                self.apply(b, &format!("{name}.comb_iter_{i}_{side}"), op, &states[from], filters, stride)
            });
            states.push(left.add(b, &node_name(name), &right));
        }
        let joined: Vec<Map> = cell.joined.iter().map(|i| states[*i].clone()).collect();
        concat(b, &node_name(name), &joined)
    }

    fn apply(&self, b: &mut Builder, name: &str, op: Op, x: &Map, filters: u64, stride: u64) -> Map {
        match op {
            Op::Skip if stride == 1 && x.channels == filters => x.clone(),
            Op::Skip if self.slim => self.relu_conv_norm(b, name, x, Conv::new(filters, 1).stride(stride)),
            Op::Skip => self.halve(b, name, x, filters),
            Op::Max => {
                let y = x.max_pool(b, &node_name(name), Pool::new(3, stride));
                self.project(b, name, y, filters)
            }
            Op::Average => {
                let y = x.average_pool(b, &node_name(name), Pool::new(3, stride).inside());
                self.project(b, name, y, filters)
            }
            Op::Separable(kernel) => {
                let depthwise = Conv::new(x.channels, kernel).stride(stride).groups(x.channels);
                let y = self.separable(b, name, x, depthwise, filters, 1);
                self.separable(b, name, &y, Conv::new(filters, kernel).groups(filters), filters, 2)
            }
            Op::Dilated(kernel) => {
                let depthwise = Conv::new(x.channels, kernel).dilation(2).stride(stride).groups(x.channels);
                self.separable(b, name, x, depthwise, filters, 2)
            }
            Op::Seven => {
                let narrow = filters / 4;
                let layer = |b: &mut Builder, part: &str, x: &Map, conv| {
                    self.relu_conv_norm(b, &format!("{name}.{part}"), x, conv)
                };
                let y = layer(b, "pre", x, Conv::new(narrow, 1));
                let y = layer(b, "row", &y, Conv::tall(narrow, [1, 7]).strides([1, stride]));
                let y = layer(b, "column", &y, Conv::tall(narrow, [7, 1]).strides([stride, 1]));
                layer(b, "post", &y, Conv::new(filters, 1))
            }
        }
    }

    /// Pooling keeps the channels; where others are wanted, a convolution follows.
    fn project(&self, b: &mut Builder, name: &str, x: Map, filters: u64) -> Map {
        if x.channels == filters {
            return x;
        }
        x.conv(b, &format!("{name}.conv"), Conv::new(filters, 1)).norm(b, &format!("{name}.bn"), self.norm(0.7))
    }

    /// ReLU, depthwise, pointwise, batch norm: the branch's first or second such group.
    fn separable(&self, b: &mut Builder, name: &str, x: &Map, depthwise: Conv, filters: u64, group: u32) -> Map {
        // No ReLU follows the depthwise convolution: 0.7 undoes the factor 2 in the filter's variance. A branch is added to
        // another one, so that its end gives less.
        let gain = if group == 1 { 0.7 } else { 0.5 };
        let part = |what: &str| format!("{name}.separable_{group}.{what}");
        let y = x.relu(b, &node_name(&format!("{name}.relu_{group}")));
        let y = y.conv(b, &part("depthwise_conv2d"), depthwise);
        let y = y.conv(b, &part("pointwise_conv2d"), Conv::new(filters, 1));
        y.norm(b, &format!("{name}.bn_sep_{group}"), self.norm(gain))
    }
}
