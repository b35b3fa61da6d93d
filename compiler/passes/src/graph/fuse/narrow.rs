//! Where a group ends: at bytes rather than at what they are widened to.
//!
//! A group whose last operators widen an 8-bit value of its own (the dequantising of what it quantised) ends before them, and its
//! readers widen the bytes instead: a quarter of the memory for a few operations an element.

use std::collections::HashSet;

use neap_optable::{BinaryKind, Body, GraphOp, ValueId};

use super::{Class, class};

/// Takes the widening tails off groups, and gives them: they are cloned into all readers.
pub(super) fn cut(body: &Body, groups: &mut [Vec<usize>], widening: &[Option<usize>]) -> HashSet<usize> {
    let results: HashSet<ValueId> = body.results.iter().copied().collect();
    let mut readers: Vec<Vec<usize>> = vec![vec![]; body.types.len()];
    for (i, n) in body.nodes.iter().enumerate() {
        n.inputs.iter().for_each(|v| readers[v.0 as usize].push(i));
    }
    let producers = body.producers();
    let mut cut = HashSet::new();
    for group in groups.iter_mut() {
        let Some(tail) = tail(body, group, &producers, &readers) else { continue };
        let last = body.nodes[tail[0]].outputs[0];
        let clones = |r: &usize| {
            widening[*r].is_none() && matches!(class(body, &body.nodes[*r]), Class::Elementwise | Class::RowAnchor)
        };
        if !results.contains(&last) && readers[last.0 as usize].iter().all(clones) {
            group.retain(|m| !tail.contains(m));
            cut.extend(tail);
        }
    }
    cut
}

/// The last operators of a group, last first, if they widen bytes that others of the group make.
fn tail(body: &Body, group: &[usize], producers: &[Option<usize>], readers: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut tail = vec![];
    let mut at = *group.last()?;
    loop {
        let n = &body.nodes[at];
        let fixed = |v: &ValueId| producers[v.0 as usize].is_some_and(|p| class(body, &body.nodes[p]) == Class::Cloned);
        let work = match n.op {
            GraphOp::Cast => true,
            GraphOp::Binary => matches!(n.attrs.get_enum("kind"), BinaryKind::Mul | BinaryKind::Sub | BinaryKind::Add),
            _ => false,
        };
        let mut varying = n.inputs.iter().filter(|v| !fixed(v));
        let (x, None) = (*varying.next()?, varying.next()) else { return None };
        let before = producers[x.0 as usize].filter(|p| group.contains(p));
        if !work || (!tail.is_empty() && readers[n.outputs[0].0 as usize].len() != 1) {
            return None;
        }
        tail.push(at);
        at = before?;
        if body.ty(x).dtype.size() == 1 {
            let all = readers[x.0 as usize].len() == 1;
            let wide = body.ty(body.nodes[tail[0]].outputs[0]).dtype.size() > 1;
            return (n.op == GraphOp::Cast && all && wide).then_some(tail);
        }
    }
}
