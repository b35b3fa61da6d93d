//! What a solver answers: a plan, and a certificate of how good it is.

use crate::problem::{OpId, ShareId, TensorId};

/// Where a tensor lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Byte offset in the arena.
    Arena(u64),
    /// In memory outside the arena: in the memory of tensor `of`, from `offset` on. A tensor outside the arena lies in
    /// itself at 0; its views and parts lie in it too.
    External {
        /// The tensor whose memory it is.
        of: TensorId,
        /// Bytes from its start.
        offset: u64,
    },
}

/// An order and a place for everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// All ops, in the order they run.
    pub order: Vec<OpId>,
    /// Place of each tensor.
    pub places: Vec<Place>,
    /// Byte offset in the arena of each op's workspace; 0 for those without.
    pub workspaces: Vec<u64>,
    /// The shares taken, ascending; every required one is among them.
    pub taken: Vec<ShareId>,
}

/// Why no plan can be better than the bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Witness {
    /// Nothing is claimed: the bound is 0.
    None,
    /// While `op` runs these tensors and its workspace are in the arena in every order, no two of them ever sharing a
    /// byte: each is read or made by the op, or is made by an ancestor (or given) and read by a descendant (or kept).
    Step {
        /// The op.
        op: OpId,
        /// The tensors.
        tensors: Vec<TensorId>,
    },
    /// While `op` runs so much is in the arena whichever down-set of ops was done before it: its ancestors and not its
    /// descendants, and of the others any that obey the edges. The least is a minimum cut. All that shares may ever tie to
    /// the tensors in `outside` is counted wherever it lies, and their memory outside the arena is taken off.
    Cut {
        /// The op.
        op: OpId,
        /// Tensors in writable memory outside the arena.
        outside: Vec<TensorId>,
    },
    /// These tensors and nothing else of the problem already need this much in every order of the ops named, by a search
    /// that left nothing out. A label, not a proof: the checker takes its word; tests compare it with brute force.
    Exhaustive {
        /// Which search.
        method: String,
        /// How many states it looked at.
        states: u64,
        /// The ops searched: all, or those of one segment.
        ops: Vec<OpId>,
    },
}

/// How good a plan is and how that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// Bytes alive at the worst step of the plan's order with its shares.
    pub peak: u64,
    /// Bytes of the arena; at least `peak`, equal to it when nothing is lost to fragmentation.
    pub arena: u64,
    /// No plan has a smaller arena.
    pub lower_bound: u64,
    /// Why.
    pub witness: Witness,
    /// How the plan was found, such as `file order, best fit`.
    pub method: String,
}

impl Certificate {
    /// Excess of the arena over the bound, as a fraction of the bound; 0 when nothing is to be gained.
    pub fn gap(&self) -> f64 {
        if self.arena <= self.lower_bound {
            0.0
        } else if self.lower_bound == 0 {
            f64::INFINITY
        } else {
            (self.arena - self.lower_bound) as f64 / self.lower_bound as f64
        }
    }

    /// Whether the plan is proven to be as good as any.
    pub fn optimal(&self) -> bool {
        self.arena <= self.lower_bound
    }
}
