//! Whether a program holds together, so that running it stays inside its sections and buffers.

use std::collections::HashSet;

use crate::program::{BufferRef, Launch, Place, Program, TensorInfo};

/// Largest size of anything, so that offsets can be added to pointers.
const LIMIT: u64 = isize::MAX as u64;

/// Checks every offset, count, place, entry and extent of a program against the sizes of the sections it comes with.
/// On failure says what is wrong and where.
pub(crate) fn validate(program: &Program, code: u64, weights: u64) -> Result<(), String> {
    let inputs = sizes("input", &program.inputs)?;
    let outputs = sizes("output", &program.outputs)?;
    if program.arena_bytes > LIMIT {
        return Err(format!("the arena has {} bytes", program.arena_bytes));
    }
    let sizes = Sizes { inputs, outputs, weights, arena: program.arena_bytes };
    for (index, launch) in program.launches.iter().enumerate() {
        check_launch(launch, code, &sizes).map_err(|what| format!("launch {index} (`{}`): {what}", launch.kernel))?;
    }
    if !program.held.is_empty() && program.held.len() != sizes.outputs.len() {
        return Err(format!("{} of {} outputs are held in the arena", program.held.len(), sizes.outputs.len()));
    }
    for ((at, size), info) in program.held.iter().zip(&sizes.outputs).zip(&program.outputs) {
        let inside = at.checked_add(*size).is_some_and(|end| end <= sizes.arena);
        if !inside || !at.is_multiple_of(info.dtype.size()) {
            return Err(format!("output `{}` of {size} bytes cannot lie at {at} in the arena", info.name));
        }
    }
    covered(program, &sizes.outputs)
}

struct Sizes {
    inputs: Vec<u64>,
    outputs: Vec<u64>,
    weights: u64,
    arena: u64,
}

fn sizes(kind: &str, tensors: &[TensorInfo]) -> Result<Vec<u64>, String> {
    let mut names = HashSet::new();
    let size = |t: &TensorInfo| {
        let bytes = t.bytes().ok_or_else(|| format!("{kind} `{}` of shape {:?} is too large", t.name, t.dims))?;
        if names.insert(t.name.clone()) { Ok(bytes) } else { Err(format!("two {kind}s are named `{}`", t.name)) }
    };
    tensors.iter().map(size).collect()
}

fn check_launch(launch: &Launch, code: u64, sizes: &Sizes) -> Result<(), String> {
    if launch.entry >= code {
        return Err(format!("its entry {} lies outside the code ({code} bytes)", launch.entry));
    }
    if launch.extent > LIMIT || launch.scratch > LIMIT {
        return Err(format!("extent {} or scratch {} is out of range", launch.extent, launch.scratch));
    }
    for (index, buffer) in launch.buffers.iter().enumerate() {
        check_buffer(buffer, sizes).map_err(|what| format!("buffer {index}: {what}"))?;
    }
    Ok(())
}

fn check_buffer(buffer: &BufferRef, sizes: &Sizes) -> Result<(), String> {
    let of = |tensors: &[u64], kind: &str, index: u32| {
        let size = tensors.get(index as usize).copied();
        size.ok_or_else(|| format!("there is no {kind} {index}, only {} of them", tensors.len()))
    };
    let (what, offset, size, writable) = match buffer.place {
        Place::Input(index, offset) => ("an input", offset, of(&sizes.inputs, "input", index)?, false),
        Place::Output(index, offset) => ("an output", offset, of(&sizes.outputs, "output", index)?, true),
        Place::Weight(offset) => ("the weights", offset, sizes.weights, false),
        Place::Arena(offset) => ("the arena", offset, sizes.arena, true),
    };
    if buffer.written && !writable {
        return Err(format!("it writes to {what}"));
    }
    match offset.checked_add(buffer.bytes) {
        Some(end) if end <= size => Ok(()),
        _ => Err(format!("{} bytes at {offset} lie outside {what} ({size} bytes)", buffer.bytes)),
    }
}

/// Every byte of every output must be written by some launch, else the caller would read what was there before.
fn covered(program: &Program, outputs: &[u64]) -> Result<(), String> {
    let mut written: Vec<Vec<(u64, u64)>> = vec![Vec::new(); outputs.len()];
    for buffer in program.launches.iter().filter(|l| l.extent > 0).flat_map(|l| &l.buffers).filter(|b| b.written) {
        match buffer.place {
            Place::Output(index, offset) => written[index as usize].push((offset, offset + buffer.bytes)),
            Place::Arena(offset) => {
                for (ranges, (from, to)) in written.iter_mut().zip(program.held_ranges()) {
                    if offset < to && from < offset + buffer.bytes {
                        ranges.push((offset.saturating_sub(from), offset + buffer.bytes - from));
                    }
                }
            }
            Place::Input(..) | Place::Weight(_) => {}
        }
    }
    for ((ranges, &size), info) in written.iter_mut().zip(outputs).zip(&program.outputs) {
        ranges.sort_unstable();
        let reach = ranges.iter().fold(0, |reach, &(start, end)| if start <= reach { reach.max(end) } else { reach });
        if reach < size {
            return Err(format!("nothing writes the bytes {reach} to {size} of output `{}`", info.name));
        }
    }
    Ok(())
}
