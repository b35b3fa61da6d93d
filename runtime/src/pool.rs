//! A session's threads: the caller and `threads - 1` workers, which split each launch evenly.
//!
//! A worker spins for a moment after its last work, since the next launch usually follows within microseconds, then
//! sleeps on a futex. Handing over work is one atomic swap a worker, and one system call if it sleeps. Only workers that
//! get a share are touched. Nothing here allocates or takes a lock after [`Pool::new`].

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};

use crate::abi::KernelEntry;
use crate::error::Error;
use crate::fpenv::FpEnv;

/// One call of a stage over its whole parallel range.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    pub(crate) entry: KernelEntry,
    pub(crate) buffers: *const *mut u8,
    pub(crate) dims: *const i64,
    pub(crate) extent: u64,
    /// Into how many slices the range is cut, at most the number of threads.
    pub(crate) parts: usize,
    /// Thread 0's scratch.
    pub(crate) scratch: *mut u8,
    /// From one thread's scratch to the next one's.
    pub(crate) stride: usize,
}

/// Threads that wait for jobs.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

/// A worker's state: nothing to do, and awake.
const IDLE: u32 = 0;
/// It has a share of the current job.
const WORK: u32 = 1;
/// Nothing to do, and asleep on its futex.
const ASLEEP: u32 = 2;
/// The pool is going away.
const STOP: u32 = 3;

/// Set in `pending` when the caller sleeps until the workers are done.
const CALLER_ASLEEP: u32 = 1 << 31;

/// Turns of the spin loop before a thread sleeps: some hundreds of microseconds, longer than most kernels that run on one
/// thread, since waking a thread costs tens of microseconds.
const SPINS: u32 = 20_000;

struct Shared {
    /// Written by the caller while no worker has a share, read by workers that have one.
    job: UnsafeCell<Option<Job>>,
    /// Workers that have not finished their share, at first those that have not started.
    pending: Padded,
    /// One state a worker.
    workers: Box<[Padded]>,
    spins: u32,
}

/// An atomic on a cache line of its own.
#[repr(align(128))]
struct Padded(AtomicU32);

// SAFETY: `job` is written by the caller alone, before it hands out shares (release) and after all were given back
// (acquire); the raw pointers are only handed on, to threads whose slices are disjoint.
unsafe impl Sync for Shared {}
// SAFETY: as above; nothing in it belongs to a thread.
unsafe impl Send for Shared {}

impl Pool {
    /// Starts `threads - 1` workers, and waits until they are there: a thread allocates while it starts.
    pub(crate) fn new(threads: usize) -> Result<Pool, Error> {
        let cores = thread::available_parallelism().map_or(1, |n| n.get());
        let shared = Arc::new(Shared {
            job: UnsafeCell::new(None),
            pending: Padded(AtomicU32::new(threads as u32 - 1)),
            workers: (1..threads).map(|_| Padded(AtomicU32::new(IDLE))).collect(),
            // With more threads than cores, spinning would only keep the one that has work from running.
            spins: if threads <= cores { SPINS } else { 0 },
        });
        let mut pool = Pool { shared, workers: Vec::new() };
        for index in 1..threads {
            let shared = Arc::clone(&pool.shared);
            let started = thread::Builder::new().name(format!("neap-{index}")).spawn(move || shared.work(index));
            pool.workers.push(started.map_err(|source| Error::Threads { threads, source })?);
        }
        pool.shared.join();
        Ok(pool)
    }

    /// Runs a job on the first `parts` threads, of which the caller is the first, and waits for all.
    ///
    /// # Safety
    /// Entry, buffers, dims and scratch must be what the stage was compiled for, and stay valid meanwhile.
    pub(crate) unsafe fn run(&mut self, job: Job) {
        let shared = &*self.shared;
        let helpers = (job.parts - 1).min(shared.workers.len());
        if helpers > 0 {
            // SAFETY: no worker has a share, so none reads the job now.
            unsafe { *shared.job.get() = Some(job) };
            shared.pending.0.store(helpers as u32, Ordering::Relaxed);
            for worker in &shared.workers[..helpers] {
                if worker.0.swap(WORK, Ordering::AcqRel) == ASLEEP {
                    atomic_wait::wake_one(&worker.0);
                }
            }
        }
        // SAFETY: passed on from the caller; thread 0 is this one.
        unsafe { shared.slice(job, 0) };
        if helpers > 0 {
            shared.join();
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for worker in &self.shared.workers {
            worker.0.store(STOP, Ordering::Release);
            atomic_wait::wake_one(&worker.0);
        }
        for worker in self.workers.drain(..) {
            // A worker runs nothing that panics; there is nobody to tell here if one did.
            let _ = worker.join();
        }
    }
}

impl Shared {
    /// A worker's life.
    fn work(&self, index: usize) {
        let _env = FpEnv::enter();
        let state = &self.workers[index - 1].0;
        self.finished();
        while self.wait_for_work(state) {
            state.store(IDLE, Ordering::Relaxed);
            // SAFETY: this worker has a share, so the caller does not write the job until `pending` is lowered below.
            let job = unsafe { *self.job.get() };
            if let Some(job) = job {
                // SAFETY: `Pool::run`'s caller vouches for the job; slices and scratches of threads are disjoint.
                unsafe { self.slice(job, index) };
            }
            self.finished();
        }
    }

    /// Says that a worker has finished its share, or has started.
    fn finished(&self) {
        let before = self.pending.0.fetch_sub(1, Ordering::AcqRel);
        if before == CALLER_ASLEEP | 1 {
            atomic_wait::wake_one(&self.pending.0);
        }
    }

    /// Waits until there is a share to do (true) or the pool goes away (false).
    fn wait_for_work(&self, state: &AtomicU32) -> bool {
        let mut spins = 0;
        loop {
            match state.load(Ordering::Acquire) {
                WORK => return true,
                STOP => return false,
                ASLEEP => atomic_wait::wait(state, ASLEEP),
                _ if spins < self.spins => {
                    spins += 1;
                    std::hint::spin_loop();
                }
                // Lost only to new work or the end, which the next turn sees.
                _ => drop(state.compare_exchange(IDLE, ASLEEP, Ordering::AcqRel, Ordering::Acquire)),
            }
        }
    }

    /// Waits until every worker has finished its share.
    fn join(&self) {
        let pending = &self.pending.0;
        for _ in 0..self.spins {
            if pending.load(Ordering::Acquire) == 0 {
                return;
            }
            std::hint::spin_loop();
        }
        let mut now = pending.fetch_or(CALLER_ASLEEP, Ordering::AcqRel) | CALLER_ASLEEP;
        while now != CALLER_ASLEEP {
            atomic_wait::wait(pending, now);
            now = pending.load(Ordering::Acquire);
        }
    }

    /// Runs thread `index`'s slice of a job.
    ///
    /// # Safety
    /// As for [`Pool::run`], and no other thread may run the same slice or use the same scratch at the same time.
    unsafe fn slice(&self, job: Job, index: usize) {
        let (begin, end) = bounds(job.extent, job.parts, index);
        let scratch = job.scratch.wrapping_add(index * job.stride);
        // SAFETY: passed on from the caller.
        unsafe { (job.entry)(job.buffers, job.dims, begin as i64, end as i64, scratch) };
    }
}

/// The units of slice `index` when `extent` units are cut into `parts` slices whose sizes differ by at most one.
fn bounds(extent: u64, parts: usize, index: usize) -> (u64, u64) {
    let (parts, index) = (parts as u64, index as u64);
    let (each, more) = (extent / parts, extent % parts);
    let begin = each * index + index.min(more);
    (begin, begin + each + u64::from(index < more))
}

#[cfg(test)]
mod tests {
    use super::bounds;

    #[test]
    fn slices_cover_the_range_once() {
        for extent in [1, 2, 7, 64, 1000] {
            for parts in 1..9 {
                let mut at = 0;
                for index in 0..parts {
                    let (begin, end) = bounds(extent, parts, index);
                    assert_eq!(begin, at);
                    at = end;
                }
                assert_eq!(at, extent);
            }
        }
    }
}
