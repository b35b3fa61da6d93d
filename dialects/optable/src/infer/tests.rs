//! Data-driven: op, attributes, operands, then the result types or a part of the message.

use super::*;
use crate::{Attr, BinaryKind, CompareKind, DType, Dim, PadMode, PoolKind, ReduceKind, ScatterKind, UnaryKind};

/// `f32 1 n*2 3` style: a type and dims; a dim is a number, a symbol, or `symbol+number`.
fn t(s: &str) -> TensorType {
    let mut words = s.split_whitespace();
    let dtype = match words.next().unwrap() {
        "f32" => DType::F32,
        "f64" => DType::F64,
        "i32" => DType::I32,
        "i64" => DType::I64,
        "u8" => DType::U8,
        "bool" => DType::Bool,
        other => panic!("{other}"),
    };
    let atom = |w: &str| w.parse().map_or_else(|_| Dim::symbol(w), Dim::constant);
    let term = |w: &str| w.split('*').map(atom).fold(Dim::constant(1), |a, b| a.mul(&b));
    let dims = words.map(|w| w.split('+').map(term).fold(Dim::constant(0), |a, b| a.add(&b))).collect();
    TensorType { dtype, dims }
}

fn ts(s: &str) -> Vec<TensorType> {
    s.split(';').filter(|p| !p.trim().is_empty()).map(t).collect()
}

fn a() -> Attrs {
    Attrs::new()
}

fn window(strides: &[i64], pads: &[i64], dilations: &[i64]) -> Attrs {
    a().ints("strides", strides).ints("pads", pads).ints("dilations", dilations)
}

#[test]
fn inferred_types() {
    let mm = |l, r| a().flag("transpose_lhs", l).flag("transpose_rhs", r);
    let reduce = |k: ReduceKind, axes: &[i64], keep| a().int("kind", k).ints("axes", axes).flag("keep_dims", keep);
    let conv = |s: &[i64], p: &[i64], d: &[i64], g: i64| window(s, p, d).int("groups", g);
    let bin = |k: BinaryKind| a().int("kind", k);
    use GraphOp as G;
    let cases: Vec<(GraphOp, Attrs, &str, Result<&str, &str>)> = vec![
        (G::Unary, a().int("kind", UnaryKind::Exp), "f32 2 n", Ok("f32 2 n")),
        (G::Unary, a().int("kind", UnaryKind::Isnan), "f32 2", Ok("bool 2")),
        (G::Unary, a().int("kind", UnaryKind::Exp), "i32 2", Err("operand of exp is i32[2], expected a float type")),
        (G::Unary, a().int("kind", 99), "f32", Err("attribute kind has no case 99")),
        (G::Unary, a(), "f32", Err("graph.unary: lacks the attribute kind")),
        (G::Binary, bin(BinaryKind::Add), "f32 n 3; f32 4 m", Ok("f32 4 3")),
        (G::Binary, bin(BinaryKind::Add), "f32 n; f32 n+1", Err("differ in dim 0: n against n + 1")),
        (G::Binary, bin(BinaryKind::Add), "f32 2; i32 2", Err("expected elements of type f32")),
        (G::Binary, bin(BinaryKind::Add), "bool 2; bool 2", Err("expected numbers")),
        (G::Binary, bin(BinaryKind::And), "bool 2; bool 2", Ok("bool 2")),
        (G::Binary, bin(BinaryKind::Shl), "f32 2; f32 2", Err("expected integers")),
        (G::Binary, bin(BinaryKind::Add), "f32 2", Err("has 1 operands, expected 2")),
        (G::Compare, a().int("kind", CompareKind::Lt), "i64 n; i64 n", Ok("bool n")),
        (G::Select, a(), "bool 2; f32 2; f32 2", Ok("f32 2")),
        (G::Select, a(), "f32 2; f32 2; f32 2", Err("condition is f32[2], expected elements of type bool")),
        (G::Transpose, a().ints("permutation", [2, 0, 1]), "f32 a b 3", Ok("f32 3 a b")),
        (G::Transpose, a().ints("permutation", [0, 0, 1]), "f32 a b 3", Err("is not a permutation")),
        (G::Concat, a().int("axis", 1), "f32 2 n; f32 2 3; f32 m n", Ok("f32 2 n*2+3")),
        (G::Concat, a().int("axis", 0), "f32 2 4; f32 2 3", Err("operand 1 is f32[2, 3]: dim 1 is 3, expected 4")),
        (G::Concat, a().int("axis", 2), "f32 2 4", Err("axis 2 is not a dim of f32[2, 4], expected 0 to 1")),
        (G::Concat, a().int("axis", 0), "", Err("has no operands")),
        (
            G::Pad,
            a().int("mode", PadMode::Constant).ints("low", [1, -1]).ints("high", [0, 3]),
            "f32 n 4; f32",
            Ok("f32 n+1 6"),
        ),
        (
            G::Pad,
            a().int("mode", PadMode::Constant).ints("low", [-3]).ints("high", [-3]),
            "f32 4; f32",
            Err("leave dim 0 of f32[4] with -2 elements"),
        ),
        (G::Matmul, mm(false, false), "f32 b 1 4 k; f32 7 k 5", Ok("f32 b 7 4 5")),
        (G::Matmul, mm(true, true), "f32 8 4; f32 5 8", Ok("f32 4 5")),
        (G::Matmul, mm(false, false), "f32 4 3; f32 4 5", Err("dim 1 of the left is 3, dim 0 of the right is 4")),
        (G::Matmul, mm(false, false), "f32 2 4 3; f32 3 3 5", Err("batch dims 2 and 3 do not broadcast")),
        (G::Matmul, mm(false, false), "f32 3; f32 3 5", Err("expected at least rank 2")),
        (G::Conv, conv(&[2, 2], &[3, 3, 3, 3], &[1, 1], 1), "f32 n 3 224 224; f32 64 3 7 7", Ok("f32 n 64 112 112")),
        (G::Conv, conv(&[1], &[0, 0], &[2], 2), "f32 1 4 9; f32 6 2 3", Ok("f32 1 6 5")),
        (G::Conv, conv(&[1], &[1, 1], &[1], 1), "f32 1 4 w; f32 6 4 3", Ok("f32 1 6 w")),
        (G::Conv, conv(&[0], &[0, 0], &[1], 1), "f32 1 4 9; f32 6 4 3", Err("strides [0] contain 0")),
        (G::Conv, conv(&[1], &[0, 0], &[1], 1), "f32 1 4 2; f32 6 4 3", Err("reaches over 3 elements")),
        (G::Conv, conv(&[1], &[0, 0], &[1], 2), "f32 1 4 9; f32 6 4 3", Err("dim 1 is 4, expected 8 (2 groups")),
        (G::Conv, conv(&[1], &[0, 0], &[1], 4), "f32 1 4 9; f32 6 1 3", Err("not a multiple of the 4 groups")),
        (G::Reduce, reduce(ReduceKind::Sum, &[0, 2], false), "f32 2 n 4", Ok("f32 n")),
        (G::Reduce, reduce(ReduceKind::Mean, &[1], true), "f32 2 n", Ok("f32 2 1")),
        (G::Reduce, reduce(ReduceKind::Mean, &[1], true), "i32 2 n", Err("expected a float type")),
        (G::Reduce, reduce(ReduceKind::Max, &[1, 0], true), "i32 2 n", Err("not sorted and distinct")),
        (G::Reduce, reduce(ReduceKind::Any, &[], true), "bool 2", Ok("bool 2")),
        (G::ArgReduce, a().int("kind", 0).int("axis", 1).flag("select_last", false), "f32 2 n", Ok("i64 2 1")),
        (G::ArgReduce, a().int("kind", 0).int("axis", 1).flag("select_last", false), "f32 2 0", Err("no elements")),
        (G::Softmax, a().int("axis", 1).flag("log", false), "f32 2 n", Ok("f32 2 n")),
        (G::LayerNorm, a().int("axis", 1).float("epsilon", 1e-5).flag("rms", false), "f32 2 n", Ok("f32 2 n")),
        (G::LayerNorm, a().int("axis", 1).float("epsilon", -1.).flag("rms", false), "f32 2 n", Err("epsilon is -1")),
        (G::Cumsum, a().int("axis", 0).flag("exclusive", true).flag("reverse", false), "i64 3", Ok("i64 3")),
        (G::Gather, a().int("axis", 1), "f32 2 n 4; i64 7 8", Ok("f32 2 7 8 4")),
        (G::Gather, a().int("axis", 0), "f32 5; i64", Ok("f32")),
        (G::Gather, a().int("axis", 0), "f32 5; f32 2", Err("indices are f32[2], expected i32 or i64")),
        (G::GatherElements, a().int("axis", 1), "f32 2 n; i64 1 9", Ok("f32 1 9")),
        (G::GatherElements, a().int("axis", 1), "f32 2 n; i64 3 9", Err("dim 0 is 3, expected at most 2")),
        (G::GatherNd, a().int("batch_dims", 0), "f32 2 3 4; i64 7 2", Ok("f32 7 4")),
        (G::GatherNd, a().int("batch_dims", 1), "f32 b 3 4; i64 b 1", Ok("f32 b 4")),
        (G::GatherNd, a().int("batch_dims", 0), "f32 2 3; i64 7 3", Err("address 3 dims")),
        (G::GatherNd, a().int("batch_dims", 0), "f32 2 3; i64 7 n", Err("must be known now")),
        (
            G::ScatterElements,
            a().int("axis", 0).int("kind", ScatterKind::Add),
            "f32 5 3; i64 2 3; f32 2 3",
            Ok("f32 5 3"),
        ),
        (G::ScatterNd, a().int("kind", ScatterKind::Assign), "f32 4 4 4; i64 2 1; f32 2 4 4", Ok("f32 4 4 4")),
        (
            G::ScatterNd,
            a().int("kind", ScatterKind::Assign),
            "f32 4 4 4; i64 2 1; f32 2 4",
            Err("updates is f32[2, 4], expected f32[2, 4, 4]"),
        ),
        (
            G::Lstm,
            a().flag("reverse", false),
            "f32 t b 20; f32 20 5; f32 b 5; f32 b 5",
            Ok("f32 t b 5; f32 b 5; f32 b 5"),
        ),
        (
            G::Gru,
            a().flag("reverse", false).flag("linear_before_reset", true),
            "f32 t b 15; f32 15 5; f32 5; f32 b 5",
            Ok("f32 t b 5; f32 b 5"),
        ),
        (
            G::Lstm,
            a().flag("reverse", false),
            "f32 t b 20; f32 20 4; f32 b 5; f32 b 5",
            Err("dim 0 is 20, expected 16"),
        ),
        (G::Reshape, a(), "f32 2", Err("its result type is given")),
    ];
    for (op, attrs, ins, expected) in cases {
        match (infer(op, &attrs, &ts(ins)), expected) {
            (Ok(found), Ok(e)) => {
                assert_eq!(found, ts(e), "{op:?} of {ins}");
                check(op, &attrs, &ts(ins), &found, None).unwrap();
            }
            (Err(m), Err(e)) => assert!(m.contains(e), "{op:?} of {ins}: {m}"),
            (found, _) => panic!("{op:?} of {ins}: {found:?}, expected {expected:?}"),
        }
    }
}

#[test]
fn given_types() {
    use GraphOp as G;
    let pool = |k: PoolKind| window(&[2], &[0, 0], &[1]).int("kind", k).ints("kernel", [3]);
    let slice = |s: i64, step: i64| a().ints("starts", [s]).ints("steps", [step]);
    let resize = |s: f64| {
        a().int("mode", 0)
            .int("coordinates", 1)
            .int("nearest", 2)
            .float("cubic_a", -0.75)
            .with("scales", Attr::Floats(vec![1.0, s]))
    };
    let elements = |dims: &[u64], bytes: usize, splat| {
        a().with("value", Attr::Elements { dtype: DType::F32, dims: dims.into(), data: vec![0; bytes], splat })
    };
    let top_k = a().int("axis", 0).flag("largest", true);
    let conv_t = window(&[2], &[1, 1], &[1]).int("groups", 1);
    let cases: Vec<(GraphOp, Attrs, &str, &str, Option<&str>)> = vec![
        (G::Broadcast, a(), "f32 1 n", "f32 4 5 n", None),
        (G::Broadcast, a(), "f32 2", "f32 4 5", Some("dim 0 is 2, expected 1 or 5")),
        (G::Broadcast, a(), "f32 2 2", "f32 2", Some("fewer dims")),
        (G::Reshape, a(), "f32 n 4", "f32 2 2*n", None),
        (G::Reshape, a(), "f32 n 4", "f32 m", None),
        (G::Reshape, a(), "f32 3 4", "f32 13", Some("12 elements against 13")),
        (G::Cast, a(), "f32 n", "i64 n", None),
        (G::Cast, a(), "f32 2", "i64 3", Some("dim 0 is 3, expected 2")),
        (G::Slice, slice(1, 2), "f32 6", "f32 3", None),
        (G::Slice, slice(1, 2), "f32 5", "f32 3", Some("reads element 5 of dim 0")),
        (G::Slice, slice(4, -2), "f32 5", "f32 3", None),
        (G::Slice, slice(4, -3), "f32 5", "f32 3", Some("reads element -2")),
        (G::Slice, slice(9, 1), "f32 5", "f32 0", None),
        (G::Slice, slice(0, 0), "f32 5", "f32 1", Some("the step of dim 0 is 0")),
        (G::Iota, a().int("axis", 0), "i64; i64", "i64 n", None),
        (G::Iota, a().int("axis", 0), "i64; i64 1", "i64 n", Some("step is i64[1], expected rank 0")),
        (G::Pool, pool(PoolKind::Max), "f32 1 2 8", "f32 1 2 3", None),
        (G::Pool, pool(PoolKind::Max), "f32 1 2 8", "f32 1 2 4", None),
        (G::Pool, pool(PoolKind::Max), "f32 1 2 8", "f32 1 2 5", Some("dim 2 is 5, expected 3 or 4")),
        (G::Pool, pool(PoolKind::Average), "i32 1 2 8", "i32 1 2 3", Some("expected a float type")),
        (G::Resize, resize(2.0), "f32 1 8", "f32 1 16", None),
        (G::Resize, resize(2.0), "f32 1 8", "f32 1 18", Some("expected 8 scaled by 2")),
        (G::Resize, resize(-1.0), "f32 1 8", "f32 1 8", Some("the scale of dim 1 is -1")),
        (G::ConvTranspose, conv_t.clone(), "f32 1 2 4; f32 2 3 3", "f32 1 3 7", None),
        (G::ConvTranspose, conv_t.clone(), "f32 1 2 4; f32 2 3 3", "f32 1 3 8", None),
        (G::ConvTranspose, conv_t, "f32 1 2 4; f32 2 3 3", "f32 1 3 9", Some("dim 2 is 9, expected 7 plus")),
        (G::TopK, top_k.clone(), "f32 9 2", "f32 3 2; i64 3 2", None),
        (G::TopK, top_k, "f32 2 2", "f32 3 2; i64 3 2", Some("asks for 3 elements of dim 0")),
        (G::Constant, elements(&[2, 2], 16, false), "", "f32 2 2", None),
        (G::Constant, elements(&[65], 260, false), "", "f32 65", Some("expected at most 64")),
        (G::Constant, elements(&[65], 4, true), "", "f32 65", None),
        (G::Constant, elements(&[2], 4, false), "", "f32 2", Some("holds 4 bytes for f32[2], expected 8")),
        (G::Weight, a().str("key", "w").str("hash", ""), "", "f32 65", None),
        (G::Weight, a().str("key", "w").str("hash", ""), "", "f32 n", Some("expected dims known now")),
        (G::Fusion, a().str("kind", "x"), "f32 2", "f32 2", Some("lacks its region")),
        (G::Yield, a(), "f32 2", "", Some("only at the end of a region")),
    ];
    for (op, attrs, ins, outs, expected) in cases {
        match (check(op, &attrs, &ts(ins), &ts(outs), None), expected) {
            (Ok(()), None) => {}
            (Err(m), Some(e)) if m.contains(e) => {}
            (found, _) => panic!("{op:?} of {ins} to {outs}: {found:?}, expected {expected:?}"),
        }
    }
}

#[test]
fn bodies() {
    let add = a().int("kind", BinaryKind::Add);
    let mut b = Body::default();
    let x = b.arg(t("f32 2 n"));
    let y = b.push(GraphOp::Binary, add.clone(), &[x, x], [t("f32 2 n")], "twice")[0];
    b.results = vec![y];
    b.verify().unwrap();
    assert_eq!(b.flops().to_string(), "2*n");

    let mut late = b.clone();
    late.nodes[0].inputs[1] = y;
    assert_eq!(late.verify().unwrap_err(), "node twice: graph.binary: operand 1 is used before it is defined");
    let mut wrong = b.clone();
    wrong.types[1] = t("f32 3 n");
    assert!(
        wrong.verify().unwrap_err().contains("node twice: graph.binary: result 0 is f32[3, n], expected f32[2, n]")
    );

    let mut outer = Body::default();
    let x = outer.arg(t("f32 2 n"));
    let z = outer.push(GraphOp::Fusion, a().str("kind", "map"), &[x], [t("f32 2 n")], "group")[0];
    outer.nodes[0].region = Some(Box::new(b));
    outer.results = vec![z];
    outer.verify().unwrap();
    assert_eq!(outer.flops().to_string(), "2*n");
    outer.types[0] = t("f32 2 n+1");
    assert!(outer.verify().unwrap_err().contains("argument 0 of the region"));
}

#[test]
fn facts() {
    let conv = window(&[1, 1], &[0, 0, 0, 0], &[1, 1]).int("groups", 1);
    let ins = ts("f32 1 64 56 56; f32 64 64 3 3");
    let outs = infer(GraphOp::Conv, &conv, &ins).unwrap();
    assert_eq!(crate::flops(GraphOp::Conv, &conv, &ins, &outs), Dim::constant(2 * 64 * 64 * 9 * 54 * 54));
    assert_eq!(crate::in_place(GraphOp::Compare, &ts("f32 4; f32 4"), &ts("bool 4")), []);
    assert_eq!(crate::in_place(GraphOp::Binary, &ts("f32 4; f32 4"), &ts("f32 4")), [(0, 0), (1, 0)]);
    assert!(crate::is_view(GraphOp::Reshape) && !crate::is_view(GraphOp::Slice));
}
