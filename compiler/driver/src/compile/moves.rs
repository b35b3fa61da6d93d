//! Ops that only move elements, and what of their moving a plan may save.

use neap_optable::{Body, GraphOp, Node, Tensor, TensorType};

/// How much of a unit's work is moving elements that might lie in the right place already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moves {
    /// It computes, or moves elements in a way that only its kernel can.
    No,
    /// The result is the bytes of operand 0 from this offset on.
    Range(u64),
    /// A concatenation; one part an operand.
    Parts(Vec<Part>),
}

/// A part of a concatenation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The stage that copies it; none where there is nothing to copy.
    pub stage: Option<usize>,
    /// Bytes.
    pub bytes: u64,
    /// Where it starts in the whole, if it is one range of it.
    pub offset: Option<u64>,
}

impl Moves {
    /// What a node moves. `stages` is how many its kernel has, `constant` the value of an operand that is known.
    pub fn of(node: &Node, body: &Body, stages: usize, constant: impl Fn(usize) -> Option<Tensor>) -> Moves {
        let ty = |i: usize| body.ty(node.inputs[i]);
        match node.op {
            GraphOp::Concat => parts(node, body, stages),
            GraphOp::Slice if node.attrs.get_ints("steps").iter().all(|s| *s == 1) => {
                range(ty(0), body.ty(node.outputs[0]), node.attrs.get_ints("starts"))
            }
            GraphOp::Gather => constant(1).map_or(Moves::No, |index| gathered(node, ty(0), &index)),
            _ => Moves::No,
        }
    }
}

/// A concatenation whose kernel has a stage for each part that is not empty.
fn parts(node: &Node, body: &Body, stages: usize) -> Moves {
    let axis = node.attrs.get_int("axis") as usize;
    let ranges = in_ranges(body.ty(node.outputs[0]), axis);
    let (mut parts, mut offset, mut stage) = (vec![], 0, 0);
    for v in &node.inputs {
        let ty = body.ty(*v);
        let Some(bytes) = ty.bytes() else { return Moves::No };
        let copied = (bytes > 0).then_some(stage);
        stage += usize::from(bytes > 0);
        parts.push(Part { stage: copied, bytes, offset: ranges.then_some(offset) });
        offset += bytes;
    }
    if stage == stages { Moves::Parts(parts) } else { Moves::No }
}

/// A box of a tensor that is one range of its bytes: single elements, then one run, then whole dims.
fn range(from: &TensorType, to: &TensorType, starts: &[i64]) -> Moves {
    let (Some(from_dims), Some(to_dims)) = (from.static_dims(), to.static_dims()) else { return Moves::No };
    if to_dims.contains(&0) || !one_run(from, to) {
        return Moves::No;
    }
    let mut offset = 0;
    for (d, s) in from_dims.iter().zip(starts) {
        let Ok(start) = u64::try_from(*s) else { return Moves::No };
        offset = offset * d + start;
    }
    Moves::Range(offset * from.dtype.size())
}

/// Whether a box of a tensor is one range of its bytes, as far as its dims tell: elements are neighbours in it.
pub fn one_run(from: &TensorType, to: &TensorType) -> bool {
    let lead = to.dims.iter().take_while(|d| d.as_const() == Some(1)).count();
    (lead + 1..to.dims.len()).all(|i| from.dims[i] == to.dims[i])
}

/// Whether the parts of a concatenation along an axis are ranges of the whole.
pub fn in_ranges(whole: &TensorType, axis: usize) -> bool {
    whole.dims[..axis].iter().all(|d| d.as_const() == Some(1))
}

/// A gather of neighbours by known indices.
fn gathered(node: &Node, from: &TensorType, index: &Tensor) -> Moves {
    let axis = node.attrs.get_int("axis") as usize;
    let (Some(dims), Some(at)) = (from.static_dims(), index.to_i64()) else { return Moves::No };
    let Some(first) = at.first().and_then(|f| u64::try_from(*f).ok()) else { return Moves::No };
    let neighbours = at.windows(2).all(|w| w[0].checked_add(1) == Some(w[1]));
    let inside = first.checked_add(at.len() as u64).is_some_and(|end| end <= dims[axis]);
    let inner: u64 = dims[axis + 1..].iter().product();
    if !neighbours || !inside || inner == 0 || dims[..axis].iter().any(|d| *d != 1) {
        return Moves::No;
    }
    Moves::Range(first * inner * from.dtype.size())
}
