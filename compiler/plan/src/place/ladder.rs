//! At which height to search next.
//!
//! Whether a restart succeeds depends on luck more than on a percent of height, so the search takes turns over several
//! heights between the bound and the best placement: one restart at each.

use std::collections::BTreeMap;

use super::cells::Cells;
use super::exact::{Outcome, Preference, Search};

/// Rungs in play at once, besides the bound.
const RUNGS: usize = 4;

/// Heights and their searches.
pub(crate) struct Ladder<'c> {
    cells: &'c Cells,
    /// Heights tried, ascending; none is below the bound.
    rungs: Vec<u64>,
    /// No placement is lower.
    least: u64,
    attempts: BTreeMap<u64, Attempt<'c>>,
    turn: usize,
    /// Nodes of attempts given up.
    spent: u64,
    elite: Option<Vec<u64>>,
}

impl<'c> Ladder<'c> {
    /// Rungs above `least` units, closer to each other the lower they are; one alone if a height is asked for.
    pub(crate) fn new(cells: &'c Cells, least: u64, asked: Option<u64>) -> Self {
        let mut rungs = vec![asked.unwrap_or(least)];
        let mut above = 1;
        while asked.is_none() && above <= least {
            rungs.push(least + above);
            above = (above + above / 4).max(above + 1);
        }
        Ladder { cells, rungs, least, attempts: BTreeMap::new(), turn: 0, spent: 0, elite: None }
    }

    /// The height to try next, at most `most`; none when nothing is left to try.
    pub(crate) fn next(&mut self, most: u64) -> Option<u64> {
        let open = self.rungs.iter().copied().filter(|r| *r >= self.least && *r <= most);
        let open: Vec<u64> = open.collect();
        let (&lowest, above) = open.split_first()?;
        let last = &above[above.len().saturating_sub(RUNGS)..];
        self.turn += 1;
        // The bound first, since many problems reach it at once; then from the top down.
        let at = (self.turn - 1) % (last.len() + 1);
        Some(if at == 0 { lowest } else { last[last.len() - at] })
    }

    /// Nodes of all searches.
    pub(crate) fn nodes(&self) -> u64 {
        self.spent + self.attempts.values().map(|a| a.search.nodes).sum::<u64>()
    }

    /// One restart at a height.
    pub(crate) fn run(&mut self, height: u64, nodes: u64) -> Outcome {
        let cells = self.cells;
        let attempt = self.attempts.entry(height).or_insert_with(|| Attempt::new(cells, height));
        let outcome = attempt.run(nodes, self.elite.as_deref());
        match &outcome {
            Outcome::Placed(offsets) => {
                self.elite = Some(offsets.clone());
                self.turn = 0;
                self.drop(|h| h >= height);
            }
            Outcome::Impossible => {
                self.least = height + 1;
                if self.rungs.first().is_some_and(|r| *r < self.least) && !self.rungs.contains(&self.least) {
                    self.rungs.push(self.least);
                    self.rungs.sort_unstable();
                }
                self.drop(|h| h <= height);
            }
            Outcome::Unknown => {}
        }
        outcome
    }

    fn drop(&mut self, which: impl Fn(u64) -> bool) {
        let spent = &mut self.spent;
        self.attempts.retain(|h, a| {
            let gone = which(*h);
            if gone {
                *spent += a.search.nodes;
            }
            !gone
        });
    }
}

/// The search at one height, restarted with one preference after another, and every second time with the sequence of the
/// best placement so far (as in Beck's solution-guided search, JAIR 2007).
struct Attempt<'c> {
    search: Search<'c>,
    /// Restarts by preference, and by the best placement.
    free: u64,
    guided: u64,
    slice: u64,
}

impl<'c> Attempt<'c> {
    fn new(cells: &'c Cells, height: u64) -> Self {
        Attempt { search: Search::new(cells, height), free: 0, guided: 0, slice: 2 * cells.len() as u64 + 100 }
    }

    /// One restart.
    fn run(&mut self, nodes: u64, elite: Option<&[u64]>) -> Outcome {
        let kinds = Preference::ALL.len() as u64;
        let nodes = self.slice.min(nodes);
        let like = elite.filter(|_| self.guided < self.free);
        let outcome = if let Some(elite) = like {
            self.guided += 1;
            self.search.run_like(elite, self.guided, nodes)
        } else {
            self.free += 1;
            let turn = self.free - 1;
            self.search.run(Preference::ALL[(turn % kinds) as usize], turn / kinds, nodes)
        };
        if (self.guided + self.free).is_multiple_of(8 * kinds) {
            self.slice *= 2;
        }
        outcome
    }
}
