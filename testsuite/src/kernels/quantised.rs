//! Contractions of 8-bit operands: zero points and scales inside the kernel, over the whole range of the types.

use neap_optable::*;

use super::cases::Case;
use super::fusions::{Region, case};

const I8: DType = DType::I8;
const U8: DType = DType::U8;

/// Where a zero point comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Zero {
    None,
    Constant(i32),
    /// One number at run time.
    Given,
    /// One a row of a left operand, a column of a right one, a channel of a filter.
    Each,
}

impl Region {
    /// Any element of an 8-bit type.
    fn bytes(&mut self, dtype: DType, dims: &[u64]) -> ValueId {
        let n = dims.iter().product::<u64>();
        let t = match dtype {
            I8 => Tensor::new(dims, &(0..n).map(|_| self.rng.int(-128, 128) as i8).collect::<Vec<_>>()),
            _ => Tensor::new(dims, &(0..n).map(|_| self.rng.int(0, 256) as u8).collect::<Vec<_>>()),
        };
        self.given(t)
    }

    fn cast(&mut self, v: ValueId, to: DType) -> ValueId {
        let ty = TensorType { dtype: to, ..self.body.ty(v).clone() };
        self.body.push(GraphOp::Cast, Attrs::new(), &[v], [ty], "cast")[0]
    }

    fn splat(&mut self, v: i32, like: ValueId) -> ValueId {
        let ty = self.body.ty(like).clone();
        let dims = ty.static_dims().expect("sizes are known");
        let value = Attr::Elements { dtype: DType::I32, dims, data: v.to_le_bytes().to_vec(), splat: true };
        self.body.push(GraphOp::Constant, Attrs::new().with("value", value), &[], [ty], "zero")[0]
    }

    /// Whole numbers around a zero point; `each` are the dims of a zero point of several.
    fn centred(&mut self, v: ValueId, zero: Zero, each: &[u64]) -> ValueId {
        let wide = self.cast(v, DType::I32);
        let dtype = self.body.ty(v).dtype;
        let given = match zero {
            Zero::None => return wide,
            Zero::Constant(z) => {
                let z = self.splat(z, wide);
                return self.binary(BinaryKind::Sub, wide, z);
            }
            Zero::Given => self.bytes(dtype, &[]),
            Zero::Each => self.bytes(dtype, each),
        };
        let z = self.like(given, wide);
        let z = self.cast(z, DType::I32);
        self.binary(BinaryKind::Sub, wide, z)
    }

    fn product(&mut self, x: ValueId, y: ValueId, transposed: [bool; 2]) -> ValueId {
        let attrs = Attrs::new().flag("transpose_lhs", transposed[0]).flag("transpose_rhs", transposed[1]);
        self.op(GraphOp::Matmul, attrs, &[x, y])
    }

    fn conv(&mut self, x: ValueId, w: ValueId, stride: i64, pad: i64, groups: i64) -> ValueId {
        let n = self.body.ty(x).rank() - 2;
        let attrs = Attrs::new().ints("strides", vec![stride; n]).ints("pads", vec![pad; 2 * n]);
        self.op(GraphOp::Conv, attrs.ints("dilations", vec![1; n]).int("groups", groups), &[x, w])
    }

    /// As floats, times scales of these dims between a number and ten times it.
    fn scaled(&mut self, v: ValueId, scale: &[u64], least: f32) -> ValueId {
        let f = self.cast(v, DType::F32);
        let n = scale.iter().product::<u64>();
        let scale = Tensor::new(scale, &(0..n).map(|_| self.rng.float(least, 10.0 * least)).collect::<Vec<_>>());
        let scale = self.given(scale);
        let scale = self.like(scale, f);
        self.mul(f, scale)
    }

    /// Sums as 8-bit numbers.
    fn requantised(&mut self, sums: ValueId, scale: &[u64]) -> ValueId {
        let f = self.scaled(sums, scale, 1e-5);
        let f = self.op(GraphOp::Unary, Attrs::new().int("kind", UnaryKind::Round), &[f]);
        self.cast(f, U8)
    }
}

/// All of them.
pub fn all() -> Vec<Case> {
    let mut out = vec![];
    let zeros = [Zero::None, Zero::Constant(117), Zero::Given, Zero::Each];
    // Rows, steps and columns around the widths of tiles; odd steps; steps in blocks.
    let sizes = [(1, 7, 33), (5, 1, 40), (3, 64, 1), (13, 129, 70), (2, 30_001, 17), (70, 33, 128)];
    for (i, (m, k, n)) in sizes.into_iter().enumerate() {
        for (j, types) in [[U8, I8], [I8, I8], [U8, U8]].into_iter().enumerate() {
            let transposed = [i % 2 == 1, (i + j) % 3 == 0];
            let (left, right) = (zeros[(i + j) % 4], zeros[(2 * i + 3 * j + 1) % 4]);
            out.push(case(&format!("quantised matmul {m} {k} {n}, kind {j}"), |r| {
                let swap = |a: u64, b: u64, t: bool| if t { [b, a] } else { [a, b] };
                let x = r.bytes(types[0], &swap(m, k, transposed[0]));
                let y = r.bytes(types[1], &swap(k, n, transposed[1]));
                let x = r.centred(x, left, &swap(m, 1, transposed[0]));
                let y = r.centred(y, right, &swap(1, n, transposed[1]));
                vec![r.product(x, y, transposed)]
            }));
        }
    }
    out.push(case("quantised matmul, batches, requantised", |r| {
        let (x, y) = (r.bytes(U8, &[3, 2, 9, 20]), r.bytes(I8, &[2, 20, 35]));
        let (x, y) = (r.centred(x, Zero::Given, &[]), r.centred(y, Zero::None, &[]));
        let sums = r.product(x, y, [false, false]);
        vec![r.requantised(sums, &[35])]
    }));
    // Channels in and out, size, kernel, stride, pad, groups; depthwise ones are read where they are.
    let convs = [
        (3, 8, 13, 3, 1, 1, 1),
        (4, 6, 12, 3, 2, 1, 2),
        (6, 6, 20, 3, 1, 1, 6),
        (8, 8, 35, 3, 2, 1, 8),
        (5, 40, 18, 1, 1, 0, 1),
        (3, 16, 40, 7, 2, 3, 1),
    ];
    for (c, o, size, kernel, stride, pad, groups) in convs {
        for (i, zero) in [Zero::None, Zero::Constant(130), Zero::Constant(1)].into_iter().enumerate() {
            let name = format!("quantised conv {c} {o} {size} {kernel} {stride} {groups}, kind {i}");
            out.push(case(&name, |r| {
                let x = r.bytes(if i == 2 { I8 } else { U8 }, &[2, c, size, size + 1]);
                let w = r.bytes(I8, &[o, c / groups as u64, kernel, kernel]);
                let x = r.centred(x, zero, &[]);
                let w = r.centred(w, if i == 1 { Zero::Each } else { Zero::None }, &[o, 1, 1, 1]);
                let sums = r.conv(x, w, stride, pad, groups);
                if i == 0 { vec![sums] } else { vec![r.requantised(sums, &[o, 1, 1])] }
            }));
        }
    }
    // Weights alone are of 8 bits.
    for (m, transposed) in [(1, false), (9, false), (9, true)] {
        out.push(case(&format!("quantised weights of a matmul, {m} rows, {transposed}"), |r| {
            let x = r.input(DType::F32, &[m, 50]);
            let (dims, each) = if transposed { ([70, 50], vec![70, 1]) } else { ([50, 70], vec![70]) };
            let w = r.bytes(I8, &dims);
            let w = r.centred(w, Zero::Each, &each);
            let w = r.scaled(w, &each, 1e-4);
            vec![r.product(x, w, [false, transposed])]
        }));
    }
    for zero in [Zero::None, Zero::Constant(130)] {
        let kind = if zero == Zero::None { "without" } else { "with" };
        out.push(case(&format!("quantised pixels of a float filter, {kind} a zero point"), |r| {
            let (x, w) = (r.bytes(U8, &[2, 7, 14, 15]), r.input(DType::F32, &[20, 7, 3, 3]));
            let x = r.centred(x, zero, &[]);
            let x = r.scaled(x, &[], 1e-4);
            vec![r.conv(x, w, 1, 0, 1)]
        }));
    }
    out.push(case("quantised weights of a convolution", |r| {
        let (x, w) = (r.input(DType::F32, &[1, 7, 14, 15]), r.bytes(I8, &[20, 7, 3, 3]));
        let w = r.centred(w, Zero::None, &[]);
        let w = r.scaled(w, &[20, 1, 1, 1], 1e-4);
        vec![r.conv(x, w, 1, 1, 1)]
    }));
    out
}
