//! `neap zoo`

use std::io::Write;
use std::path::PathBuf;

use neap_plan::report::human;
use serde::Serialize;

use crate::cli::Zoo;
use crate::failure::Failure;
use crate::files;

#[derive(Serialize)]
struct List {
    models: Vec<&'static str>,
}

#[derive(Serialize)]
struct Report {
    output: String,
    bytes: usize,
}

/// Runs the command.
pub fn run(args: &Zoo) -> Result<(), Failure> {
    if args.name == "list" {
        let list = neap_zoo::list();
        return match args.json {
            true => super::print_json(&List { models: list.iter().map(|m| m.name).collect() }),
            false => super::print(&list.iter().map(|m| format!("{:20} {}\n", m.name, m.about)).collect::<String>()),
        };
    }
    let usual = neap_zoo::Size::Usual;
    let options = neap_zoo::Options {
        small: args.small,
        batch: args.batch.unwrap_or(usual),
        seq: args.seq.unwrap_or(usual),
        past: args.past.unwrap_or(usual),
        image: args.image,
        seed: args.seed,
        decomposed_norms: args.decomposed_norms,
    };
    let bytes = neap_zoo::encode(&neap_zoo::build(&args.name, &options).map_err(Failure::new)?);
    let output = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.onnx", args.name)));
    files::write(&output, |w| w.write_all(&bytes))?;
    let report = Report { output: output.display().to_string(), bytes: bytes.len() };
    match args.json {
        true => super::print_json(&report),
        false => super::print(&format!("{}: {}\n", report.output, human(bytes.len() as u64))),
    }
}
