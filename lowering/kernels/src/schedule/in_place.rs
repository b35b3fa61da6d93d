//! Which outputs may overwrite which inputs.

use super::linear::{Action, Loops, Place};
use crate::ir::{BufferId, Kernel, Role, ScalarOp};

/// (input, output) pairs by position: each element of the input is read for the last time before, or by the iteration that,
/// overwrites it.
pub(super) fn pairs(kernel: &Kernel, stages: &[Loops]) -> Vec<(usize, usize)> {
    let [loops] = stages else { return vec![] };
    let inputs = kernel.buffers.iter().filter(|b| b.role == Role::In).count();
    let outputs = kernel.buffers.iter().filter(|b| b.role == Role::Out).count();
    let all = (0..inputs).flat_map(|i| (0..outputs).map(move |o| (i, o)));
    all.filter(|(i, o)| fits(kernel, loops, BufferId(*i), BufferId(inputs + o))).collect()
}

fn fits(kernel: &Kernel, loops: &Loops, input: BufferId, output: BufferId) -> bool {
    let (from, to) = (&kernel.buffers[input.0], &kernel.buffers[output.0]);
    if from.dtype.size() != to.dtype.size() || from.dims.len() != to.dims.len() || from.dims != to.dims {
        return false;
    }
    let mut written: Option<(usize, Place, Vec<crate::ir::Iter>)> = None;
    let mut read: Vec<(usize, &Place, &[crate::ir::Iter])> = vec![];
    for (i, n) in loops.nests.iter().enumerate() {
        let loaded = n.ops.iter().any(|op| matches!(op, ScalarOp::Load(b, _) if *b == input || *b == output));
        let scattered = n.actions.iter().any(|a| matches!(a, Action::StoreAt { to, .. } if *to == output));
        let reread = n.reads.iter().any(|p| p.buffer == output);
        if loaded || scattered || reread {
            return false;
        }
        read.extend(n.reads.iter().filter(|p| p.buffer == input).map(|p| (i, p, n.iters.as_slice())));
        for a in &n.actions {
            match a {
                Action::Store { to, when: None, .. } if to.buffer == output => {
                    if written.is_some() {
                        return false;
                    }
                    written = Some((i, to.clone(), n.iters.clone()));
                }
                Action::Store { to, .. } | Action::Reduce { to, .. } if to.buffer == output => return false,
                _ => {}
            }
        }
    }
    let Some((at, place, iters)) = written else { return false };
    let extents = |i: &[crate::ir::Iter]| i.iter().map(|i| i.extent.clone()).collect::<Vec<_>>();
    // The same elements in the same outer iteration, and in the storing nest the same element in the same iteration.
    !read.is_empty()
        && read.iter().all(|(i, p, own)| {
            *i <= at && p.guards.is_empty() && p.offset == place.offset && extents(own) == extents(&iters)
        })
}
