//! Placement against trying every offset, on thousands of small random problems.

use super::cells::Cells;
use super::exact::{Outcome, Preference, Search};
use super::reinsert::Reinsert;
use super::{Block, Piece, PlaceLimits, Placement, place, synthetic};
use crate::check_placement;
use crate::random::Random;

struct Dice(Random);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0.bits() % n
    }
}

/// The least height of any placement, by trying every offset.
fn least(blocks: &[Block]) -> u64 {
    // As many bytes as are held at one time.
    let held = |t: u64, b: &Block| {
        let holds = |a: &u64| {
            b.pieces.iter().any(|p| (p.lower..p.upper).contains(&t) && (p.offset..p.offset + p.size).contains(a))
        };
        (0..b.extent()).filter(holds).count() as u64
    };
    let mut height = (0..20).map(|t| blocks.iter().map(|b| held(t, b)).sum()).max().unwrap_or(0);
    while !fits(blocks, &mut Vec::new(), height) {
        height += 1;
    }
    height
}

fn fits(blocks: &[Block], offsets: &mut Vec<u64>, height: u64) -> bool {
    let Some(b) = blocks.get(offsets.len()) else { return true };
    for at in 0..=height {
        let fine = at + b.extent() <= height
            && at % b.align == b.phase % b.align
            && blocks
                .iter()
                .zip(&*offsets)
                .all(|(c, o)| b.pieces.iter().all(|p| c.pieces.iter().all(|q| apart(p, at, q, *o))));
        if fine {
            offsets.push(at);
            let done = fits(blocks, offsets, height);
            offsets.pop();
            if done {
                return true;
            }
        }
    }
    false
}

fn apart(p: &Piece, at: u64, q: &Piece, o: u64) -> bool {
    p.upper <= q.lower
        || q.upper <= p.lower
        || at + p.offset + p.size <= o + q.offset
        || o + q.offset + q.size <= at + p.offset
}

fn rectangles(d: &mut Dice, count: u64, times: u64, most: u64) -> Vec<Block> {
    (0..count)
        .map(|_| {
            let lower = d.below(times);
            Block::rectangle(lower, lower + 1 + d.below(times - lower), 1 + d.below(most), 1)
        })
        .collect()
}

/// The search alone, without anything else: it finds the optimum and proves that nothing is lower.
fn search(what: &str, blocks: &[Block], optimum: u64) {
    let cells = Cells::new(blocks).unwrap();
    for (p, preference) in Preference::ALL.into_iter().enumerate() {
        let height = optimum / cells.unit;
        let placed = Search::new(&cells, height).run(preference, p as u64, 100_000);
        assert!(matches!(placed, Outcome::Placed(_)), "{what}: {placed:?}\n{blocks:?}");
        let lower = Search::new(&cells, height - 1).run(preference, p as u64, 100_000);
        assert_eq!(lower, Outcome::Impossible, "{what}\n{blocks:?}");
    }
}

/// Local search alone: what it finds is a placement.
fn local(what: &str, blocks: &[Block], optimum: u64) {
    let sequence: Vec<usize> = (0..blocks.len()).collect();
    let start = super::greedy(blocks, &sequence);
    let cells = Cells::new(blocks).unwrap();
    let offsets: Vec<u64> = start.offsets.iter().map(|o| o / cells.unit).collect();
    let mut local = Reinsert::new(&cells, &offsets).unwrap();
    for _ in 0..30 {
        local.step();
    }
    let offsets: Vec<u64> = local.best.1.iter().map(|o| o * cells.unit).collect();
    let placement = Placement::new(blocks, offsets);
    assert_eq!(placement.height, local.best.0 * cells.unit, "{what}");
    assert!(placement.height >= optimum, "{what}: below {optimum}");
    for b in 0..blocks.len() {
        assert_eq!(placement.offsets[b] % blocks[b].align, blocks[b].phase, "{what}");
        for c in 0..b {
            let (at, other) = (placement.offsets[b], placement.offsets[c]);
            let fine = |p: &Piece| blocks[c].pieces.iter().all(|q| apart(p, at, q, other));
            assert!(blocks[b].pieces.iter().all(fine), "{what}: {b} and {c}\n{blocks:?}\n{placement:?}");
        }
    }
}

/// Says how many problems need more than their load.
fn compare(what: &str, seeds: std::ops::Range<u64>, make: impl Fn(&mut Dice) -> Vec<Block>) -> u64 {
    let mut above = 0;
    for seed in seeds {
        let blocks = make(&mut Dice(Random::new(seed)));
        let ids: Vec<String> = (0..blocks.len()).map(|b| b.to_string()).collect();
        let optimum = least(&blocks);
        for limits in [
            PlaceLimits::default(),
            PlaceLimits::heuristic(),
            PlaceLimits { enough: Some(optimum), ..PlaceLimits::default() },
        ] {
            let placed = place(&blocks, &limits);
            check_placement(&ids, &blocks, &placed).unwrap_or_else(|e| panic!("{what} {seed}: {e}\n{blocks:?}"));
            assert!(
                placed.lower_bound <= optimum,
                "{what} {seed}: bound {} over {optimum}\n{blocks:?}\n{placed:?}",
                placed.lower_bound
            );
            assert!(placed.placement.height >= optimum, "{what} {seed}: below {optimum}\n{blocks:?}\n{placed:?}");
            assert_eq!(placed.placement.height, optimum, "{what} {seed}\n{blocks:?}\n{placed:?}");
            assert!(limits.enough.is_some() || placed.lower_bound == optimum, "{what} {seed}: not proven\n{blocks:?}");
        }
        above += u64::from(optimum > super::max_load(&blocks));
        search(&format!("{what} {seed}"), &blocks, optimum);
        local(&format!("{what} {seed}"), &blocks, optimum);
    }
    above
}

/// Blocks of up to three rectangles at various offsets, some aligned.
fn pieces(d: &mut Dice, count: u64, times: u64, most: u64, aligned: bool) -> Vec<Block> {
    (0..count)
        .map(|_| {
            let mut list = Vec::new();
            for _ in 0..1 + d.below(3) {
                let lower = d.below(times);
                let upper = lower + 1 + d.below(times - lower);
                list.push(Piece { lower, upper, offset: d.below(most), size: 1 + d.below(most) });
            }
            let base = list.iter().map(|p| p.offset).min().unwrap();
            list.iter_mut().for_each(|p| p.offset -= base);
            let align = if aligned { 1 << d.below(3) } else { 1 };
            let phase = d.below(align);
            Block::new(list, align, phase)
        })
        .collect()
}

#[test]
fn few_rectangles() {
    compare("rectangles", 0..3000, |d| {
        let (count, times) = (3 + d.below(6), 3 + d.below(6));
        rectangles(d, count, times, 4)
    });
}

/// Rectangles that fill every instant to the same height, in no known arrangement.
fn full(d: &mut Dice, times: usize, height: u64) -> Vec<Block> {
    let mut room = vec![height; times];
    let mut blocks = Vec::new();
    while let Some(lower) = room.iter().position(|r| *r > 0) {
        let reach = room[lower..].iter().take_while(|r| **r > 0).count() as u64;
        let upper = lower + 1 + d.below(reach) as usize;
        let most = room[lower..upper].iter().copied().min().unwrap_or(0).min(4);
        let size = 1 + d.below(most);
        room[lower..upper].iter_mut().for_each(|r| *r -= size);
        blocks.push(Block::rectangle(lower as u64, upper as u64, size, 1));
    }
    blocks
}

/// Few problems of rectangles need more than their load: the search picks them, and trying everything has to agree.
#[test]
fn rectangles_above_their_load() {
    let mut above = 0;
    for seed in 0..60_000 {
        let mut d = Dice(Random::new(seed));
        let (times, height) = (5 + d.below(4) as usize, 7 + d.below(3));
        let mut blocks = full(&mut d, times, height);
        if blocks.len() > 16 {
            continue;
        }
        blocks.sort_by_key(|b| std::cmp::Reverse(b.area()));
        let cells = Cells::new(&blocks).unwrap();
        match Search::new(&cells, height / cells.unit).run(Preference::Longest, 0, 100_000) {
            Outcome::Placed(_) => {}
            Outcome::Impossible => {
                above += 1;
                assert!(!fits(&blocks, &mut Vec::new(), height), "{seed}: not impossible\n{blocks:?}");
                // One more: where there is room to spare, the search has to find what trying everything finds.
                if above % 4 == 0 {
                    let found = Search::new(&cells, height / cells.unit + 1).run(Preference::Area, 0, 100_000);
                    let placed = matches!(found, Outcome::Placed(_));
                    assert_eq!(
                        fits(&blocks, &mut Vec::new(), height + cells.unit),
                        placed,
                        "{seed}: {found:?}\n{blocks:?}"
                    );
                }
            }
            Outcome::Unknown => panic!("{seed}: unknown\n{blocks:?}"),
        }
    }
    assert!(above > 10, "{above}");
}

#[test]
fn blocks_of_pieces() {
    let above = compare("pieces", 0..6000, |d| {
        let (count, times) = (2 + d.below(5), 2 + d.below(5));
        pieces(d, count, times, 4, false)
    });
    assert!(above > 50, "{above}");
}

#[test]
fn aligned_blocks_of_pieces() {
    let above = compare("aligned", 0..3000, |d| {
        let (count, times) = (2 + d.below(4), 2 + d.below(4));
        pieces(d, count, times, 3, true)
    });
    assert!(above > 50, "{above}");
}

#[test]
fn greedy_is_lowest_fit() {
    for seed in 0..2000 {
        let mut d = Dice(Random::new(seed));
        let count = 1 + d.below(30);
        let blocks = pieces(&mut d, count, 25, 9, true);
        let sequence: Vec<usize> = (0..blocks.len()).collect();
        let placement = super::greedy(&blocks, &sequence);
        for b in 0..blocks.len() {
            let free = |at: &u64| {
                let clash =
                    |p: &Piece, c: usize| blocks[c].pieces.iter().any(|q| !apart(p, *at, q, placement.offsets[c]));
                at % blocks[b].align == blocks[b].phase && !blocks[b].pieces.iter().any(|p| (0..b).any(|c| clash(p, c)))
            };
            assert_eq!(Some(placement.offsets[b]), (0..).find(free), "{seed}: block {b}\n{blocks:?}");
        }
    }
}

#[test]
fn large_problems_nearly_reach_their_load() {
    for (blocks, within) in [
        (synthetic::trace(1, 20_000), 0.001),
        (synthetic::chain(1, 3_000), 0.0),
        (synthetic::scattered(1, 5_000), 0.05),
    ] {
        let ids: Vec<String> = (0..blocks.len()).map(|b| b.to_string()).collect();
        let placed = place(&blocks, &PlaceLimits { nodes: 0, moves: 100_000, ..PlaceLimits::default() });
        check_placement(&ids, &blocks, &placed).unwrap();
        let over = placed.placement.height as f64 / placed.lower_bound as f64 - 1.0;
        assert!(over <= within, "{over}");
    }
}
