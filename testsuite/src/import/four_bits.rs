//! Weights of 4 bits stay packed through the whole compiler, and every back end unpacks the same numbers.

use std::collections::BTreeMap;

use libtest_mimic::Trial;
use neap_optable::Tensor;
use neap_passes::import::{ImportOptions, import};

use super::case;
use crate::numerics::{back_ends, run};

/// What the compiler does with every model.
const PIPELINE: &str = "graph-simplify,graph-fold,graph-fuse,graph-copy-outputs";

/// An even and an odd count, with and without a sign.
pub fn trials() -> Vec<Trial> {
    let mut out = vec![];
    for ty in ["i4", "u4"] {
        for dims in [[96, 128], [71, 129]] {
            let name = format!("import/{ty}[{}, {}] stays packed", dims[0], dims[1]);
            out.push(Trial::test(name, move || Ok(packed(ty, dims)?)));
        }
    }
    out
}

fn packed(ty: &str, dims: [u64; 2]) -> Result<(), String> {
    let count = dims[0] * dims[1];
    let value = |i: u64| (i * i + i / 7) as i64 % 16 - if ty == "i4" { 8 } else { 0 };
    let list: Vec<String> = (0..count).map(|i| value(i).to_string()).collect();
    let weight = format!("const {ty}[{},{}] {}", dims[0], dims[1], list.join(" "));
    let (model, _) = case::model(21, "Cast(x) to=1", &[&weight]);
    let model = neap_onnx::from_proto(model, &neap_onnx::external::NoExternal).map_err(|e| e.to_string())?;
    let imported = import(&model, &ImportOptions { dims: BTreeMap::new() }).map_err(|e| format!("{e:?}"))?;
    let stored: usize = imported.weights.iter().map(|(_, t)| t.data.len()).sum();
    if stored as u64 != count.div_ceil(2) {
        return Err(format!("{count} elements are stored in {stored} bytes"));
    }
    let expected = Tensor::new(&dims, &(0..count).map(|i| value(i) as f32).collect::<Vec<_>>());
    for b in back_ends::all() {
        let found = run::run(&imported.body, &imported.weights, &[], &b.target, PIPELINE)?;
        run::same_bits(&found, std::slice::from_ref(&expected)).map_err(|e| format!("{}: {e}", b.name))?;
    }
    Ok(())
}
