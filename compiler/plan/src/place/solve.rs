//! The way through placement: greedy, improved, exact.

use std::collections::BTreeMap;
use std::time::Instant;

use super::exact::{Outcome, Preference, Search};
use super::improve::{Squeaky, sequences};
use super::sections::Sections;
use super::{Block, Placement, max_load};

/// The exact search is not tried on more blocks than this.
const MOST_FOR_SEARCH: usize = 3_000;

/// Limits of a placement: counts, and a moment to stop at only where the user asked for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceLimits {
    /// Nodes of the exact search.
    pub nodes: u64,
    /// Blocks placed by greedy rounds, all rounds together.
    pub moves: u64,
    /// Do not go on once the height is no larger than this.
    pub enough: Option<u64>,
    /// Stop then.
    pub until: Option<Instant>,
}

impl Default for PlaceLimits {
    fn default() -> Self {
        PlaceLimits { nodes: 1_000_000, moves: 2_000_000, enough: None, until: None }
    }
}

impl PlaceLimits {
    /// Limits of the heuristic mode: enough for a good answer in well under a second.
    pub fn heuristic() -> Self {
        PlaceLimits { nodes: 20_000, moves: 400_000, ..PlaceLimits::default() }
    }

    fn over(&self) -> bool {
        self.until.is_some_and(|t| Instant::now() >= t)
    }
}

/// Why no placement can be lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// So many bytes are alive at one time.
    Load,
    /// A search that left nothing out found nothing lower; so many nodes.
    Exhaustive(u64),
}

/// A placement with its bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The placement.
    pub placement: Placement,
    /// No placement is lower.
    pub lower_bound: u64,
    /// Why.
    pub proof: Proof,
    /// What found the placement.
    pub method: String,
    /// Nodes of the exact search.
    pub nodes: u64,
}

/// Places blocks as low as the limits allow.
pub fn place(blocks: &[Block], limits: &PlaceLimits) -> Placed {
    let floor = max_load(blocks);
    let mut state =
        State { best: None, lower_bound: floor, proof: Proof::Load, method: String::new(), nodes: 0, limits };
    state.greedy(blocks);
    if !state.done() && limits.nodes > 0 && blocks.len() <= MOST_FOR_SEARCH {
        state.search(blocks);
    }
    if !state.done() {
        state.improve(blocks);
    }
    let empty = || Placement { offsets: vec![0; blocks.len()], height: 0 };
    Placed {
        placement: state.best.unwrap_or_else(empty),
        lower_bound: state.lower_bound,
        proof: state.proof,
        method: state.method,
        nodes: state.nodes,
    }
}

struct State<'l> {
    best: Option<Placement>,
    lower_bound: u64,
    proof: Proof,
    method: String,
    nodes: u64,
    limits: &'l PlaceLimits,
}

impl State<'_> {
    fn done(&self) -> bool {
        let enough = self.limits.enough.unwrap_or(0).max(self.lower_bound);
        self.best.as_ref().is_some_and(|b| b.height <= enough) || self.limits.over()
    }

    fn height(&self) -> u64 {
        self.best.as_ref().map_or(u64::MAX, |b| b.height)
    }

    fn offer(&mut self, placement: Placement, method: impl FnOnce() -> String) {
        if placement.height < self.height() {
            self.best = Some(placement);
            self.method = method();
        }
    }

    /// Each simple sequence, then a few rounds of improvement for each.
    fn greedy(&mut self, blocks: &[Block]) {
        for (name, sequence) in sequences(blocks) {
            let mut squeaky = Squeaky::new(blocks, &sequence, 0);
            for round in 0..4 {
                let placement = squeaky.round(self.lower_bound);
                self.offer(placement, || {
                    if round == 0 { format!("greedy {name}") } else { format!("improved greedy {name}") }
                });
                if self.done() {
                    return;
                }
            }
        }
    }

    /// Rounds of improvement until the moves run out, in turns over all sequences.
    fn improve(&mut self, blocks: &[Block]) {
        let mut all: Vec<_> =
            sequences(blocks).into_iter().map(|(name, sequence)| (name, Squeaky::new(blocks, &sequence, 1))).collect();
        let mut moves = 0;
        while moves < self.limits.moves {
            for (name, squeaky) in &mut all {
                let placement = squeaky.round(self.lower_bound);
                self.offer(placement, || format!("improved greedy {name}"));
                moves += blocks.len().max(1) as u64;
                if self.done() || moves >= self.limits.moves {
                    return;
                }
            }
        }
    }

    /// The exact search: at the height asked for or else at the bound, then halving what lies between bound and best; again
    /// and again with more nodes. The search at each height goes on where it stopped.
    fn search(&mut self, blocks: &[Block]) {
        let real: Vec<usize> = (0..blocks.len()).filter(|b| blocks[*b].extent() > 0).collect();
        let boxes: Vec<Block> = real.iter().map(|b| boxed(&blocks[*b])).collect();
        let Some(sections) = Sections::new(&boxes) else { return };
        // Around blocks of several pieces a box is a restriction: what fits is a placement, what does not proves nothing.
        let faithful = real.iter().all(|b| blocks[*b].pieces.len() == 1);
        let unit = sections.unit;
        let least = sections.loads().into_iter().max().unwrap_or(0);
        let mut attempts: BTreeMap<u64, Attempt<'_>> = BTreeMap::new();
        let mut budget = 4 * boxes.len() as u64 + 200;
        while !self.done() && self.nodes < self.limits.nodes {
            let mut low = least.max(self.lower_bound.div_ceil(unit));
            let asked = self.limits.enough.map(|e| e / unit).filter(|e| *e >= low);
            let mut next = asked.unwrap_or(low);
            let mut share = budget;
            while next * unit < self.height() {
                let attempt = attempts.entry(next).or_insert_with(|| Attempt::new(&sections, next));
                match self.go_on(blocks, &real, attempt, share, unit) {
                    Outcome::Placed(_) => {}
                    Outcome::Impossible if faithful && next == low => {
                        self.lower_bound = (low + 1) * unit;
                        self.proof = Proof::Exhaustive(self.nodes);
                        low += 1;
                    }
                    Outcome::Impossible | Outcome::Unknown => low = next + 1,
                }
                let high = self.height() / unit;
                attempts.retain(|h, _| *h < high);
                if self.done() || self.nodes >= self.limits.nodes {
                    return;
                }
                if asked.is_some() || high <= low + low / 1000 {
                    break;
                }
                next = low + (high - low) / 2;
                share = budget / 3;
            }
            if least * unit >= self.height() {
                return;
            }
            budget *= 3;
        }
    }

    fn go_on(&mut self, blocks: &[Block], real: &[usize], a: &mut Attempt<'_>, budget: u64, unit: u64) -> Outcome {
        let before = a.search.nodes;
        let budget = budget.min(self.limits.nodes.saturating_sub(self.nodes));
        let mut outcome = Outcome::Unknown;
        while outcome == Outcome::Unknown && !self.limits.over() {
            let left = budget.saturating_sub(a.search.nodes - before);
            if left == 0 {
                break;
            }
            outcome = a.run(left);
        }
        self.nodes += a.search.nodes - before;
        if let Outcome::Placed(offsets) = &outcome {
            let mut all = vec![0; blocks.len()];
            for (b, offset) in real.iter().zip(offsets) {
                all[*b] = offset * unit;
            }
            let nodes = self.nodes;
            self.offer(Placement::new(blocks, all), || format!("skyline search, {nodes} nodes"));
        }
        outcome
    }
}

/// The search at one height, restarted with one preference after another.
struct Attempt<'s> {
    search: Search<'s>,
    restarts: u64,
    slice: u64,
}

impl<'s> Attempt<'s> {
    fn new(sections: &'s Sections, height: u64) -> Self {
        Attempt { search: Search::new(sections, height), restarts: 0, slice: 2 * sections.len() as u64 + 100 }
    }

    /// One restart.
    fn run(&mut self, nodes: u64) -> Outcome {
        let kinds = Preference::ALL.len() as u64;
        let preference = Preference::ALL[(self.restarts % kinds) as usize];
        let outcome = self.search.run(preference, self.restarts / kinds, self.slice.min(nodes));
        self.restarts += 1;
        if self.restarts.is_multiple_of(8 * kinds) {
            self.slice *= 2;
        }
        outcome
    }
}

/// The smallest rectangle around a block.
fn boxed(b: &Block) -> Block {
    Block { phase: b.phase, ..Block::rectangle(b.lower(), b.upper(), b.extent(), b.align) }
}
