//! Transformers; a map of hw x hw is a sequence of hw * hw tokens.

use neap_plan::Problem;

use super::{Map, Net};

/// One attention block and one feed-forward block. The scores are one map for all heads.
pub fn layer(net: &mut Net, x: Map, heads: u64) -> Map {
    let norm = net.conv(x, x.c, 1);
    let (q, k, v) = (net.conv(norm, x.c, 1), net.conv(norm, x.c, 1), net.conv(norm, x.c, 1));
    let scores = net.mix(&[q, k], heads * x.hw * x.hw, x.hw);
    let weights = net.point(scores);
    let mixed = net.mix(&[weights, v], x.c, x.hw);
    let projected = net.conv(mixed, x.c, 1);
    let x = net.add(&[projected, x]);
    let norm = net.conv(x, x.c, 1);
    let wide = net.conv(norm, 4 * x.c, 1);
    let act = net.point(wide);
    let narrow = net.conv(act, x.c, 1);
    net.add(&[narrow, x])
}

impl Net {
    /// A product of two maps.
    pub fn mix(&mut self, from: &[Map], c: u64, hw: u64) -> Map {
        self.node(super::Kind::Conv, from, c, hw)
    }
}

pub fn body(net: &mut Net, x: Map, layers: u64, width: u64, heads: u64) -> Map {
    let mut x = net.conv(x, width, 1);
    for _ in 0..layers {
        x = layer(net, x, heads);
    }
    x
}

pub fn transformer(layers: u64, tokens: u64, width: u64, heads: u64) -> Problem {
    let (mut net, x) = Net::new(1, tokens.isqrt());
    let x = body(&mut net, x, layers, width, heads);
    net.finish(x)
}

/// Every second feed-forward block is a choice among experts, all of which run on their share of the tokens.
pub fn moe(layers: u64, experts: u64) -> Problem {
    let (mut net, x) = Net::new(1, 16);
    let mut x = net.conv(x, 512, 1);
    for _ in 0..layers {
        x = layer(&mut net, x, 8);
        let norm = net.conv(x, x.c, 1);
        let gate = net.conv(norm, experts, 1);
        let mut sums = vec![x];
        for _ in 0..experts {
            let picked = net.mix(&[norm, gate], x.c / 4, x.hw);
            let wide = net.conv(picked, x.c, 1);
            let act = net.point(wide);
            let narrow = net.conv(act, x.c / 4, 1);
            sums.push(net.mix(&[narrow, gate], x.c, x.hw));
        }
        x = net.add(&sums);
    }
    net.finish(x)
}
