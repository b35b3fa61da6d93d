//! Kernels of symbolic sizes: one image, several sizes.

use libtest_mimic::{Failed, Trial};
use neap_codegen::host_target;
use neap_kernels::scheduled::Facts;
use neap_optable::{Attrs, BinaryKind, Body, DType, Dim, GraphOp, Node, Tensor, TensorType, UnaryKind, Weights};
use neap_spec::Backend;

use super::random::Random;
use super::{close, run, same};

/// The trials.
pub fn trials() -> Vec<Trial> {
    type Make = (&'static str, fn() -> Body);
    let make: [Make; 3] = [("elementwise", elementwise), ("matmul with epilogue", matmul), ("batched matmul", batched)];
    make.into_iter().map(|(name, body)| Trial::test(format!("symbolic {name}"), move || check(&body()))).collect()
}

fn ty(dims: &[Dim]) -> TensorType {
    TensorType { dtype: DType::F32, dims: dims.to_vec() }
}

fn fusion(region: Body) -> Body {
    let mut body = Body::default();
    let args: Vec<_> = region.args.iter().map(|a| body.arg(region.ty(*a).clone())).collect();
    let results: Vec<_> = region.results.iter().map(|r| body.value(region.ty(*r).clone())).collect();
    body.results = results.clone();
    let attrs = Attrs::new().str("kind", "test");
    let region = Some(Box::new(region));
    body.nodes.push(Node { op: GraphOp::Fusion, attrs, inputs: args, outputs: results, name: "f".into(), region });
    body
}

/// tanh(x * s + y) over [n, 2 m], s along the rows.
fn elementwise() -> Body {
    let (n, m) = (Dim::symbol("n"), Dim::symbol("m").scale(2));
    let mut r = Body::default();
    let full = ty(&[n, m.clone()]);
    let (x, y, s) = (r.arg(full.clone()), r.arg(full.clone()), r.arg(ty(&[m])));
    let s = r.push(GraphOp::Broadcast, Attrs::new(), &[s], [full.clone()], "b")[0];
    let k = |k: BinaryKind| Attrs::new().int("kind", k);
    let p = r.push(GraphOp::Binary, k(BinaryKind::Mul), &[x, s], [full.clone()], "m")[0];
    let p = r.push(GraphOp::Binary, k(BinaryKind::Add), &[p, y], [full.clone()], "a")[0];
    r.results = r.push(GraphOp::Unary, Attrs::new().int("kind", UnaryKind::Tanh), &[p], [full], "t");
    fusion(r)
}

/// relu(x w + b) for x [n, k], w [k, m].
fn matmul() -> Body {
    let (n, m, k) = (Dim::symbol("n"), Dim::symbol("m"), Dim::symbol("k"));
    let mut r = Body::default();
    let (x, w, b) =
        (r.arg(ty(&[n.clone(), k.clone()])), r.arg(ty(&[k, m.clone()])), r.arg(ty(std::slice::from_ref(&m))));
    let full = ty(&[n, m]);
    let plain = Attrs::new().flag("transpose_lhs", false).flag("transpose_rhs", false);
    let p = r.push(GraphOp::Matmul, plain, &[x, w], [full.clone()], "p")[0];
    let b = r.push(GraphOp::Broadcast, Attrs::new(), &[b], [full.clone()], "b")[0];
    let add = Attrs::new().int("kind", BinaryKind::Add);
    let p = r.push(GraphOp::Binary, add, &[p, b], [full.clone()], "a")[0];
    r.results = r.push(GraphOp::Unary, Attrs::new().int("kind", UnaryKind::Relu), &[p], [full], "r");
    fusion(r)
}

/// [n, 3, m, 32] x [n, 3, k, 32] transposed: attention scores.
fn batched() -> Body {
    let (n, m, k) = (Dim::symbol("n"), Dim::symbol("m"), Dim::symbol("k"));
    let mut r = Body::default();
    let c = Dim::constant;
    let x = r.arg(ty(&[n.clone(), c(3), m.clone(), c(32)]));
    let y = r.arg(ty(&[n.clone(), c(3), k.clone(), c(32)]));
    let attrs = Attrs::new().flag("transpose_lhs", false).flag("transpose_rhs", true);
    r.results = r.push(GraphOp::Matmul, attrs, &[x, y], [ty(&[n, c(3), m, k])], "p");
    fusion(r)
}

/// With values in place of symbols.
fn sized(body: &Body, size: &dyn Fn(&str) -> i64) -> Body {
    let mut out = body.clone();
    for d in out.types.iter_mut().flat_map(|t| &mut t.dims) {
        *d = d.substitute(&|s| Some(Dim::constant(size(s))));
    }
    for n in &mut out.nodes {
        n.region = n.region.take().map(|r| Box::new(sized(&r, size)));
    }
    out
}

fn check(body: &Body) -> Result<(), Failed> {
    let kernels: Vec<_> = [Backend::Llvm, Backend::Cranelift]
        .into_iter()
        .map(|b| Ok(run::build(body, &Facts::default(), &host_target(b))??))
        .collect::<Result<_, Failed>>()?;
    let mut rng = Random::new(3);
    for (n, m, k) in [(1, 1, 1), (5, 33, 7), (64, 16, 40), (3, 100, 129)] {
        let size = |s: &str| match s {
            "n" => n,
            "m" => m,
            _ => k,
        };
        let fixed = sized(body, &size);
        let inputs: Vec<Tensor> = fixed
            .args
            .iter()
            .map(|a| rng.tensor(DType::F32, &fixed.ty(*a).static_dims().expect("sizes are given")))
            .collect();
        let types: Vec<TensorType> = fixed.results.iter().map(|r| fixed.ty(*r).clone()).collect();
        let region = fixed.nodes[0].region.as_ref().expect("a fusion");
        let expected = neap_reference::eval_body(region, &Weights::default(), &inputs, &mut |_, _| {})?;
        let found: Vec<Vec<Tensor>> =
            kernels.iter().map(|c| c.run(&inputs, &types, &size, 2)).collect::<Result<_, _>>()?;
        let place = |e: String| format!("n {n}, m {m}, k {k}: {e}");
        close(&found[0][0], &expected[0], 2e-5).map_err(place)?;
        same(&found[1][0], &found[0][0]).map_err(place)?;
    }
    Ok(())
}
