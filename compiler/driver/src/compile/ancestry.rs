//! Where several ops part ways.

use std::collections::BTreeMap;

/// The latest ops that are, or come before, every one of `ops`: each common ancestor of `ops` is one of them or comes
/// before one. `preds` holds the direct predecessors of each op, all of them smaller than it.
pub fn latest_common(preds: &[Vec<usize>], ops: &[usize]) -> Vec<usize> {
    #[derive(Default)]
    struct Seen {
        /// Bit i: comes before `ops[i]`, or is it.
        of: Vec<u64>,
        /// Comes before a common ancestor that was found.
        covered: bool,
    }
    let words = ops.len().div_ceil(64);
    let mut found = vec![];
    let mut open: BTreeMap<usize, Seen> = BTreeMap::new();
    // How many in `open` may still lead to an answer.
    let mut undecided = 0;
    let reach = |open: &mut BTreeMap<usize, Seen>, undecided: &mut usize, op: usize, of: &[u64], covered: bool| {
        let seen = open.entry(op).or_insert_with(|| {
            *undecided += 1;
            Seen { of: vec![0; words], covered: false }
        });
        seen.of.iter_mut().zip(of).for_each(|(a, b)| *a |= b);
        if covered && !std::mem::replace(&mut seen.covered, true) {
            *undecided -= 1;
        }
    };
    for (i, op) in ops.iter().enumerate() {
        let mut of = vec![0; words];
        of[i / 64] |= 1 << (i % 64);
        reach(&mut open, &mut undecided, *op, &of, false);
    }
    while undecided > 0 {
        let Some((op, seen)) = open.pop_last() else { break };
        undecided -= usize::from(!seen.covered);
        let all = seen.of.iter().map(|w| w.count_ones() as usize).sum::<usize>() == ops.len();
        if all && !seen.covered {
            found.push(op);
        }
        for p in &preds[op] {
            reach(&mut open, &mut undecided, *p, &seen.of, seen.covered || all);
        }
    }
    found.reverse();
    found
}
