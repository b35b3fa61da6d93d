//! Runs pipelines: times, verifies and dumps after each step, so that passes need not.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::pass::{Changed, Cx, Func, PassError};
use crate::pipeline::Step;
use crate::registry;

/// Where and after which passes to write the IR.
#[derive(Clone, Debug)]
pub struct Dump {
    /// Pass name, or `all`.
    pub after: String,
    /// Folder; files are `NN-pass.mlir`.
    pub dir: PathBuf,
}

/// Time of one step.
#[derive(Clone, Debug)]
pub struct PassTime {
    /// Pass name, or `mlir(...)`.
    pub pass: String,
    /// Wall time.
    pub time: Duration,
    /// Whether it did anything.
    pub changed: bool,
}

/// Runs steps over functions.
#[derive(Debug, Default)]
pub struct Manager {
    /// Check every function after every step.
    pub verify: bool,
    /// Write IR.
    pub dump: Option<Dump>,
    /// One entry a step run so far.
    pub times: Vec<PassTime>,
}

impl Manager {
    /// Runs `steps` in order over each function.
    pub fn run(&mut self, steps: &[Step], cx: &mut Cx, funcs: &mut Vec<Func>) -> Result<(), PassError> {
        let names: Vec<String> = steps.iter().map(Step::name).collect();
        if let Some(dump) = self.dump.as_ref().filter(|d| d.after != "all" && !names.contains(&d.after)) {
            let message = format!("'{}' is not in the pipeline; it runs {}", dump.after, names.join(", "));
            return Err(PassError { pass: "dump-ir", message });
        }
        for step in steps {
            let start = Instant::now();
            let changed = match step {
                Step::Pass(name, options) => {
                    let pass = registry::find(name).expect("pipeline::parse checked the name");
                    let span = tracing::debug_span!("pass", name = pass.name());
                    let _in = span.enter();
                    let mut changed = Changed::No;
                    for f in funcs.iter_mut() {
                        if pass.run(cx, f, options)? == Changed::Yes {
                            changed = Changed::Yes;
                        }
                        if self.verify {
                            f.body.verify().map_err(|m| PassError {
                                pass: pass.name(),
                                message: format!("left function '{}' invalid: {m}", f.name),
                            })?;
                        }
                    }
                    changed
                }
                Step::Conversion(name) => {
                    let message = "leaves the graph level; only the driver can run it".into();
                    return Err(PassError { pass: name, message });
                }
                Step::Mlir(text) => {
                    crate::graph::upstream::run(text, funcs)?;
                    Changed::Yes
                }
            };
            let (name, time) = (step.name(), start.elapsed());
            tracing::debug!(pass = name, ?time, ?changed, "ran");
            self.times.push(PassTime { pass: name.clone(), time, changed: changed == Changed::Yes });
            self.write_dump(&name, funcs)?;
        }
        Ok(())
    }

    fn write_dump(&self, name: &str, funcs: &[Func]) -> Result<(), PassError> {
        let Some(dump) = self.dump.as_ref().filter(|d| d.after == "all" || d.after == name) else { return Ok(()) };
        let file = dump.dir.join(format!("{:02}-{}.mlir", self.times.len(), name.replace(['(', ')', ','], "_")));
        let text = crate::graph::upstream::print(funcs)?;
        std::fs::create_dir_all(&dump.dir)
            .and_then(|()| std::fs::write(&file, text))
            .map_err(|e| PassError { pass: "dump-ir", message: format!("cannot write {}: {e}", file.display()) })
    }
}
