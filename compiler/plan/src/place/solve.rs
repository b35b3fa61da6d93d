//! The way through placement: greedy, improved, exact.

use std::time::Instant;

use super::cells::Cells;
use super::exact::Outcome;
use super::improve::{Squeaky, sequences};
use super::ladder::Ladder;
use super::{Block, Placement, max_load};

/// The exact search is not tried on more blocks than this.
const MOST_FOR_SEARCH: usize = 3_000;
/// With more blocks than this the exact search gets fewer nodes.
const USUAL: usize = 500;

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
        PlaceLimits { nodes: 50_000, moves: 400_000, ..PlaceLimits::default() }
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

    /// The exact search at several heights in turns.
    fn search(&mut self, blocks: &[Block]) {
        let real: Vec<usize> = (0..blocks.len()).filter(|b| blocks[*b].extent() > 0).collect();
        let picked: Vec<Block> = real.iter().map(|b| blocks[*b].clone()).collect();
        let Some(cells) = Cells::new(&picked) else { return };
        let unit = cells.unit;
        let least = cells.loads.iter().copied().max().unwrap_or(0).max(self.lower_bound.div_ceil(unit));
        let asked = self.limits.enough.map(|e| e / unit).filter(|e| *e >= least);
        let mut ladder = Ladder::new(&cells, least, asked);
        // A node of many blocks takes longer.
        let nodes =
            if cells.len() > USUAL { self.limits.nodes * USUAL as u64 / cells.len() as u64 } else { self.limits.nodes };
        while !self.done() && self.nodes < nodes {
            let Some(height) = ladder.next((self.height() - 1) / unit) else { return };
            let before = ladder.nodes();
            let outcome = ladder.run(height, nodes - self.nodes);
            self.nodes += ladder.nodes() - before;
            match outcome {
                Outcome::Placed(offsets) => {
                    let mut all = vec![0; blocks.len()];
                    for (b, offset) in real.iter().zip(offsets) {
                        all[*b] = offset * unit;
                    }
                    let nodes = self.nodes;
                    self.offer(Placement::new(blocks, all), || format!("skyline search, {nodes} nodes"));
                }
                Outcome::Impossible => {
                    if (height + 1) * unit > self.lower_bound {
                        self.lower_bound = (height + 1) * unit;
                        self.proof = Proof::Exhaustive(self.nodes);
                    }
                }
                Outcome::Unknown => {}
            }
        }
    }
}
