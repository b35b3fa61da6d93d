//! The launches of a program as a session runs them: entries resolved, one flat table of buffer pointers.

use crate::error::Error;
use crate::model::Model;
use crate::pool::Job;
use crate::program::{Launch, Place, Program};
use crate::scratch::Scratch;

/// All launches, with a table of buffer pointers in which only the caller's buffers change from run to run.
pub(crate) struct Steps {
    /// Each with the slot of its first buffer; its pointer to the buffers is taken from the table when it runs.
    jobs: Vec<(Job, usize)>,
    /// Buffer pointers of all launches, one launch after another.
    table: Box<[*mut u8]>,
    patches: Vec<Patch>,
}

/// An entry of the table that lies in a caller's buffer.
struct Patch {
    slot: u32,
    output: bool,
    index: u32,
    offset: usize,
}

impl Steps {
    /// Resolves the launches of a model whose artefact was validated, for an arena at `arena`, each to run on so many
    /// threads with its scratch where it was placed.
    pub(crate) fn new(model: &Model, arena: *mut u8, parts: &[usize], scratch: &[Scratch]) -> Result<Steps, Error> {
        let program = model.program();
        let weights = model.weights().as_ptr().cast_mut();
        let mut table = Vec::new();
        let mut patches = Vec::new();
        for buffer in program.launches.iter().flat_map(|l| &l.buffers) {
            let slot = table.len() as u32;
            let mut patch = |output, index, offset: u64| {
                patches.push(Patch { slot, output, index, offset: offset as usize });
                std::ptr::null_mut()
            };
            table.push(match buffer.place {
                Place::Input(index, offset) => patch(false, index, offset),
                Place::Output(index, offset) => patch(true, index, offset),
                Place::Weight(offset) => weights.wrapping_add(offset as usize),
                Place::Arena(offset) => arena.wrapping_add(offset as usize),
            });
        }
        let mut steps = Steps { jobs: Vec::new(), table: table.into_boxed_slice(), patches };
        let mut slot = 0;
        for (index, launch) in program.launches.iter().enumerate() {
            let entry = model.entry(launch.entry);
            let job = Job {
                entry: entry.ok_or_else(|| model.damaged(format!("launch {index} has no entry")))?,
                buffers: std::ptr::null(),
                dims: launch.dims.as_ptr(),
                extent: launch.extent,
                parts: parts[index],
                scratch: arena.wrapping_add(scratch[index].at as usize),
                stride: scratch[index].stride as usize,
            };
            steps.jobs.push((job, slot));
            slot += launch.buffers.len();
        }
        Ok(steps)
    }

    /// On how many of `threads` threads each launch runs: what is worth a thread gets one.
    pub(crate) fn parts(program: &Program, threads: usize) -> Vec<usize> {
        let parts = |l: &Launch| (l.extent / l.grain.max(1)).clamp(1, threads as u64) as usize;
        program.launches.iter().map(parts).collect()
    }

    /// How many launches there are.
    pub(crate) fn len(&self) -> usize {
        self.jobs.len()
    }

    /// The job of a launch.
    pub(crate) fn job(&self, launch: usize) -> Job {
        let (job, slot) = self.jobs[launch];
        Job { buffers: self.table[slot..].as_ptr(), ..job }
    }

    /// Enters the caller's buffers into the table.
    pub(crate) fn bind(&mut self, inputs: &[*const u8], outputs: &[*mut u8]) {
        for patch in &self.patches {
            let index = patch.index as usize;
            let base = if patch.output { outputs[index] } else { inputs[index].cast_mut() };
            self.table[patch.slot as usize] = base.wrapping_add(patch.offset);
        }
    }
}
