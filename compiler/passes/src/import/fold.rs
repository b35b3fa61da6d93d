//! Evaluating ops whose operands are known: numbers by the reference interpreter, integers over open dims symbolically.

use neap_optable::{
    Atom, Attrs, BinaryKind, CompareKind, DType, Dim, GraphOp, ReduceKind, ScatterKind, Tensor, TensorType,
};

use super::cx::Known;

/// Growth up to which a result is stored rather than recomputed at run time: for conversions (so that 8-bit weights stay
/// 8-bit), and for everything else.
const GROWTH_OF_CAST: u64 = 64 << 10;
const GROWTH: u64 = 1 << 20;
/// Never evaluate results beyond this while importing.
const LIMIT: u64 = 4 << 30;
/// Most elements that are treated symbolically; shapes have a handful.
const SYMBOLIC: usize = 4096;

/// The results, if the operands are known and evaluating now is worth it.
pub(super) fn fold(
    op: GraphOp,
    attrs: &Attrs,
    ins: &[&Known],
    types: &[TensorType],
    outs: &[TensorType],
) -> Option<Vec<Known>> {
    // Nothing to compute: later stages need not know tensors without elements.
    if outs.iter().all(|t| t.dims.iter().any(|d| d.as_i64() == Some(0))) && outs.iter().all(|t| t.elements().is_some())
    {
        let empty = |t: &TensorType| Tensor {
            dtype: t.dtype,
            dims: t.static_dims().unwrap_or_default(),
            data: Default::default(),
        };
        return Some(outs.iter().map(|t| Known::Tensor(empty(t))).collect());
    }
    let tensors: Option<Vec<&Tensor>> = ins
        .iter()
        .map(|k| match k {
            Known::Tensor(t) => Some(t),
            _ => None,
        })
        .collect();
    if let Some(tensors) = tensors {
        return worth(op, types, outs).then(|| evaluate(op, attrs, &tensors, outs))?;
    }
    if ins.iter().any(|k| matches!(k, Known::No | Known::Swapped(_))) {
        return None;
    }
    let values: Vec<Vec<Dim>> = ins.iter().map(|k| ints(k)).collect::<Option<_>>()?;
    let [out] = outs else { return None };
    let out_dims = out.static_dims()?;
    if out.dtype == DType::Bool {
        let flags = compare(op, attrs, &values)?;
        return Some(vec![Known::Tensor(Tensor::new(&out_dims, &flags))]);
    }
    let result = symbolic(op, attrs, ins, types, out, &values)?;
    Some(vec![tensor_of(out.dtype, &out_dims, &result).map_or(Known::Ints(result), Known::Tensor)])
}

/// Whether storing the result is better than computing it at run time.
fn worth(op: GraphOp, types: &[TensorType], outs: &[TensorType]) -> bool {
    let Some(out) = outs.iter().try_fold(0u64, |n, t| n.checked_add(t.bytes()?)) else { return false };
    if out > LIMIT {
        return false;
    }
    let input: u64 = types.iter().filter_map(TensorType::bytes).sum();
    let growth = if op == GraphOp::Cast { GROWTH_OF_CAST } else { GROWTH };
    out <= input.saturating_add(growth)
}

fn evaluate(op: GraphOp, attrs: &Attrs, ins: &[&Tensor], outs: &[TensorType]) -> Option<Vec<Known>> {
    if op == GraphOp::Reshape {
        return Some(vec![Known::Tensor(ins[0].reshaped(&outs[0].static_dims()?))]);
    }
    let found = neap_reference::eval(op, attrs, ins, outs).ok()?;
    Some(found.into_iter().map(Known::Tensor).collect())
}

/// Integers as expressions.
fn ints(k: &Known) -> Option<Vec<Dim>> {
    match k {
        Known::Ints(d) => Some(d.clone()),
        Known::Tensor(t) if t.len() <= SYMBOLIC => Some(t.to_i64()?.into_iter().map(Dim::constant).collect()),
        _ => None,
    }
}

/// The tensor, if every element is a number (or cannot be told apart as an integer).
pub(super) fn tensor_of(dtype: DType, dims: &[u64], values: &[Dim]) -> Option<Tensor> {
    let numbers: Vec<i64> = values.iter().map(Dim::as_i64).collect::<Option<_>>()?;
    let cast = |f: &dyn Fn(i64, &mut Vec<u8>)| {
        let mut data = vec![];
        numbers.iter().for_each(|&n| f(n, &mut data));
        Some(Tensor { dtype, dims: dims.to_vec(), data: data.into() })
    };
    match dtype {
        DType::I64 => Some(Tensor::new(dims, &numbers)),
        DType::I32 | DType::U32 => cast(&|n, out| out.extend((n as u32).to_le_bytes())),
        DType::U64 => cast(&|n, out| out.extend(n.to_le_bytes())),
        DType::I16 | DType::U16 => cast(&|n, out| out.extend((n as u16).to_le_bytes())),
        DType::U8 | DType::I8 => cast(&|n, out| out.push(n as u8)),
        DType::Bool => cast(&|n, out| out.push(u8::from(n != 0))),
        _ => None,
    }
}

/// A known tensor's elements as floats.
pub(super) fn floats(t: &Tensor) -> Option<Vec<f64>> {
    t.to_f64().or_else(|| Some(t.to_i64()?.into_iter().map(|v| v as f64).collect()))
}

/// One op on integers that are expressions.
fn symbolic(
    op: GraphOp,
    attrs: &Attrs,
    ins: &[&Known],
    types: &[TensorType],
    out: &TensorType,
    values: &[Vec<Dim>],
) -> Option<Vec<Dim>> {
    let pairs = || values[0].iter().zip(&values[1]);
    match op {
        GraphOp::Cast if out.dtype.is_int() && types[0].dtype != DType::Bool => Some(values[0].clone()),
        GraphOp::Unary => match attrs.get_enum::<neap_optable::UnaryKind>("kind") {
            neap_optable::UnaryKind::Neg => Some(values[0].iter().map(|v| v.scale(-1)).collect()),
            _ => None,
        },
        GraphOp::Binary => {
            let kind: BinaryKind = attrs.get_enum("kind");
            pairs()
                .map(|(a, b)| match kind {
                    BinaryKind::Add => Some(a.add(b)),
                    BinaryKind::Sub => Some(a.sub(b)),
                    BinaryKind::Mul => Some(a.mul(b)),
                    // Division truncates, which is flooring for sizes.
                    BinaryKind::Div if at_least(a, 0) && at_least(b, 0) => a.floor_div(b),
                    BinaryKind::Mod => a.modulo(b),
                    BinaryKind::Fmod if at_least(a, 0) && at_least(b, 0) => a.modulo(b),
                    BinaryKind::Max => Some(a.max_with(b)),
                    BinaryKind::Min => Some(a.min_with(b)),
                    _ => None,
                })
                .collect()
        }
        GraphOp::Reduce => {
            let all = attrs.get_ints("axes").len() == types[0].rank();
            match attrs.get_enum("kind") {
                ReduceKind::Prod if all => Some(vec![values[0].iter().fold(Dim::constant(1), |a, b| a.mul(b))]),
                ReduceKind::Sum if all => Some(vec![values[0].iter().fold(Dim::constant(0), |a, b| a.add(b))]),
                _ => None,
            }
        }
        _ => moved(op, attrs, ins, types, out, values),
    }
}

/// Ops that only move elements: move their positions by the reference interpreter, then look the expressions up.
fn moved(
    op: GraphOp,
    attrs: &Attrs,
    ins: &[&Known],
    types: &[TensorType],
    out: &TensorType,
    values: &[Vec<Dim>],
) -> Option<Vec<Dim>> {
    let data: &[usize] = match op {
        GraphOp::Broadcast
        | GraphOp::Reshape
        | GraphOp::Transpose
        | GraphOp::Slice
        | GraphOp::Gather
        | GraphOp::GatherElements
        | GraphOp::GatherNd => &[0],
        GraphOp::Pad => &[0, 1],
        GraphOp::Select => &[1, 2],
        GraphOp::ScatterElements | GraphOp::ScatterNd
            if attrs.get_enum::<ScatterKind>("kind") == ScatterKind::Assign =>
        {
            &[0, 2]
        }
        GraphOp::Concat => &[],
        _ => return None,
    };
    let mut all: Vec<&Dim> = vec![];
    let mut operands = vec![];
    for (i, k) in ins.iter().enumerate() {
        if op == GraphOp::Concat || data.contains(&i) {
            let positions: Vec<i64> = (all.len()..all.len() + values[i].len()).map(|p| p as i64).collect();
            all.extend(&values[i]);
            operands.push(Tensor::new(&types[i].static_dims()?, &positions));
        } else {
            let Known::Tensor(t) = k else { return None };
            operands.push(t.clone());
        }
    }
    let out = TensorType { dtype: DType::I64, dims: out.dims.clone() };
    let found = neap_reference::eval(op, attrs, &operands.iter().collect::<Vec<_>>(), &[out]).ok()?;
    found[0].elements::<i64>()?.iter().map(|&p| all.get(p as usize).map(|d| (*d).clone())).collect()
}

/// Comparisons of integers that are expressions, where they can be told.
fn compare(op: GraphOp, attrs: &Attrs, values: &[Vec<Dim>]) -> Option<Vec<bool>> {
    if op != GraphOp::Compare {
        return None;
    }
    let kind: CompareKind = attrs.get_enum("kind");
    values[0]
        .iter()
        .zip(&values[1])
        .map(|(a, b)| {
            let (d, back) = (a.sub(b), b.sub(a));
            let equal = d.as_i64() == Some(0);
            let (above, below) = (at_least(&d, 1), at_least(&back, 1));
            let (above_or_equal, below_or_equal) = (at_least(&d, 0), at_least(&back, 0));
            let tell = |yes: bool, no: bool| if yes { Some(true) } else { no.then_some(false) };
            match kind {
                CompareKind::Eq => tell(equal, above || below),
                CompareKind::Ne => tell(above || below, equal),
                CompareKind::Lt => tell(below, above_or_equal),
                CompareKind::Le => tell(below_or_equal, above),
                CompareKind::Gt => tell(above, below_or_equal),
                CompareKind::Ge => tell(above_or_equal, below),
            }
        })
        .collect()
}

/// Whether an expression is provably at least `least`: symbols are sizes, so they and what is made of them are not negative.
pub(super) fn at_least(d: &Dim, least: i64) -> bool {
    let mut constant = 0i64;
    for (c, atoms) in d.terms() {
        if atoms.is_empty() {
            constant = c;
        } else if c < 0 || !atoms.iter().all(not_negative) {
            return false;
        }
    }
    constant >= least
}

fn not_negative(a: &Atom) -> bool {
    match a {
        Atom::Sym(_) => true,
        Atom::FloorDiv(a, b) => at_least(a, 0) && at_least(b, 1),
        Atom::Mod(_, b) => at_least(b, 1),
        Atom::Max(a, b) => at_least(a, 0) || at_least(b, 0),
        Atom::Min(a, b) => at_least(a, 0) && at_least(b, 0),
    }
}
