//! Seeded placement problems of any size, shaped like the traces of real training and inference runs.

use super::Block;
use crate::random::Random;

/// `count` buffers of a run of several training steps, as an allocator sees them.
///
/// A tenth lives for the whole run (weights, optimiser state); some live through one step; most of a step are activations,
/// which nest (made on the way forward, freed on the way back, checkpointed segments apart), gradients, which live for a few
/// ops, and workspaces and temporaries of one to eight ops. Sizes are drawn from a pool per step kind that is log-uniform
/// from 512 bytes to 64 MiB, so that most sizes come again and again.
pub fn trace(seed: u64, count: usize) -> Vec<Block> {
    let mut random = Random::new(seed);
    let pool: Vec<u64> = (0..96).map(|_| (random.between(9.0, 26.0).exp2() as u64).next_multiple_of(256)).collect();
    let size = |random: &mut Random| pool[(random.bits() % pool.len() as u64) as usize];
    let small = |random: &mut Random| pool[(random.bits() % pool.len() as u64) as usize].min(1 << 18);
    let steps = 6u64;
    // About twelve buffers a layer and step, besides those of the whole run.
    let layers = (count as u64 * 9 / 10 / steps / 12).max(1);
    let length = 8 * layers;
    let end = steps * length;
    let mut blocks = Vec::with_capacity(count);
    let mut push = |lower: u64, upper: u64, size: u64| {
        if blocks.len() < count {
            blocks.push(Block::rectangle(lower, upper.min(end).max(lower + 1), size, 1));
        }
    };
    for _ in 0..count / 10 {
        push(0, end, small(&mut random));
    }
    for step in 0..steps {
        let start = step * length;
        for layer in 0..layers {
            // Four ops on the way forward, four on the way back.
            let (forward, back) = (start + 4 * layer, start + length - 4 * layer - 4);
            for op in 0..4 {
                let kept = !random.bits().is_multiple_of(4);
                let until = if kept { back + 4 - op } else { forward + op + 1 + random.bits() % 6 };
                push(forward + op, until, size(&mut random));
                if random.bits().is_multiple_of(2) {
                    push(forward + op, forward + op + 1 + random.bits() % 8, size(&mut random));
                }
                push(back + op, back + op + 2 + random.bits() % 3, size(&mut random));
                if random.bits().is_multiple_of(2) {
                    push(back + op, back + op + 1, size(&mut random));
                }
            }
            // A gradient kept until the step's end, and now and then something that crosses steps.
            push(back, start + length, small(&mut random));
            if layer.is_multiple_of(16) {
                push(back, back + random.bits() % (2 * length), small(&mut random));
            }
        }
    }
    while blocks.len() < count {
        let lower = random.bits() % end;
        let life = random.between(0.0, (end as f64 / 4.0).log2()).exp2() as u64;
        blocks.push(Block::rectangle(lower, (lower + life + 1).min(end), size(&mut random), 1));
    }
    blocks
}

/// `count` buffers without any shape: lives and sizes log-uniform, births uniform.
pub fn scattered(seed: u64, count: usize) -> Vec<Block> {
    let mut random = Random::new(seed);
    let end = count as u64;
    (0..count)
        .map(|_| {
            let lower = random.bits() % end;
            let life = random.between(0.0, (end as f64 / 8.0).log2()).exp2() as u64;
            Block::rectangle(lower, lower + life.max(1), random.between(9.0, 26.0).exp2() as u64 / 64 * 64, 1)
        })
        .collect()
}

/// The buffers of a chain of `layers` ops run forward and back: activations that nest, and a gradient at a time.
pub fn chain(seed: u64, layers: usize) -> Vec<Block> {
    let mut random = Random::new(seed);
    let n = layers as u64;
    let mut blocks = Vec::with_capacity(2 * layers);
    for i in 0..n {
        let size = 64 * (1 + random.bits() % 1024);
        blocks.push(Block::rectangle(i, 2 * n - i, size, 1));
        blocks.push(Block::rectangle(2 * n - i - 1, 2 * n - i + 1, size, 1));
    }
    blocks
}
