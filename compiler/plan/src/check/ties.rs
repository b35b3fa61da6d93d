//! The shares a plan takes: each must hold, and together they say which tensors may hold the same bytes.

use super::{Violation, carries_value};
use crate::problem::{Home, Problem, ShareKind, TensorId};
use crate::solution::{Place, Solution};

/// The taken shares by tensor.
pub(super) struct Ties {
    /// Root of each tensor's tied group.
    pub(super) root: Vec<u32>,
    /// Tensors that a taken share says hold the same bytes, by tensor.
    pub(super) same: Vec<Vec<TensorId>>,
    /// Tensors that take the place of each tensor.
    pub(super) successor: Vec<Vec<TensorId>>,
}

/// Verifies every taken share and that read-only memory is only looked at.
pub(super) fn verify(
    problem: &Problem,
    solution: &Solution,
    step: &[u64],
    alive: &[(u64, u64)],
) -> Result<Ties, Violation> {
    let n = problem.tensors().len();
    let name = |t: TensorId| problem.tensor(t).name.clone();
    let mut root: Vec<u32> = (0..n as u32).collect();
    let mut same = vec![Vec::new(); n];
    let mut successor = vec![Vec::new(); n];
    let mut views: Vec<Vec<TensorId>> = vec![Vec::new(); n];
    let mut before = None;
    for id in &solution.taken {
        let Some(s) = problem.shares().get(id.index()) else {
            return Err(Violation::UnknownShare { share: id.0, shares: problem.shares().len() });
        };
        if before.is_some_and(|b| b >= id.0) {
            return Err(Violation::ShareSequence { share: id.0 });
        }
        before = Some(id.0);
        let apart = match (solution.places[s.inner.index()], solution.places[s.outer.index()]) {
            (Place::Arena(i), Place::Arena(o)) => o.checked_add(s.offset) != Some(i),
            (Place::External { of: a, offset: i }, Place::External { of: b, offset: o }) => {
                a != b || o.checked_add(s.offset) != Some(i)
            }
            _ => true,
        };
        if apart {
            return Err(Violation::ShareApart { inner: name(s.inner), outer: name(s.outer), offset: s.offset });
        }
        if carries_value(s.kind) {
            same[s.inner.index()].push(s.outer);
            same[s.outer.index()].push(s.inner);
        } else {
            if alive[s.outer.index()].1 > step[s.op.index()] + 1 {
                return Err(Violation::Overwritten {
                    input: name(s.outer),
                    output: name(s.inner),
                    op: problem.op(s.op).name.clone(),
                });
            }
            successor[s.outer.index()].push(s.inner);
        }
        if s.kind == ShareKind::View {
            views[s.outer.index()].push(s.inner);
        }
        let (a, b) = (top(&mut root, s.inner.0), top(&mut root, s.outer.0));
        root[a.max(b) as usize] = a.min(b);
    }
    for (id, s) in problem.shares().iter().enumerate() {
        if s.required && solution.taken.binary_search_by_key(&(id as u32), |t| t.0).is_err() {
            return Err(Violation::ShareMissing {
                inner: name(s.inner),
                outer: name(s.outer),
                op: problem.op(s.op).name.clone(),
            });
        }
    }
    for t in 0..n as u32 {
        root[t as usize] = top(&mut root, t);
    }
    read_only(problem, solution, &views)?;
    group_alignment(problem, solution, &root)?;
    Ok(Ties { root, same, successor })
}

fn top(root: &mut [u32], mut t: u32) -> u32 {
    while root[t as usize] != t {
        root[t as usize] = root[root[t as usize] as usize];
        t = root[t as usize];
    }
    t
}

/// What lies in read-only memory must be a view of what is there, directly or through other views.
fn read_only(problem: &Problem, solution: &Solution, views: &[Vec<TensorId>]) -> Result<(), Violation> {
    let mut seen = vec![false; views.len()];
    let mut stack: Vec<TensorId> = problem.tensor_ids().filter(|t| problem.tensor(*t).home == Home::ReadOnly).collect();
    while let Some(t) = stack.pop() {
        if !std::mem::replace(&mut seen[t.index()], true) {
            stack.extend(&views[t.index()]);
        }
    }
    for (t, place) in solution.places.iter().enumerate() {
        if let Place::External { of, .. } = place
            && problem.tensor(*of).home == Home::ReadOnly
            && !seen[t]
        {
            return Err(Violation::ReadOnly {
                tensor: problem.tensors()[t].name.clone(),
                memory: problem.tensor(*of).name.clone(),
            });
        }
    }
    Ok(())
}

/// The lowest tensor of each tied group in the arena starts at the storage alignment.
fn group_alignment(problem: &Problem, solution: &Solution, root: &[u32]) -> Result<(), Violation> {
    let mut lowest: Vec<Option<(u64, usize)>> = vec![None; root.len()];
    for (t, place) in solution.places.iter().enumerate() {
        if let Place::Arena(offset) = place {
            let slot = &mut lowest[root[t] as usize];
            if slot.is_none_or(|l| *offset < l.0) {
                *slot = Some((*offset, t));
            }
        }
    }
    let align = problem.storage_align();
    for (offset, t) in lowest.into_iter().flatten() {
        if offset % align != 0 {
            return Err(Violation::Misaligned { tensor: problem.tensors()[t].name.clone(), offset, align });
        }
    }
    Ok(())
}
