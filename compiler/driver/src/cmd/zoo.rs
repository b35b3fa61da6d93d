//! `neap zoo`

use std::path::PathBuf;

use serde::Serialize;

use crate::cli::Zoo;
use crate::failure::{At, Failure};

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
            true => super::print_json(&list.iter().map(|m| m.name).collect::<Vec<_>>()),
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
    let folder = output.parent().filter(|p| !p.as_os_str().is_empty()).map_or(PathBuf::from("."), PathBuf::from);
    let temp = tempfile::NamedTempFile::new_in(&folder).at(folder.display())?;
    std::fs::write(temp.path(), &bytes).at(output.display())?;
    temp.persist(&output).map_err(|e| e.error).at(output.display())?;
    let report = Report { output: output.display().to_string(), bytes: bytes.len() };
    match args.json {
        true => super::print_json(&report),
        false => super::print(&format!("{}: {}\n", report.output, super::bench::human(bytes.len() as u64))),
    }
}
