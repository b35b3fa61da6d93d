//! What `neap` says of itself.

use libtest_mimic::Trial;

use crate::neap::{Place, snapshot};

/// One trial a help page.
pub fn trials() -> Vec<Trial> {
    let pages = [
        ("help", "--help", 0),
        ("help short", "-h", 0),
        ("help compile", "compile --help", 0),
        ("help run", "run --help", 0),
        ("help bench", "bench --help", 0),
        ("help profile", "profile --help", 0),
        ("help plan", "plan --help", 0),
        ("help verify", "verify --help", 0),
        ("help bisect", "bisect --help", 0),
        ("help fusions", "fusions --help", 0),
        ("help inspect", "inspect --help", 0),
        ("help zoo", "zoo --help", 0),
        ("help zoo list", "zoo list", 0),
        ("usage none", "", 2),
        ("usage unknown command", "compil model.onnx", 2),
        ("usage unknown option", "run model.onnx --thread 2", 2),
        ("usage no model", "compile", 2),
        ("usage dim", "run model.onnx --dim batch", 2),
        ("usage dim size", "run model.onnx --dim batch=many", 2),
        ("usage disable", "run model.onnx --disable simplify-transpose,fuze-conv", 2),
        ("usage no fusion", "run model.onnx --no-fusion --max-fusions 3", 2),
        ("usage threads", "run model.onnx --threads 0", 2),
        ("usage backend", "run model.onnx --backend gcc", 2),
        ("usage recompute limit", "compile model.onnx --recompute-limit 5", 2),
        ("usage emit", "compile model.onnx --emit mlir", 2),
        ("usage input", "run model.onnx --input x.npy", 2),
    ];
    pages
        .into_iter()
        .map(|(name, args, code)| {
            Trial::test(format!("cli {name}"), move || {
                let out = Place::new()?.neap(args)?;
                if out.code != code {
                    return Err(format!("ends with {}, expected {code}: {}", out.code, out.stderr).into());
                }
                snapshot(&name.replace(' ', "-"), &format!("{}{}", out.stdout, out.stderr));
                Ok(())
            })
        })
        .collect()
}
