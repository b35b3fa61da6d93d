//! Cutting a graph where every order must pass through the same set of ops done.
//!
//! An op that is comparable with every other (each comes before it or after it) has the same place in every order, so what
//! lies before it and what lies after it are ordered apart, and the worst of the two is the optimum of both.

use super::model::Model;

/// Ops between two cuts, in an order that obeys the edges; the last op of a segment is the cut, but for the last segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Its ops.
    pub(crate) ops: Vec<u32>,
}

/// Cuts a graph into segments, given any order that obeys the edges. Linear in ops and edges.
pub(crate) fn segments(model: &Model, order: &[u32]) -> Vec<Segment> {
    let n = order.len();
    let mut place = vec![0; n];
    for (i, o) in order.iter().enumerate() {
        place[*o as usize] = i;
    }
    // After place i, ops up to i without a successor up to i: all but the one at i lead to it if it alone is left.
    let mut only_sink = vec![false; n];
    let mut open = 0usize;
    let mut has_successor = vec![false; n];
    for (i, o) in order.iter().enumerate() {
        for p in &model.preds[*o as usize] {
            if !std::mem::replace(&mut has_successor[*p as usize], true) {
                open -= 1;
            }
        }
        open += 1;
        only_sink[i] = open == 1;
    }
    let mut only_source = vec![false; n];
    let mut has_predecessor = vec![false; n];
    open = 0;
    for (i, o) in order.iter().enumerate().rev() {
        for s in &model.succs[*o as usize] {
            if !std::mem::replace(&mut has_predecessor[*s as usize], true) {
                open -= 1;
            }
        }
        open += 1;
        only_source[i] = open == 1;
    }
    let mut out = Vec::new();
    let mut ops = Vec::new();
    for (i, o) in order.iter().enumerate() {
        ops.push(*o);
        if only_sink[i] && only_source[i] {
            out.push(Segment { ops: std::mem::take(&mut ops) });
        }
    }
    if !ops.is_empty() {
        out.push(Segment { ops });
    }
    out
}
