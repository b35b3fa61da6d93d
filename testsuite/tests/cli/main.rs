//! The command line as users meet it: each trial runs the built `neap` in a folder of its own.
//!
//! `just test` builds the binary first; by hand: `cargo build -p neap-driver`. Texts that users read are snapshots:
//! `INSTA_UPDATE=always cargo test -p neap-testsuite --test cli` writes them anew, to be looked over with `git diff`.

mod artefacts;
mod bad_inputs;
mod bad_models;
mod commands;
mod help;
mod library;
mod models;
mod neap;
mod numpy;
mod quantised;
mod same;
mod steps;
mod tiled;
mod types;

fn main() {
    let args = libtest_mimic::Arguments::from_args();
    let mut trials = help::trials();
    trials.extend(bad_models::trials());
    trials.extend(bad_inputs::trials());
    trials.extend(artefacts::trials());
    trials.extend(commands::trials());
    trials.extend(library::trials());
    trials.extend(same::trials());
    trials.extend(steps::trials());
    trials.extend(tiled::trials());
    trials.extend(types::trials());
    trials.extend(quantised::trials());
    libtest_mimic::run(&args, trials).exit();
}
