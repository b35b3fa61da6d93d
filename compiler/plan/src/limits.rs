//! How hard to try, and for what.

use std::time::{Duration, Instant};

use crate::place::PlaceLimits;

/// What to make small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// The bytes of the arena.
    #[default]
    Arena,
    /// The bytes alive at the worst step; the placement is then only as good as a quick one.
    Peak,
}

/// How hard to try.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// Search for proven optima within the limits.
    #[default]
    Search,
    /// Heuristics alone.
    Heuristic,
}

/// Limits of the search: counts, so that the same limits always give the same answer, and a time only where the user sets one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// What to make small.
    pub objective: Objective,
    /// How hard to try.
    pub effort: Effort,
    /// States of the order search.
    pub order_states: u64,
    /// Nodes of the placement search.
    pub place_nodes: u64,
    /// Rounds of improvement of large orders and placements.
    pub rounds: u64,
    /// Stop searching after this long; answers then depend on the machine.
    pub time: Option<Duration>,
    /// Stop as soon as the arena is no larger than this.
    pub capacity: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            objective: Objective::Arena,
            effort: Effort::Search,
            order_states: 1_000_000,
            place_nodes: 200_000,
            rounds: 1_000,
            time: None,
            capacity: None,
        }
    }
}

impl Limits {
    /// The limits of each placement.
    pub(crate) fn place(&self, until: Option<Instant>) -> PlaceLimits {
        let base = match (self.effort, self.objective) {
            (Effort::Search, Objective::Arena) => PlaceLimits { nodes: self.place_nodes, ..PlaceLimits::default() },
            _ => PlaceLimits::heuristic(),
        };
        PlaceLimits { enough: self.capacity, until, ..base }
    }
}

/// A moment to stop at, only where the user asked for one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock(pub(crate) Option<Instant>);

impl Clock {
    /// Never.
    pub(crate) fn none() -> Self {
        Clock(None)
    }

    /// Whether it is time to stop.
    pub(crate) fn over(&self) -> bool {
        self.0.is_some_and(|t| Instant::now() >= t)
    }
}
