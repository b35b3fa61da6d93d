//! The way through placement: greedy, improved, exact.

use std::time::Instant;

use super::cells::Cells;
use super::exact::Outcome;
use super::greedy::Stack;
use super::improve::{Squeaky, sequences};
use super::ladder::Ladder;
use super::reinsert::Reinsert;
use super::{Block, Placement, max_load};

/// The exact search is not tried on more blocks than this.
const MOST_FOR_SEARCH: usize = 3_000;
/// Greedy rounds before the exact search.
const FIRST_ROUNDS: u64 = 24;
/// Greedy rounds made whatever the limits say.
const ALWAYS: usize = 2;
/// Passing over so many cells, or over so many blocks, in a move of the local search counts as one block placed.
const CELLS_PER_MOVE: usize = 1024;
const BLOCKS_PER_MOVE: usize = 64;
/// What the exact search leaves is rarely found by greedy rounds: they get this part of their moves after it.
const AFTER_SEARCH: u64 = 4;
/// The local search counts no more than this: what it has not found by then it rarely finds.
const LOCAL_MOVES: u64 = 500_000;
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
        PlaceLimits { nodes: 2_000_000, moves: 2_000_000, enough: None, until: None }
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
    let mut greedy = Greedy::new(blocks);
    state.greedy(&mut greedy, blocks, FIRST_ROUNDS, limits.moves);
    let mut moves = limits.moves;
    if !state.done() && limits.nodes > 0 && blocks.len() <= MOST_FOR_SEARCH {
        let real: Vec<usize> = (0..blocks.len()).filter(|b| blocks[*b].extent() > 0).collect();
        let picked: Vec<Block> = real.iter().map(|b| blocks[*b].clone()).collect();
        if let Some(cells) = Cells::new(&picked) {
            let view = View { blocks, real, cells };
            state.reinsert(&view);
            if !state.done() {
                state.search(&view);
                moves /= AFTER_SEARCH;
            }
        }
    }
    if !state.done() {
        state.greedy(&mut greedy, blocks, u64::MAX, moves);
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

/// All sequences, and what they are placed with.
struct Greedy<'b> {
    stack: Stack<'b>,
    all: Vec<(&'static str, Squeaky)>,
    round: u64,
}

impl<'b> Greedy<'b> {
    fn new(blocks: &'b [Block]) -> Self {
        let all = sequences(blocks).into_iter().map(|(name, sequence)| (name, Squeaky::new(&sequence, 0))).collect();
        Greedy { stack: Stack::new(blocks), all, round: 0 }
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

    /// Rounds over all sequences in turns, until so many are done or the moves run out; two sequences are always tried.
    fn greedy(&mut self, greedy: &mut Greedy<'_>, blocks: &[Block], rounds: u64, moves: u64) {
        let end = greedy.round.saturating_add(rounds);
        while greedy.round < end {
            let turn = greedy.round as usize;
            if turn >= ALWAYS && turn as u64 * blocks.len() as u64 >= moves {
                return;
            }
            let count = greedy.all.len();
            let (name, squeaky) = &mut greedy.all[turn % count];
            let placement = squeaky.round(blocks, &mut greedy.stack, self.lower_bound);
            let how = if turn < count { "greedy" } else { "improved greedy" };
            self.offer(placement, || format!("{how} {name}"));
            greedy.round += 1;
            if self.done() {
                return;
            }
        }
    }

    /// Local search from the best placement, where the exact search has too many blocks to do better.
    fn reinsert(&mut self, view: &View<'_>) {
        let (cells, n) = (&view.cells, view.cells.len());
        let Some(best) = self.best.as_ref().filter(|_| n > USUAL) else { return };
        let offsets: Vec<u64> = view.real.iter().map(|b| best.offsets[*b] / cells.unit).collect();
        let Some(mut local) = Reinsert::new(cells, &offsets) else { return };
        let cost = cells.cells.len() / CELLS_PER_MOVE + n / BLOCKS_PER_MOVE + 1;
        for step in 1..=self.limits.moves.min(LOCAL_MOVES) / cost as u64 {
            let before = local.best.0;
            local.step();
            if local.best.0 < before {
                self.offer(view.placement(&local.best.1), || format!("local search, {step} moves"));
                if self.done() {
                    return;
                }
            }
            if self.limits.over() {
                return;
            }
        }
    }

    /// The exact search at several heights in turns.
    fn search(&mut self, view: &View<'_>) {
        let cells = &view.cells;
        let unit = cells.unit;
        let least = cells.loads.iter().copied().max().unwrap_or(0).max(self.lower_bound.div_ceil(unit));
        let asked = self.limits.enough.map(|e| e / unit).filter(|e| *e >= least);
        let mut ladder = Ladder::new(cells, least, asked);
        // A node of many blocks takes longer.
        let nodes = self.limits.nodes * USUAL.min(cells.len()) as u64 / cells.len().max(1) as u64;
        while !self.done() && self.nodes < nodes {
            let Some(height) = ladder.next((self.height() - 1) / unit) else { return };
            let before = ladder.nodes();
            let outcome = ladder.run(height, nodes - self.nodes);
            self.nodes += ladder.nodes() - before;
            let nodes = self.nodes;
            match outcome {
                Outcome::Placed(offsets) => {
                    self.offer(view.placement(&offsets), || format!("skyline search, {nodes} nodes"));
                }
                Outcome::Impossible => {
                    if (height + 1) * unit > self.lower_bound {
                        self.lower_bound = (height + 1) * unit;
                        self.proof = Proof::Exhaustive(nodes);
                    }
                }
                Outcome::Unknown => {}
            }
        }
    }
}

/// Blocks that have an extent, as cells.
struct View<'b> {
    blocks: &'b [Block],
    /// Which blocks these are.
    real: Vec<usize>,
    cells: Cells,
}

impl View<'_> {
    /// The placement of all blocks from offsets, in units, of those that have an extent.
    fn placement(&self, offsets: &[u64]) -> Placement {
        let mut all: Vec<u64> = self.blocks.iter().map(|b| b.align_up(0)).collect();
        for (b, offset) in self.real.iter().zip(offsets) {
            all[*b] = offset * self.cells.unit;
        }
        Placement::new(self.blocks, all)
    }
}
