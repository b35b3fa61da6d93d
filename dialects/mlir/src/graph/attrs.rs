//! Attributes of ops, by the kinds that the op table names.

use melior::Context;
use melior::ir::attribute::{BoolAttribute, FloatAttribute, IntegerAttribute, StringAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type};
use neap_optable::{Attr, AttrKind, Attrs, DType, GraphOp};

use crate::element::{dtype, element, element_of};
use crate::ffi::{self, Plain};

/// All attributes of an op.
pub(super) fn read<'c: 'a, 'a>(op: GraphOp, from: &impl OperationLike<'c, 'a>) -> Result<Attrs, String> {
    let mut out = Attrs::new();
    for row in op.row().attrs {
        match ffi::attribute(from, row.name) {
            Some(a) => {
                out = out.with(row.name, read_one(row.kind, a).map_err(|e| format!("attribute {}: {e}", row.name))?)
            }
            None if row.optional => {}
            None => return Err(format!("attribute {} is missing", row.name)),
        }
    }
    Ok(out)
}

fn read_one(kind: AttrKind, a: Attribute<'_>) -> Result<Attr, String> {
    Ok(match (kind, ffi::plain(a)) {
        (AttrKind::Int, Plain::Int(v)) => Attr::Int(v),
        (AttrKind::Enum { cases, .. }, Plain::Int(v)) if (v as usize) < cases.len() => Attr::Int(v),
        (AttrKind::Float, Plain::Float(v)) => Attr::Float(v),
        (AttrKind::Bool, Plain::Bool(v)) => Attr::Bool(v),
        (AttrKind::Str, Plain::Str(v)) => Attr::Str(v.to_string()),
        (AttrKind::Ints, Plain::Ints(v)) => Attr::Ints(v),
        (AttrKind::Floats, Plain::Floats(v)) => Attr::Floats(v),
        (AttrKind::Elements, Plain::Elements(ty, data, splat)) => elements(ty, data, splat)?,
        (kind, _) => return Err(format!("found {a}, expected {}", describe(kind))),
    })
}

fn elements(ty: Type<'_>, data: Vec<u8>, splat: bool) -> Result<Attr, String> {
    let tensor =
        melior::ir::r#type::RankedTensorType::try_from(ty).map_err(|_| format!("found {ty}, expected a tensor"))?;
    let dtype = dtype(element_of(ty)).ok_or_else(|| format!("{ty}: no such element type in neap"))?;
    let dims: Option<Vec<u64>> = ffi::dims(tensor).into_iter().map(|d| d.map(|d| d as u64)).collect();
    let dims = dims.ok_or_else(|| format!("{ty}: elements need a static shape"))?;
    // A single element is no splat: one form for one value.
    let splat = splat && dims.iter().product::<u64>() != 1;
    let data = if data.len() as u64 > dims.iter().product::<u64>() * dtype.size() { vec![] } else { data };
    Ok(Attr::Elements { dtype, dims, data, splat })
}

/// The attributes of a node as MLIR takes them.
pub(super) fn write<'c>(
    cx: &'c Context,
    op: GraphOp,
    attrs: &Attrs,
) -> Result<Vec<(&'static str, Attribute<'c>)>, String> {
    let row = op.row();
    if let Some((name, _)) = attrs.iter().find(|(n, _)| row.attr(n).is_none()) {
        return Err(format!("no attribute {name} in its definition"));
    }
    let mut out = Vec::with_capacity(row.attrs.len());
    for a in row.attrs {
        match attrs.get(a.name) {
            Some(value) => {
                let made = write_one(cx, a.kind, value)
                    .ok_or_else(|| format!("attribute {}: found {value:?}, expected {}", a.name, describe(a.kind)))?;
                out.push((a.name, made));
            }
            None if a.optional => {}
            None => return Err(format!("attribute {} is missing", a.name)),
        }
    }
    Ok(out)
}

fn write_one<'c>(cx: &'c Context, kind: AttrKind, value: &Attr) -> Option<Attribute<'c>> {
    let int = |bits, v| IntegerAttribute::new(IntegerType::new(cx, bits).into(), v).into();
    Some(match (kind, value) {
        (AttrKind::Int, Attr::Int(v)) => int(64, *v),
        (AttrKind::Enum { cases, .. }, Attr::Int(v)) if (0..cases.len() as i64).contains(v) => int(32, *v),
        (AttrKind::Float, Attr::Float(v)) => FloatAttribute::new(cx, Type::float64(cx), *v).into(),
        (AttrKind::Bool, Attr::Bool(v)) => BoolAttribute::new(cx, *v).into(),
        (AttrKind::Str, Attr::Str(v)) => StringAttribute::new(cx, v).into(),
        (AttrKind::Ints, Attr::Ints(v)) => ffi::ints(cx, v),
        (AttrKind::Floats, Attr::Floats(v)) => ffi::floats(cx, v),
        (AttrKind::Elements, Attr::Elements { dtype, dims, data, splat }) => {
            let count = dims.iter().try_fold(1u64, |n, d| n.checked_mul(*d))?;
            let stored = if *splat { 1 } else { count };
            if stored.checked_mul(dtype.size())? != data.len() as u64 || (count == 0 && *splat) {
                return None;
            }
            let sizes: Vec<Option<i64>> = dims.iter().map(|d| Some(*d as i64)).collect();
            let ty = ffi::tensor(&sizes, element(cx, *dtype), None);
            ffi::dense(ty, data, *splat, *dtype == DType::Bool)?
        }
        _ => return None,
    })
}

fn describe(kind: AttrKind) -> String {
    match kind {
        AttrKind::Int => "an integer".into(),
        AttrKind::Float => "a float".into(),
        AttrKind::Bool => "a bool".into(),
        AttrKind::Str => "a string".into(),
        AttrKind::Ints => "integers".into(),
        AttrKind::Floats => "floats".into(),
        AttrKind::Elements => "dense elements that fit the shape".into(),
        AttrKind::Enum { name, cases } => format!("a {name}, one of {}", cases.join(", ")),
        AttrKind::Other(name) => name.into(),
    }
}
