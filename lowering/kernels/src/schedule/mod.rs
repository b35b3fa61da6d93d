//! Chooses how a kernel is lowered, and says what the planner needs to know of it.
//!
//! Contractions go to [`crate::contract`] where it takes them. Everything else is loops: the outer parallel iterators become the
//! stage's range, and either one of them is vectorised around all nests (map, column, window), or each nest is vectorised for
//! itself along an own parallel iterator or along its reduction (row). Which one is a matter of speed only: what a reduction
//! adds in which order is fixed by [`lane_rule`], from the kernel alone.

mod cost;
mod in_place;
mod linear;
mod plan;

pub use linear::{Action, LoopNest, Loops, Place};
pub use plan::{ACCUMULATORS, Kind, LANES, LoopStage, NestPlan, RUN_FOR_ACCUMULATORS, lane_rule};
pub(crate) use plan::{arguments, scratch, scratch_elements, units};

use neap_spec::CpuTarget;

use crate::contract::ContractSchedule;
use crate::ir::{Iter, Kernel};
use crate::scheduled::{Facts, Scheduled};

/// How a kernel is lowered.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "one lives a kernel; boxing would buy nothing")]
pub enum Schedule {
    /// Loops.
    Loops(LoopSchedule),
    /// Register tiles.
    Contract(ContractSchedule),
}

/// The stages of a kernel that is lowered to loops.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopSchedule {
    /// Stages in order.
    pub stages: Vec<LoopStage>,
    /// Whether tails use masks; else whole vectors and single elements.
    pub masked: bool,
}

impl Schedule {
    /// The family, for reports.
    pub fn name(&self) -> &'static str {
        match self {
            Schedule::Contract(_) => "contract",
            Schedule::Loops(l) => l.stages.first().map_or("empty", |s| s.kind.name()),
        }
    }
}

/// Chooses a schedule for a target.
pub fn schedule(kernel: &Kernel, facts: &Facts, target: &CpuTarget) -> Scheduled<Schedule> {
    let empty = |i: &Iter| i.extent.as_const() == Some(0);
    if kernel.outer.iter().any(empty) {
        return plan::nothing(kernel, target);
    }
    if let Some(s) = ContractSchedule::choose(kernel, facts, target) {
        return Scheduled {
            kernel: s.kernel,
            schedule: Schedule::Contract(s.schedule),
            stages: s.stages,
            shared: s.shared,
            packed: s.packed,
            in_place: s.in_place,
        };
    }
    plan::loops(kernel, target)
}
