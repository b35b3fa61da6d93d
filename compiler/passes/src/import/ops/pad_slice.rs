//! Parts and joins: Slice, Split, Concat, Pad.

use neap_optable::{Attrs, Dim, GraphOp, PadMode};

use crate::import::cx::{Cx, Val};
use crate::import::error::{Res, invalid};
use crate::import::fold::at_least;
use crate::import::op::{Op, axes};
use crate::import::table::{Entry, always, since};

pub(super) const OPS: &[Entry] = &[
    always("Slice", slice),
    always("Split", split),
    always("Concat", concat),
    always("Pad", pad),
    since("CenterCropPad", 18, center_crop_pad),
];

/// Bounds are attributes up to opset 9, then operands. They count from the end if negative and are clamped.
fn slice(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    let dims = cx.dims(v);
    let constants = |list: &[i64]| list.iter().map(|&i| Dim::constant(i)).collect::<Vec<_>>();
    let (from, to) = if op.opset() < 10 {
        match (op.ints("starts")?, op.ints("ends")?) {
            (Some(s), Some(e)) => (constants(s), constants(e)),
            _ => return invalid("attributes `starts` and `ends` are missing"),
        }
    } else {
        (cx.dim_values(op.input(1)?, "starts")?, cx.dim_values(op.input(2)?, "ends")?)
    };
    let list = match op.axes(cx, "axes", 3)? {
        Some(list) => list,
        None => (0..from.len() as i64).collect(),
    };
    let by = match op.opt(4) {
        Some(s) => cx.int_values(s, "steps")?,
        None => vec![1; from.len()],
    };
    if [to.len(), list.len(), by.len()].iter().any(|n| *n != from.len()) {
        return invalid(format!(
            "starts, ends, axes and steps have {}, {}, {} and {} entries",
            from.len(),
            to.len(),
            list.len(),
            by.len()
        ));
    }
    let (mut starts, mut steps, mut counts) = (vec![0; dims.len()], vec![1; dims.len()], dims.clone());
    for (i, a) in axes(&list, dims.len())?.into_iter().enumerate() {
        let (start, count) = span(cx, &from[i], &to[i], by[i], &dims[a])?;
        (starts[a], steps[a], counts[a]) = (start, by[i], count);
    }
    Ok(vec![cx.slice(v, starts, steps, counts)?])
}

/// Start and number of elements of one dim of a slice.
fn span(cx: &Cx, from: &Dim, to: &Dim, step: i64, size: &Dim) -> Res<(i64, Dim)> {
    if step == 0 {
        return invalid("a step is 0");
    }
    if let (Some(from), Some(to), Some(n)) = (from.as_i64(), to.as_i64(), size.as_i64()) {
        let up = step > 0;
        // Downwards the last element read may be the first one, so the bounds lie one lower.
        let (low, high) = if up { (0, n) } else { (-1, n - 1) };
        let place = |v: i64| (if v < 0 { v.saturating_add(n) } else { v }).clamp(low, high);
        let (from, to) = (place(from).max(0), place(to));
        let distance = if up { to - from } else { from - to };
        let count = if n == 0 { 0 } else { (distance.max(0) as u64).div_ceil(step.unsigned_abs()) as i64 };
        return Ok((if count == 0 { 0 } else { from }, Dim::constant(count)));
    }
    // Open sizes: whole dims and prefixes or suffixes that provably lie inside.
    let zero = Dim::constant(0);
    let inside = |v: &Dim| at_least(v, 0) && at_least(&size.sub(v), 0);
    let place = |v: &Dim| match v.as_i64() {
        // What exporters write for "up to the end".
        Some(n) if n >= 1_000_000_000 => Some(size.clone()),
        Some(n) if n < 0 && at_least(&size.add(v), 0) => Some(size.add(v)),
        _ if inside(v) => Some(v.clone()),
        _ => None,
    };
    if let (Some(from), Some(to), true) = (place(from), place(to), step > 0) {
        let start = cx.number(&from)?;
        let length = to.sub(&from);
        if at_least(&length, 0) {
            let count = length.add(&Dim::constant(step - 1)).floor_div(&Dim::constant(step)).unwrap_or(zero);
            return Ok((start, count));
        }
    }
    Err(crate::import::cx::open(&[size.clone(), from.clone(), to.clone()]))
}

/// Sizes are an attribute up to opset 12, then an operand; without them the parts are equal, the last one perhaps smaller.
fn split(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    let at = op.axis(0, cx.rank(v))?;
    let size = cx.dims(v)[at].clone();
    let parts = op.node.outputs.len() as i64;
    if let Some(n) = op.int_opt("num_outputs")?.filter(|&n| n != parts) {
        return invalid(format!("attribute `num_outputs` is {n}, but it has {parts} results"));
    }
    let sizes: Vec<Dim> = match op.axes(cx, "split", 1)? {
        Some(list) => list.into_iter().map(Dim::constant).collect(),
        None => match size.exact_div(&Dim::constant(parts)) {
            Some(each) => vec![each; parts as usize],
            None => {
                let n = cx.number(&size)?;
                let each = n.saturating_add(parts - 1) / parts;
                (0..parts).map(|i| Dim::constant((n - each * i).clamp(0, each))).collect()
            }
        },
    };
    let total = sizes.iter().fold(Dim::constant(0), |a, b| a.add(b));
    if total.sub(&size).as_i64() != Some(0) || sizes.iter().any(|s| s.as_i64().is_some_and(|s| s < 0)) {
        return invalid(format!(
            "parts {} do not make up dim {at} of {}",
            crate::import::build::show(&sizes),
            cx.ty(v)
        ));
    }
    let mut out = vec![];
    let mut start = Dim::constant(0);
    for s in sizes {
        let next = start.add(&s);
        let from = cx.number(&start)?;
        out.push(cx.slice_axis(v, at, from, s)?);
        start = next;
    }
    Ok(out)
}

fn concat(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let all = op.all()?;
    let at = op.axis(i64::MIN, cx.rank(all[0]))?;
    Ok(vec![cx.concat(&all, at)?])
}

/// Amounts and value are attributes up to opset 10, then operands, with optional axes from opset 18 on.
fn pad(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    let rank = cx.rank(v);
    let ty = cx.dtype(v);
    let mode = match op.text("mode", "constant")? {
        "constant" => PadMode::Constant,
        "reflect" => PadMode::Reflect,
        "edge" => PadMode::Edge,
        "wrap" => PadMode::Wrap,
        other => return invalid(format!("attribute `mode` is `{other}`, expected constant, reflect, edge or wrap")),
    };
    let Some(amounts) = op.axes(cx, "pads", 1)? else { return invalid("it has no pads") };
    let value = match op.opt(2) {
        Some(value) => cx.one_element(value, "the value")?,
        None => cx.scalar(ty, op.float("value", 0.0)?),
    };
    let along = match op.opt(3) {
        Some(a) => axes(&cx.int_values(a, "axes")?, rank)?,
        None => (0..rank).collect(),
    };
    if amounts.len() != 2 * along.len() {
        return invalid(format!("{} pads are given for {} dims", amounts.len(), along.len()));
    }
    let (mut low, mut high) = (vec![0; rank], vec![0; rank]);
    for (i, &a) in along.iter().enumerate() {
        (low[a], high[a]) = (amounts[i], amounts[along.len() + i]);
    }
    Ok(vec![padded(cx, v, value, mode, low, high)?])
}

/// Pads, or nothing where all amounts are 0.
pub(super) fn padded(cx: &mut Cx, v: Val, value: Val, mode: PadMode, low: Vec<i64>, high: Vec<i64>) -> Res<Val> {
    if low.iter().chain(&high).all(|&p| p == 0) {
        return Ok(v);
    }
    let attrs = Attrs::new().int("mode", mode).ints("low", low).ints("high", high);
    cx.infer1(GraphOp::Pad, attrs, &[v, value])
}

/// Crops or pads with zeros around the middle.
fn center_crop_pad(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let mut v = op.input(0)?;
    let rank = cx.rank(v);
    let along = match op.ints("axes")? {
        Some(list) => axes(list, rank)?,
        None => (0..rank).collect(),
    };
    let want = cx.int_values(op.input(1)?, "the shape")?;
    if want.len() != along.len() || want.iter().any(|&n| n < 0) {
        return invalid(format!("{} sizes are given for {} dims", want.len(), along.len()));
    }
    for (&a, &to) in along.iter().zip(&want) {
        let from = cx.number(&cx.dims(v)[a].clone())?;
        if to <= from {
            v = cx.slice_axis(v, a, (from - to) / 2, Dim::constant(to))?;
        } else {
            let (mut low, mut high) = (vec![0; rank], vec![0; rank]);
            low[a] = (to - from) / 2;
            high[a] = to - from - low[a];
            let zero = cx.scalar(cx.dtype(v), 0.0);
            v = padded(cx, v, zero, PadMode::Constant, low, high)?;
        }
    }
    Ok(vec![v])
}
