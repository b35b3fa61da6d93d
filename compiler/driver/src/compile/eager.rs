//! The model's order with copies made as soon as they can be.

use neap_plan::{OpId, Problem};

use crate::compile::pose::{Posed, Work};
use crate::failure::Failure;

/// Moves every copy of a part into its whole to where the part is there, and the op that opens the whole to before the first
/// of them, so that the order given holds no part longer than it is needed.
pub fn eager(posed: Posed) -> Result<Posed, Failure> {
    let problem = &posed.problem;
    let preds = problem.predecessors();
    let opens = |o: OpId| posed.work[o.index()] == Work::Nothing && !problem.op(o).outputs.is_empty();
    let mut keys: Vec<(usize, usize, usize)> = (0..preds.len()).map(|i| (i, 0, i)).collect();
    for o in problem.op_ids() {
        if let Work::Stage(..) = posed.work[o.index()] {
            let at = preds[o.index()].iter().filter(|p| !opens(**p)).map(|p| keys[p.index()].0).max();
            let open = preds[o.index()].iter().copied().find(|p| opens(*p));
            let floor = open.and_then(|p| preds[p.index()].iter().map(|q| keys[q.index()].0).max());
            let at = at.max(floor).unwrap_or(0);
            keys[o.index()] = (at, 2, o.index());
            if let Some(p) = open {
                let first = if keys[p.index()].1 == 0 { at } else { keys[p.index()].0.min(at) };
                keys[p.index()] = (first, 1, p.index());
            }
        }
    }
    let mut order: Vec<OpId> = problem.op_ids().collect();
    order.sort_by_key(|o| keys[o.index()]);
    if order.iter().zip(problem.op_ids()).all(|(a, b)| *a == b) {
        return Ok(posed);
    }
    let work = order.iter().map(|o| posed.work[o.index()]).collect();
    let problem = permuted(problem, &order).map_err(|e| Failure::new(format!("memory plan: {e}")))?;
    Ok(Posed { problem, work, ..posed })
}

/// The problem with its ops in another order; tensors and shares keep their ids.
fn permuted(problem: &Problem, order: &[OpId]) -> Result<Problem, neap_plan::ProblemError> {
    let mut new = vec![OpId(0); order.len()];
    let mut builder = Problem::builder();
    builder.storage_align(problem.storage_align());
    for t in problem.tensors() {
        builder.tensor(t.clone());
    }
    for o in order {
        new[o.index()] = builder.op(problem.op(*o).clone());
    }
    for s in problem.shares() {
        builder.share(neap_plan::Share { op: new[s.op.index()], ..*s });
    }
    for (a, b) in problem.edges() {
        builder.edge(new[a.index()], new[b.index()]);
    }
    builder.build()
}
