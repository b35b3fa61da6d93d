//! The independent check: replays a plan step by step and verifies what its certificate claims.
//!
//! It shares no code with the solvers: lives, ties, loads and witnesses are worked out here again, from the problem alone.

mod cost;
mod cut;
mod memory;
mod outside;
mod repeat;
mod small;
mod table;
mod ties;
mod values;
mod violation;
mod witness;

pub use repeat::BoundCheck;
pub use table::check_placement;
pub use violation::Violation;

use crate::problem::{Home, OpId, Problem, ShareKind, TensorId};
use crate::solution::{Certificate, Place, Solution};

/// Verifies that a plan is legal and that its certificate is true.
///
/// The claims verified are the order, every share taken, alignment, that no two values ever hold one byte at one step, the
/// peak, the arena's size, and the witness of the lower bound. An exhaustive witness is searched again where that is a matter
/// of moments; the answer says whether the bound was verified or taken on trust.
///
/// # Errors
/// The first thing found wrong, naming the two tensors or ops.
pub fn check(problem: &Problem, solution: &Solution, certificate: &Certificate) -> Result<BoundCheck, Violation> {
    let step = replay_order(problem, &solution.order)?;
    shape(problem, solution)?;
    let alive = alive(problem, &step);
    places(problem, solution, certificate)?;
    let ties = ties::verify(problem, solution, &step, &alive)?;
    memory::no_clash(problem, solution, &step, &alive, &ties)?;
    let peak = memory::peak(problem, solution, &step, &alive, &ties);
    if peak != certificate.peak {
        return Err(Violation::Peak { claimed: certificate.peak, found: peak });
    }
    witness::verify(problem, &solution.order, certificate)?;
    repeat::bound(problem, &solution.order, certificate)
}

/// Step of each op; the order must hold every op once and obey every edge.
fn replay_order(problem: &Problem, order: &[OpId]) -> Result<Vec<u64>, Violation> {
    let name = |o: OpId| problem.op(o).name.clone();
    let mut step = vec![u64::MAX; problem.ops().len()];
    for (s, o) in order.iter().enumerate() {
        let Some(slot) = step.get_mut(o.index()) else {
            return Err(Violation::UnknownOp { op: o.0, ops: problem.ops().len() });
        };
        if *slot != u64::MAX {
            return Err(Violation::OpTwice { op: name(*o) });
        }
        *slot = s as u64;
    }
    if let Some(missing) = step.iter().position(|s| *s == u64::MAX) {
        return Err(Violation::OpMissing { op: name(OpId(missing as u32)) });
    }
    let before = |a: OpId, b: OpId| {
        if step[a.index()] < step[b.index()] {
            Ok(())
        } else {
            Err(Violation::Order { first: name(a), second: name(b) })
        }
    };
    for (o, op) in problem.ops().iter().enumerate() {
        for t in &op.inputs {
            if let Some(p) = problem.producer(*t) {
                before(p, OpId(o as u32))?;
            }
        }
    }
    for (a, b) in problem.edges() {
        before(*a, *b)?;
    }
    Ok(step)
}

fn shape(problem: &Problem, solution: &Solution) -> Result<(), Violation> {
    let lists = [
        ("places", solution.places.len(), problem.tensors().len()),
        ("workspaces", solution.workspaces.len(), problem.ops().len()),
    ];
    for (what, found, expected) in lists {
        if found != expected {
            return Err(Violation::Length { what, found, expected });
        }
    }
    Ok(())
}

/// The half-open steps in which each tensor is alive; what outlives the run is alive in a step after the last.
fn alive(problem: &Problem, step: &[u64]) -> Vec<(u64, u64)> {
    let end = (step.len() as u64).max(1) + 1;
    let mut alive: Vec<(u64, u64)> =
        problem.tensors().iter().map(|t| if t.pinned || t.output { (0, end) } else { (0, 1) }).collect();
    for (o, op) in problem.ops().iter().enumerate() {
        for t in &op.outputs {
            let life = &mut alive[t.index()];
            if !problem.tensor(*t).pinned {
                life.0 = step[o];
            }
            life.1 = life.1.max(step[o] + 1);
        }
    }
    for (o, op) in problem.ops().iter().enumerate() {
        for t in &op.inputs {
            let life = &mut alive[t.index()];
            life.1 = life.1.max(step[o] + 1);
        }
    }
    alive
}

/// Every place lies within its memory and is aligned; the arena is exactly as large as its last byte asks.
fn places(problem: &Problem, solution: &Solution, certificate: &Certificate) -> Result<(), Violation> {
    let mut end = 0u64;
    for (t, place) in solution.places.iter().enumerate() {
        let id = TensorId(t as u32);
        let tensor = problem.tensor(id);
        let outside = || Violation::Outside { tensor: tensor.name.clone() };
        match *place {
            Place::Arena(offset) => {
                if tensor.home != Home::Arena {
                    return Err(Violation::Home { tensor: tensor.name.clone() });
                }
                end = end.max(offset.checked_add(tensor.size).ok_or_else(outside)?);
                if offset % tensor.align != 0 {
                    return Err(Violation::Misaligned { tensor: tensor.name.clone(), offset, align: tensor.align });
                }
            }
            Place::External { of, offset } => {
                let memory = problem.tensors().get(of.index()).ok_or_else(outside)?;
                if memory.home == Home::Arena {
                    return Err(outside());
                }
                if tensor.home != Home::Arena && (of, offset) != (id, 0) {
                    return Err(Violation::Home { tensor: tensor.name.clone() });
                }
                if offset.checked_add(tensor.size).is_none_or(|e| e > memory.size) {
                    return Err(outside());
                }
                if offset % tensor.align != 0 {
                    return Err(Violation::Misaligned { tensor: tensor.name.clone(), offset, align: tensor.align });
                }
            }
        }
    }
    for (o, offset) in solution.workspaces.iter().enumerate() {
        let op = &problem.ops()[o];
        if op.workspace == 0 {
            continue;
        }
        let name = || format!("workspace of {}", op.name);
        end = end.max(offset.checked_add(op.workspace).ok_or_else(|| Violation::Outside { tensor: name() })?);
        if offset % problem.storage_align() != 0 {
            return Err(Violation::Misaligned { tensor: name(), offset: *offset, align: problem.storage_align() });
        }
    }
    let unit = problem.storage_align();
    let arena = end.checked_add(unit - 1).map(|e| e / unit * unit);
    if arena != Some(certificate.arena) {
        return Err(Violation::Arena { claimed: certificate.arena, found: arena.unwrap_or(u64::MAX) });
    }
    Ok(())
}

/// Whether a share carries a value: both tensors hold the same bytes.
fn carries_value(kind: ShareKind) -> bool {
    match kind {
        ShareKind::View | ShareKind::Into => true,
        ShareKind::InPlace => false,
    }
}
