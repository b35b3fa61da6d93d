//! Convolutions with constant filters: channels in the lanes, pixels as rows.

use neap_optable::{Attrs, DType, GraphOp, UnaryKind, ValueId};

use super::cases::Case;
use super::fusions::{Region, case};

/// Input, filter, strides, pads, dilations, groups.
type Conv = (&'static [u64], &'static [u64], &'static [i64], &'static [i64], &'static [i64], i64);

impl Region {
    fn filtered(&mut self, dtype: DType, (x, w, strides, pads, dilations, groups): Conv) -> ValueId {
        let (x, w) = (self.input(dtype, x), self.input(dtype, w));
        let attrs = Attrs::new().ints("strides", strides).ints("pads", pads).ints("dilations", dilations);
        self.op(GraphOp::Conv, attrs.int("groups", groups), &[x, w])
    }

    /// relu(v + bias + residual)
    fn finished(&mut self, v: ValueId) -> ValueId {
        let ty = self.body.ty(v).clone();
        let dims = ty.static_dims().expect("sizes are known");
        let mut each = vec![1; dims.len() - 1];
        each[0] = dims[1];
        let bias = self.input(ty.dtype, &each);
        let bias = self.like(bias, v);
        let v = self.add(v, bias);
        let residual = self.input(ty.dtype, &dims);
        let v = self.add(v, residual);
        self.unary(UnaryKind::Relu, v)
    }
}

/// With the tolerance of a chain of this filter's length. Elements are within 3, products have a deviation of 3, so the partial
/// sums of K steps have one of 3 sqrt(K), and the rounding errors of all steps together one of 3 K 2^-25.5; six times that.
fn long(shape: Conv, c: Case) -> Case {
    let steps = shape.1[1..].iter().product::<u64>();
    Case { tolerance: c.tolerance.max(steps as f32 * 2f32.powf(-21.3)), ..c }
}

/// All of them.
pub fn all() -> Vec<Case> {
    let shapes: [(&str, Conv); 20] = [
        ("one tile a line", (&[1, 3, 9, 14], &[32, 3, 3, 3], &[1, 1], &[1, 1, 1, 1], &[1, 1], 1)),
        ("tiles that overlap", (&[2, 5, 6, 33], &[20, 5, 3, 3], &[1, 1], &[1, 1, 1, 1], &[1, 1], 1)),
        ("whole lines", (&[1, 40, 7, 7], &[70, 40, 3, 3], &[1, 1], &[1, 1, 1, 1], &[1, 1], 1)),
        ("whole lines, the last tile overlaps", (&[2, 9, 5, 4], &[48, 9, 3, 3], &[1, 1], &[1, 1, 1, 1], &[1, 1], 1)),
        ("few channels", (&[1, 4, 6, 20], &[9, 4, 3, 3], &[1, 1], &[1, 1, 1, 1], &[1, 1], 1)),
        ("strides", (&[1, 6, 17, 31], &[33, 6, 3, 3], &[2, 2], &[1, 1, 1, 1], &[1, 1], 1)),
        ("unequal strides and pads", (&[1, 6, 17, 31], &[18, 6, 5, 4], &[3, 1], &[0, 2, 3, 1], &[1, 1], 1)),
        ("dilations", (&[1, 4, 19, 22], &[16, 4, 3, 3], &[1, 2], &[2, 3, 2, 3], &[2, 3], 1)),
        ("padding past the filter", (&[1, 4, 5, 6], &[16, 4, 3, 3], &[1, 1], &[5, 6, 4, 7], &[1, 1], 1)),
        ("no padding", (&[1, 7, 12, 21], &[40, 7, 3, 3], &[1, 1], &[0, 0, 0, 0], &[1, 1], 1)),
        ("padding down alone", (&[1, 7, 12, 21], &[40, 7, 7, 1], &[1, 1], &[3, 0, 3, 0], &[1, 1], 1)),
        ("padding across alone", (&[1, 7, 12, 21], &[40, 7, 1, 7], &[1, 1], &[0, 3, 0, 3], &[1, 1], 1)),
        ("padding down alone, taps across", (&[1, 7, 12, 21], &[40, 7, 3, 3], &[1, 1], &[1, 0, 1, 0], &[1, 1], 1)),
        ("groups", (&[2, 24, 10, 15], &[48, 8, 3, 3], &[1, 1], &[1, 1, 1, 1], &[1, 1], 3)),
        ("single taps", (&[2, 50, 9, 11], &[70, 50, 1, 1], &[1, 1], &[0, 0, 0, 0], &[1, 1], 1)),
        ("single taps with strides", (&[2, 50, 9, 11], &[70, 50, 1, 1], &[2, 2], &[0, 0, 0, 0], &[1, 1], 1)),
        ("whole vectors of pixels", (&[2, 20, 8, 16], &[40, 20, 1, 1], &[1, 1], &[0, 0, 0, 0], &[1, 1], 1)),
        ("one dim", (&[2, 30, 90], &[40, 30, 5], &[2], &[2, 1], &[1], 1)),
        ("one line of several", (&[1, 20, 3, 40], &[32, 20, 3, 3], &[1, 1], &[0, 1, 0, 1], &[1, 1], 1)),
        ("three dims", (&[1, 3, 5, 6, 18], &[24, 3, 2, 3, 3], &[1, 1, 1], &[0, 1, 1, 1, 1, 1], &[1, 1, 1], 1)),
    ];
    let mut out = vec![];
    for (name, shape) in shapes {
        out.push(long(shape, case(&format!("pixels: {name}"), |r| vec![r.filtered(DType::F32, shape)])));
        let finished = case(&format!("pixels: {name}, bias, residual, relu"), |r| {
            let v = r.filtered(DType::F32, shape);
            vec![r.finished(v)]
        });
        out.push(long(shape, finished));
    }
    let plain: Conv = (&[1, 12, 11, 19], &[36, 12, 3, 3], &[1, 1], &[1, 1, 1, 1], &[1, 1], 1);
    for dtype in [DType::F64, DType::F16, DType::BF16] {
        out.push(case(&format!("pixels: of {dtype}"), |r| {
            let v = r.filtered(dtype, plain);
            vec![r.finished(v)]
        }));
    }
    // More than a cache holds: sums wait for the next block of channels; several units a line.
    let deep: Conv = (&[1, 700, 16, 20], &[40, 700, 3, 3], &[1, 1], &[1, 1, 1, 1], &[1, 1], 1);
    let blocks = case("pixels: in blocks", |r| {
        let v = r.filtered(DType::F32, deep);
        vec![r.finished(v)]
    });
    out.push(long(deep, blocks));
    let wide: Conv = (&[1, 60, 3, 3000], &[33, 60, 1, 3], &[1, 1], &[0, 1, 0, 1], &[1, 1], 1);
    out.push(long(wide, case("pixels: parts of long lines", |r| vec![r.filtered(DType::F32, wide)])));
    out
}
