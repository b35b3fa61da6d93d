//! Sessions run what the program says, for any number of threads and sessions, and refuse what does not fit.
#![cfg(target_arch = "x86_64")]

mod common;

use std::sync::Arc;

use common::{CODE, artefact, expected, floats, program, weights};
use neap_runtime::program::Place;
use neap_runtime::{Artefact, Check, Error, Model, Options, Session, View, ViewMut, artefact::write};

const N: u64 = 1 << 12;

fn run(session: &mut Session, seed: u64) -> Vec<f32> {
    let n = session.model().inputs()[0].bytes().unwrap() / 4;
    let (a, b) = (floats(n, seed), floats(n, seed + 1));
    let dims = [2, n / 2];
    let mut y = vec![0f32; n as usize];
    let inputs = [("b", View::new(&dims, &b)), ("a", View::new(&dims, &a))];
    session.run_named(&inputs, &mut [("y", ViewMut::new(&dims, &mut y))]).unwrap();
    assert_eq!(y, expected(&a, &b));
    y
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let model = Arc::new(Model::new(artefact(N)).unwrap());
    for threads in [1, 2, 3, 7] {
        let options = Options { threads, ..Options::default() };
        let mut session = Session::new(Arc::clone(&model), &options).unwrap();
        // Half of the arena is free while the last launch runs, and nothing while the second does.
        assert_eq!(session.arena_bytes(), 8 * N + 64 * threads as u64);
        for seed in 0..50 {
            run(&mut session, seed);
        }
    }
}

#[test]
fn sleeping_workers_wake_up() {
    let options = Options { threads: 2, ..Options::default() };
    let mut session = Session::new(Arc::new(Model::new(artefact(N)).unwrap()), &options).unwrap();
    for seed in 0..5 {
        std::thread::sleep(std::time::Duration::from_millis(5));
        run(&mut session, seed);
    }
}

#[test]
fn sessions_of_one_model_run_at_the_same_time() {
    let model = Arc::new(Model::new(artefact(N)).unwrap());
    std::thread::scope(|scope| {
        for seed in 0..2 {
            let model = Arc::clone(&model);
            scope.spawn(move || {
                let mut session = Session::new(model, &Options { threads: 2, ..Options::default() }).unwrap();
                for _ in 0..100 {
                    run(&mut session, seed);
                }
            });
        }
    });
}

#[test]
fn a_file_runs_like_memory_and_is_the_same_each_time() {
    let dir = tempfile::tempdir().unwrap();
    let (p, q) = (dir.path().join("p.neap"), dir.path().join("q.neap"));
    let size = write(&p, &program(N), CODE, weights(N)).unwrap();
    write(&q, &program(N), CODE, weights(N)).unwrap();
    assert_eq!(size, std::fs::metadata(&p).unwrap().len());
    assert_eq!(std::fs::read(&p).unwrap(), std::fs::read(&q).unwrap());
    let mut session = Session::load(&p, &Options { check: Check::Weights, ..Options::default() }).unwrap();
    assert_eq!(run(&mut session, 1), run(&mut Session::load(&q, &Options::default()).unwrap(), 1));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "temporary files are gone");
}

#[test]
fn a_failed_write_leaves_what_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.neap");
    write(&path, &program(N), CODE, weights(N)).unwrap();
    let before = std::fs::read(&path).unwrap();
    let mut broken = program(N);
    broken.launches[1].buffers[1].place = Place::Weight(1 << 40);
    let error = write(&path, &broken, CODE, weights(N)).unwrap_err().to_string();
    assert!(error.contains("launch 1 (`add`): buffer 1:") && error.contains("lie outside the weights"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    assert!(write(dir.path(), &program(N), CODE, weights(N)).is_err(), "a folder is no target");
}

#[test]
fn poison_changes_no_result_but_shows_a_read_of_dead_bytes() {
    let options = Options { poison: true, threads: 2, profile: true, ..Options::default() };
    let mut session = Session::new(Arc::new(Model::new(artefact(N)).unwrap()), &options).unwrap();
    run(&mut session, 3);
    run(&mut session, 4);
    assert!(session.times().iter().all(|t| t.runs == 2 && t.total >= t.min));

    // The last launch now reads the first intermediate, which the second launch was the last to read ... of half of it.
    let mut stale = program(N);
    stale.launches[2].buffers[0].place = Place::Arena(2 * N);
    stale.launches[2].buffers[0].bytes = 2 * N;
    let stale = Artefact::from_parts(stale, CODE, weights(N)).unwrap();
    let mut session = Session::new(Arc::new(Model::new(stale).unwrap()), &options).unwrap();
    let (a, mut y) = (common::bytes(&floats(N, 1)), vec![0u8; 4 * N as usize]);
    session.run(&[&a, &a], &mut [&mut y]).unwrap();
    let nan = |i: usize| f32::from_le_bytes(y[4 * i..4 * i + 4].try_into().unwrap()).is_nan();
    assert!(!nan(0), "still alive when read");
    assert!(nan(N as usize / 2) && nan(N as usize - 1), "dead when read");
}

#[test]
fn outputs_held_in_the_arena_are_shown_there_and_copied_where_wanted() {
    let mut held = program(N);
    held.held = vec![8 * N];
    held.arena_bytes += 4 * N;
    held.launches[2].buffers[1].place = Place::Arena(8 * N);
    let artefact = |p| Artefact::from_parts(p, CODE, weights(N));
    let (a, b) = (floats(N, 1), floats(N, 2));
    for poison in [false, true] {
        let options = Options { threads: 2, poison, ..Options::default() };
        let mut session =
            Session::new(Arc::new(Model::new(artefact(held.clone()).unwrap()).unwrap()), &options).unwrap();
        session.run_held(&[&common::bytes(&a), &common::bytes(&b)]).unwrap();
        let shown = session.output(0).unwrap().to_vec();
        assert_eq!(shown, common::bytes(&expected(&a, &b)));
        assert_eq!(run(&mut session, 1), expected(&a, &b));
        assert!(session.output(1).is_none());
    }
    let mut session = Session::new(Arc::new(Model::new(common::artefact(N)).unwrap()), &Options::default()).unwrap();
    assert!(matches!(session.run_held(&[&common::bytes(&a), &common::bytes(&b)]), Err(Error::NotHeld)));
    assert!(session.output(0).is_none());
    for (at, message) in [
        (12 * N - 64, "output `y` of 16384 bytes cannot lie at"),
        (8 * N + 2, "output `y` of 16384 bytes cannot lie at"),
        (0, "nothing writes"),
    ] {
        let mut wrong = held.clone();
        wrong.held = vec![at];
        if at == 0 {
            wrong.launches.remove(0);
        }
        let error = artefact(wrong).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut session = Session::new(Arc::new(Model::new(artefact(16)).unwrap()), &Options::default()).unwrap();
    let (x, dims) = ([0f32; 16], [2, 8]);
    let view = View::new(&dims, &x);
    let mut refuse = |inputs: &[(&str, View<'_>)], message: &str| {
        let mut y = [0f32; 16];
        let error = session.run_named(inputs, &mut [("y", ViewMut::new(&dims, &mut y))]).unwrap_err();
        assert_eq!(error.to_string(), message);
    };
    refuse(&[("a", view), ("c", view)], "the model has no input `c`: it has a: f32[2, 8], b: f32[2, 8]");
    let once = "give each input once (a: f32[2, 8], b: f32[2, 8])";
    refuse(&[("a", view)], &format!("input `b` is given 0 times: {once}"));
    refuse(&[("a", view), ("a", view)], &format!("input `a` is given 2 times: {once}"));
    let mend = "convert it, or compile the model for other sizes with `--dim`";
    refuse(
        &[("a", View::new(&[16], &x)), ("b", view)],
        &format!("input `a` is f32[2, 8], but f32[16] was given: {mend}"),
    );
    refuse(
        &[("a", view), ("b", View::new(&dims, &[0i32; 16]))],
        &format!("input `b` is f32[2, 8], but i32[2, 8] was given: {mend}"),
    );
    refuse(
        &[("a", view), ("b", View::new(&dims, &x[1..]))],
        "input `b` takes 64 bytes (f32[2, 8]), but the buffer has 60",
    );

    let (bytes, mut y) = ([0u8; 68], [0u8; 64]);
    let odd = bytes.as_ptr().align_offset(4) + 1;
    let error = session.run(&[&bytes[..64]], &mut [&mut y]).unwrap_err();
    assert!(matches!(error, Error::Count { found: 1, expected: 2, .. }), "{error}");
    let odd = &bytes[odd..odd + 64];
    let error = session.run(&[odd, odd], &mut [&mut y]).unwrap_err();
    assert!(matches!(error, Error::Unaligned { align: 4, .. }), "{error}");
}

#[test]
fn code_that_this_machine_cannot_run_is_refused() {
    let refuse = |change: fn(&mut neap_runtime::program::Program), message: &str| {
        let mut program = program(16);
        change(&mut program);
        let error = Model::new(Artefact::from_parts(program, CODE, weights(16)).unwrap()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    };
    refuse(|p| p.features.push("avx4096f".into()), "needs the CPU feature `avx4096f`, which this machine lacks");
    refuse(|p| p.arch = "riscv64".into(), "its code is for riscv64, but this machine is x86_64");
}
