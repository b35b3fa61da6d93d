//! Every case against its expected results, and whole bodies.

use neap_optable::*;

use crate::cases::{self, close};
use crate::values::load;
use crate::{EvalError, eval, eval_body};

#[test]
fn cases() {
    let all = cases::all();
    for file in cases::FILES {
        assert!(all.iter().filter(|c| c.file == file.0).count() > 4, "{} has lost its cases", file.0);
    }
    for case in all {
        let name = case.name();
        let found = eval(case.op, &case.attrs, &case.inputs.iter().collect::<Vec<_>>(), &case.types())
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(found.len(), case.outputs.len(), "{name}");
        for (i, (f, e)) in found.iter().zip(&case.outputs).enumerate() {
            assert!(close(f, e), "{name}: result {i} is {} {:?}", f.ty(), load(f));
        }
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
