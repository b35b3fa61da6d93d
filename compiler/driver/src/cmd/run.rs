//! `neap run`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use neap_optable::{DType, Tensor};
use neap_runtime::Options;
use neap_runtime::artefact::Check;
use serde::Serialize;

use crate::arrays;
use crate::cli::Run;
use crate::compile::Timing;
use crate::failure::{At, Failure};
use crate::{feed, load};

#[derive(Serialize)]
struct Report {
    outputs: Vec<Output>,
}

#[derive(Serialize)]
struct Output {
    name: String,
    dtype: String,
    shape: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
}

/// Runs the command.
pub fn run(args: &Run) -> Result<(), Failure> {
    let mut timing = Timing::default();
    let given = feed::read(&args.inputs)?;
    // One run reads all weights anyway, so that checking them costs little; a server decides for itself.
    let loaded = load::load(&args.model, &args.options, &given, Check::Weights, args.json, &mut timing)?;
    let inputs = feed::complete(&loaded.wanted, &given, args.inputs.random)?;
    let options = Options { threads: args.threads.into(), poison: args.poison, ..Options::default() };
    let mut session = load::session(&loaded.model, &options, &args.model)?;
    if let Some(dir) = &args.output_dir {
        if dir.exists() && !dir.is_dir() {
            return Err(Failure::new(format!("{}: is a file, expected a folder for the outputs", dir.display())));
        }
        distinct_files(dir, loaded.model.outputs().iter().map(|o| o.name.as_str()))?;
    }
    let mut buffers = super::Buffers::new(&session, &inputs);
    timing.phase("run", || buffers.run(&mut session))?;
    let mut report = Report { outputs: vec![] };
    if let Some(dir) = &args.output_dir {
        std::fs::create_dir_all(dir).at(dir.display())?;
    }
    let mut text = String::new();
    for (name, t) in buffers.results(&session) {
        let file = match &args.output_dir {
            Some(dir) => {
                let path = arrays::output_path(dir, &name);
                arrays::write_npy(&path, &t)?;
                Some(path.display().to_string())
            }
            None => None,
        };
        text.push_str(&format!("{name}: {}{:?} {}\n", t.dtype, t.dims, file.clone().unwrap_or_else(|| preview(&t))));
        report.outputs.push(Output { name, dtype: t.dtype.to_string(), shape: t.dims.clone(), file });
    }
    super::print_timing(&timing, args.options.timing);
    if args.json { super::print_json(&report) } else { super::print(&text) }
}

/// Refuses outputs whose names are too long for a file, or differ only in characters that file names lose.
fn distinct_files<'a>(dir: &Path, names: impl Iterator<Item = &'a str>) -> Result<(), Failure> {
    let mut taken: BTreeMap<PathBuf, &str> = BTreeMap::new();
    for name in names {
        let path = arrays::output_path(dir, name);
        let long = path.file_name().map_or(0, |n| n.len());
        if long > 255 {
            let start: String = name.chars().take(40).collect();
            return Err(Failure::new(format!(
                "output '{start}...' needs a file name of {long} bytes, and 255 is the most; rename it in the model"
            )));
        }
        if let Some(other) = taken.insert(path.clone(), name) {
            return Err(Failure::new(format!(
                "outputs '{other}' and '{name}' would both be written to {}; rename one in the model",
                path.display()
            )));
        }
    }
    Ok(())
}

/// The first few elements.
fn preview(t: &Tensor) -> String {
    const SHOWN: usize = 8;
    let words: Vec<String> = match t.to_f64() {
        Some(v) => v.iter().take(SHOWN).map(|v| format!("{v:.5}")).collect(),
        None if t.dtype == DType::U64 => {
            t.elements::<u64>().unwrap_or_default().iter().take(SHOWN).map(u64::to_string).collect()
        }
        None => t.to_i64().unwrap_or_default().iter().take(SHOWN).map(i64::to_string).collect(),
    };
    let more = if t.len() > SHOWN { ", ..." } else { "" };
    format!("[{}{more}]", words.join(", "))
}
