//! Where each launch's scratch lies: in bytes of the arena that are free while it runs, beyond the arena only where there
//! are too few.

use crate::abi::{ALIGN, align_up};
use crate::liveness::{Line, Span, subtract, union};
use crate::program::Program;

/// The scratch of one launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scratch {
    /// Offset of thread 0's in the arena.
    pub(crate) at: u64,
    /// From one thread's to the next one's.
    pub(crate) stride: u64,
}

/// For runs on one thread: the offset in the arena of each launch's scratch, and the bytes of arena and scratch in all; none
/// where that overflows. What runs a program by other means than a session places scratch so.
pub fn scratch_offsets(program: &Program) -> Option<(Vec<u64>, u64)> {
    let (places, total) = place(program, &vec![1; program.launches.len()])?;
    Some((places.iter().map(|s| s.at).collect(), total))
}

/// A place for the scratch of every launch, and the bytes of arena and scratch in all; none where that overflows.
///
/// `parts` is the number of threads each launch runs on. No launch's scratch touches what the launch reads or writes, nor
/// what a later one reads that was written before. The places are as high as the total allows: then most are the same.
pub(crate) fn place(program: &Program, parts: &[usize]) -> Option<(Vec<Scratch>, u64)> {
    let planned = align_up(program.arena_bytes, ALIGN)?;
    let mut needs = Vec::with_capacity(parts.len());
    for (launch, parts) in program.launches.iter().zip(parts) {
        let stride = align_up(launch.scratch, ALIGN)?;
        let bytes = stride.checked_mul(*parts as u64).filter(|b| *b <= u64::MAX / 4)?;
        needs.push((stride, bytes));
    }
    if needs.iter().all(|n| n.1 == 0) {
        return Some((vec![Scratch::default(); needs.len()], planned));
    }
    let free = free(program, planned, &needs);
    // The last free range of a launch has no end.
    let least = |(spans, need): (&Vec<Span>, &(u64, u64))| {
        spans.iter().find(|(start, end)| end - start >= need.1).map_or(0, |(start, _)| start + need.1)
    };
    let total = free.iter().zip(&needs).map(least).fold(planned, u64::max);
    let highest = |(spans, &(stride, bytes)): (&Vec<Span>, &(u64, u64))| {
        let ends = spans.iter().rev().map(|(start, end)| (*start, (*end).min(total)));
        let mut fitting = ends.filter(|(start, end)| *end >= *start && end - start >= bytes);
        Scratch { at: fitting.next().map_or(0, |(_, end)| end - bytes), stride }
    };
    Some((free.iter().zip(&needs).map(highest).collect(), total))
}

/// For each launch that needs scratch the free ranges, ascending, in multiples of the alignment; the last has no end.
fn free(program: &Program, planned: u64, needs: &[(u64, u64)]) -> Vec<Vec<Span>> {
    let line = Line::new(planned, &program.foreign_outputs().collect::<Vec<_>>());
    let mut live: Vec<Span> = union(program.held_ranges().filter(|(start, end)| start < end).collect(), &[]);
    let mut out = Vec::with_capacity(needs.len());
    for (launch, need) in program.launches.iter().zip(needs).rev() {
        let (reads, writes) = (line.spans(launch, false), line.spans(launch, true));
        let held = union(union(reads.clone(), &writes), &live);
        out.push(if need.1 == 0 { vec![] } else { gaps(&held, planned) });
        live = union(subtract(&live, &writes), &reads);
    }
    out.reverse();
    out
}

fn gaps(held: &[Span], planned: u64) -> Vec<Span> {
    let mut at = 0;
    let mut out = vec![];
    for &(start, end) in held.iter().filter(|(start, _)| *start < planned) {
        let start = start / ALIGN * ALIGN;
        if start > at {
            out.push((at, start));
        }
        at = at.max(end.next_multiple_of(ALIGN));
    }
    out.push((at, u64::MAX / 2));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::liveness::samples;
    use crate::program::{Launch, Place};

    fn launch(scratch: u64, buffers: &[(u64, u64, bool)]) -> Launch {
        let places: Vec<_> = buffers.iter().map(|(offset, n, w)| (Place::Arena(*offset), *n, *w)).collect();
        samples::launch(scratch, &places)
    }

    #[test]
    fn scratch_lies_in_free_bytes_and_beyond_the_arena_only_where_they_are_too_few() {
        let p = samples::program(
            1024,
            &[],
            vec![
                launch(100, &[(0, 512, true)]),
                launch(60, &[(0, 512, false), (512, 500, true)]),
                launch(0, &[(512, 500, false), (0, 1024, true)]),
                launch(130, &[(896, 128, false), (0, 64, true)]),
            ],
        );
        let (at, total) = place(&p, &[2, 1, 1, 4]).unwrap();
        assert_eq!(total, 1024 + 64);
        let place = |at, stride| Scratch { at, stride };
        assert_eq!(at, [place(1088 - 256, 128), place(1024, 64), place(0, 0), place(896 - 768, 192)]);
    }

    #[test]
    fn what_lives_across_a_launch_is_held_while_it_runs() {
        let p = samples::program(
            1024,
            &[],
            vec![
                launch(0, &[(64, 64, true), (512, 512, true)]),
                launch(64, &[(0, 64, true)]),
                launch(64, &[(0, 64, false), (64, 64, false), (512, 512, false)]),
            ],
        );
        let (at, total) = place(&p, &[1, 7, 6]).unwrap();
        assert_eq!(total, 1024 + 7 * 64);
        assert_eq!(at[1..], [Scratch { at: 1024, stride: 64 }, Scratch { at: 1024 + 64, stride: 64 }]);
        assert_eq!(place(&p, &[1, 6, 6]).unwrap().1, 1024);
        let mut huge = p;
        huge.launches[0].scratch = u64::MAX;
        assert_eq!(place(&huge, &[1, 1, 1]), None);
    }
}
