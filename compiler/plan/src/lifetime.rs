//! When each tensor is alive under an order.

use crate::problem::{OpId, Problem, TensorId};

/// Steps of an order and the half-open range of steps in which each tensor is alive. What outlives the run is alive in one
/// step more, so that even the last op cannot overwrite it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lives {
    /// Step of each op.
    pub step: Vec<u32>,
    /// First step of each tensor.
    pub birth: Vec<u32>,
    /// Step after the last of each tensor.
    pub death: Vec<u32>,
    /// How many steps there are; at least 1.
    pub steps: u32,
}

impl Lives {
    /// The lives under an order that holds every op once.
    pub fn new(problem: &Problem, order: &[OpId]) -> Self {
        let mut step = vec![0; problem.ops().len()];
        for (s, op) in order.iter().enumerate() {
            step[op.index()] = s as u32;
        }
        let steps = order.len().max(1) as u32;
        let (mut birth, mut death) = (Vec::new(), Vec::new());
        for id in problem.tensor_ids() {
            let tensor = problem.tensor(id);
            let first = problem.producer(id).map_or(0, |o| step[o.index()]);
            let last = problem.consumers(id).iter().map(|o| step[o.index()]).max().unwrap_or(first);
            birth.push(if tensor.pinned { 0 } else { first });
            death.push(if tensor.pinned || tensor.output { steps + 1 } else { last.max(first) + 1 });
        }
        Lives { step, birth, death, steps }
    }

    /// First step and step after the last.
    pub fn range(&self, id: TensorId) -> (u32, u32) {
        (self.birth[id.index()], self.death[id.index()])
    }

    /// The steps in which both are alive, possibly empty.
    pub fn common(&self, a: TensorId, b: TensorId) -> (u32, u32) {
        let ((a0, a1), (b0, b1)) = (self.range(a), self.range(b));
        (a0.max(b0), a1.min(b1))
    }
}
