//! Bodies that no file states well: symbolic sizes of every form, constants of every type, a very long graph.

use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use neap_mlir::{Locations, graph};
use neap_optable::{Attr, Attrs, Body, DType, Dim, GraphOp, TensorType, UnaryKind};

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut out: Vec<Trial> = sizes()
        .into_iter()
        .map(|d| Trial::test(format!("symbolic size {d}"), move || Ok(round_trip(&sized(&d))?)))
        .collect();
    for (name, attr) in constants() {
        out.push(Trial::test(format!("constant {name}"), move || Ok(round_trip(&constant(attr))?)));
    }
    for value in [0, 1] {
        // MLIR knows no other form for it.
        out.push(Trial::test(format!("bools all {value} read as a splat"), move || {
            let bools = |data, splat| constant(Attr::Elements { dtype: DType::Bool, dims: vec![16], data, splat });
            Ok(reads_as(&bools(vec![value; 16], false), &bools(vec![value], true))?)
        }));
    }
    out.push(Trial::test("names of nodes, arguments and results", || Ok(round_trip(&named())?)));
    out.push(Trial::test("a chain of 50,000 ops", || Ok(long_chain()?)));
    out
}

fn round_trip(body: &Body) -> Result<(), String> {
    reads_as(body, body)
}

/// Through MLIR objects and through text with locations.
fn reads_as(body: &Body, expected: &Body) -> Result<(), String> {
    let cx = neap_mlir::context();
    let module = graph::write_module(&cx, &[("main", body)]).map_err(|e| e.to_string())?;
    neap_mlir::verify(&cx, &module.as_operation()).map_err(|e| e.to_string())?;
    let text = neap_mlir::print(&module.as_operation(), Locations::Shown);
    let parsed = neap_mlir::parse_module(&cx, &text, "text").map_err(|e| format!("{e}\n{text}"))?;
    for (what, module) in [("written", &module), ("parsed", &parsed)] {
        let back = graph::read_module(module).map_err(|e| e.to_string())?;
        if back.len() != 1 || back[0].0 != "main" || back[0].1 != *expected {
            return Err(format!("what was {what} reads as\n{back:?}\nfrom\n{body:?}\nby\n{text}"));
        }
    }
    Ok(())
}

fn sizes() -> Vec<Dim> {
    let (n, m, k) = (Dim::symbol("n"), Dim::symbol("m"), Dim::symbol("a name: with \"signs\""));
    let c = Dim::constant;
    let div = |a: &Dim, b: &Dim| a.floor_div(b).expect("not 0");
    let rem = |a: &Dim, b: &Dim| a.modulo(b).expect("not 0");
    vec![
        n.clone(),
        n.scale(4).add(&c(1)),
        n.add(&m).add(&k.scale(-2)),
        n.mul(&m),
        n.mul(&m).mul(&k).scale(3).add(&n.mul(&n)),
        div(&n, &c(2)),
        div(&n.add(&c(1)), &c(2)).scale(2).add(&rem(&m, &c(8))),
        div(&n.scale(6).add(&c(4)), &c(4)),
        div(&n.add(&div(&m, &c(3))), &c(2)),
        div(&n, &m),
        div(&n, &c(-2)),
        rem(&n.mul(&m), &k),
        rem(&n.scale(2).add(&c(1)), &c(2)),
        n.max_with(&m),
        n.min_with(&c(512)).mul(&m.max_with(&c(1))),
        div(&n.max_with(&m).add(&c(7)), &c(8)).mul(&k),
    ]
}

/// A body with the size in an argument, a result, and inside a fusion.
fn sized(d: &Dim) -> Body {
    let ty = TensorType { dtype: DType::F32, dims: vec![Dim::constant(3), d.clone(), Dim::symbol("z")] };
    let mut inner = Body::default();
    let x = inner.arg(ty.clone());
    let y = inner.push(GraphOp::Unary, Attrs::new().int("kind", UnaryKind::Exp), &[x], [ty.clone()], "exp");
    inner.results = y;
    let mut body = Body::default();
    let x = body.arg(ty.clone());
    let y = body.push(GraphOp::Fusion, Attrs::new().str("kind", "elementwise"), &[x], [ty], "exp");
    body.nodes[0].region = Some(Box::new(inner));
    body.results = y;
    body
}

fn constants() -> Vec<(String, Attr)> {
    let all = [
        DType::F32,
        DType::F64,
        DType::F16,
        DType::BF16,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::Bool,
    ];
    let mut out = vec![];
    for dtype in all {
        for dims in [vec![], vec![1], vec![3], vec![2, 9], vec![0, 4]] {
            let count = dims.iter().product::<u64>();
            let bytes = |n: u64| -> Vec<u8> {
                (0..n * dtype.size())
                    .map(|i| if dtype == DType::Bool { u8::from(i % 3 == 0) } else { i as u8 })
                    .collect()
            };
            out.push((
                format!("{dtype} {dims:?}"),
                Attr::Elements { dtype, dims: dims.clone(), data: bytes(count), splat: false },
            ));
            if count > 1 {
                let data = if dtype == DType::Bool { vec![1] } else { bytes(1) };
                out.push((format!("{dtype} {dims:?} splat"), Attr::Elements { dtype, dims, data, splat: true }));
            }
        }
    }
    let nans = [f32::NAN, f32::from_bits(0x7fa0_0001), -0.0, f32::INFINITY];
    let data = nans.iter().flat_map(|f| f.to_le_bytes()).collect();
    out.push(("f32 specials".into(), Attr::Elements { dtype: DType::F32, dims: vec![4], data, splat: false }));
    out
}

fn constant(value: Attr) -> Body {
    let Attr::Elements { dtype, dims, .. } = &value else { unreachable!("only elements are made above") };
    let ty = TensorType::fixed(*dtype, dims);
    let mut body = Body::default();
    let out = body.push(GraphOp::Constant, Attrs::new().with("value", value), &[], [ty], "c");
    body.results = out;
    body
}

fn named() -> Body {
    let ty = TensorType::fixed(DType::F32, &[2]);
    let mut body = Body::default();
    let mut x = body.arg(ty.clone());
    for name in ["/layer.0/Add", "a+b", "", "with \"quotes\" and \\ and ünïcode", "line\nbreak"] {
        x = body.push(GraphOp::Unary, Attrs::new().int("kind", UnaryKind::Relu), &[x], [ty.clone()], name)[0];
    }
    body.results = vec![x, x];
    body.arg_names = vec!["input:0".into()];
    body.result_names = vec!["out \"1\"".into(), String::new()];
    body
}

fn long_chain() -> Result<(), String> {
    let ty = TensorType::fixed(DType::F32, &[2, 3]);
    let mut body = Body::default();
    let mut x = body.arg(ty.clone());
    for i in 0..50_000 {
        let kind = if i % 2 == 0 { UnaryKind::Relu } else { UnaryKind::Exp };
        x = body.push(GraphOp::Unary, Attrs::new().int("kind", kind), &[x], [ty.clone()], format!("node_{i}"))[0];
    }
    body.results = vec![x];
    let cx = neap_mlir::context();
    let start = Instant::now();
    let module = graph::write_module(&cx, &[("main", &body)]).map_err(|e| e.to_string())?;
    let back = graph::read_module(&module).map_err(|e| e.to_string())?;
    let taken = start.elapsed();
    if back[0].1 != body {
        return Err("the chain changed".into());
    }
    // Generous, since tests share the machine; the usual time is a tenth of a second.
    if taken > Duration::from_secs(5) {
        return Err(format!("writing and reading took {taken:?}"));
    }
    neap_mlir::verify(&cx, &module.as_operation()).map_err(|e| e.to_string())
}
