//! Operators on generated shapes and elements: odd sizes, sizes of 1 and 0, tails around vector widths, special numbers.
//! Everything follows from the row's name, so a failure shows again under the same name.

mod contract;
mod elementwise;
mod index;
mod recurrent;
mod reduce;
mod shape;
mod types;

use libtest_mimic::Trial;

use super::run;
use super::sample::{Dice, Sample};

/// One kind of samples.
pub struct Row {
    /// Name, and seed.
    name: &'static str,
    /// How many to make; `make` gets the number.
    count: usize,
    make: fn(&mut Dice, usize) -> Sample,
}

/// Samples in one trial: they are compiled together.
const TOGETHER: usize = 24;

/// All rows.
fn rows() -> impl Iterator<Item = &'static Row> {
    [elementwise::ROWS, shape::ROWS, contract::ROWS, reduce::ROWS, index::ROWS, recurrent::ROWS].into_iter().flatten()
}

/// One trial for a few samples of a row.
pub fn trials() -> Vec<Trial> {
    let mut out = vec![];
    for row in rows() {
        for from in (0..row.count).step_by(TOGETHER) {
            let numbers = from..(from + TOGETHER).min(row.count);
            let name = format!("numerics generated {} {}-{}", row.name, numbers.start, numbers.end);
            out.push(Trial::test(name, move || {
                let make = |i| (row.make)(&mut Dice::new(&format!("{} {i}", row.name)), i);
                Ok(run::check(&numbers.clone().map(make).collect::<Vec<_>>())?)
            }));
        }
    }
    out.extend(types::trials());
    out
}
