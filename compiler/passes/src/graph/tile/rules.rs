//! For each op: what a part of its result needs of its operands, and how the op that computes just that part looks.

use neap_optable::{Attr, Attrs, GraphOp, TensorType};

use super::part::{Need, Part, size};
use super::window;

/// An op cut to a part of its results.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cut {
    /// Its attributes.
    pub(super) attrs: Attrs,
    /// What it computes; contains what was asked for, and more where an op works in steps.
    pub(super) computed: Part,
    /// What it needs of each operand.
    pub(super) needs: Vec<Need>,
}

impl Cut {
    /// The attributes stay and exactly the part is computed.
    pub(super) fn new(attrs: &Attrs, part: Part, needs: impl Into<Vec<Need>>) -> Self {
        Cut { attrs: attrs.clone(), computed: part, needs: needs.into() }
    }
}

/// Cuts an op (but not a fusion) to a part of its results, which all have the part's dim.
///
/// # Errors
/// Why the op cannot be computed part by part along that dim with the same bits.
pub(super) fn cut(
    op: GraphOp,
    attrs: &Attrs,
    ins: &[TensorType],
    outs: &[TensorType],
    part: Part,
) -> Result<Cut, String> {
    let d = part.dim;
    let same = |n: usize| Cut::new(attrs, part, vec![Need::Part(part); n]);
    let axis = || attrs.get_int("axis") as usize;
    match op {
        GraphOp::Unary | GraphOp::Binary | GraphOp::Compare | GraphOp::Select | GraphOp::Cast => Ok(same(ins.len())),
        GraphOp::Broadcast => {
            let lead = outs[0].rank() - ins[0].rank();
            let need = match d.checked_sub(lead) {
                Some(i) if ins[0].dims[i].as_const() != Some(1) => Need::Part(part.along(i)),
                _ => Need::Whole,
            };
            Ok(Cut::new(attrs, part, [need]))
        }
        GraphOp::Reshape => Ok(Cut::new(attrs, part, [Need::Part(reshaped(&ins[0], &outs[0], part)?)])),
        GraphOp::Transpose => {
            Ok(Cut::new(attrs, part, [Need::Part(part.along(attrs.get_ints("permutation")[d] as usize))]))
        }
        GraphOp::Slice => slice(attrs, part),
        GraphOp::Concat if d != axis() => Ok(same(ins.len())),
        GraphOp::Pad => window::pad(attrs, ins, part),
        GraphOp::Resize => window::resize(attrs, ins, outs, part),
        GraphOp::Matmul => matmul(attrs, ins, outs, part),
        GraphOp::Conv => window::conv(attrs, ins, part),
        GraphOp::ConvTranspose => window::conv_transpose(attrs, ins, part),
        GraphOp::Pool => window::pool(attrs, ins, part),
        GraphOp::Reduce => reduce(attrs, ins, outs, part),
        GraphOp::Softmax if d != axis() => same_order(&outs[0], axis(), part).map(|()| same(1)),
        GraphOp::Cumsum | GraphOp::ArgReduce | GraphOp::TopK if d != axis() => Ok(same(1)),
        GraphOp::LayerNorm if d < axis() => Ok(same(1)),
        GraphOp::Gather => Ok(gather(attrs, ins, part)),
        GraphOp::Constant => constant(attrs, part),
        GraphOp::Iota if d != axis() => Ok(Cut::new(attrs, part, vec![Need::Whole; ins.len()])),
        GraphOp::Concat
        | GraphOp::Softmax
        | GraphOp::Cumsum
        | GraphOp::ArgReduce
        | GraphOp::TopK
        | GraphOp::LayerNorm
        | GraphOp::Iota => Err(format!("it works along dim {d}")),
        GraphOp::GatherElements
        | GraphOp::GatherNd
        | GraphOp::ScatterElements
        | GraphOp::ScatterNd
        | GraphOp::Lstm
        | GraphOp::Gru
        | GraphOp::Weight
        | GraphOp::Fusion
        | GraphOp::Yield => Err(format!("graph.{} is not computed part by part", op.name())),
    }
}

/// The order of a reduction with other dims behind its axis is settled by how far apart its elements are: a part of one
/// element could bring them together.
fn same_order(ty: &TensorType, axis: usize, part: Part) -> Result<(), String> {
    if part.dim > axis && part.len() == 1 && size(ty, part.dim)? > 1 {
        return Err("a part of one element might be reduced in another order".into());
    }
    Ok(())
}

/// The part of a reshape's operand that holds a part of the result: rows of both that begin and end at the same elements.
fn reshaped(from: &TensorType, to: &TensorType, part: Part) -> Result<Part, String> {
    let fixed = |t: &TensorType| t.static_dims().ok_or_else(|| format!("{t} has open dims"));
    let (from, to) = (fixed(from)?, fixed(to)?);
    let before: u64 = to[..part.dim].iter().product();
    let behind: u64 = to[part.dim + 1..].iter().product();
    let mut lead = 1;
    for (i, &n) in from.iter().enumerate() {
        // Dims of size 1 lead nowhere: the first larger one behind them is meant.
        if lead == before && n > 1 {
            let step: u64 = from[i + 1..].iter().product();
            let (a, b) = (part.begin * behind, part.end * behind);
            if n * step != to[part.dim] * behind || step == 0 || a % step != 0 || b % step != 0 {
                break;
            }
            return Ok(Part { dim: i, begin: a / step, end: b / step });
        }
        lead *= n;
    }
    Err(format!("no part of {from:?} is this part of {to:?}"))
}

fn slice(attrs: &Attrs, part: Part) -> Result<Cut, String> {
    let (mut starts, step) = (attrs.get_ints("starts").to_vec(), attrs.get_ints("steps")[part.dim]);
    if step < 1 {
        return Err("it runs backwards".into());
    }
    let at = |i: u64| (starts[part.dim] + i as i64 * step) as u64;
    let read = Part { dim: part.dim, begin: at(part.begin), end: at(part.end - 1) + 1 };
    starts[part.dim] = 0;
    Ok(Cut { attrs: attrs.clone().ints("starts", starts), computed: part, needs: vec![Need::Part(read)] })
}

fn matmul(attrs: &Attrs, ins: &[TensorType], outs: &[TensorType], part: Part) -> Result<Cut, String> {
    let rank = outs[0].rank();
    let of = |i: usize, row: bool, flag: &str| {
        let t = &ins[i];
        let own = t.rank();
        // The operand's dim that runs along the result's rows (lhs) or columns (rhs).
        let outer = if row != attrs.get_bool(flag) { own - 2 } else { own - 1 };
        if part.dim + 2 < rank {
            return match (part.dim + own).checked_sub(rank) {
                Some(b) if t.dims[b].as_const() != Some(1) => Need::Part(part.along(b)),
                _ => Need::Whole,
            };
        }
        if (part.dim + 2 == rank) == row { Need::Part(part.along(outer)) } else { Need::Whole }
    };
    Ok(Cut::new(attrs, part, [of(0, true, "transpose_lhs"), of(1, false, "transpose_rhs")]))
}

fn reduce(attrs: &Attrs, ins: &[TensorType], outs: &[TensorType], part: Part) -> Result<Cut, String> {
    let axes: Vec<usize> = attrs.get_ints("axes").iter().map(|a| *a as usize).collect();
    let dim = if attrs.get_bool("keep_dims") {
        part.dim
    } else {
        (0..ins[0].rank())
            .filter(|d| !axes.contains(d))
            .nth(part.dim)
            .ok_or_else(|| format!("{} is a scalar", outs[0]))?
    };
    if axes.contains(&dim) {
        return Err(format!("it reduces dim {dim}"));
    }
    let need = part.along(dim);
    if let Some(&first) = axes.first() {
        same_order(&ins[0], first, need)?;
    }
    Ok(Cut::new(attrs, part, [Need::Part(need)]))
}

fn gather(attrs: &Attrs, ins: &[TensorType], part: Part) -> Cut {
    let (axis, indices) = (attrs.get_int("axis") as usize, ins[1].rank());
    let needs = match part.dim {
        d if d < axis => [Need::Part(part), Need::Whole],
        d if d < axis + indices => [Need::Whole, Need::Part(part.along(d - axis))],
        d => [Need::Part(part.along(d + 1 - indices)), Need::Whole],
    };
    Cut::new(attrs, part, needs)
}

/// A splat is as good in any size.
fn constant(attrs: &Attrs, part: Part) -> Result<Cut, String> {
    let Some(Attr::Elements { dtype, dims, data, splat: true }) = attrs.get("value") else {
        return Err("its elements differ".into());
    };
    let mut dims = dims.clone();
    dims[part.dim] = part.len();
    let value = Attr::Elements { dtype: *dtype, dims, data: data.clone(), splat: true };
    Ok(Cut { attrs: attrs.clone().with("value", value), computed: part, needs: vec![] })
}
