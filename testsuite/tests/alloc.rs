//! A second run of a model that `neap` compiled allocates and frees nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use neap_runtime::{Options, Session};

struct Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: hands everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: passed on from the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: passed on from the caller.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn neap(folder: &Path, args: &str) {
    let exe = std::env::current_exe().expect("this test has a path");
    let binary = exe.ancestors().nth(2).expect("it lies in deps").join("neap");
    let status =
        Command::new(binary).args(args.split(' ')).current_dir(folder).stdout(std::process::Stdio::null()).status();
    assert!(status.expect("neap is built: cargo build -p neap-driver").success(), "neap {args}");
}

// The one test of this binary: another one on its own thread would be counted too.
#[test]
fn a_second_run_of_a_compiled_model_allocates_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    for model in ["mobilenet-v2", "gpt2"] {
        neap(folder.path(), &format!("zoo {model} --small -o m.onnx"));
        for backend in ["llvm", "cranelift"] {
            neap(folder.path(), &format!("compile m.onnx --backend {backend} -o m.neap"));
            for threads in [1, 2] {
                let options = Options { threads, ..Options::default() };
                let mut session = Session::load(folder.path().join("m.neap"), &options).expect("it loads");
                let words = |bytes: u64| vec![0u64; bytes.div_ceil(8) as usize];
                let sizes = |t: &[neap_runtime::program::TensorInfo]| -> Vec<u64> {
                    t.iter().map(|t| t.bytes().expect("sizes fit")).collect()
                };
                let (of_inputs, of_outputs) = (sizes(session.model().inputs()), sizes(session.model().outputs()));
                let inputs: Vec<Vec<u64>> = of_inputs.iter().map(|&b| words(b)).collect();
                let mut outputs: Vec<Vec<u64>> = of_outputs.iter().map(|&b| words(b)).collect();
                let inputs: Vec<&[u8]> =
                    inputs.iter().zip(&of_inputs).map(|(w, &b)| &bytemuck::cast_slice(w)[..b as usize]).collect();
                let mut outputs: Vec<&mut [u8]> = outputs
                    .iter_mut()
                    .zip(&of_outputs)
                    .map(|(w, &b)| &mut bytemuck::cast_slice_mut(w)[..b as usize])
                    .collect();
                session.run(&inputs, &mut outputs).expect("it runs");
                let before = CALLS.load(Ordering::SeqCst);
                session.run(&inputs, &mut outputs).expect("it runs again");
                let calls = CALLS.load(Ordering::SeqCst) - before;
                assert_eq!(calls, 0, "{model}, {backend}, {threads} threads");
            }
        }
    }
}
