//! Which bytes of the arena are dead after each launch.
//!
//! In poison mode they are overwritten, so that a kernel that reads what it must not read computes NaN instead of
//! passing by luck. A written buffer is fully written (see [`crate::program::BufferRef`]), which makes this plain
//! backward liveness over byte ranges.

use crate::program::{Launch, Place};

/// A byte range of the arena, end excluded.
pub(crate) type Range = (u64, u64);

/// For each launch the ranges it touched that no later launch reads before they are written again.
pub(crate) fn dead_after(launches: &[Launch]) -> Vec<Vec<Range>> {
    let mut live: Vec<Range> = Vec::new();
    let mut dead = Vec::with_capacity(launches.len());
    for launch in launches.iter().rev() {
        let (reads, writes) = (ranges(launch, false), ranges(launch, true));
        let touched = union(reads.clone(), &writes);
        dead.push(subtract(&touched, &live));
        live = union(subtract(&live, &writes), &reads);
    }
    dead.reverse();
    dead
}

/// The arena ranges a launch reads or writes, sorted and disjoint.
fn ranges(launch: &Launch, written: bool) -> Vec<Range> {
    let arena = launch.buffers.iter().filter(|b| b.written == written && b.bytes > 0);
    let arena = arena.filter_map(|b| match b.place {
        Place::Arena(offset) => Some((offset, offset + b.bytes)),
        _ => None,
    });
    union(arena.collect(), &[])
}

/// The union as sorted, disjoint ranges.
fn union(mut a: Vec<Range>, b: &[Range]) -> Vec<Range> {
    a.extend_from_slice(b);
    a.sort_unstable();
    let mut merged: Vec<Range> = Vec::with_capacity(a.len());
    for (start, end) in a {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// What of `a` is not in `b`; both sorted and disjoint.
fn subtract(a: &[Range], b: &[Range]) -> Vec<Range> {
    let mut rest = Vec::with_capacity(a.len());
    for &(mut start, end) in a {
        let first = start;
        for &(from, to) in b.iter().filter(|&&(from, to)| from < end && to > first) {
            if from > start {
                rest.push((start, from));
            }
            start = to;
        }
        if start < end {
            rest.push((start, end));
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::BufferRef;

    fn launch(buffers: &[(u64, u64, bool)]) -> Launch {
        let buffer = |&(offset, bytes, written)| BufferRef { place: Place::Arena(offset), bytes, written };
        Launch {
            entry: 0,
            kernel: String::new(),
            nodes: String::new(),
            buffers: buffers.iter().map(buffer).collect(),
            dims: vec![],
            extent: 1,
            grain: 1,
            scratch: 0,
            flops: 0,
        }
    }

    #[test]
    fn a_range_dies_after_its_last_reader_until_it_is_written_again() {
        let launches = [
            launch(&[(0, 16, true)]),
            launch(&[(0, 16, false), (16, 16, true)]),
            launch(&[(16, 16, false), (0, 8, true)]),
            launch(&[(0, 8, false), (0, 8, true)]),
            launch(&[(0, 8, false)]),
        ];
        let expected: [&[Range]; 5] = [&[], &[(0, 16)], &[(16, 32)], &[], &[(0, 8)]];
        assert_eq!(dead_after(&launches), expected);
    }

    #[test]
    fn ranges_are_cut_where_only_a_part_lives_on() {
        assert_eq!(subtract(&[(0, 10), (20, 30)], &[(2, 4), (6, 25)]), [(0, 2), (4, 6), (25, 30)]);
        assert_eq!(union(vec![(5, 7), (0, 3)], &[(3, 5), (9, 9)]), [(0, 7), (9, 9)]);
    }
}
