//! Running a model.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use crate::arena::Arena;
use crate::artefact::Check;
use crate::error::Error;
use crate::fpenv::FpEnv;
use crate::model::Model;
use crate::poison::{Range, Watch};
use crate::pool::Pool;
use crate::profile::LaunchTime;
use crate::scratch;
use crate::signature::{Kind, check_bytes, check_count, check_disjoint, check_type, position};
use crate::steps::Steps;
use crate::view::{RawInput, RawOutput, View, ViewMut};

/// How a session runs.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Threads, the caller's among them; 0 means as many as the machine has cores.
    pub threads: usize,
    /// What [`Session::load`] checksums.
    pub check: Check,
    /// Whether dead bytes of the arena are overwritten before and while running, to find kernels that read them.
    pub poison: bool,
    /// Whether each launch is timed.
    pub profile: bool,
}

/// A model with the memory and threads to run it, one run at a time.
///
/// Everything is set up when the session is made: [`Session::run`] neither allocates nor takes a lock. For runs at the
/// same time make several sessions of one [`Model`]; they share its code and weights.
pub struct Session {
    // Dropped in this order: the workers end before the memory they use goes away.
    pool: Pool,
    steps: Steps,
    arena: Arena,
    model: Arc<Model>,
    /// The caller's buffers in the current run.
    inputs: Box<[*const u8]>,
    outputs: Box<[*mut u8]>,
    threads: usize,
    /// In poison mode.
    watch: Option<Watch>,
    /// Empty unless asked for.
    times: Vec<LaunchTime>,
}

// SAFETY: the raw pointers go into the session's own arena and table, into the model it keeps alive, and, only while
// `run` borrows them, into the caller's buffers.
unsafe impl Send for Session {}

impl Session {
    /// Loads an artefact and makes a session of it.
    pub fn load(path: impl AsRef<Path>, options: &Options) -> Result<Session, Error> {
        Session::new(Arc::new(Model::open(path, options.check)?), options)
    }

    /// Makes a session of a loaded model.
    pub fn new(model: Arc<Model>, options: &Options) -> Result<Session, Error> {
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
            n => n,
        };
        let program = model.program();
        let parts = Steps::parts(program, threads);
        let (places, total) = scratch::place(program, &parts).unzip();
        let arena = Arena::new(total)?;
        let places = places.unwrap_or_default();
        let steps = Steps::new(&model, arena.base(), &parts, &places)?;
        let pool = Pool::new(threads)?;
        let watch = options.poison.then(|| Watch::new(program, &places, &parts));
        Ok(Session {
            inputs: vec![std::ptr::null(); program.inputs.len()].into(),
            outputs: vec![std::ptr::null_mut(); program.outputs.len()].into(),
            watch,
            times: vec![LaunchTime::default(); if options.profile { program.launches.len() } else { 0 }],
            pool,
            steps,
            arena,
            threads,
            model,
        })
    }

    /// Runs the model on inputs in the model's order, into outputs in the model's order; row-major, little-endian bytes.
    ///
    /// The buffers are used where they lie, so each must be aligned to its element.
    pub fn run(&mut self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<(), Error> {
        self.bind_inputs(inputs.iter().map(|b| (b.as_ptr(), b.len())))?;
        self.bind_outputs(outputs.iter_mut().map(|b| (b.as_mut_ptr(), b.len())))?;
        self.execute()
    }

    /// Runs a model that holds its outputs in the arena; [`Session::output`] then shows them. Nothing is copied.
    pub fn run_held(&mut self, inputs: &[&[u8]]) -> Result<(), Error> {
        if self.model.program().held.is_empty() && !self.outputs.is_empty() {
            return Err(Error::NotHeld);
        }
        self.bind_inputs(inputs.iter().map(|b| (b.as_ptr(), b.len())))?;
        self.outputs.fill(std::ptr::null_mut());
        self.execute()
    }

    /// An output of the last run, where the model holds its outputs in the arena; aligned to its element.
    pub fn output(&self, index: usize) -> Option<&[u8]> {
        let (start, end) = self.model.program().held_ranges().nth(index)?;
        // SAFETY: validated to lie inside the arena, which is initialised; `&self` says that nothing is running on it.
        Some(unsafe {
            std::slice::from_raw_parts(self.arena.base().add(start as usize).cast_const(), (end - start) as usize)
        })
    }

    /// As [`Session::run`], for callers that have pointers; no outputs at all mean [`Session::run_held`].
    ///
    /// # Safety
    /// Each input must be readable and each output writable for as many bytes as its buffer says, and none may be
    /// written by others meanwhile. Sizes, alignment and overlaps are checked here.
    pub unsafe fn run_raw(&mut self, inputs: &[RawInput], outputs: &[RawOutput]) -> Result<(), Error> {
        self.bind_inputs(inputs.iter().map(|b| (b.data.cast(), b.bytes)))?;
        if outputs.is_empty() && !self.model.program().held.is_empty() {
            self.outputs.fill(std::ptr::null_mut());
            return self.execute();
        }
        self.bind_outputs(outputs.iter().map(|b| (b.data.cast(), b.bytes)))?;
        check_disjoint(&self.model, &self.inputs, &self.outputs)?;
        self.execute()
    }

    /// Runs the model on inputs and outputs by name, in any order, checking their types and shapes.
    pub fn run_named(&mut self, inputs: &[(&str, View<'_>)], outputs: &mut [(&str, ViewMut<'_>)]) -> Result<(), Error> {
        self.inputs.fill(std::ptr::null());
        self.outputs.fill(std::ptr::null_mut());
        for (name, view) in inputs {
            let index = position(Kind::Input, self.model.inputs(), name, |i| !self.inputs[i].is_null())?;
            let info = &self.model.inputs()[index];
            check_type(Kind::Input, info, view.dtype, view.dims)?;
            check_bytes(Kind::Input, info, view.bytes.as_ptr(), view.bytes.len())?;
            self.inputs[index] = view.bytes.as_ptr();
        }
        for (name, view) in outputs {
            let index = position(Kind::Output, self.model.outputs(), name, |i| !self.outputs[i].is_null())?;
            let info = &self.model.outputs()[index];
            check_type(Kind::Output, info, view.dtype, view.dims)?;
            check_bytes(Kind::Output, info, view.bytes.as_ptr(), view.bytes.len())?;
            self.outputs[index] = view.bytes.as_mut_ptr();
        }
        check_all(Kind::Input, &self.model, self.inputs.iter().position(|p| p.is_null()))?;
        check_all(Kind::Output, &self.model, self.outputs.iter().position(|p| p.is_null()))?;
        self.execute()
    }

    /// The model it runs.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// Threads, the caller's among them.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Bytes reserved for this session: the planned arena, and the scratch that does not fit in what is free of it.
    pub fn arena_bytes(&self) -> u64 {
        self.arena.total()
    }

    /// Time spent in each launch, in the program's order; empty unless [`Options::profile`] was set.
    pub fn times(&self) -> &[LaunchTime] {
        &self.times
    }

    /// Forgets the times measured so far.
    pub fn reset_times(&mut self) {
        self.times.fill(LaunchTime::default());
    }

    /// Takes over the caller's inputs, in order, if they fit.
    fn bind_inputs(&mut self, buffers: impl ExactSizeIterator<Item = (*const u8, usize)>) -> Result<(), Error> {
        check_count(Kind::Input, self.model.inputs(), buffers.len())?;
        for ((slot, info), (start, length)) in self.inputs.iter_mut().zip(self.model.inputs()).zip(buffers) {
            check_bytes(Kind::Input, info, start, length)?;
            *slot = start;
        }
        Ok(())
    }

    /// Takes over the caller's outputs, in order, if they fit.
    fn bind_outputs(&mut self, buffers: impl ExactSizeIterator<Item = (*mut u8, usize)>) -> Result<(), Error> {
        check_count(Kind::Output, self.model.outputs(), buffers.len())?;
        for ((slot, info), (start, length)) in self.outputs.iter_mut().zip(self.model.outputs()).zip(buffers) {
            check_bytes(Kind::Output, info, start, length)?;
            *slot = start;
        }
        Ok(())
    }

    /// Runs all launches on the buffers entered in `inputs` and `outputs`, whose sizes were checked.
    fn execute(&mut self) -> Result<(), Error> {
        let _env = FpEnv::enter();
        self.steps.bind(&self.inputs, &self.outputs);
        let watch = self.watch.take();
        let done = self.launch_all(watch.as_ref());
        self.watch = watch;
        done?;
        for i in 0..self.outputs.len() {
            let (Some(held), false) = (self.output(i), self.outputs[i].is_null()) else { continue };
            // SAFETY: the caller's buffer has the output's size, as `run` checked, and is not the arena's.
            unsafe { self.outputs[i].copy_from_nonoverlapping(held.as_ptr(), held.len()) };
        }
        Ok(())
    }

    fn launch_all(&mut self, watch: Option<&Watch>) -> Result<(), Error> {
        if watch.is_some() {
            self.poison(Range { output: None, start: 0, end: self.arena.total() });
            for (i, end) in Arc::clone(&self.model).program().foreign_outputs().enumerate() {
                self.poison(Range { output: Some(i), start: 0, end });
            }
        }
        for launch in 0..self.steps.len() {
            for born in watch.iter().flat_map(|w| &w.born[launch]) {
                self.check_poison(*born, launch)?;
            }
            let job = self.steps.job(launch);
            let start = (!self.times.is_empty()).then(Instant::now);
            if job.extent > 0 {
                // SAFETY: validation has found every buffer inside its section or tensor, the tensors' buffers were
                // checked against their types by `run`, and the arena holds the planned bytes and all scratch.
                unsafe { self.pool.run(job) };
            }
            if let Some(start) = start {
                self.times[launch].add(start.elapsed());
            }
            for dead in watch.iter().flat_map(|w| &w.dead[launch]) {
                self.poison(*dead);
            }
        }
        for rest in watch.iter().flat_map(|w| &w.rest) {
            self.check_poison(*rest, self.steps.len())?;
        }
        Ok(())
    }

    /// The bytes of a range of the arena or of an output bound by `run`.
    fn bytes(&mut self, range: Range) -> &mut [u8] {
        let (base, size) = match range.output {
            None => (self.arena.base(), self.arena.total()),
            Some(i) => (self.outputs[i], self.model.outputs()[i].bytes().unwrap_or(0)),
        };
        assert!(range.start <= range.end && range.end <= size, "poison outside the memory");
        // SAFETY: inside the arena or the output, as just checked; `&mut self` says that no launch is running, and `run`
        // borrows the outputs.
        unsafe { std::slice::from_raw_parts_mut(base.add(range.start as usize), (range.end - range.start) as usize) }
    }

    /// Overwrites a range with ones: NaN as a float, -1 as an integer.
    fn poison(&mut self, range: Range) {
        self.bytes(range).fill(0xff);
    }

    /// Fails if somebody wrote to a range that nobody held before a launch.
    fn check_poison(&mut self, range: Range, launch: usize) -> Result<(), Error> {
        let Some(at) = self.bytes(range).iter().position(|b| *b != 0xff) else { return Ok(()) };
        let before = self.model.program().launches.get(launch);
        Err(Error::Stray {
            at: range.start + at as u64,
            memory: match range.output {
                None => "the arena".into(),
                Some(i) => format!("output `{}`", self.model.outputs()[i].name),
            },
            before: before.map_or_else(|| "the end".into(), |l| format!("launch {launch} (`{}`)", l.kernel)),
        })
    }
}

fn check_all(kind: Kind, model: &Model, missing: Option<usize>) -> Result<(), Error> {
    let tensors = kind.tensors(model);
    match missing {
        Some(index) => Err(kind.times(tensors, &tensors[index].name, 0)),
        None => Ok(()),
    }
}
