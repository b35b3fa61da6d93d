//! Which bytes are dead when, in the arena and in the caller's outputs.
//!
//! In poison mode dead bytes hold ones. A kernel that reads what it must not read computes NaN instead of passing by luck,
//! and one that writes where it must not is found when the bytes are born: they are no longer poisoned then. A written
//! buffer is fully written (see [`crate::program::BufferRef`]), which makes this plain backward liveness over byte ranges.

use crate::liveness::{Line, Span, subtract, union};
use crate::program::Program;
use crate::scratch::Scratch;

/// A byte range of one memory, end excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// None: the arena; else the caller's output by position.
    pub(crate) output: Option<usize>,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// What is born and what dies at each launch.
pub(crate) struct Watch {
    /// For each launch the ranges it writes, scratch among them, that nobody holds before.
    pub(crate) born: Vec<Vec<Range>>,
    /// For each launch the ranges it touches, scratch among them, that no later launch reads before they are written again.
    pub(crate) dead: Vec<Vec<Range>>,
    /// What of the arena holds nothing after the last launch.
    pub(crate) rest: Vec<Range>,
}

impl Watch {
    /// Of a program whose launches run on so many threads with their scratch at these places.
    pub(crate) fn new(program: &Program, places: &[Scratch], parts: &[usize]) -> Watch {
        let sizes: Vec<u64> = program.foreign_outputs().collect();
        let end = |(s, p): (&Scratch, &usize)| s.at + s.stride * *p as u64;
        let arena = places.iter().zip(parts).map(end).fold(program.arena_bytes, u64::max);
        let line = Line::new(arena, &sizes);
        // Outputs are read by the caller in the end.
        let mut live = union(program.held_ranges().filter(|(start, end)| start < end).collect(), &line.outputs(&sizes));
        let all: &[Span] = if arena > 0 { &[(0, arena)] } else { &[] };
        let rest = ranges(&line, &subtract(all, &live));
        let (mut born, mut dead) = (vec![], vec![]);
        for (launch, scratch) in program.launches.iter().zip(places.iter().zip(parts)).rev() {
            let (reads, writes) = (line.spans(launch, false), line.spans(launch, true));
            let own = (scratch.0.at, end(scratch));
            let own: &[Span] = if own.0 < own.1 { &[own] } else { &[] };
            let touched = union(union(reads.clone(), &writes), own);
            dead.push(ranges(&line, &subtract(&touched, &live)));
            live = union(subtract(&live, &writes), &reads);
            born.push(ranges(&line, &subtract(&union(writes, own), &live)));
        }
        born.reverse();
        dead.reverse();
        Watch { born, dead, rest }
    }
}

fn ranges(line: &Line, spans: &[Span]) -> Vec<Range> {
    let range = |&(start, end): &Span| {
        let (output, base) = line.memory(start);
        Range { output, start: start - base, end: end - base }
    };
    spans.iter().map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::liveness::samples::{launch, program};
    use crate::program::Place;

    fn arena(start: u64, end: u64) -> Range {
        Range { output: None, start, end }
    }

    #[test]
    fn a_range_dies_after_its_last_reader_until_it_is_written_again() {
        let at = Place::Arena;
        let launches = [
            launch(0, &[(at(0), 16, true)]),
            launch(0, &[(at(0), 16, false), (at(16), 16, true)]),
            launch(0, &[(at(16), 16, false), (at(0), 8, true)]),
            launch(0, &[(at(0), 8, false), (at(0), 8, true)]),
            launch(0, &[(at(0), 8, false)]),
        ];
        let watch = Watch::new(&program(32, &[], launches.into()), &[Scratch::default(); 5], &[1; 5]);
        assert_eq!(watch.dead, [vec![], vec![arena(0, 16)], vec![arena(16, 32)], vec![], vec![arena(0, 8)]]);
        assert_eq!(watch.born, [vec![arena(0, 16)], vec![arena(16, 32)], vec![arena(0, 8)], vec![], vec![]]);
    }

    #[test]
    fn outputs_are_memory_until_they_are_written_for_good() {
        let of = |start, end| Range { output: Some(1), start, end };
        let at = |offset| Place::Output(1, offset);
        let launches = [
            launch(0, &[(at(0), 8, true), (Place::Output(0, 0), 4, true)]),
            launch(0, &[(at(0), 8, false), (at(8), 8, true)]),
            launch(0, &[(at(8), 8, false), (at(0), 8, true)]),
        ];
        let watch = Watch::new(&program(32, &[4, 16], launches.into()), &[Scratch::default(); 3], &[1; 3]);
        assert_eq!(watch.dead, [vec![], vec![of(0, 8)], vec![]]);
        let first = Range { output: Some(0), start: 0, end: 4 };
        assert_eq!(watch.born, [vec![first, of(0, 8)], vec![of(8, 16)], vec![of(0, 8)]]);
    }

    #[test]
    fn scratch_is_born_and_dies_with_its_launch() {
        let launches = vec![launch(8, &[(Place::Arena(0), 32, true)]), launch(0, &[(Place::Arena(0), 32, false)])];
        let places = [Scratch { at: 64, stride: 64 }, Scratch::default()];
        let watch = Watch::new(&program(64, &[], launches), &places, &[2, 1]);
        assert_eq!(watch.born, [vec![arena(0, 32), arena(64, 192)], vec![]]);
        assert_eq!(watch.dead, [vec![arena(64, 192)], vec![arena(0, 32)]]);
    }
}
