//! `neap`: parses the command line, runs a command, and turns failures into lines and exit codes.

use std::ffi::OsString;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

use crate::cli::{Cli, Command};
use crate::cmd;
use crate::diagnostics;
use crate::failure::Failure;

/// Runs `neap` on these arguments, the program's name first.
pub fn main_neap(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(e) => {
            let _ = e.print();
            return ExitCode::from(if e.use_stderr() { 2 } else { 0 });
        }
    };
    // A second handler, which only an embedder could have set, keeps its place.
    let _ = ctrlc::set_handler(|| {
        crate::files::sweep();
        std::process::exit(130);
    });
    let level = ["warn", "info", "debug", "trace"][usize::from(cli.verbose).min(3)];
    let _ = tracing_subscriber::fmt().with_env_filter(EnvFilter::new(level)).with_writer(std::io::stderr).try_init();
    // The hook keeps backtraces away from users; what matters of the panic is told below.
    std::panic::set_hook(Box::new(|info| tracing::debug!("{info}")));
    let result = catch_unwind(AssertUnwindSafe(|| run(&cli.command))).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
        Err(Failure::new(format!(
            "bug in neap: {}; please report it with the command and the model",
            text.unwrap_or("panic")
        )))
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(f) => {
            let text = diagnostics::errors(&f.message, diagnostics::pretty(cli.color));
            let _ = std::io::stderr().write_all(text.as_bytes());
            ExitCode::from(f.code)
        }
    }
}

fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Compile(a) => cmd::compile::run(a),
        Command::Run(a) => cmd::run::run(a),
        Command::Bench(a) => cmd::bench::run(a),
        Command::Profile(a) => cmd::profile::run(a),
        Command::Verify(a) => cmd::verify::run(a),
        Command::Bisect(a) => cmd::bisect::run(a),
        Command::Fusions(a) => cmd::fusions::run(a),
        Command::Inspect(a) => cmd::inspect::run(a),
        Command::Plan(a) => cmd::plan::run(a),
        Command::Zoo(a) => cmd::zoo::run(a),
        Command::Doctor(a) => cmd::doctor::run(a),
        Command::Completions(a) => cmd::manual::completions(a),
        Command::Man(a) => cmd::manual::man(a),
    }
}
