//! Tables of buffers like those of training steps.

use neap_plan::place::Block;

use super::random::Dice;

/// Steps of which one makes an activation that its mirror image in the backward pass reads.
const KEPT: u64 = 3;
/// Steps that other buffers live, at most.
const BRIEF: u64 = 12;

/// Buffers by the step that makes them: some nested from the forward to the backward pass, most brief; multiples of 512
/// bytes from 512 bytes to 32 MiB, smaller ones more often.
pub fn training(count: u64, seed: u64) -> Vec<Block> {
    let mut dice = Dice::new(seed);
    let steps = count / 2;
    let blocks = (0..count).map(|i| {
        let lower = i / 2;
        let size = (512 << dice.below(13)) * (1 + dice.below(16));
        let upper =
            if lower < steps / 2 && dice.below(KEPT) == 0 { steps - lower } else { lower + 1 + dice.below(BRIEF) };
        Block::rectangle(lower, upper, size, 512)
    });
    blocks.collect()
}
