//! Improvement of greedy placements: blocks that stick out come earlier in the next sequence.
//!
//! "Squeaky wheel" optimisation (Joslin and Clements, JAIR 1999): build greedily, blame what went wrong, build again.

use super::greedy::Stack;
use super::{Block, Placement};
use crate::random::Random;

/// A sequence that is rebuilt again and again.
pub(crate) struct Squeaky {
    order: Vec<(f64, usize)>,
    random: Random,
}

impl Squeaky {
    /// Begins with a sequence.
    pub(crate) fn new(sequence: &[usize], seed: u64) -> Self {
        let order = sequence.iter().enumerate().map(|(i, b)| (i as f64, *b)).collect();
        Squeaky { order, random: Random::new(seed) }
    }

    /// Places everything once; what reaches above `target` comes earlier the next time.
    pub(crate) fn round(&mut self, blocks: &[Block], stack: &mut Stack<'_>, target: u64) -> Placement {
        stack.clear();
        for (_, b) in &self.order {
            stack.place(*b);
        }
        let placement = Placement::new(blocks, stack.offsets.clone());
        for (i, (key, b)) in self.order.iter_mut().enumerate() {
            let blamed = placement.offsets[*b] + blocks[*b].extent() > target;
            *key = if blamed { i as f64 * self.random.between(0.3, 0.9) - 1.0 } else { i as f64 };
        }
        self.order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        placement
    }
}

/// Sequences worth trying first, the likeliest to do well first: by how full the fullest instant of a block's life is, by
/// size, by area, by length of life.
pub(crate) fn sequences(blocks: &[Block]) -> Vec<(&'static str, Vec<usize>)> {
    let load = super::load(blocks);
    let tight = Tightest::new(&load);
    let length = |b: usize| blocks[b].upper() - blocks[b].lower();
    let key = |f: &dyn Fn(usize) -> (u128, u128)| {
        let mut keyed: Vec<_> = (0..blocks.len()).map(|b| (std::cmp::Reverse(f(b)), b)).collect();
        keyed.sort_unstable();
        keyed.into_iter().map(|k| k.1).collect::<Vec<_>>()
    };
    vec![
        ("by load", key(&|b| (tight.within(blocks[b].lower(), blocks[b].upper()).into(), blocks[b].extent().into()))),
        ("by length", key(&|b| (length(b).into(), blocks[b].extent().into()))),
        ("by size", key(&|b| (blocks[b].extent().into(), length(b).into()))),
        ("by size and life", key(&|b| (slightly_longer(blocks[b].extent(), length(b)), 0))),
        ("by area", key(&|b| (blocks[b].area(), 0))),
        ("by length and size", key(&|b| (length(b).max(1).ilog2().into(), blocks[b].extent().into()))),
    ]
}

/// Size times the eighth root of the length, by square roots, which are the same on every machine.
fn slightly_longer(size: u64, length: u64) -> u128 {
    (size as f64 * (length as f64).sqrt().sqrt().sqrt() * 256.0) as u128
}

/// The largest load within a span of time: a sparse table of maxima.
struct Tightest<'l> {
    load: &'l [(u64, u64)],
    table: Vec<Vec<u64>>,
}

impl<'l> Tightest<'l> {
    fn new(load: &'l [(u64, u64)]) -> Self {
        let mut table = vec![load.iter().map(|l| l.1).collect::<Vec<u64>>()];
        let mut width = 1;
        while 2 * width <= load.len() {
            let last = &table[table.len() - 1];
            table.push((0..=load.len() - 2 * width).map(|i| last[i].max(last[i + width])).collect());
            width *= 2;
        }
        Tightest { load, table }
    }

    fn within(&self, lower: u64, upper: u64) -> u64 {
        let from = self.load.partition_point(|l| l.0 < lower);
        let to = self.load.partition_point(|l| l.0 < upper);
        if from >= to {
            return 0;
        }
        let level = (to - from).ilog2() as usize;
        self.table[level][from].max(self.table[level][to - (1 << level)])
    }
}
