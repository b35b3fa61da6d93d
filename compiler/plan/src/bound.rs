//! Lower bounds on the arena of any plan.

use crate::order::atoms::linked;
use crate::problem::{Home, OpId, Problem, TensorId};
use crate::solution::Witness;

/// The best bound and its witness: the op that needs the most bytes for itself, its tensors that can never share counted.
pub fn lower_bound(problem: &Problem) -> (u64, Witness) {
    let components = may_share(problem);
    let mut best = (0, Witness::None);
    for op in problem.op_ids() {
        let mut tensors: Vec<TensorId> = problem.op(op).inputs.clone();
        tensors.extend(&problem.op(op).outputs);
        tensors.retain(|t| problem.tensor(*t).home == Home::Arena && problem.tensor(*t).size > 0);
        let (bytes, witness) = step_bound(problem, &components, op, tensors);
        if bytes > best.0 {
            best = (bytes, Witness::Step { op, tensors: witness });
        }
    }
    best
}

/// Keeps one tensor, the largest, of each set that might share bytes or leave the arena.
fn step_bound(
    problem: &Problem,
    components: &Components,
    op: OpId,
    mut tensors: Vec<TensorId>,
) -> (u64, Vec<TensorId>) {
    tensors.sort_by_key(|t| (components.of[t.index()], std::cmp::Reverse(problem.tensor(*t).size), *t));
    tensors.dedup_by_key(|t| components.of[t.index()]);
    tensors.retain(|t| !components.external[components.of[t.index()] as usize]);
    tensors.sort_unstable();
    let bytes = tensors.iter().map(|t| problem.padded(problem.tensor(*t).size)).sum::<u64>();
    (bytes + problem.padded(problem.op(op).workspace), tensors)
}

/// Sets of tensors linked by shares, taken or not.
struct Components {
    of: Vec<u32>,
    external: Vec<bool>,
}

fn may_share(problem: &Problem) -> Components {
    let of = linked(problem, problem.shares());
    let mut external = vec![false; of.len()];
    for t in problem.tensor_ids() {
        external[of[t.index()] as usize] |= problem.tensor(t).home != Home::Arena;
    }
    Components { of, external }
}
