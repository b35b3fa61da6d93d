//! Writing where data says.

use neap_optable::{Attrs, GraphOp, ScatterKind};

use crate::import::cx::{Cx, Val};
use crate::import::error::{Res, invalid};
use crate::import::op::Op;
use crate::import::table::{Entry, since};

pub(super) const OPS: &[Entry] = &[
    Entry { op: "Scatter", opsets: 9..=10, convert: scatter_elements },
    since("ScatterElements", 11, scatter_elements),
    since("ScatterND", 11, scatter_nd),
];

fn kind(op: &Op<'_>) -> Res<ScatterKind> {
    match op.text("reduction", "none")? {
        "none" => Ok(ScatterKind::Assign),
        "add" => Ok(ScatterKind::Add),
        "mul" => Ok(ScatterKind::Mul),
        "max" => Ok(ScatterKind::Max),
        "min" => Ok(ScatterKind::Min),
        other => invalid(format!("attribute `reduction` is `{other}`, expected none, add, mul, max or min")),
    }
}

fn scatter_elements(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let v = op.input(0)?;
    let attrs = Attrs::new().int("kind", kind(op)?).int("axis", op.axis(0, cx.rank(v))? as i64);
    Ok(vec![cx.infer1(GraphOp::ScatterElements, attrs, &[v, op.input(1)?, op.input(2)?])?])
}

fn scatter_nd(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let attrs = Attrs::new().int("kind", kind(op)?);
    Ok(vec![cx.infer1(GraphOp::ScatterNd, attrs, &[op.input(0)?, op.input(1)?, op.input(2)?])?])
}
