//! Constants, weights and groups.

use super::cx::{Cx, one, same_type};
use crate::{Attr, Body, DType, TensorType};

/// Most elements of an inline constant that is not a splat.
const INLINE: u64 = 64;

pub(super) fn constant(cx: &Cx<'_>) -> Result<TensorType, String> {
    let [] = cx.operands()?;
    let Some(Attr::Elements { dtype, dims, data, splat }) = cx.attrs.get("value") else {
        return Err("lacks the attribute value with its elements".into());
    };
    let t = TensorType::fixed(*dtype, dims);
    let count = t.elements().ok_or_else(|| format!("{t} has more elements than can be counted"))?;
    if !splat && count > INLINE {
        return Err(format!("holds {count} elements inline, expected at most {INLINE}; larger ones are graph.weight"));
    }
    let expected = if *splat { 1 } else { count } * dtype.size();
    if data.len() as u64 != expected {
        return Err(format!("holds {} bytes for {t}, expected {expected}", data.len()));
    }
    if *dtype == DType::Bool && data.iter().any(|b| *b > 1) {
        return Err("holds a bool that is neither 0 nor 1".into());
    }
    Ok(t)
}

pub(super) fn weight(cx: &Cx<'_>, outs: &[TensorType]) -> Result<(), String> {
    let [] = cx.operands()?;
    let out = one(outs)?;
    cx.string("hash")?;
    if cx.string("key")?.is_empty() {
        return Err("has an empty key".into());
    }
    match out.bytes() {
        Some(_) => Ok(()),
        None => Err(format!("result is {out}, expected dims known now and a size that can be counted")),
    }
}

pub(super) fn fusion(cx: &Cx<'_>, outs: &[TensorType], region: Option<&Body>) -> Result<(), String> {
    cx.string("kind")?;
    let body = region.ok_or("lacks its region")?;
    if body.args.len() != cx.ins.len() {
        return Err(format!("has {} operands and a region with {} arguments", cx.ins.len(), body.args.len()));
    }
    if body.results.len() != outs.len() {
        return Err(format!("has {} results and a region with {}", outs.len(), body.results.len()));
    }
    // Ids first: the comparisons below look values up.
    body.verify()?;
    for (i, (v, t)) in body.args.iter().zip(cx.ins).enumerate() {
        same_type(&format!("argument {i} of the region"), body.ty(*v), t)?;
    }
    for (i, (v, t)) in body.results.iter().zip(outs).enumerate() {
        same_type(&format!("result {i} of the region"), body.ty(*v), t)?;
    }
    Ok(())
}
