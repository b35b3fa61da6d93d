//! Small random problems with all kinds of shares.

use neap_plan::{Home, Op, OpId, Problem, Share, ShareKind, Tensor, TensorId};

/// Numbers from bytes as long as there are some, then from SplitMix64.
pub struct Dice {
    state: u64,
    bytes: Vec<u8>,
}

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice { state: seed, bytes: Vec::new() }
    }

    /// The bytes say what is thrown, the first one first.
    pub fn of(bytes: &[u8]) -> Self {
        Dice { state: 0, bytes: bytes.iter().rev().copied().collect() }
    }

    pub fn bits(&mut self) -> u64 {
        if let Some(byte) = self.bytes.pop() {
            return byte.into();
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// A problem of up to `ops` ops. Shares are optional, or required views.
pub fn problem(seed: u64, ops: u64, shares: bool) -> Problem {
    thrown(&mut Dice::new(seed), ops, shares)
}

/// The problem that these dice throw.
pub fn thrown(d: &mut Dice, ops: u64, shares: bool) -> Problem {
    let mut b = Problem::builder();
    let unit = if d.chance(25) { 2 } else { 1 };
    b.storage_align(unit);
    let mut made: Vec<(TensorId, u64, bool)> = Vec::new();
    for i in 0..1 + d.below(2) {
        let size = 1 + d.below(8);
        let mut t = Tensor::new(format!("in{i}"), size).input();
        let outside = d.chance(50);
        if outside {
            t = t.home(Home::ReadOnly);
        } else if d.chance(15) {
            t = t.pinned();
        } else if d.chance(15) {
            t = t.output();
        }
        let fixed = outside || t.pinned;
        made.push((b.tensor(t), size, fixed));
    }
    let count = 2 + d.below(ops - 1);
    let mut last_parts: Option<Vec<(TensorId, u64, bool)>> = None;
    for o in 0..count {
        let mut inputs: Vec<(TensorId, u64, bool)> = Vec::new();
        for _ in 0..1 + d.below(2) {
            let pick = made[d.below(made.len() as u64) as usize];
            if !inputs.contains(&pick) {
                inputs.push(pick);
            }
        }
        let kind = if shares { d.below(5) } else { 0 };
        let size = match kind {
            1 => 1 + d.below(inputs[0].1),
            2 => inputs[0].1,
            3 => {
                // Often the parts of the concatenation before, and one more.
                if let Some(before) = &last_parts
                    && d.chance(60)
                {
                    let more = inputs[0];
                    inputs = before.clone();
                    if !inputs.contains(&more) {
                        inputs.push(more);
                    }
                }
                last_parts = Some(inputs.clone());
                inputs.iter().map(|i| i.1).sum()
            }
            _ => 1 + d.below(8),
        };
        let mut outputs = Vec::new();
        for k in 0..1 + u64::from(d.chance(15)) {
            let size = if k == 0 { size } else { 1 + d.below(6) };
            let mut t = Tensor::new(format!("t{o}.{k}"), size);
            if d.chance(12) {
                t = t.output();
                if d.chance(50) {
                    t = t.home(Home::Writable);
                }
            }
            outputs.push((b.tensor(t), size, false));
        }
        let op = Op::new(format!("op{o}"))
            .inputs(inputs.iter().map(|i| i.0))
            .outputs(outputs.iter().map(|i| i.0))
            .workspace(if d.chance(20) { d.below(6) } else { 0 });
        let op = b.op(op);
        let share = |kind, inner, outer, offset, required| Share { kind, op, inner, outer, offset, required };
        match kind {
            1 => {
                let offset = d.below(inputs[0].1 - size + 1);
                b.share(share(ShareKind::View, outputs[0].0, inputs[0].0, offset, false));
            }
            2 | 4 => {
                for i in inputs.iter().filter(|i| !i.2 && i.1 >= size) {
                    b.share(share(ShareKind::InPlace, outputs[0].0, i.0, 0, false));
                }
            }
            3 => {
                let mut offset = 0;
                for i in &inputs {
                    b.share(share(ShareKind::Into, i.0, outputs[0].0, offset, false));
                    offset += i.1;
                }
            }
            _ => {}
        }
        if o > 1 && d.chance(10) {
            b.edge(OpId(d.below(o) as u32), op);
        }
        made.extend(outputs);
    }
    b.build().unwrap()
}
