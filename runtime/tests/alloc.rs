//! A run allocates and frees nothing.
//!
//! Runs without a test harness, whose own threads allocate at their leisure and would be counted.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{artefact, bytes, expected, floats};
use neap_runtime::{Model, Options, Session};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: hands everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: passed on from the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: passed on from the caller.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn main() {
    // The model's code is made by hand.
    if cfg!(target_arch = "x86_64") {
        a_second_run_allocates_and_frees_nothing();
    }
}

fn a_second_run_allocates_and_frees_nothing() {
    let n = 1 << 12;
    let (a, b) = (floats(n, 1), floats(n, 2));
    let (a_bytes, b_bytes, want) = (bytes(&a), bytes(&b), bytes(&expected(&a, &b)));
    let model = Arc::new(Model::new(artefact(n)).unwrap());
    for (threads, poison) in [(1, false), (2, false), (2, true)] {
        let options = Options { threads, poison, profile: true, ..Options::default() };
        let mut session = Session::new(Arc::clone(&model), &options).unwrap();
        let mut y = vec![0u8; want.len()];
        session.run(&[&a_bytes, &b_bytes], &mut [&mut y]).unwrap();
        let before = ALLOCATIONS.load(Ordering::SeqCst);
        for _ in 0..20 {
            session.run(&[&a_bytes, &b_bytes], &mut [&mut y]).unwrap();
        }
        assert_eq!(ALLOCATIONS.load(Ordering::SeqCst) - before, 0, "{threads} threads");
        assert_eq!(y, want);
    }
}
