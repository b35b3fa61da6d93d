//! The lower bound's witness.

use std::collections::BTreeSet;

use super::repeat::Past;
use super::{Violation, cost};
use crate::problem::{Home, OpId, Problem, TensorId};
use crate::solution::{Certificate, Witness};

/// Verifies that the bound holds for every plan.
pub(super) fn verify(problem: &Problem, order: &[OpId], certificate: &Certificate) -> Result<(), Violation> {
    let claimed = certificate.lower_bound;
    if claimed > certificate.arena {
        return Err(Violation::BoundAbovePlan { bound: claimed, arena: certificate.arena });
    }
    let proven = match &certificate.witness {
        Witness::None => 0,
        Witness::Step { op, tensors } => at_step(problem, order, *op, tensors)?,
        Witness::Cut { op, outside } => {
            if op.index() >= problem.ops().len() {
                return Err(Violation::WitnessName { what: format!("op {}", op.0) });
            }
            let writable = |t: &TensorId| problem.tensors().get(t.index()).is_some_and(|t| t.home == Home::Writable);
            if let Some(t) = outside.iter().find(|t| !writable(t)) {
                return Err(Violation::WitnessName { what: format!("writable tensor {}", t.0) });
            }
            super::cut::least_at(problem, *op, outside)
        }
        Witness::Exhaustive { ops, .. } => {
            let mut seen = BTreeSet::new();
            for o in ops {
                if o.index() >= problem.ops().len() || !seen.insert(*o) {
                    return Err(Violation::WitnessName { what: format!("op {}", o.0) });
                }
            }
            claimed
        }
    };
    if claimed > proven { Err(Violation::Bound { claimed, proven }) } else { Ok(()) }
}

/// The bytes that these tensors need while the op runs, in any order and with any shares.
fn at_step(problem: &Problem, order: &[OpId], op: OpId, tensors: &[TensorId]) -> Result<u64, Violation> {
    if op.index() >= problem.ops().len() {
        return Err(Violation::WitnessName { what: format!("op {}", op.0) });
    }
    let mut seen = BTreeSet::new();
    for t in tensors {
        if t.index() >= problem.tensors().len() || !seen.insert(*t) {
            return Err(Violation::WitnessName { what: format!("tensor {}", t.0) });
        }
    }
    let past = Past::new(problem, order, &[op]);
    for t in tensors {
        if !surely_alive(problem, &past, op, *t) {
            return Err(Violation::NotAlive {
                tensor: problem.tensor(*t).name.clone(),
                op: problem.op(op).name.clone(),
            });
        }
    }
    Ok(cost::at_step(problem, &past, op, &seen))
}

/// Whether every order keeps the tensor alive while the only op of `past` runs.
fn surely_alive(problem: &Problem, past: &Past, op: OpId, t: TensorId) -> bool {
    let tensor = problem.tensor(t);
    if tensor.pinned {
        return true;
    }
    // An op stands in both lists of its own.
    let made = tensor.input || problem.producer(t).is_some_and(|p| past.descendants[p.index()] != 0);
    let produced_here = problem.producer(t) == Some(op);
    let read = tensor.output || produced_here || problem.consumers(t).iter().any(|c| past.ancestors[c.index()] != 0);
    made && read
}
