//! Larger random operands for every op: sizes around vector widths and their multiples, every axis, every kind.

use neap_optable::*;

use super::cases::Case;

/// A small linear congruential generator (Knuth's MMIX constants), so that cases never change.
pub struct Random(u64);

impl Random {
    /// Seeded.
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// In [low, high).
    pub fn float(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * (self.next() as f32 / (1u64 << 31) as f32)
    }

    /// In [low, high).
    pub fn int(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low) as u64) as i64
    }

    /// A tensor of small values: floats in [-3, 3), integers in [-9, 9) (not below 0 if unsigned).
    pub fn tensor(&mut self, dtype: DType, dims: &[u64]) -> Tensor {
        let n = dims.iter().product::<u64>();
        match dtype {
            DType::F32 => Tensor::new(dims, &(0..n).map(|_| self.float(-3.0, 3.0)).collect::<Vec<_>>()),
            DType::F64 => Tensor::new(dims, &(0..n).map(|_| f64::from(self.float(-3.0, 3.0))).collect::<Vec<_>>()),
            DType::F16 | DType::BF16 => {
                let bits = |v: f32| match dtype {
                    DType::F16 => half::f16::from_f32(v).to_le_bytes(),
                    _ => half::bf16::from_f32(v).to_le_bytes(),
                };
                let data: Vec<u8> = (0..n).flat_map(|_| bits(self.float(-3.0, 3.0))).collect();
                Tensor { dtype, dims: dims.to_vec(), data: data.into() }
            }
            DType::I64 => Tensor::new(dims, &(0..n).map(|_| self.int(-9, 9)).collect::<Vec<_>>()),
            DType::I32 => Tensor::new(dims, &(0..n).map(|_| self.int(-9, 9) as i32).collect::<Vec<_>>()),
            DType::I8 => Tensor::new(dims, &(0..n).map(|_| self.int(-9, 9) as i8).collect::<Vec<_>>()),
            DType::U8 => Tensor::new(dims, &(0..n).map(|_| self.int(0, 18) as u8).collect::<Vec<_>>()),
            _ => Tensor::new(dims, &(0..n).map(|_| self.int(0, 2) == 1).collect::<Vec<_>>()),
        }
    }

    /// Indices in [-n, n).
    pub fn indices(&mut self, n: i64, dims: &[u64]) -> Tensor {
        let count = dims.iter().product::<u64>();
        Tensor::new(dims, &(0..count).map(|_| self.int(-n, n)).collect::<Vec<_>>())
    }
}

/// Collects cases.
pub struct Cases {
    rng: Random,
    pub out: Vec<Case>,
}

const F: DType = DType::F32;

impl Cases {
    fn add(&mut self, what: &str, op: GraphOp, attrs: Attrs, inputs: Vec<Tensor>, types: Option<Vec<TensorType>>) {
        let ins: Vec<TensorType> = inputs.iter().map(Tensor::ty).collect();
        let types = types.unwrap_or_else(|| infer(op, &attrs, &ins).unwrap_or_else(|e| panic!("{what}: {e}")));
        let refs: Vec<&Tensor> = inputs.iter().collect();
        let outputs = neap_reference::eval(op, &attrs, &refs, &types).unwrap_or_else(|e| panic!("{what}: {e}"));
        let shapes: Vec<String> = ins.iter().map(|t| t.to_string()).collect();
        // Errors grow from step to step of a recurrence.
        let tolerance = if matches!(op, GraphOp::Lstm | GraphOp::Gru) { 2e-4 } else { 2e-5 };
        let name = format!("random {} {what} {}", op.name(), shapes.join(" "));
        self.out.push(Case { name, op, attrs, region: None, inputs, types, outputs, tolerance });
    }

    fn one(&mut self, what: &str, op: GraphOp, attrs: Attrs, dims: &[u64]) {
        let x = self.rng.tensor(F, dims);
        self.add(what, op, attrs, vec![x], None);
    }

    fn fixed(&mut self, what: &str, op: GraphOp, attrs: Attrs, inputs: Vec<Tensor>, dtype: DType, dims: &[u64]) {
        self.add(what, op, attrs, inputs, Some(vec![TensorType::fixed(dtype, dims)]));
    }
}

/// All of them.
pub fn all() -> Vec<Case> {
    let mut c = Cases { rng: Random::new(7), out: vec![] };
    elementwise(&mut c);
    shapes(&mut c);
    reductions(&mut c);
    contractions(&mut c);
    indexed(&mut c);
    c.out
}

fn elementwise(c: &mut Cases) {
    for k in UnaryKind::ALL {
        let attrs = Attrs::new().int("kind", *k);
        if *k == UnaryKind::Not {
            let x = c.rng.tensor(DType::Bool, &[3, 37]);
            c.add(k.name(), GraphOp::Unary, attrs, vec![x], None);
        } else {
            c.one(k.name(), GraphOp::Unary, attrs, &[3, 349]);
        }
    }
    for k in BinaryKind::ALL {
        let attrs = || Attrs::new().int("kind", *k);
        let bits = matches!(k, BinaryKind::And | BinaryKind::Or | BinaryKind::Xor | BinaryKind::Shl | BinaryKind::Shr);
        if !bits {
            let (x, y) = (c.rng.tensor(F, &[5, 67]), c.rng.tensor(F, &[5, 67]));
            c.add(k.name(), GraphOp::Binary, attrs(), vec![x, y], None);
        }
        if *k != BinaryKind::Atan2 {
            for t in [DType::I64, DType::I32, DType::U8] {
                let (x, y) = (c.rng.tensor(t, &[67]), c.rng.tensor(t, &[67]));
                c.add(k.name(), GraphOp::Binary, attrs(), vec![x, y], None);
            }
        }
    }
    for k in CompareKind::ALL {
        for t in [F, DType::I64, DType::U8] {
            let (x, y) = (c.rng.tensor(t, &[5, 29]), c.rng.tensor(t, &[5, 29]));
            c.add(k.name(), GraphOp::Compare, Attrs::new().int("kind", *k), vec![x, y], None);
        }
    }
    let all = [F, DType::I64, DType::I32, DType::I8, DType::U8, DType::Bool];
    for from in all {
        for to in all {
            let x = c.rng.tensor(from, &[39]);
            c.fixed(&format!("to {to}"), GraphOp::Cast, Attrs::new(), vec![x], to, &[39]);
        }
        let (m, x, y) = (c.rng.tensor(DType::Bool, &[37]), c.rng.tensor(from, &[37]), c.rng.tensor(from, &[37]));
        c.add("", GraphOp::Select, Attrs::new(), vec![m, x, y], None);
    }
}

fn shapes(c: &mut Cases) {
    for (from, to) in [(&[65][..], &[3, 65][..]), (&[7, 1], &[7, 65]), (&[3, 1, 5], &[2, 3, 33, 5]), (&[], &[67])] {
        let x = c.rng.tensor(F, from);
        c.fixed("", GraphOp::Broadcast, Attrs::new(), vec![x], F, to);
    }
    for (dims, p) in [
        (&[37, 65][..], &[1, 0][..]),
        (&[3, 17, 33], &[2, 0, 1]),
        (&[2, 5, 4, 19], &[0, 2, 1, 3]),
        (&[2, 5, 4, 19], &[3, 2, 1, 0]),
    ] {
        c.one(&format!("{p:?}"), GraphOp::Transpose, Attrs::new().ints("permutation", p), dims);
    }
    let x = c.rng.tensor(DType::Bool, &[33, 18]);
    c.add("bool", GraphOp::Transpose, Attrs::new().ints("permutation", [1, 0]), vec![x], None);
    for (starts, steps, to) in [([1, 3], [1, 1], [5, 60]), ([6, 64], [-1, -1], [7, 65]), ([0, 0], [2, 3], [4, 22])] {
        let x = c.rng.tensor(F, &[7, 65]);
        let attrs = Attrs::new().ints("starts", starts).ints("steps", steps);
        c.fixed(&format!("{starts:?} {steps:?}"), GraphOp::Slice, attrs, vec![x], F, &to);
    }
    for axis in 0..3 {
        let mut parts = vec![];
        for n in [1, 17, 4] {
            let mut dims = [3, 5, 33];
            dims[axis] = n;
            parts.push(c.rng.tensor(F, &dims));
        }
        c.add(&format!("axis {axis}"), GraphOp::Concat, Attrs::new().int("axis", axis as i64), parts, None);
    }
    for mode in PadMode::ALL {
        for (low, high) in [([0, 2, 3], [0, 1, 5]), ([0, -1, 4], [1, 2, -3])] {
            if low[1] < 0 && *mode != PadMode::Constant {
                continue;
            }
            let (x, v) = (c.rng.tensor(F, &[2, 6, 35]), c.rng.tensor(F, &[]));
            let attrs = Attrs::new().int("mode", *mode).ints("low", low).ints("high", high);
            c.add(&format!("{} {low:?}", mode.name()), GraphOp::Pad, attrs, vec![x, v], None);
        }
    }
    for mode in ResizeMode::ALL {
        for coordinates in CoordinateMode::ALL {
            for (scales, to) in [([1.0, 1.0, 2.0, 2.0], [1, 2, 14, 38]), ([1.0, 1.0, 0.6, 1.7], [1, 2, 4, 32])] {
                let x = c.rng.tensor(F, &[1, 2, 7, 19]);
                let attrs = Attrs::new()
                    .int("mode", *mode)
                    .int("coordinates", *coordinates)
                    .int("nearest", NearestMode::RoundPreferFloor)
                    .with("scales", Attr::Floats(scales.to_vec()))
                    .float("cubic_a", -0.75);
                c.fixed(&format!("{} {}", mode.name(), coordinates.name()), GraphOp::Resize, attrs, vec![x], F, &to);
            }
        }
    }
}

fn reductions(c: &mut Cases) {
    let axes: [&[i64]; 7] = [&[2], &[1], &[0], &[1, 2], &[0, 1], &[0, 2], &[0, 1, 2]];
    for k in ReduceKind::ALL {
        for axes in axes {
            let dims: &[u64] = if *k == ReduceKind::Prod { &[2, 3, 5] } else { &[5, 19, 301] };
            let attrs = Attrs::new().int("kind", *k).ints("axes", axes).flag("keep_dims", axes.len() == 1);
            let dtype = if matches!(k, ReduceKind::Any | ReduceKind::All) { DType::Bool } else { F };
            let x = c.rng.tensor(dtype, dims);
            c.add(&format!("{} {axes:?}", k.name()), GraphOp::Reduce, attrs.clone(), vec![x], None);
            if matches!(k, ReduceKind::Sum | ReduceKind::Max | ReduceKind::Min) {
                let x = c.rng.tensor(DType::I64, &[3, 4, 37]);
                c.add(&format!("{} {axes:?}", k.name()), GraphOp::Reduce, attrs, vec![x], None);
            }
        }
    }
    for axis in 0..3i64 {
        for (k, last) in [(ArgKind::Max, false), (ArgKind::Max, true), (ArgKind::Min, false), (ArgKind::Min, true)] {
            let x = c.rng.tensor(DType::I64, &[4, 21, 35]);
            let attrs = Attrs::new().int("kind", k).int("axis", axis).flag("select_last", last);
            c.add(&format!("{} {axis} {last}", k.name()), GraphOp::ArgReduce, attrs, vec![x], None);
        }
        for log in [false, true] {
            for dims in [[3, 17, 300], [4, 5, 7], [1, 33, 1]] {
                let attrs = Attrs::new().int("axis", axis).flag("log", log);
                c.one(&format!("{axis} {log}"), GraphOp::Softmax, attrs, &dims);
            }
        }
        for rms in [false, true] {
            let attrs = Attrs::new().int("axis", axis).float("epsilon", 1e-5).flag("rms", rms);
            c.one(&format!("{axis} {rms}"), GraphOp::LayerNorm, attrs, &[3, 5, 300]);
        }
        for (exclusive, reverse) in [(false, false), (true, false), (false, true), (true, true)] {
            let attrs = Attrs::new().int("axis", axis).flag("exclusive", exclusive).flag("reverse", reverse);
            c.one(&format!("{axis} {exclusive} {reverse}"), GraphOp::Cumsum, attrs, &[3, 18, 21]);
        }
        for largest in [false, true] {
            let x = c.rng.tensor(DType::I64, &[5, 18, 21]);
            let mut dims = [5, 18, 21];
            dims[axis as usize] = 4;
            let attrs = Attrs::new().int("axis", axis).flag("largest", largest);
            let types = vec![TensorType::fixed(DType::I64, &dims), TensorType::fixed(DType::I64, &dims)];
            c.add(&format!("{axis} {largest}"), GraphOp::TopK, attrs, vec![x], Some(types));
        }
    }
}

fn contractions(c: &mut Cases) {
    for (l, r) in [
        (&[17, 33][..], &[33, 65][..]),
        (&[2, 3, 5, 70], &[2, 3, 70, 19]),
        (&[2, 1, 5, 8], &[3, 8, 40]),
        (&[1, 300], &[300, 100]),
    ] {
        for (tl, tr) in [(false, false), (false, true), (true, false)] {
            let swap = |d: &[u64], t: bool| {
                let mut d = d.to_vec();
                let n = d.len();
                if t {
                    d.swap(n - 1, n - 2);
                }
                d
            };
            let (x, y) = (c.rng.tensor(F, &swap(l, tl)), c.rng.tensor(F, &swap(r, tr)));
            let attrs = Attrs::new().flag("transpose_lhs", tl).flag("transpose_rhs", tr);
            c.add(&format!("{tl} {tr}"), GraphOp::Matmul, attrs, vec![x, y], None);
        }
    }
    let (x, y) = (c.rng.tensor(DType::I32, &[7, 20]), c.rng.tensor(DType::I32, &[20, 33]));
    let attrs = Attrs::new().flag("transpose_lhs", false).flag("transpose_rhs", false);
    c.add("i32", GraphOp::Matmul, attrs, vec![x, y], None);
    // input, filter, strides, pads, dilations, groups
    type Conv = (&'static [u64], &'static [u64], &'static [i64], &'static [i64], &'static [i64], i64);
    let convs: [Conv; 9] = [
        (&[2, 5, 14, 37], &[7, 5, 3, 3], &[1, 1], &[1, 1, 1, 1], &[1, 1], 1),
        (&[1, 4, 15, 33], &[6, 4, 3, 3], &[2, 2], &[0, 1, 1, 1], &[1, 1], 1),
        (&[1, 6, 14, 35], &[6, 1, 3, 3], &[1, 1], &[1, 1, 1, 1], &[1, 1], 6),
        (&[2, 6, 14, 35], &[6, 1, 5, 5], &[2, 2], &[2, 2, 2, 2], &[1, 1], 6),
        (&[1, 6, 9, 21], &[8, 3, 3, 3], &[1, 1], &[2, 2, 2, 2], &[2, 2], 2),
        (&[2, 3, 50], &[5, 3, 4], &[2], &[1, 2], &[1], 1),
        (&[1, 3, 5, 6, 18], &[4, 3, 2, 3, 3], &[1, 1, 1], &[0, 1, 1, 1, 1, 1], &[1, 1, 1], 1),
        (&[1, 8, 10, 10], &[16, 8, 1, 1], &[1, 1], &[0, 0, 0, 0], &[1, 1], 1),
        (&[1, 3, 33, 33], &[8, 3, 7, 7], &[2, 2], &[3, 3, 3, 3], &[1, 1], 1),
    ];
    for (i, w, strides, pads, dilations, groups) in convs {
        let (x, y) = (c.rng.tensor(F, i), c.rng.tensor(F, w));
        let attrs =
            Attrs::new().ints("strides", strides).ints("pads", pads).ints("dilations", dilations).int("groups", groups);
        c.add(&format!("{strides:?} {pads:?} {groups}"), GraphOp::Conv, attrs.clone(), vec![x, y], None);
        if dilations.iter().all(|d| *d == 1) {
            // The gradient's result: the forward input's shape, from the forward output's.
            let t = |d: &[u64]| TensorType::fixed(F, d);
            let out = infer(GraphOp::Conv, &attrs, &[t(i), t(w)]).unwrap()[0].static_dims().unwrap();
            let (x, y) = (c.rng.tensor(F, &out), c.rng.tensor(F, w));
            let what = format!("{strides:?} {pads:?} {groups}");
            c.fixed(&what, GraphOp::ConvTranspose, attrs, vec![x, y], F, i);
        }
    }
    for kind in PoolKind::ALL {
        for (kernel, strides, pads, to) in [
            ([3, 3], [1, 1], [1, 1, 1, 1], [2, 3, 14, 37]),
            ([2, 2], [2, 2], [0, 0, 0, 0], [2, 3, 7, 18]),
            ([3, 3], [2, 2], [0, 1, 1, 1], [2, 3, 7, 19]),
            ([14, 37], [1, 1], [0, 0, 0, 0], [2, 3, 1, 1]),
        ] {
            let x = c.rng.tensor(F, &[2, 3, 14, 37]);
            let attrs = Attrs::new()
                .int("kind", *kind)
                .ints("kernel", kernel)
                .ints("strides", strides)
                .ints("pads", pads)
                .ints("dilations", [1, 1]);
            c.fixed(&format!("{} {kernel:?} {strides:?}", kind.name()), GraphOp::Pool, attrs, vec![x], F, &to);
        }
    }
}

fn indexed(c: &mut Cases) {
    for axis in 0..3i64 {
        let (x, i) = (c.rng.tensor(F, &[9, 10, 35]), c.rng.indices(9, &[2, 17]));
        c.add(&format!("axis {axis}"), GraphOp::Gather, Attrs::new().int("axis", axis), vec![x, i], None);
        let mut dims = [9, 10, 35];
        dims[axis as usize] = 18;
        let (x, i) = (c.rng.tensor(F, &[9, 10, 35]), c.rng.indices(9, &dims));
        c.add(&format!("axis {axis}"), GraphOp::GatherElements, Attrs::new().int("axis", axis), vec![x, i], None);
        for kind in ScatterKind::ALL {
            let mut dims = [7, 8, 33];
            dims[axis as usize] = 5;
            let (x, i, u) = (c.rng.tensor(F, &[9, 10, 35]), c.rng.indices(9, &dims), c.rng.tensor(F, &dims));
            let attrs = Attrs::new().int("axis", axis).int("kind", *kind);
            c.add(&format!("{} {axis}", kind.name()), GraphOp::ScatterElements, attrs, vec![x, i, u], None);
        }
    }
    for (depth, batch, rest) in [(1, 0, vec![10, 35]), (2, 0, vec![35]), (3, 0, vec![]), (1, 1, vec![35])] {
        let x = c.rng.tensor(F, &[9, 10, 35]);
        let rows: Vec<u64> = if batch == 1 { vec![9, 4] } else { vec![3, 19] };
        let mut dims = rows.clone();
        dims.push(depth);
        let i = c.rng.indices(9, &dims);
        let attrs = Attrs::new().int("batch_dims", batch);
        c.add(&format!("{depth} {batch}"), GraphOp::GatherNd, attrs, vec![x.clone(), i.clone()], None);
        if batch == 0 {
            let u = c.rng.tensor(F, &[rows, rest].concat());
            let attrs = Attrs::new().int("kind", ScatterKind::Add);
            c.add(&format!("{depth}"), GraphOp::ScatterNd, attrs, vec![x, i, u], None);
        }
    }
    for (dtype, dims) in [(DType::I64, vec![37]), (F, vec![5, 33]), (DType::I32, vec![5, 33])] {
        let (s, d) = (c.rng.tensor(dtype, &[]), c.rng.tensor(dtype, &[]));
        for axis in 0..dims.len() as i64 {
            let attrs = Attrs::new().int("axis", axis);
            c.fixed("", GraphOp::Iota, attrs, vec![s.clone(), d.clone()], dtype, &dims);
        }
    }
    for reverse in [false, true] {
        let (t, b, h) = (5, 3, 19);
        let (g, r) = (c.rng.tensor(F, &[t, b, 4 * h]), c.rng.tensor(F, &[4 * h, h]));
        let (h0, c0) = (c.rng.tensor(F, &[b, h]), c.rng.tensor(F, &[b, h]));
        let attrs = Attrs::new().flag("reverse", reverse);
        c.add(&format!("{reverse}"), GraphOp::Lstm, attrs, vec![g, r, h0, c0], None);
        for linear in [false, true] {
            let (g, r) = (c.rng.tensor(F, &[t, b, 3 * h]), c.rng.tensor(F, &[3 * h, h]));
            let (bias, h0) = (c.rng.tensor(F, &[h]), c.rng.tensor(F, &[b, h]));
            let attrs = Attrs::new().flag("reverse", reverse).flag("linear_before_reset", linear);
            c.add(&format!("{reverse} {linear}"), GraphOp::Gru, attrs, vec![g, r, bias, h0], None);
        }
    }
}
