//! Fusion regions of the kinds that the compiler forms.

use neap_optable::*;

use super::cases::Case;
use super::random::Random;

const F: DType = DType::F32;

/// Builds one region.
pub(super) struct Region {
    pub body: Body,
    pub inputs: Vec<Tensor>,
    pub rng: Random,
}

impl Region {
    pub fn input(&mut self, dtype: DType, dims: &[u64]) -> ValueId {
        let t = self.rng.tensor(dtype, dims);
        self.given(t)
    }

    pub fn given(&mut self, t: Tensor) -> ValueId {
        let v = self.body.arg(t.ty());
        self.inputs.push(t);
        v
    }

    pub fn op(&mut self, op: GraphOp, attrs: Attrs, inputs: &[ValueId]) -> ValueId {
        let ins: Vec<TensorType> = inputs.iter().map(|v| self.body.ty(*v).clone()).collect();
        let types = infer(op, &attrs, &ins).unwrap_or_else(|e| panic!("{e}"));
        self.body.push(op, attrs, inputs, types, op.name())[0]
    }

    pub fn shaped(&mut self, op: GraphOp, attrs: Attrs, inputs: &[ValueId], dtype: DType, dims: &[u64]) -> ValueId {
        self.body.push(op, attrs, inputs, [TensorType::fixed(dtype, dims)], op.name())[0]
    }

    pub fn unary(&mut self, k: UnaryKind, x: ValueId) -> ValueId {
        self.op(GraphOp::Unary, Attrs::new().int("kind", k), &[x])
    }

    pub fn binary(&mut self, k: BinaryKind, x: ValueId, y: ValueId) -> ValueId {
        self.op(GraphOp::Binary, Attrs::new().int("kind", k), &[x, y])
    }

    pub fn add(&mut self, x: ValueId, y: ValueId) -> ValueId {
        self.binary(BinaryKind::Add, x, y)
    }

    pub fn mul(&mut self, x: ValueId, y: ValueId) -> ValueId {
        self.binary(BinaryKind::Mul, x, y)
    }

    pub fn like(&mut self, x: ValueId, like: ValueId) -> ValueId {
        let ty = self.body.ty(like).clone();
        let attrs = Attrs::new();
        self.body.push(GraphOp::Broadcast, attrs, &[x], [TensorType { dtype: self.body.ty(x).dtype, ..ty }], "b")[0]
    }

    fn constant(&mut self, v: f32, like: ValueId) -> ValueId {
        let ty = self.body.ty(like).clone();
        let dims = ty.static_dims().unwrap();
        let value = Attr::Elements { dtype: F, dims, data: v.to_le_bytes().to_vec(), splat: true };
        self.body.push(GraphOp::Constant, Attrs::new().with("value", value), &[], [ty], "c")[0]
    }

    pub fn matmul(&mut self, x: ValueId, y: ValueId) -> ValueId {
        self.op(GraphOp::Matmul, Attrs::new().flag("transpose_lhs", false).flag("transpose_rhs", false), &[x, y])
    }

    fn reduce(&mut self, k: ReduceKind, axes: &[i64], x: ValueId) -> ValueId {
        self.op(GraphOp::Reduce, Attrs::new().int("kind", k).ints("axes", axes).flag("keep_dims", true), &[x])
    }

    fn layer_norm(&mut self, axis: i64, x: ValueId) -> ValueId {
        let attrs = Attrs::new().int("axis", axis).float("epsilon", 1e-5).flag("rms", false);
        self.op(GraphOp::LayerNorm, attrs, &[x])
    }

    fn softmax(&mut self, axis: i64, x: ValueId) -> ValueId {
        self.op(GraphOp::Softmax, Attrs::new().int("axis", axis).flag("log", false), &[x])
    }
}

pub(super) fn case(name: &str, make: impl FnOnce(&mut Region) -> Vec<ValueId>) -> Case {
    let mut r = Region { body: Body::default(), inputs: vec![], rng: Random::new(name.len() as u64) };
    let results = make(&mut r);
    r.body.results = results;
    let outputs = neap_reference::eval_body(&r.body, &Weights::default(), &r.inputs, &mut |_, _| {})
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    Case {
        name: format!("fusion {name}"),
        op: GraphOp::Fusion,
        attrs: Attrs::new().str("kind", "test"),
        inputs: r.inputs,
        types: r.body.results.iter().map(|v| r.body.ty(*v).clone()).collect(),
        region: Some(r.body),
        outputs,
        tolerance: 2e-5,
    }
}

/// All of them.
pub fn all() -> Vec<Case> {
    vec![
        case("elementwise chain with two results", |r| {
            let (x, y, s) = (r.input(F, &[4, 33, 65]), r.input(F, &[4, 33, 65]), r.input(F, &[65]));
            let s = r.like(s, x);
            let a = r.mul(x, s);
            let b = r.add(a, y);
            let t = r.unary(UnaryKind::Tanh, b);
            vec![t, b]
        }),
        case("transposed and sliced operands", |r| {
            let (x, y) = (r.input(F, &[33, 18]), r.input(F, &[40, 70]));
            let x = r.op(GraphOp::Transpose, Attrs::new().ints("permutation", [1, 0]), &[x]);
            let attrs = Attrs::new().ints("starts", [2, 68]).ints("steps", [2, -2]);
            let y = r.shaped(GraphOp::Slice, attrs, &[y], F, &[18, 33]);
            vec![r.add(x, y)]
        }),
        case("comparison, selection and casts", |r| {
            let (x, y, i) = (r.input(F, &[3, 67]), r.input(F, &[3, 67]), r.input(DType::I64, &[3, 67]));
            let less = r.op(GraphOp::Compare, Attrs::new().int("kind", CompareKind::Lt), &[x, y]);
            let i = r.shaped(GraphOp::Cast, Attrs::new(), &[i], F, &[3, 67]);
            let s = r.op(GraphOp::Select, Attrs::new(), &[less, i, y]);
            vec![s, less]
        }),
        case("causal mask", |r| {
            let x = r.input(F, &[2, 19, 19]);
            let zero = r.given(Tensor::scalar(0i64));
            let one = r.given(Tensor::scalar(1i64));
            let dims = [2, 19, 19];
            let rows = r.shaped(GraphOp::Iota, Attrs::new().int("axis", 1), &[zero, one], DType::I64, &dims);
            let columns = r.shaped(GraphOp::Iota, Attrs::new().int("axis", 2), &[zero, one], DType::I64, &dims);
            let seen = r.op(GraphOp::Compare, Attrs::new().int("kind", CompareKind::Le), &[columns, rows]);
            let hidden = r.constant(-1e9, x);
            let x = r.op(GraphOp::Select, Attrs::new(), &[seen, x, hidden]);
            vec![r.softmax(2, x)]
        }),
        case("matmul, bias, gelu", |r| {
            let (x, w, b) = (r.input(F, &[2, 9, 40]), r.input(F, &[40, 70]), r.input(F, &[70]));
            let m = r.matmul(x, w);
            let b = r.like(b, m);
            let x = r.add(m, b);
            let half = r.constant(std::f32::consts::FRAC_1_SQRT_2, x);
            let e = r.mul(x, half);
            let e = r.unary(UnaryKind::Erf, e);
            let one = r.constant(1.0, x);
            let e = r.add(e, one);
            vec![r.mul(x, e)]
        }),
        case("matmul to heads", |r| {
            let (x, w, b) = (r.input(F, &[2, 9, 40]), r.input(F, &[40, 48]), r.input(F, &[48]));
            let m = r.matmul(x, w);
            let b = r.like(b, m);
            let x = r.add(m, b);
            let x = r.shaped(GraphOp::Reshape, Attrs::new(), &[x], F, &[2, 9, 3, 16]);
            vec![r.op(GraphOp::Transpose, Attrs::new().ints("permutation", [0, 2, 1, 3]), &[x])]
        }),
        case("conv, bias, residual, relu", |r| {
            let (x, w) = (r.input(F, &[1, 6, 13, 20]), r.input(F, &[9, 6, 3, 3]));
            let (b, res) = (r.input(F, &[9, 1, 1]), r.input(F, &[1, 9, 13, 20]));
            let attrs = Attrs::new().ints("strides", [1, 1]).ints("pads", [1, 1, 1, 1]).ints("dilations", [1, 1]);
            let c = r.op(GraphOp::Conv, attrs.int("groups", 1), &[x, w]);
            let b = r.like(b, c);
            let c = r.add(c, b);
            let c = r.add(c, res);
            vec![r.unary(UnaryKind::Relu, c)]
        }),
        case("depthwise conv, bias, clip", |r| {
            let (x, w, b) = (r.input(F, &[1, 6, 13, 20]), r.input(F, &[6, 1, 3, 3]), r.input(F, &[6, 1, 1]));
            let attrs = Attrs::new().ints("strides", [1, 1]).ints("pads", [1, 1, 1, 1]).ints("dilations", [1, 1]);
            let c = r.op(GraphOp::Conv, attrs.int("groups", 6), &[x, w]);
            let b = r.like(b, c);
            let c = r.add(c, b);
            let (low, high) = (r.constant(0.0, c), r.constant(6.0, c));
            let c = r.binary(BinaryKind::Max, c, low);
            vec![r.binary(BinaryKind::Min, c, high)]
        }),
        case("scale, mask, softmax", |r| {
            let (x, m) = (r.input(F, &[2, 3, 9, 70]), r.input(F, &[2, 1, 1, 70]));
            let k = r.constant(0.125, x);
            let x = r.mul(x, k);
            let m = r.like(m, x);
            let x = r.add(x, m);
            vec![r.softmax(3, x)]
        }),
        case("residual, layer norm, scale, bias, and the sum", |r| {
            let (x, y) = (r.input(F, &[2, 9, 300]), r.input(F, &[2, 9, 300]));
            let (s, b) = (r.input(F, &[300]), r.input(F, &[300]));
            let sum = r.add(x, y);
            let n = r.layer_norm(2, sum);
            let s = r.like(s, n);
            let n = r.mul(n, s);
            let b = r.like(b, n);
            let n = r.add(n, b);
            vec![n, sum]
        }),
        case("layer norm from its parts", |r| {
            let x = r.input(F, &[5, 7, 130]);
            let mean = r.reduce(ReduceKind::Mean, &[2], x);
            let m = r.like(mean, x);
            let d = r.binary(BinaryKind::Sub, x, m);
            let two = r.constant(2.0, d);
            let q = r.binary(BinaryKind::Pow, d, two);
            let var = r.reduce(ReduceKind::Mean, &[2], q);
            let eps = r.constant(1e-5, var);
            let var = r.add(var, eps);
            let root = r.unary(UnaryKind::Sqrt, var);
            let root = r.like(root, d);
            vec![r.binary(BinaryKind::Div, d, root)]
        }),
        case("gathered rows, positions, layer norm", |r| {
            let (table, p) = (r.input(F, &[50, 70]), r.input(F, &[9, 70]));
            let i = r.rng.indices(50, &[2, 9]);
            let i = r.given(i);
            let x = r.op(GraphOp::Gather, Attrs::new().int("axis", 0), &[table, i]);
            let p = r.like(p, x);
            let x = r.add(x, p);
            vec![r.layer_norm(2, x)]
        }),
        case("squeeze and excite pooling", |r| {
            let x = r.input(F, &[2, 9, 7, 7]);
            let h = r.unary(UnaryKind::Relu, x);
            let m = r.reduce(ReduceKind::Mean, &[2, 3], h);
            vec![r.unary(UnaryKind::Sigmoid, m)]
        }),
        case("column sums of squares", |r| {
            let x = r.input(F, &[3, 40, 37]);
            let q = r.mul(x, x);
            vec![r.reduce(ReduceKind::Sum, &[1], q)]
        }),
        case("softmax along columns", |r| {
            let x = r.input(F, &[3, 40, 37]);
            let k = r.constant(0.5, x);
            let x = r.mul(x, k);
            vec![r.softmax(1, x)]
        }),
        case("pool and relu", |r| {
            let x = r.input(F, &[1, 4, 13, 37]);
            let attrs = Attrs::new().int("kind", PoolKind::Max).ints("kernel", [3, 3]).ints("strides", [2, 2]);
            let attrs = attrs.ints("pads", [1, 1, 1, 1]).ints("dilations", [1, 1]);
            let x = r.shaped(GraphOp::Pool, attrs, &[x], F, &[1, 4, 7, 19]);
            vec![r.unary(UnaryKind::Relu, x)]
        }),
        case("rotary halves", |r| {
            let (x, c) = (r.input(F, &[2, 5, 32]), r.input(F, &[5, 16]));
            let part = |r: &mut Region, at: i64| {
                let attrs = Attrs::new().ints("starts", [0, 0, at]).ints("steps", [1, 1, 1]);
                r.shaped(GraphOp::Slice, attrs, &[x], F, &[2, 5, 16])
            };
            let (a, b) = (part(r, 0), part(r, 16));
            let c = r.like(c, a);
            let (x, y) = (r.mul(a, c), r.mul(b, c));
            let (first, second) = (r.binary(BinaryKind::Sub, x, y), r.add(x, y));
            vec![r.op(GraphOp::Concat, Attrs::new().int("axis", 2), &[first, second])]
        }),
    ]
}
