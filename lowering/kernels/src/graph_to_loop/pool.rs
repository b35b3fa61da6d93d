//! Pooling: a reduction over each window.

use neap_optable::{CompareKind, DType, Dim, Node, PoolKind};

use super::Unlowerable;
use super::layout::Layout;
use super::region::{Lowering, parallel, reduction};
use crate::ir::{Access, Combine, Effect, Index, OpId, Scalar};
use crate::scalar::computed;

pub(super) fn pool<'a>(cx: &mut Lowering<'a>, n: &'a Node) -> Result<(), Unlowerable> {
    let (input, out) = (n.inputs[0], n.outputs[0]);
    let (from, dims, dtype) = (&cx.ty(input).dims, cx.ty(out).dims.clone(), cx.ty(out).dtype);
    let kind: PoolKind = n.attrs.get_enum("kind");
    let (kernel, strides) = (n.attrs.get_ints("kernel"), n.attrs.get_ints("strides"));
    let (pads, dilations) = (n.attrs.get_ints("pads"), n.attrs.get_ints("dilations"));
    let spatial = kernel.len();
    cx.set_outer(n, dims.iter().map(parallel).collect())?;
    let space = cx.space();
    let layout = Layout::fixed((0..dims.len()).map(|i| space.simplify(&Index::Iter(i))).collect());

    let mut nest = cx.nest(kernel.iter().map(|k| reduction(&Dim::constant(*k))).collect());
    let mut index: Vec<Index> = (0..2).map(Index::Iter).collect();
    let (mut inside, mut counted) = (true, true);
    for d in 0..spatial {
        let start = Index::Iter(2 + d).times(&Dim::constant(strides[d])).add(&Index::constant(-pads[d]));
        index.push(start.add(&nest.own(d).times(&Dim::constant(dilations[d]))));
        let one = Dim::constant(1);
        let reach =
            dims[2 + d].sub(&one).scale(strides[d]).add(&Dim::constant((kernel[d] - 1) * dilations[d] - pads[d]));
        let over = reach.sub(&from[2 + d]).add(&one);
        inside &= pads[d] == 0 && over.as_i64().is_some_and(|v| v <= 0);
        counted &= over.as_i64().is_some_and(|v| v <= pads[spatial + d]);
    }
    let neutral = match (kind, dtype.is_float()) {
        (PoolKind::Max, true) => Scalar::Float(f64::NEG_INFINITY),
        (PoolKind::Max, false) => Scalar::Int(least(dtype)),
        (_, true) => Scalar::Float(0.0),
        (_, false) => Scalar::Int(0),
    };
    let value = if inside {
        nest.value(cx, input, &index)?
    } else {
        let buffer = cx.whole(n, input)?;
        nest.read(Access { buffer, index: index.clone(), outside: Some(neutral) }, dtype)
    };
    if kind == PoolKind::Max {
        let to = cx.place(n.outputs[0], &layout, &[])?;
        nest.effect(Effect::Reduce { to, combine: Combine::Max, value, second: None });
        cx.nests.push(nest.build());
        return Ok(());
    }
    // Averages: the sum over the window, then the division by how many elements count.
    let wide = computed(dtype);
    let value = nest.cast(wide, value);
    let total = cx.temp(wide, vec![])?;
    let to = |buffer| Access { buffer, index: vec![], outside: None };
    nest.effect(Effect::Reduce { to: to(total), combine: Combine::Sum, value, second: None });
    let fixed = if kind == PoolKind::Average { inside } else { counted };
    let count = if fixed {
        None
    } else {
        let (low, high): (Vec<i64>, Vec<i64>) = match kind {
            PoolKind::AverageIncludePad => (pads[..spatial].to_vec(), pads[spatial..].to_vec()),
            PoolKind::Average | PoolKind::Max => (vec![0; spatial], vec![0; spatial]),
        };
        let mut within: Option<OpId> = None;
        for d in 0..spatial {
            let (i, least, end) =
                (nest.index(&index[2 + d]), nest.int(-low[d]), nest.size(&from[2 + d].add(&Dim::constant(high[d]))));
            let (ge, lt) = (nest.compare(CompareKind::Ge, i, least), nest.compare(CompareKind::Lt, i, end));
            let both = nest.and(ge, lt);
            within = Some(match within {
                None => both,
                Some(w) => nest.and(w, both),
            });
        }
        let one = match within {
            Some(w) => nest.cast(wide, w),
            None => nest.number(wide, 1.0),
        };
        let count = cx.temp(wide, vec![])?;
        nest.effect(Effect::Reduce { to: to(count), combine: Combine::Sum, value: one, second: None });
        Some(count)
    };
    cx.nests.push(nest.build());
    let elements: i64 = kernel.iter().product();
    let place = cx.place(n.outputs[0], &layout, &[])?;
    cx.point_nest(place, |b| {
        let sum = b.read(to(total), wide);
        let count = match count {
            None => b.number(wide, elements as f64),
            Some(c) => b.read(to(c), wide),
        };
        let mean = b.div(sum, count);
        b.cast(dtype, mean)
    });
    Ok(())
}

/// The least value of an integer type.
pub(super) fn least(dtype: DType) -> i64 {
    match dtype {
        DType::I8 => i8::MIN.into(),
        DType::I16 => i16::MIN.into(),
        DType::I32 => i32::MIN.into(),
        DType::I64 => i64::MIN,
        _ => 0,
    }
}
