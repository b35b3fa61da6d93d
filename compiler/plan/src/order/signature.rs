//! Equal segments: a name for what decides how a segment can be ordered, the same wherever it stands in the graph.

use std::collections::HashMap;

use super::model::{Model, State};
use crate::random::Random;

/// A hash over the segment's ops, edges and atoms by position in the segment; what is alive before and after counts, how
/// much else is alive does not.
pub(crate) fn signature(model: &Model, state: &State<'_>, ops: &[u32]) -> u128 {
    let local: HashMap<u32, u64> = ops.iter().enumerate().map(|(i, o)| (*o, i as u64)).collect();
    let mut atoms: HashMap<u32, u64> = HashMap::new();
    let mut inside: HashMap<u32, u32> = HashMap::new();
    for a in ops.iter().flat_map(|o| &model.uses[*o as usize]) {
        *inside.entry(*a).or_default() += 1;
    }
    let mut hash = Hash(Random::new(ops.len() as u64).wide());
    for o in ops {
        let o = *o as usize;
        hash.add(model.workspace[o]);
        for p in model.preds[o].iter().filter_map(|p| local.get(p)) {
            hash.add(*p);
        }
        for list in [&model.makes[o], &model.uses[o]] {
            hash.add(list.len() as u64);
            for a in list {
                let next = atoms.len() as u64;
                let known = atoms.contains_key(a);
                hash.add(*atoms.entry(*a).or_insert(next));
                if !known {
                    hash.add(model.bytes[*a as usize]);
                    hash.add(u64::from(state.alive(*a)));
                    hash.add(u64::from(state.left_of(*a) > inside.get(a).copied().unwrap_or(0)));
                }
            }
        }
        hash.add(model.swaps[o].len() as u64);
        for s in &model.swaps[o] {
            hash.add(s.saved);
            let first = model.swaps[o].iter().position(|x| x.output == s.output);
            hash.add(first.unwrap_or(0) as u64);
            let next = atoms.len() as u64;
            hash.add(*atoms.entry(s.old).or_insert(next));
        }
    }
    hash.0
}

struct Hash(u128);

impl Hash {
    fn add(&mut self, value: u64) {
        let (high, low) = ((self.0 >> 64) as u64, self.0 as u64);
        self.0 = Random::new(high.rotate_left(17) ^ value).wide() ^ u128::from(low).rotate_left(31);
    }
}
