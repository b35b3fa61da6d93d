//! The commands, one file each.

pub mod bench;
pub mod bisect;
pub mod compile;
pub mod doctor;
pub mod fusions;
pub mod inspect;
pub mod manual;
pub mod plan;
pub mod profile;
pub mod run;
mod tolerance;
pub mod verify;
pub mod zoo;

use std::io::Write;
use std::time::{Duration, Instant};

use neap_optable::Tensor;
use neap_runtime::Session;
use serde::Serialize;

use crate::buffers::Buffer;
use crate::compile::Timing;
use crate::failure::{At, Failure};
use crate::load;

/// Prints one JSON object on standard output.
fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).map_err(Failure::new)?;
    print(&format!("{text}\n"))
}

/// Prints to standard output; a closed pipe ends quietly.
fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.at("standard output"),
    }
}

/// Prints the table of phases on standard error when asked for.
fn print_timing(timing: &Timing, wanted: bool) {
    if !wanted {
        return;
    }
    let mut text = String::from("phase                              ms\n");
    for (name, time) in &timing.0 {
        text.push_str(&format!("{name:30} {:8.2}\n", time.as_secs_f64() * 1e3));
    }
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// How often to run a session.
struct Rounds {
    warmup: u32,
    runs: Option<u32>,
    /// Time to spend without `runs`, but for 5 runs at least.
    seconds: f64,
}

/// Input and output buffers of a session, and its runs.
struct Buffers {
    inputs: Vec<Buffer>,
    outputs: Vec<Buffer>,
}

impl Buffers {
    fn new(session: &Session, inputs: &[Tensor]) -> Self {
        let outputs = session.model().outputs();
        Buffers {
            inputs: inputs.iter().map(Buffer::of).collect(),
            outputs: outputs.iter().map(|o| Buffer::zeroed(o.bytes().unwrap_or(0) as usize)).collect(),
        }
    }

    fn run(&mut self, session: &mut Session) -> Result<(), Failure> {
        let inputs: Vec<&[u8]> = self.inputs.iter().map(Buffer::bytes).collect();
        let mut outputs: Vec<&mut [u8]> = self.outputs.iter_mut().map(Buffer::bytes_mut).collect();
        session.run(&inputs, &mut outputs).map_err(Failure::new)
    }

    /// Warms up, forgets the launches' times so far, and times runs; how long each took.
    fn time(&mut self, session: &mut Session, rounds: &Rounds) -> Result<Vec<Duration>, Failure> {
        for _ in 0..rounds.warmup.max(1) {
            self.run(session)?;
        }
        session.reset_times();
        let mut times = vec![];
        let start = Instant::now();
        let enough = |done: usize| match rounds.runs {
            Some(n) => done >= n.max(1) as usize,
            None => done >= 5 && start.elapsed().as_secs_f64() >= rounds.seconds,
        };
        while !enough(times.len()) {
            let one = Instant::now();
            self.run(session)?;
            times.push(one.elapsed());
        }
        Ok(times)
    }

    /// The outputs as tensors with their names.
    fn results(&self, session: &Session) -> Vec<(String, Tensor)> {
        let info = session.model().outputs();
        info.iter()
            .zip(&self.outputs)
            .map(|(i, b)| {
                let t = Tensor { dtype: load::dtype(i.dtype), dims: i.dims.clone(), data: b.bytes().to_vec().into() };
                (i.name.clone(), t)
            })
            .collect()
    }
}
