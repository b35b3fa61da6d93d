//! The value of a graph value at an index, computed where it is needed.

use neap_optable::{Attr, DType, Dim, Element, GraphOp, Node, PadMode, ValueId};

use super::nest::NestBuilder;
use super::region::{Home, Lowering};
use super::{Unlowerable, index, resize};
use crate::ir::{Access, Index, OpId, Scalar};
use crate::scalar::computed;

impl NestBuilder {
    /// The element of `v` at `index`.
    pub(super) fn value(&mut self, cx: &mut Lowering<'_>, v: ValueId, at: &[Index]) -> Result<OpId, Unlowerable> {
        let at: Vec<Index> = at.iter().map(|i| self.space.simplify(i)).collect();
        let key = (v, at);
        if let Some(op) = self.memo.get(&key) {
            return Ok(*op);
        }
        let op = self.compute(cx, v, &key.1)?;
        self.memo.insert(key, op);
        Ok(op)
    }

    fn compute(&mut self, cx: &mut Lowering<'_>, v: ValueId, at: &[Index]) -> Result<OpId, Unlowerable> {
        let ty = cx.ty(v);
        match cx.homes.get(&v) {
            Some(Home::Whole(buffer)) => {
                return Ok(self.read(Access { buffer: *buffer, index: at.to_vec(), outside: None }, ty.dtype));
            }
            Some(Home::Row(buffer)) => {
                let free = cx.layouts[&v].matching(at).ok_or_else(|| {
                    cx.refuse_all("an intermediate of the fusion is used at another place than it is computed; keep its user outside")
                })?;
                return Ok(self.read(Access { buffer: *buffer, index: free, outside: None }, ty.dtype));
            }
            None => {}
        }
        let Some(n) = cx.producer(v) else {
            return Err(cx.refuse_all("uses a value that is neither an operand nor computed by the fusion"));
        };
        match n.op {
            GraphOp::Unary => {
                let a = self.value(cx, n.inputs[0], at)?;
                Ok(self.unary(n.attrs.get_enum("kind"), a))
            }
            GraphOp::Binary => {
                let (a, b) = (self.value(cx, n.inputs[0], at)?, self.value(cx, n.inputs[1], at)?);
                Ok(self.binary(n.attrs.get_enum("kind"), a, b))
            }
            GraphOp::Compare => {
                let (a, b) = (self.value(cx, n.inputs[0], at)?, self.value(cx, n.inputs[1], at)?);
                Ok(self.compare(n.attrs.get_enum("kind"), a, b))
            }
            GraphOp::Select => {
                let c = self.value(cx, n.inputs[0], at)?;
                let (a, b) = (self.value(cx, n.inputs[1], at)?, self.value(cx, n.inputs[2], at)?);
                Ok(self.select(c, a, b))
            }
            GraphOp::Cast => {
                let a = self.value(cx, n.inputs[0], at)?;
                Ok(self.cast(ty.dtype, a))
            }
            GraphOp::Broadcast => {
                let from = &cx.ty(n.inputs[0]).dims;
                let lead = at.len() - from.len();
                let one = |d: &Dim| d.as_const() == Some(1);
                let inner: Vec<Index> =
                    from.iter().zip(&at[lead..]).map(|(d, i)| if one(d) { Index::zero() } else { i.clone() }).collect();
                self.value(cx, n.inputs[0], &inner)
            }
            GraphOp::Transpose => {
                let mut inner = vec![Index::zero(); at.len()];
                for (i, p) in n.attrs.get_ints("permutation").iter().enumerate() {
                    inner[*p as usize] = at[i].clone();
                }
                self.value(cx, n.inputs[0], &inner)
            }
            GraphOp::Slice => {
                let (starts, steps) = (n.attrs.get_ints("starts"), n.attrs.get_ints("steps"));
                let inner: Vec<Index> = (at.iter().zip(starts).zip(steps))
                    .map(|((i, start), step)| i.times(&Dim::constant(*step)).add(&Index::constant(*start)))
                    .collect();
                self.value(cx, n.inputs[0], &inner)
            }
            GraphOp::Reshape => {
                let from = &cx.ty(n.inputs[0]).dims;
                let offset = self.space.linear(at, &ty.dims);
                let inner = self.space.delinearise(&offset, from);
                self.value(cx, n.inputs[0], &inner)
            }
            GraphOp::Constant => self.inline_constant(cx, n),
            GraphOp::Iota => {
                let (start, step) = (self.value(cx, n.inputs[0], &[])?, self.value(cx, n.inputs[1], &[])?);
                let i = self.index(&at[n.attrs.get_int("axis") as usize]);
                let wide = computed(ty.dtype);
                let [i, start, step] = [i, start, step].map(|v| self.cast(wide, v));
                let steps = self.mul(i, step);
                let sum = self.add(start, steps);
                Ok(self.cast(ty.dtype, sum))
            }
            GraphOp::Pad => pad(self, cx, n, at),
            GraphOp::Resize => resize::resize(self, cx, n, at),
            GraphOp::Gather => index::gather(self, cx, n, at),
            GraphOp::GatherElements => index::gather_elements(self, cx, n, at),
            GraphOp::GatherNd => index::gather_nd(self, cx, n, at),
            GraphOp::ArgReduce
            | GraphOp::Concat
            | GraphOp::Conv
            | GraphOp::ConvTranspose
            | GraphOp::Cumsum
            | GraphOp::Fusion
            | GraphOp::Gru
            | GraphOp::LayerNorm
            | GraphOp::Lstm
            | GraphOp::Matmul
            | GraphOp::Pool
            | GraphOp::Reduce
            | GraphOp::ScatterElements
            | GraphOp::ScatterNd
            | GraphOp::Softmax
            | GraphOp::TopK
            | GraphOp::Weight
            | GraphOp::Yield => Err(cx.refuse(n, "its result cannot be used inside the fusion")),
        }
    }

    fn inline_constant(&mut self, cx: &Lowering<'_>, n: &Node) -> Result<OpId, Unlowerable> {
        match n.attrs.get("value") {
            Some(Attr::Elements { dtype, dims, data, splat }) if *splat || dims.iter().product::<u64>() == 1 => {
                Ok(self.constant(*dtype, scalar(*dtype, data)))
            }
            _ => Err(cx.refuse(n, "a constant of several elements inside a fusion; pass it as an operand")),
        }
    }
}

/// The first element of little-endian data.
pub(super) fn scalar(dtype: DType, data: &[u8]) -> Scalar {
    fn get<T: Element>(data: &[u8]) -> T {
        T::read(&data[..T::DTYPE.size() as usize])
    }
    match dtype {
        DType::F32 => Scalar::Float(get::<f32>(data).into()),
        DType::I32 => Scalar::Int(get::<i32>(data).into()),
        DType::I64 => Scalar::Int(get(data)),
        DType::I8 => Scalar::Int(get::<i8>(data).into()),
        DType::U8 => Scalar::Int(get::<u8>(data).into()),
        DType::Bool => Scalar::Int(data[0].into()),
        DType::F64 => Scalar::Float(get(data)),
        DType::F16 => Scalar::Float(half::f16::from_bits(get(data)).to_f64()),
        DType::BF16 => Scalar::Float(half::bf16::from_bits(get(data)).to_f64()),
        DType::I16 => Scalar::Int(get::<i16>(data).into()),
        DType::U16 => Scalar::Int(get::<u16>(data).into()),
        DType::U32 => Scalar::Int(get::<u32>(data).into()),
        DType::U64 => Scalar::Int(get::<u64>(data) as i64),
    }
}

/// Padding by index maps; outside, `constant` gives its value and the other modes fold the index back.
fn pad(b: &mut NestBuilder, cx: &mut Lowering<'_>, n: &Node, at: &[Index]) -> Result<OpId, Unlowerable> {
    use neap_optable::CompareKind::{Ge, Lt};
    let (low, high) = (n.attrs.get_ints("low"), n.attrs.get_ints("high"));
    let mode: PadMode = n.attrs.get_enum("mode");
    let input = n.inputs[0];
    let ty = cx.ty(input);
    let shifted: Vec<Index> = at.iter().zip(low).map(|(i, l)| i.add(&Index::constant(-l))).collect();
    let padded: Vec<usize> = (0..at.len()).filter(|d| low[*d] > 0 || high[*d] > 0).collect();
    if padded.is_empty() {
        return b.value(cx, input, &shifted);
    }
    let buffer = cx.whole(n, input)?;
    if mode == PadMode::Constant {
        let value = b.value(cx, n.inputs[1], &[])?;
        let known = b.known(value);
        let outside = known.unwrap_or(if ty.dtype.is_float() { Scalar::Float(0.0) } else { Scalar::Int(0) });
        let index: Vec<Index> = shifted.iter().map(|i| b.space.simplify(i)).collect();
        let read = b.read(Access { buffer, index: index.clone(), outside: Some(outside) }, ty.dtype);
        if known.is_some() {
            return Ok(read);
        }
        let mut inside = None;
        for d in padded {
            let (i, zero, size) = (b.index(&index[d]), b.int(0), b.size(&ty.dims[d]));
            let (ge, lt) = (b.compare(Ge, i, zero), b.compare(Lt, i, size));
            let both = b.and(ge, lt);
            inside = Some(match inside {
                None => both,
                Some(other) => b.and(other, both),
            });
        }
        let inside = inside.expect("some dim is padded");
        return Ok(b.select(inside, read, value));
    }
    let mut index = vec![];
    for (d, i) in shifted.iter().enumerate() {
        let i = b.index(i);
        index.push(if padded.contains(&d) { fold(b, mode, i, &ty.dims[d]) } else { i });
    }
    Ok(b.load(buffer, index, ty.dtype))
}

/// An index outside [0, n) brought inside. Reflections may need several bounces: they repeat every 2 (n - 1).
fn fold(b: &mut NestBuilder, mode: PadMode, i: OpId, dim: &Dim) -> OpId {
    use neap_optable::BinaryKind::{Max, Min, Mod};
    let (zero, one, n) = (b.int(0), b.int(1), b.size(dim));
    let last = b.sub(n, one);
    match mode {
        PadMode::Constant | PadMode::Edge => {
            let i = b.binary(Max, i, zero);
            b.binary(Min, i, last)
        }
        PadMode::Wrap => b.binary(Mod, i, n),
        PadMode::Reflect => {
            let two = b.int(2);
            let period = b.mul(last, two);
            let period = b.binary(Max, period, one);
            let i = b.binary(Mod, i, period);
            let back = b.sub(period, i);
            let i = b.binary(Min, i, back);
            // With a single element the period is clamped to 1, and the index is 0 already.
            b.binary(Min, i, last)
        }
    }
}
