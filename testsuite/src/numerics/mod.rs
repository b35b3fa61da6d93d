//! Numerics: every op case, generated shapes and elements, and fused groups, on every back end this machine runs, against the
//! reference within a tolerance and against each other bit by bit.

pub mod back_ends;
mod cases;
mod fused;
mod generate;
mod maker;
pub mod placed;
pub mod run;
pub mod sample;
mod tiled;
mod tolerance;

use libtest_mimic::Trial;

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut out = cases::trials();
    out.extend(generate::trials());
    out.extend(fused::trials());
    out.extend(tiled::trials());
    out.extend(placed::trials());
    out
}
