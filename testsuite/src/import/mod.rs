//! ONNX operators imported one by one: what they compute at the opsets where their meaning changed, and how wrong ones are refused.

mod case;
mod errors;
mod four_bits;
mod mutate;
mod rows;

use libtest_mimic::{Failed, Trial};

/// All trials.
pub fn trials() -> Vec<Trial> {
    let good = rows::ROWS.iter().map(|row| {
        let (opset, node, operands, expected) = *row;
        Trial::test(format!("import/{opset}/{node}"), move || {
            let found = case::run(opset, node, operands)?;
            let expected: Vec<_> = expected.split(';').map(|t| case::tensor(t.trim())).collect();
            let same = found.len() == expected.len() && found.iter().zip(&expected).all(|(f, e)| case::agree(f, e));
            if same { Ok(()) } else { Err(Failed::from(format!("found {}", show(&found)))) }
        })
    });
    let bad = errors::ROWS.iter().map(|row| {
        let (opset, node, operands, expected) = *row;
        Trial::test(format!("import/refuses/{opset}/{node}"), move || match case::run(opset, node, operands) {
            Err(line) if line.contains(expected) => Ok(()),
            Err(line) => Err(Failed::from(format!("says `{line}`, expected `{expected}`"))),
            Ok(found) => Err(Failed::from(format!("gives {}, expected `{expected}`", show(&found)))),
        })
    });
    let damaged = Trial::test("import/damaged nodes", || Ok(mutate::run()?));
    good.chain(bad).chain([damaged]).chain(four_bits::trials()).collect()
}

fn show(tensors: &[neap_optable::Tensor]) -> String {
    let one = |t: &neap_optable::Tensor| match t.elements::<f32>() {
        Some(v) => format!("{} {v:?}", t.ty()),
        None => format!("{} {:?}", t.ty(), t.to_i64()),
    };
    tensors.iter().map(one).collect::<Vec<_>>().join("; ")
}
