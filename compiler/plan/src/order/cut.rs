//! A lower bound for one op: the fewest bytes that can be alive while it runs.
//!
//! Before it all its ancestors are done and none of its descendants; which of the others are done is free, as long as they
//! form a down-set. The bytes alive are submodular in that set, so the least is a minimum cut: an op on the source's side is
//! done, an atom costs its bytes where a maker is done and a user is not.

use super::flow::{ENDLESS, Flow};
use super::model::Model;

/// So many choices of places taken are looked at one by one; beyond, all are granted at once.
const MOST_CHOICES: usize = 64;

/// The least bytes alive while `op` runs; `work` counts the edges looked at.
pub(crate) fn least_at(model: &Model, op: u32, work: &mut u64) -> u64 {
    let before = reach(&model.preds, [op]);
    let after = reach(&model.succs, [op]);
    // For each output which inputs may die for it; another user that comes later forbids it.
    let swaps = &model.swaps[op as usize];
    let mut outputs: Vec<Vec<(u64, Vec<u32>)>> = Vec::new();
    for (i, s) in swaps.iter().enumerate() {
        if swaps[..i].iter().any(|x| x.output == s.output) {
            continue;
        }
        let mut options = vec![(0, Vec::new())];
        for x in swaps.iter().filter(|x| x.output == s.output) {
            let others: Vec<u32> = model.users[x.old as usize].iter().copied().filter(|u| *u != op).collect();
            if !model.kept[x.old as usize] && !others.iter().any(|u| after[*u as usize]) {
                options.push((x.saved, others));
            }
        }
        outputs.push(options);
    }
    let choices: usize = outputs.iter().map(Vec::len).try_fold(1, |a: usize, b| a.checked_mul(b)).unwrap_or(usize::MAX);
    if choices > MOST_CHOICES {
        let saved = outputs.iter().filter_map(|o| o.iter().map(|c| c.0).max()).sum();
        return at(model, op, &before, &after, saved, work);
    }
    let mut best = u64::MAX;
    for mut choice in 0..choices {
        let (mut saved, mut done) = (0, Vec::new());
        for options in &outputs {
            let (bytes, others) = &options[choice % options.len()];
            choice /= options.len();
            saved += bytes;
            done.extend(others.iter().copied().filter(|u| !before[*u as usize]));
        }
        let bytes = if done.is_empty() {
            at(model, op, &before, &after, saved, work)
        } else {
            let mut done_before = reach(&model.preds, done.iter().copied());
            done.iter().for_each(|u| done_before[*u as usize] = true);
            before.iter().zip(&mut done_before).for_each(|(b, d)| *d |= b);
            at(model, op, &done_before, &after, saved, work)
        };
        best = best.min(bytes);
    }
    best
}

/// All that these lead to, themselves left out.
fn reach(next: &[Vec<u32>], from: impl IntoIterator<Item = u32>) -> Vec<bool> {
    let mut seen = vec![false; next.len()];
    let mut stack: Vec<u32> = from.into_iter().flat_map(|o| next[o as usize].iter().copied()).collect();
    while let Some(o) = stack.pop() {
        if !std::mem::replace(&mut seen[o as usize], true) {
            stack.extend(&next[o as usize]);
        }
    }
    seen
}

/// The least while the op runs with some ops done and some not, when so much is saved; never less than is alive after it.
fn at(model: &Model, op: u32, done: &[bool], after: &[bool], saved: u64, work: &mut u64) -> u64 {
    let (bytes, born) = cut(model, Some(op), done, after, work);
    let workspace = model.workspace[op as usize];
    let during = bytes + workspace - saved.min(born);
    if saved == 0 {
        return during;
    }
    let mut done = done.to_vec();
    done[op as usize] = true;
    during.max(cut(model, None, &done, after, work).0 + workspace)
}

/// The cut between what is done and what is not; with an op that runs, also the bytes that it alone makes.
fn cut(model: &Model, op: Option<u32>, done: &[bool], after: &[bool], work: &mut u64) -> (u64, u64) {
    let mut flow = Flow::default();
    let (source, sink) = (flow.node(), flow.node());
    let mut node = vec![u32::MAX; model.len()];
    let free = |o: u32| Some(o) != op && !done[o as usize] && !after[o as usize];
    for o in 0..model.len() as u32 {
        if free(o) {
            node[o as usize] = flow.node();
        }
    }
    for o in (0..model.len() as u32).filter(|o| free(*o)) {
        for p in model.preds[o as usize].iter().filter(|p| free(**p)) {
            flow.edge(node[o as usize], node[*p as usize], ENDLESS);
        }
    }
    let (mut fixed, mut born) = (0, 0);
    for a in 0..model.bytes.len() {
        let bytes = model.bytes[a];
        if bytes == 0 {
            continue;
        }
        let (makers, users) = (&model.makers[a], &model.users[a]);
        let there = model.initial[a] || makers.iter().any(|m| done[*m as usize]);
        let made_here = op.is_some_and(|op| makers.contains(&op));
        let needed = model.kept[a] || users.iter().any(|u| Some(*u) == op || after[*u as usize]);
        if made_here && !there {
            born += bytes;
        }
        if (there || made_here) && needed {
            fixed += bytes;
            continue;
        }
        let makers = || makers.iter().filter(|m| free(**m)).map(|m| node[*m as usize]);
        let users = || users.iter().filter(|u| free(**u)).map(|u| node[*u as usize]);
        let into = if there || made_here {
            source
        } else if makers().count() == 1 {
            makers().next().unwrap_or(source)
        } else if makers().count() == 0 {
            continue;
        } else {
            let n = flow.node();
            makers().for_each(|m| flow.edge(m, n, ENDLESS));
            n
        };
        let out = if needed {
            sink
        } else if users().count() == 0 {
            continue;
        } else {
            let n = flow.node();
            users().for_each(|u| flow.edge(n, u, ENDLESS));
            n
        };
        flow.edge(into, out, bytes);
    }
    let crossing = flow.run(source, sink);
    *work += flow.work + (model.len() + model.bytes.len()) as u64;
    (fixed + crossing, born)
}
