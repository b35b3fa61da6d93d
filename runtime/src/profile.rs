//! Time spent in each launch.

use std::time::Duration;

/// The time one launch took, over all runs since the session was made or the profile reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchTime {
    /// How often it ran.
    pub runs: u64,
    /// Sum over the runs.
    pub total: Duration,
    /// Fastest run.
    pub min: Duration,
}

impl LaunchTime {
    /// Adds a run.
    pub(crate) fn add(&mut self, time: Duration) {
        self.min = if self.runs == 0 { time } else { self.min.min(time) };
        self.total += time;
        self.runs += 1;
    }
}
