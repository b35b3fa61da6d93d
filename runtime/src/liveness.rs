//! Byte ranges of the arena and the caller's outputs, for walking over launches from the last to the first.

use crate::program::{Launch, Place};

/// Start and end of a range on the line, end excluded.
pub(crate) type Span = (u64, u64);

/// The arena and all outputs one after another, a byte apart so that ranges of two never touch.
pub(crate) struct Line {
    starts: Vec<u64>,
}

impl Line {
    pub(crate) fn new(arena: u64, outputs: &[u64]) -> Line {
        let mut starts = vec![0];
        let mut at = arena + 1;
        for n in outputs {
            starts.push(at);
            at += n + 1;
        }
        Line { starts }
    }

    /// All bytes of the outputs.
    pub(crate) fn outputs(&self, sizes: &[u64]) -> Vec<Span> {
        let spans = sizes.iter().zip(&self.starts[1..]).map(|(n, at)| (*at, at + n));
        spans.filter(|(start, end)| start < end).collect()
    }

    /// The memory at a place of the line, none for the arena, and where it starts.
    pub(crate) fn memory(&self, at: u64) -> (Option<usize>, u64) {
        let of = self.starts.partition_point(|s| *s <= at) - 1;
        (of.checked_sub(1), self.starts[of])
    }

    /// What a launch reads or writes, sorted and disjoint.
    pub(crate) fn spans(&self, launch: &Launch, written: bool) -> Vec<Span> {
        let wanted = launch.buffers.iter().filter(|b| b.written == written && b.bytes > 0);
        let spans = wanted.filter_map(|b| {
            let start = match b.place {
                Place::Arena(offset) => offset,
                Place::Output(i, offset) => self.starts[i as usize + 1] + offset,
                Place::Input(..) | Place::Weight(_) => return None,
            };
            Some((start, start + b.bytes))
        });
        union(spans.collect(), &[])
    }
}

/// The union as sorted, disjoint ranges.
pub(crate) fn union(mut a: Vec<Span>, b: &[Span]) -> Vec<Span> {
    a.extend_from_slice(b);
    a.sort_unstable();
    let mut merged: Vec<Span> = Vec::with_capacity(a.len());
    for (start, end) in a {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// What of `a` is not in `b`; both sorted and disjoint.
pub(crate) fn subtract(a: &[Span], b: &[Span]) -> Vec<Span> {
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

    #[test]
    fn ranges_are_cut_where_only_a_part_lives_on() {
        assert_eq!(subtract(&[(0, 10), (20, 30)], &[(2, 4), (6, 25)]), [(0, 2), (4, 6), (25, 30)]);
        assert_eq!(union(vec![(5, 7), (0, 3)], &[(3, 5), (9, 9)]), [(0, 7), (9, 9)]);
    }
}

/// Programs for tests.
#[cfg(test)]
pub(crate) mod samples {
    use crate::program::{BufferRef, DType, Launch, Place, Program, TensorInfo};

    pub(crate) fn launch(scratch: u64, buffers: &[(Place, u64, bool)]) -> Launch {
        let buffer = |&(place, bytes, written)| BufferRef { place, bytes, written };
        Launch {
            entry: 0,
            kernel: String::new(),
            nodes: String::new(),
            buffers: buffers.iter().map(buffer).collect(),
            dims: vec![],
            extent: 1,
            grain: 1,
            scratch,
            flops: 0,
            bytes: 0,
        }
    }

    pub(crate) fn program(arena_bytes: u64, outputs: &[u64], launches: Vec<Launch>) -> Program {
        let output = |n: &u64| TensorInfo { name: String::new(), dtype: DType::U8, dims: vec![*n] };
        Program {
            model: String::new(),
            backend: String::new(),
            arch: String::new(),
            cpu: String::new(),
            features: vec![],
            inputs: vec![],
            outputs: outputs.iter().map(output).collect(),
            arena_bytes,
            held: vec![],
            launches,
        }
    }
}
