//! What the driver and the planner need to know of a kernel once its schedule is chosen.

use neap_optable::{Dim, Tensor};

use crate::ir::{BufferId, Kernel};

/// What is known of a kernel's arguments when its schedule is chosen.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// For each input buffer whether it is a compile-time constant (a weight), so that it may be repacked ahead of time.
    pub constant_inputs: Vec<bool>,
}

/// How a constant input is laid out anew at compile time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Packing {
    /// A [batch, K, N] view (given by strides in elements over the original) as panels, zero-filled:
    /// [batch][ceil(N/width)][ceil(K/inner/group)][inner][width][group].
    Panels {
        /// Leading batch count.
        batch: u64,
        /// Contraction length.
        k: u64,
        /// Columns.
        n: u64,
        /// Element strides of (batch, k, n) in the original.
        strides: [u64; 3],
        /// Columns a panel.
        width: u64,
        /// Steps along K that lie together.
        group: u64,
        /// How many steps apart those are: K is [K / inner, inner], and groups are of the outer part.
        inner: u64,
    },
}

/// A buffer argument of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageBuffer {
    /// An argument of the kernel.
    Arg(BufferId),
    /// Bytes shared between stages of one kernel call; index in [`Scheduled::shared`].
    Shared(usize),
}

/// One launch: a function of the explicit level over a parallel range.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Function name in the emitted module.
    pub function: String,
    /// Its buffer arguments in order, and whether it writes each.
    pub buffers: Vec<(StageBuffer, bool)>,
    /// Units of its parallel range if all sizes are known, else 0.
    pub extent: u64,
    /// Units of its parallel range as an expression of the kernel's sizes.
    pub units: Dim,
    /// Fewest units worth a thread of their own.
    pub grain: u64,
    /// Scratch bytes each thread needs.
    pub scratch: u64,
}

/// A kernel with its schedule. Generic over the schedule so that this file stays free of any one family.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheduled<S> {
    /// The kernel.
    pub kernel: Kernel,
    /// How it is lowered.
    pub schedule: S,
    /// Launches in order.
    pub stages: Vec<Stage>,
    /// Sizes in bytes of buffers that live from one stage to a later one.
    pub shared: Vec<u64>,
    /// For each input the layout it must be given at compile time, if another.
    pub packed: Vec<Option<Packing>>,
    /// (input, output) argument pairs, by position among inputs and outputs, that may share memory: every element is read
    /// before or when the same thread overwrites it.
    pub in_place: Vec<(usize, usize)>,
}

impl Stage {
    /// Units of the parallel range for the given values of the kernel's sizes.
    pub fn extent_at(&self, names: &[String], values: &[i64]) -> u64 {
        let of = |s: &str| Some(Dim::constant(values[names.iter().position(|n| n == s)?]));
        self.units.substitute(&of).as_const().unwrap_or(0)
    }
}

impl Packing {
    /// Lays a constant out anew.
    pub fn apply(&self, t: &Tensor) -> Tensor {
        match self {
            Packing::Panels { batch, k, n, strides, width, group, inner } => {
                let size = t.dtype.size() as usize;
                let panels = n.div_ceil(*width);
                let groups = (k / inner).div_ceil(*group) * inner;
                let mut data = vec![0u8; (batch * panels * groups * group * width) as usize * size];
                for b in 0..*batch {
                    for p in 0..panels {
                        for kk in 0..*k {
                            let (outer, rest) = (kk / inner, kk % inner);
                            for w in 0..(*width).min(n - p * width) {
                                let from = (b * strides[0] + kk * strides[1] + (p * width + w) * strides[2]) as usize;
                                let line = (b * panels + p) * groups + outer / group * inner + rest;
                                let to = ((line * width + w) * group + outer % group) as usize;
                                data[to * size..][..size].copy_from_slice(&t.data[from * size..][..size]);
                            }
                        }
                    }
                }
                Tensor { dtype: t.dtype, dims: vec![*batch, panels, groups, *width, *group], data: data.into() }
            }
        }
    }
}
