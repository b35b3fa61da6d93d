//! Cases in text files, one a paragraph: op and attributes, then operands (`in`) and results (`out`).

use std::collections::BTreeMap;

use neap_optable::*;

use crate::values::{Values, load, store};
use crate::{EvalError, eval, eval_body};

/// `f32[2,3] 1 2 3 4 5 6`
fn tensor(text: &str) -> Tensor {
    let (ty, rest) = text.split_once(']').unwrap();
    let (dtype, dims) = ty.split_once('[').unwrap();
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
    let dtype = all.into_iter().find(|d| d.to_string() == dtype).unwrap();
    let dims: Vec<u64> = dims.split(',').filter(|d| !d.is_empty()).map(|d| d.parse().unwrap()).collect();
    let words = rest.split_whitespace();
    let values = if dtype.is_float() {
        Values::Float(words.map(|w| w.parse().unwrap()).collect())
    } else {
        Values::Int(words.map(|w| w.parse().unwrap()).collect())
    };
    let t = store(dtype, &dims, &values);
    assert_eq!(t.len() as u64, dims.iter().product::<u64>(), "{text}");
    t
}

/// The case number of a keyword in the enumeration of an attribute.
fn keyword(op: GraphOp, attr: &str, word: &str) -> i64 {
    let at = |names: Vec<&str>| names.iter().position(|n| *n == word).unwrap_or_else(|| panic!("{word}")) as i64;
    macro_rules! names {
        ($e:ident) => {
            at($e::ALL.iter().map(|k| k.name()).collect())
        };
    }
    match (op, attr) {
        (GraphOp::Unary, _) => names!(UnaryKind),
        (GraphOp::Binary, _) => names!(BinaryKind),
        (GraphOp::Compare, _) => names!(CompareKind),
        (GraphOp::Pool, _) => names!(PoolKind),
        (GraphOp::Reduce, _) => names!(ReduceKind),
        (GraphOp::ArgReduce, _) => names!(ArgKind),
        (GraphOp::ScatterElements | GraphOp::ScatterNd, _) => names!(ScatterKind),
        (GraphOp::Pad, _) => names!(PadMode),
        (_, "mode") => names!(ResizeMode),
        (_, "coordinates") => names!(CoordinateMode),
        _ => names!(NearestMode),
    }
}

fn attribute(op: GraphOp, name: &str, text: &str) -> Attr {
    let list = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    let items = |t: &str| t.split(',').filter(|w| !w.is_empty()).map(String::from).collect::<Vec<_>>();
    match (name, list) {
        ("scales", Some(t)) => Attr::Floats(items(t).iter().map(|w| w.parse().unwrap()).collect()),
        (_, Some(t)) => Attr::Ints(items(t).iter().map(|w| w.parse().unwrap()).collect()),
        ("epsilon" | "cubic_a", _) => Attr::Float(text.parse().unwrap()),
        _ if text == "true" || text == "false" => Attr::Bool(text == "true"),
        _ => Attr::Int(text.parse().unwrap_or_else(|_| keyword(op, name, text))),
    }
}

/// Equal integers; floats within a few units in the last place of their type (expected values are sums in f32), or both NaN.
fn close(found: &Tensor, expected: &Tensor) -> bool {
    let tolerance = match found.dtype {
        DType::F64 => 1e-14,
        DType::F32 => 4e-6,
        _ => 1e-3,
    };
    let near = |(x, y): (&f64, &f64)| {
        x == y || x.is_nan() && y.is_nan() || (x - y).abs() <= tolerance * Ord::max(1, y.abs().ceil() as i64) as f64
    };
    found.ty() == expected.ty()
        && match (load(found), load(expected)) {
            (Values::Float(x), Values::Float(y)) => x.iter().zip(&y).all(near),
            (x, y) => x == y,
        }
}

fn run_file(text: &str) -> usize {
    let mut count = 0;
    for case in text.split("\n\n").filter(|c| !c.starts_with('#')) {
        let mut lines = case.trim().lines();
        let head = lines.next().unwrap();
        let mut words = head.split_whitespace();
        let name = words.next().unwrap();
        let op = *GraphOp::ALL.iter().find(|o| o.name() == name).unwrap();
        let mut attrs = Attrs::new();
        for word in words {
            let (name, value) = word.split_once('=').unwrap();
            let known: &'static str = String::from(name).leak();
            attrs = attrs.with(known, attribute(op, name, value));
        }
        let (mut ins, mut outs) = (vec![], vec![]);
        for line in lines {
            match line.split_once(' ').unwrap() {
                ("in", t) => ins.push(tensor(t)),
                (_, t) => outs.push(tensor(t)),
            }
        }
        let types: Vec<TensorType> = outs.iter().map(Tensor::ty).collect();
        let found = eval(op, &attrs, &ins.iter().collect::<Vec<_>>(), &types).unwrap_or_else(|e| panic!("{case}\n{e}"));
        assert_eq!(found.len(), outs.len());
        for (i, (f, e)) in found.iter().zip(&outs).enumerate() {
            assert!(close(f, e), "{case}\nresult {i} is {} {:?}", f.ty(), load(f));
        }
        count += 1;
    }
    count
}

#[test]
fn cases() {
    let files = BTreeMap::from([
        ("elementwise", include_str!("tests/elementwise.txt")),
        ("shape", include_str!("tests/shape.txt")),
        ("resize", include_str!("tests/resize.txt")),
        ("contract", include_str!("tests/contract.txt")),
        ("reduce", include_str!("tests/reduce.txt")),
        ("index", include_str!("tests/index.txt")),
        ("recurrent", include_str!("tests/recurrent.txt")),
    ]);
    for (name, text) in files {
        assert!(run_file(text) > 4, "{name} has lost its cases");
    }
}

#[test]
fn constants() {
    let elements = |data: Vec<u8>, splat| {
        Attrs::new().with("value", Attr::Elements { dtype: DType::I16, dims: vec![2], data, splat })
    };
    let types = [TensorType::fixed(DType::I16, &[2])];
    for (attrs, expected) in [(elements(vec![1, 0, 2, 0], false), [1i16, 2]), (elements(vec![3, 0], true), [3, 3])] {
        assert_eq!(eval(GraphOp::Constant, &attrs, &[], &types).unwrap(), [Tensor::new(&[2], &expected)]);
    }
}

/// `y = fusion(x + w) * 2` over a symbolic size.
fn body() -> Body {
    let n = TensorType { dtype: DType::F32, dims: vec![Dim::symbol("n"), Dim::constant(2)] };
    let two = TensorType::fixed(DType::F32, &[2]);
    let kind = |k: BinaryKind| Attrs::new().int("kind", k);
    let mut inner = Body::default();
    let (a, b) = (inner.arg(n.clone()), inner.arg(two.clone()));
    let b = inner.push(GraphOp::Broadcast, Attrs::new(), &[b], [n.clone()], "b")[0];
    inner.results = inner.push(GraphOp::Binary, kind(BinaryKind::Add), &[a, b], [n.clone()], "add");

    let mut body = Body::default();
    let x = body.arg(n.clone());
    body.arg_names = vec!["x".into()];
    let w = body.push(GraphOp::Weight, Attrs::new().str("key", "w").str("hash", ""), &[], [two], "w")[0];
    let sum = body.push(GraphOp::Fusion, Attrs::new().str("kind", "map"), &[x, w], [n.clone()], "sum")[0];
    body.nodes[1].region = Some(Box::new(inner));
    body.results = body.push(GraphOp::Binary, kind(BinaryKind::Mul), &[sum, sum], [n], "square");
    body
}

#[test]
fn bodies() {
    let body = body();
    let mut weights = Weights::default();
    let x = Tensor::new(&[2, 2], &[1f32, 2., 3., 4.]);
    let missing = eval_body(&body, &weights, std::slice::from_ref(&x), &mut |_, _| ()).unwrap_err();
    assert_eq!(missing.to_string(), "node w: there is no weight under the key w");

    weights.insert("w", Tensor::new(&[2], &[10f32, 20.]));
    let mut seen = vec![];
    let out =
        eval_body(&body, &weights, &[x], &mut |n, outs| seen.push((n.name.clone(), outs[0].dims.clone()))).unwrap();
    assert_eq!(out, [Tensor::new(&[2, 2], &[121f32, 484., 169., 576.])]);
    assert_eq!(seen, [("w".into(), vec![2]), ("sum".into(), vec![2, 2]), ("square".into(), vec![2, 2])]);

    let wrong = eval_body(&body, &weights, &[Tensor::new(&[1, 3], &[1f32; 3])], &mut |_, _| ()).unwrap_err();
    assert_eq!(wrong.to_string(), "input x is f32[1, 3], expected f32[1, 2]");
    let none = eval_body(&body, &weights, &[], &mut |_, _| ()).unwrap_err();
    assert_eq!(none.to_string(), "0 inputs given, expected 1");
}

#[test]
fn refusals() {
    let x = Tensor::new(&[2], &[1f32, 2.]);
    let cast = |t: TensorType| eval(GraphOp::Cast, &Attrs::new(), &[&x], &[t]).unwrap_err();
    let n = TensorType { dtype: DType::I8, dims: vec![Dim::symbol("n")] };
    assert!(matches!(cast(n), EvalError::Symbolic { .. }));
    assert!(cast(TensorType::fixed(DType::I8, &[3])).to_string().contains("dim 0 is 3, expected 2"));
    let huge = TensorType::fixed(DType::F32, &[1 << 62]);
    let one = Tensor::scalar(1f32);
    let e = eval(GraphOp::Broadcast, &Attrs::new(), &[&one], &[huge]).unwrap_err();
    assert!(matches!(e, EvalError::TooLarge(_)));
    assert!(eval(GraphOp::Reshape, &Attrs::new(), &[], &[]).is_err());
}
