//! What nothing reads is left out.

use std::collections::BTreeSet;

use neap_optable::{Body, GraphOp, ValueId, Weights};

/// The body without nodes whose results nobody uses, its values renumbered, and the weights it still names.
pub(super) fn without_dead_code(mut body: Body, mut weights: Weights) -> (Body, Weights) {
    let mut used = vec![false; body.types.len()];
    body.results.iter().for_each(|v| used[v.0 as usize] = true);
    let mut keep = vec![false; body.nodes.len()];
    for (i, n) in body.nodes.iter().enumerate().rev() {
        keep[i] = n.outputs.iter().any(|o| used[o.0 as usize]);
        if keep[i] {
            n.inputs.iter().for_each(|v| used[v.0 as usize] = true);
        }
    }
    // Unused results of kept nodes and unused arguments keep their values.
    let kept = body.nodes.iter().zip(&keep).filter(|(_, k)| **k);
    kept.flat_map(|(n, _)| &n.outputs).chain(&body.args).for_each(|v| used[v.0 as usize] = true);

    let mut number = 0;
    let to: Vec<ValueId> = used
        .iter()
        .map(|u| {
            number += u32::from(*u);
            ValueId(number.saturating_sub(1))
        })
        .collect();
    let mut keep = keep.into_iter();
    body.nodes.retain(|_| keep.next() == Some(true));
    let mut index = 0;
    body.types.retain(|_| {
        index += 1;
        used[index - 1]
    });
    for n in &mut body.nodes {
        n.inputs.iter_mut().chain(&mut n.outputs).for_each(|v| *v = to[v.0 as usize]);
    }
    body.args.iter_mut().chain(&mut body.results).for_each(|v| *v = to[v.0 as usize]);
    let keys: BTreeSet<&str> =
        body.nodes.iter().filter(|n| n.op == GraphOp::Weight).map(|n| n.attrs.get_str("key")).collect();
    weights.retain(|k| keys.contains(k));
    (body, weights)
}
