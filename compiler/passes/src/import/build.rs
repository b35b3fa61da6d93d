//! Building graph ops with ONNX's conveniences: broadcasting, mixed ranks, nothing where nothing is to be done.

use neap_optable::{
    ArgKind, Attrs, BinaryKind, CompareKind, DType, Dim, GraphOp, ReduceKind, Tensor, TensorType, UnaryKind,
};

use super::cx::{Cx, Val, open};
use super::error::{Res, invalid};

impl Cx {
    /// A 0-d constant; integers take the whole part.
    pub fn scalar(&mut self, dtype: DType, value: f64) -> Val {
        let t = match dtype {
            DType::F32 => Tensor::scalar(value as f32),
            DType::F64 => Tensor::scalar(value),
            DType::I64 => Tensor::scalar(value as i64),
            DType::I32 => Tensor::scalar(value as i32),
            DType::I16 => Tensor::scalar(value as i16),
            DType::I8 => Tensor::scalar(value as i8),
            DType::U8 => Tensor::scalar(value as u8),
            DType::U16 => Tensor::scalar(value as u16),
            DType::U32 => Tensor::scalar(value as u32),
            DType::U64 => Tensor::scalar(value as u64),
            DType::Bool => Tensor::scalar(value != 0.0),
            DType::F16 | DType::BF16 => {
                let f = self.constant(Tensor::scalar(value as f32));
                // Constants convert by the interpreter, which cannot refuse a scalar.
                return self.cast(f, dtype).unwrap_or(f);
            }
        };
        self.constant(t)
    }

    /// One-dimensional i64 integers.
    pub fn vector(&mut self, values: Vec<Dim>) -> Val {
        self.ints(DType::I64, &[values.len() as u64], values)
    }

    pub fn unary(&mut self, kind: UnaryKind, v: Val) -> Res<Val> {
        self.infer1(GraphOp::Unary, Attrs::new().int("kind", kind), &[v])
    }

    /// Elementwise with broadcasting.
    pub fn binary(&mut self, kind: BinaryKind, a: Val, b: Val) -> Res<Val> {
        let [a, b] = self.alike([a, b])?;
        self.infer1(GraphOp::Binary, Attrs::new().int("kind", kind), &[a, b])
    }

    /// [`Cx::binary`] with a number on the right.
    pub fn with_number(&mut self, kind: BinaryKind, a: Val, number: f64) -> Res<Val> {
        let b = self.scalar(self.dtype(a), number);
        self.binary(kind, a, b)
    }

    pub fn compare(&mut self, kind: CompareKind, a: Val, b: Val) -> Res<Val> {
        let [a, b] = self.alike([a, b])?;
        self.infer1(GraphOp::Compare, Attrs::new().int("kind", kind), &[a, b])
    }

    /// [`Cx::compare`] with a number on the right.
    pub fn compare_number(&mut self, kind: CompareKind, a: Val, number: f64) -> Res<Val> {
        let b = self.scalar(self.dtype(a), number);
        self.compare(kind, a, b)
    }

    pub fn select(&mut self, condition: Val, on_true: Val, on_false: Val) -> Res<Val> {
        let ins = self.alike([condition, on_true, on_false])?;
        self.infer1(GraphOp::Select, Attrs::new(), &ins)
    }

    /// Converts elements.
    pub fn cast(&mut self, v: Val, dtype: DType) -> Res<Val> {
        if self.dtype(v) == dtype {
            return Ok(v);
        }
        let out = TensorType { dtype, dims: self.dims(v) };
        self.op1(GraphOp::Cast, Attrs::new(), &[v], out)
    }

    /// Operands in their common shape.
    pub fn alike<const N: usize>(&mut self, mut vals: [Val; N]) -> Res<[Val; N]> {
        let dims = self.common_shape(&vals)?;
        for v in &mut vals {
            *v = self.broadcast(*v, &dims)?;
        }
        Ok(vals)
    }

    /// The numpy broadcast of shapes.
    pub fn common_shape(&self, vals: &[Val]) -> Res<Vec<Dim>> {
        let shapes: Vec<&[Dim]> = vals.iter().map(|v| self.ty(*v).dims.as_slice()).collect();
        broadcast_shapes(&shapes)
    }

    pub fn broadcast(&mut self, v: Val, dims: &[Dim]) -> Res<Val> {
        if self.ty(v).dims == dims {
            return Ok(v);
        }
        let out = TensorType { dtype: self.dtype(v), dims: dims.to_vec() };
        self.op1(GraphOp::Broadcast, Attrs::new(), &[v], out)
    }

    pub fn reshape(&mut self, v: Val, dims: Vec<Dim>) -> Res<Val> {
        if self.ty(v).dims == dims {
            return Ok(v);
        }
        let out = TensorType { dtype: self.dtype(v), dims };
        self.op1(GraphOp::Reshape, Attrs::new(), &[v], out)
    }

    pub fn transpose(&mut self, v: Val, permutation: &[usize]) -> Res<Val> {
        if permutation.iter().enumerate().all(|(i, &p)| i == p) {
            return Ok(v);
        }
        // Small ones are not worth the care.
        let swaps = permutation.iter().rev().enumerate().all(|(i, &p)| p + i + 1 == self.rank(v) || i < 2);
        if swaps
            && self.rank(v) >= 2
            && permutation.len() == self.rank(v)
            && self.tensor(v).is_some_and(|t| t.len() > 1024)
        {
            return Ok(self.swapped(v));
        }
        let p: Vec<i64> = permutation.iter().map(|&p| p as i64).collect();
        self.infer1(GraphOp::Transpose, Attrs::new().ints("permutation", p), &[v])
    }

    /// Elements `starts[i] + k * steps[i]`, `counts[i]` of them along each dim.
    pub fn slice(&mut self, v: Val, starts: Vec<i64>, steps: Vec<i64>, counts: Vec<Dim>) -> Res<Val> {
        if counts == self.ty(v).dims && starts.iter().all(|&s| s == 0) && steps.iter().all(|&s| s == 1) {
            return Ok(v);
        }
        let out = TensorType { dtype: self.dtype(v), dims: counts };
        self.op1(GraphOp::Slice, Attrs::new().ints("starts", starts).ints("steps", steps), &[v], out)
    }

    /// `count` elements from `start` on along one axis.
    pub fn slice_axis(&mut self, v: Val, axis: usize, start: i64, count: Dim) -> Res<Val> {
        let mut starts = vec![0; self.rank(v)];
        let mut counts = self.dims(v);
        if axis >= counts.len() {
            return invalid(format!("{} has no dim {axis}", self.ty(v)));
        }
        starts[axis] = start;
        counts[axis] = count;
        self.slice(v, starts, vec![1; self.rank(v)], counts)
    }

    /// Joins along one axis; parts without elements along it fall away.
    pub fn concat(&mut self, vals: &[Val], axis: usize) -> Res<Val> {
        let ranks = vals.iter().all(|v| self.rank(*v) == self.rank(vals[0]));
        let mut parts: Vec<Val> = vals.to_vec();
        if ranks && axis < self.rank(vals[0]) {
            parts.retain(|v| self.ty(*v).dims[axis].as_i64() != Some(0));
        }
        match parts.as_slice() {
            [] => Ok(vals[0]),
            [one] => Ok(*one),
            parts => self.infer1(GraphOp::Concat, Attrs::new().int("axis", axis as i64), parts),
        }
    }

    pub fn matmul(&mut self, a: Val, b: Val, transpose_lhs: bool, transpose_rhs: bool) -> Res<Val> {
        // A weight that is only transposed for the product is read as it lies.
        let (swapped_a, swapped_b) = (self.swap_of(a), self.swap_of(b));
        let (a, transpose_lhs) = swapped_a.map_or((a, transpose_lhs), |v| (v, !transpose_lhs));
        let (b, transpose_rhs) = swapped_b.map_or((b, transpose_rhs), |v| (v, !transpose_rhs));
        let attrs = Attrs::new().flag("transpose_lhs", transpose_lhs).flag("transpose_rhs", transpose_rhs);
        self.infer1(GraphOp::Matmul, attrs, &[a, b])
    }

    /// Reduces over axes in any order; no axes reduce nothing.
    pub fn reduce(&mut self, kind: ReduceKind, v: Val, axes: &[usize], keep: bool) -> Res<Val> {
        if axes.is_empty() {
            return Ok(v);
        }
        let mut sorted: Vec<i64> = axes.iter().map(|&a| a as i64).collect();
        sorted.sort_unstable();
        let attrs = Attrs::new().int("kind", kind).ints("axes", sorted).flag("keep_dims", keep);
        self.infer1(GraphOp::Reduce, attrs, &[v])
    }

    pub fn arg_reduce(&mut self, kind: ArgKind, v: Val, axis: usize, last: bool) -> Res<Val> {
        let attrs = Attrs::new().int("kind", kind).int("axis", axis as i64).flag("select_last", last);
        self.infer1(GraphOp::ArgReduce, attrs, &[v])
    }

    pub fn softmax(&mut self, v: Val, axis: usize, log: bool) -> Res<Val> {
        self.infer1(GraphOp::Softmax, Attrs::new().int("axis", axis as i64).flag("log", log), &[v])
    }

    pub fn layer_norm(&mut self, v: Val, axis: usize, epsilon: f64, rms: bool) -> Res<Val> {
        let attrs = Attrs::new().int("axis", axis as i64).float("epsilon", epsilon).flag("rms", rms);
        self.infer1(GraphOp::LayerNorm, attrs, &[v])
    }

    pub fn gather(&mut self, v: Val, indices: Val, axis: usize) -> Res<Val> {
        self.infer1(GraphOp::Gather, Attrs::new().int("axis", axis as i64), &[v, indices])
    }

    /// Numbers `start + i * step` along one axis of a shape.
    pub fn iota(&mut self, dtype: DType, dims: Vec<Dim>, axis: usize) -> Res<Val> {
        let (start, step) = (self.scalar(dtype, 0.0), self.scalar(dtype, 1.0));
        self.op1(GraphOp::Iota, Attrs::new().int("axis", axis as i64), &[start, step], TensorType { dtype, dims })
    }

    /// The elements seen with rank `rank` by new dims of size 1 behind, starting at dim `at`: `[C]` to `[C, 1, 1]`.
    pub fn channel(&mut self, v: Val, rank: usize, at: usize) -> Res<Val> {
        let mut dims = self.dims(v);
        dims.extend(std::iter::repeat_n(Dim::constant(1), rank.saturating_sub(at + self.rank(v))));
        self.reshape(v, dims)
    }

    /// The elements as a 0-d value.
    pub fn one_element(&mut self, v: Val, what: &str) -> Res<Val> {
        match self.ty(v).count().as_i64() {
            Some(1) => self.reshape(v, vec![]),
            _ => invalid(format!("{what} is {}, expected one element", self.ty(v))),
        }
    }
}

/// The numpy broadcast of shapes.
pub(super) fn broadcast_shapes(shapes: &[&[Dim]]) -> Res<Vec<Dim>> {
    let rank = shapes.iter().map(|s| s.len()).max().unwrap_or(0);
    let mut out = vec![Dim::constant(1); rank];
    for s in shapes {
        for (i, d) in s.iter().enumerate() {
            let o = &mut out[rank - s.len() + i];
            if o.as_i64() == Some(1) {
                *o = d.clone();
            } else if d.as_i64() != Some(1) && d != o {
                if d.sub(o).as_i64().is_some() || (d.is_const() && o.is_const()) {
                    let list: Vec<String> = shapes.iter().map(|s| show(s)).collect();
                    return invalid(format!("shapes {} do not broadcast: {o} against {d}", list.join(" and ")));
                }
                return Err(open(&[d.clone(), o.clone()]));
            }
        }
    }
    Ok(out)
}

/// `[2, n]`
pub(super) fn show(dims: &[Dim]) -> String {
    let list: Vec<String> = dims.iter().map(Dim::to_string).collect();
    format!("[{}]", list.join(", "))
}
