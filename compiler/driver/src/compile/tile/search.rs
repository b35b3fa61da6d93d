//! Which segments to tile: from the peak outwards, by estimated live bytes, within a budget of recomputation.
//!
//! Greedy: every round looks at the segments around the present peak, between narrow places, along each dim that the importer
//! gives data to lie along (batch, then channels or positions, then rows), and takes what lowers the peak most. Peaks are
//! compared by a smooth maximum, so that of several equal ones each step may lower one. A step must be worth its time: what
//! it saves of the arena and the caller's buffers is weighed against the time that it is thought to lose. Weights do not count:
//! they are clean pages of a file. All limits are counts.

use neap_optable::Body;

use super::build::{Built, Decision, build};
use super::estimate::{Estimate, Fact, estimate};

/// Dims that are cut.
const AXES: [usize; 3] = [0, 2, 1];
/// Numbers of tiles tried.
const TILES: [u64; 9] = [2, 4, 7, 8, 14, 16, 28, 32, 64];
/// Tiles with which segments are compared first.
const FIRST: u64 = 4;
/// Nodes written in one round at most, about.
const WORK: usize = 200_000;
/// Segments that are tried with all numbers of tiles.
const BEST: usize = 6;
/// Rounds at most.
const ROUNDS: usize = 16;
/// Nodes of a tiled body at most, so that it is soon planned and compiled.
const NODES: usize = 4_000;

/// What else tiles cost, in operations: about 20 are done in a nanosecond, a launch takes a microsecond, moving a byte a
/// fifth of a nanosecond, and reading one of a weight a tenth.
const LAUNCH: f64 = 20_000.0;
const MOVED: f64 = 4.0;
const WEIGHT: f64 = 2.0;
/// How much less memory a slowdown must bring, both relative.
const WORTH: f64 = 4.0;

/// Decisions with what they are thought to cost.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The decisions.
    pub decisions: Vec<Decision>,
    /// Estimated peak, bytes.
    pub peak: u64,
    /// Operations computed more than once, over all operations of the base.
    pub recompute: f64,
    /// Smooth maximum of the live bytes.
    smooth: f64,
    /// Live bytes a base node.
    profile: Vec<u64>,
    /// Nodes written.
    nodes: usize,
    /// Time lost to recompute, launches, moves and weights read again, as a share of the model's.
    slowdown: f64,
    /// What is made small.
    rank: f64,
}

/// What is searched.
pub struct Search<'a> {
    /// The body, in the order of a plan.
    pub base: &'a Body,
    /// One a node of it.
    pub facts: &'a [Fact],
    /// Largest recompute.
    pub limit: f64,
    /// Called with each round's estimate and often in between; says whether to go on.
    pub go_on: &'a dyn Fn(u64) -> bool,
    /// Bytes of the caller's buffers, which no tiling makes less.
    fixed: u64,
    /// Operations of the base.
    flops: u64,
    /// Its costs beside these.
    overhead: f64,
}

impl<'a> Search<'a> {
    /// A search over a body.
    ///
    /// # Errors
    /// Where nothing can be built of it.
    pub fn new(base: &'a Body, facts: &'a [Fact], limit: f64, go_on: &'a dyn Fn(u64) -> bool) -> Result<Self, String> {
        let fixed = base.args.iter().chain(&base.results).filter_map(|v| base.ty(*v).bytes()).sum();
        let overhead = overhead(&estimate(&build(base, &[])?, facts));
        Ok(Search { base, facts, limit, go_on, fixed, flops: flops(base), overhead })
    }

    /// Greedy choices, each better than the one before by the estimate; the first decides nothing.
    pub fn run(&self) -> Vec<Choice> {
        let Some(nothing) = self.judge(vec![]) else { return vec![] };
        tracing::debug!(peak = nothing.peak, nodes = nothing.nodes, "untiled");
        let mut path = vec![nothing];
        for _ in 0..ROUNDS {
            let Some(now) = path.last() else { break };
            if !(self.go_on)(now.peak) {
                break;
            }
            let Some(next) = self.step(now) else { break };
            tracing::debug!(peak = next.peak, slowdown = next.slowdown, recompute = next.recompute, nodes = next.nodes, decisions = ?next.decisions, "tile");
            path.push(next);
        }
        path
    }

    /// The best choice that changes one decision.
    fn step(&self, now: &Choice) -> Option<Choice> {
        let mut tried: Vec<Choice> = vec![];
        for (from, to) in self.segments(now) {
            if !(self.go_on)(now.peak) {
                break;
            }
            for axis in AXES {
                tried.extend(self.with(now, Decision { from, to, axis, tiles: FIRST }));
            }
        }
        tried.sort_by(|a, b| a.rank.total_cmp(&b.rank));
        if let Some(c) = tried.first() {
            tracing::debug!(tried = tried.len(), peak = c.peak, slowdown = c.slowdown, decisions = ?c.decisions, "first");
        }
        tried.truncate(BEST);
        let mut all = tried.clone();
        for c in &tried {
            let Some(d) = c.decisions.last() else { continue };
            all.extend(
                TILES
                    .iter()
                    .filter(|t| **t != FIRST)
                    .filter_map(|&tiles| self.with(now, Decision { tiles, ..d.clone() })),
            );
        }
        all.into_iter().filter(|c| c.better(now)).min_by(|a, b| a.rank.total_cmp(&b.rank))
    }

    /// A decision in place of all that do not agree with it.
    fn with(&self, now: &Choice, d: Decision) -> Option<Choice> {
        let mut decisions: Vec<Decision> = now.decisions.iter().filter(|o| o.agrees(&d)).cloned().collect();
        decisions.push(d);
        self.judge(decisions)
    }

    /// What decisions are worth, if they can be applied within the limit.
    pub fn judge(&self, decisions: Vec<Decision>) -> Option<Choice> {
        let built = build(self.base, &decisions).ok()?;
        let recompute = recompute(&built, self.flops);
        if recompute > self.limit {
            return None;
        }
        if built.body.nodes.len() > NODES && !decisions.is_empty() {
            return None;
        }
        let found = estimate(&built, self.facts);
        let peak = found.live.iter().copied().max().unwrap_or(0);
        let smooth = found.live.iter().map(|b| (*b as f64).powi(12)).sum::<f64>().powf(1.0 / 12.0);
        let slowdown = recompute + (overhead(&found) - self.overhead) / (self.flops as f64 + self.overhead).max(1.0);
        let doublings: f64 = built.tiles.iter().map(|t| (*t as f64).log2()).sum();
        let rank = (smooth + self.fixed as f64) * (1.0 + WORTH * slowdown.max(0.0)) * (1.0 + 0.001 * doublings);
        let nodes = built.body.nodes.len();
        Some(Choice { decisions, peak, recompute, smooth, profile: found.live, nodes, slowdown, rank })
    }

    /// Segments around the peak, between the narrowest places at both sides.
    fn segments(&self, now: &Choice) -> Vec<(usize, usize)> {
        let n = self.base.nodes.len();
        let Some(peak) = (0..n).max_by_key(|i| (now.profile[*i], std::cmp::Reverse(*i))) else { return vec![] };
        // What is decided already is written with every candidate.
        let each = ((WORK / now.nodes.max(1) / AXES.len() / FIRST as usize) as f64).sqrt() as usize;
        let each = each.clamp(4, 32);
        let before = nearest(&now.profile, (0..=peak).rev(), each);
        let behind = nearest(&now.profile, peak + 1..=n, each);
        before.iter().flat_map(|a| behind.iter().map(|b| (*a, *b))).collect()
    }
}

impl Choice {
    fn better(&self, now: &Choice) -> bool {
        self.peak <= now.peak && self.smooth < now.smooth && self.rank < now.rank * 0.995
    }
}

/// Costs beside the operations themselves, as operations.
fn overhead(found: &Estimate) -> f64 {
    found.launches as f64 * LAUNCH + found.moved as f64 * MOVED + found.weights as f64 * WEIGHT
}

/// Places between nodes: the next ones, and beyond them the narrowest, by the bytes alive around them.
fn nearest(profile: &[u64], places: impl Iterator<Item = usize>, most: usize) -> Vec<usize> {
    let all: Vec<usize> = places.collect();
    let close = most / 2;
    let mut out: Vec<usize> = all.iter().take(close).copied().collect();
    let width = |p: usize| {
        let at = |i: Option<usize>| i.and_then(|i| profile.get(i)).copied().unwrap_or(0);
        at(p.checked_sub(1)).min(at(Some(p)))
    };
    let mut rest: Vec<usize> = all.iter().skip(close).copied().collect();
    rest.sort_by_key(|p| (width(*p), *p));
    // The ends of the graph are always worth a try.
    out.extend(all.last());
    out.extend(rest.into_iter().take(most - close));
    out.sort_unstable();
    out.dedup();
    out
}

/// Operations of a body.
fn flops(body: &Body) -> u64 {
    body.flops().as_const().unwrap_or(0)
}

/// The share of operations that are computed more than once.
fn recompute(built: &Built, before: u64) -> f64 {
    (flops(&built.body) as f64 - before as f64).max(0.0) / (before as f64).max(1.0)
}
