//! The rows of floats in the other float types.

use libtest_mimic::Trial;
use neap_optable::DType;

use super::TOGETHER;
use crate::numerics::run;
use crate::numerics::sample::{Dice, Sample};

const TYPES: [DType; 3] = [DType::F64, DType::F16, DType::BF16];

/// For each row and type a third of the row's samples, of elementwise rows all.
pub(super) fn trials() -> Vec<Trial> {
    let mut out = vec![];
    for row in super::rows().filter(|r| !r.name.contains("integers") && !matches!(r.name, "cast" | "reshape")) {
        for (t, dtype) in TYPES.into_iter().enumerate() {
            // Refused: see the numerics of the op cases.
            if dtype.is_half() && matches!(row.name, "lstm" | "gru") {
                continue;
            }
            let every = if row.name.ends_with("f32") { 1 } else { TYPES.len() };
            let numbers: Vec<usize> = (0..row.count).filter(|i| every == 1 || i % every == t).collect();
            for (n, chunk) in numbers.chunks(TOGETHER).enumerate() {
                let chunk = chunk.to_vec();
                out.push(Trial::test(format!("numerics generated {} as {dtype} {n}", row.name), move || {
                    let make = |i: &usize| (row.make)(&mut Dice::new(&format!("{} {dtype} {i}", row.name)), *i);
                    let samples: Vec<Sample> = chunk.iter().map(|i| make(i).retyped(dtype)).collect();
                    Ok(run::check(&samples)?)
                }));
            }
        }
    }
    out
}
