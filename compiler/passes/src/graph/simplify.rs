//! Removes operators that compute nothing and shares equal ones.
//!
//! Identities (a transpose that moves nothing, a reshape to the same shape, `x * 1`, `x + 0`, a cast to the same type) become
//! their operand; chains of reshapes, transposes and broadcasts become one; a transposed operand of a matmul becomes its flag;
//! small powers become products; equal operators become one; dead ones go.
//!
//! **Does not fire when** an identity's constant is not a splat, or when it would change a value other than the sign of a zero.
//!
//! ```mlir
//! %0 = graph.transpose %x, [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
//! %1 = graph.transpose %0, [1, 0] : tensor<3x2xf32> -> tensor<2x3xf32>   // becomes %x
//! ```

use neap_optable::{Attr, Attrs, BinaryKind, GraphOp, Node, TensorType, UnaryKind, ValueId, Weights};

use crate::pass::{Changed, Cx, Func, GraphPass, PassError};
use crate::rewrite::Rebuild;

/// The pass.
pub struct Simplify;

/// No options.
#[derive(clap::Args)]
pub struct Options {}

/// Walks until nothing changes; each walk sees rewritten operands, so few are needed.
const MAX_WALKS: usize = 8;

impl GraphPass for Simplify {
    type Options = Options;
    const NAME: &'static str = "graph-simplify";
    const SUMMARY: &'static str = "remove operators that compute nothing and share equal ones";
    const STEPS: bool = true;

    fn run(cx: &mut Cx, func: &mut Func, _: &Options) -> Result<Changed, PassError> {
        let mut changed = Changed::No;
        for _ in 0..MAX_WALKS {
            let old = &func.body;
            let mut new = Rebuild::new(old);
            let mut fired = false;
            for node in &old.nodes {
                let inputs = new.inputs(node);
                let ty = node.outputs.first().map(|&o| old.ty(o).clone());
                match ty
                    .filter(|_| node.region.is_none())
                    .and_then(|ty| rewrite(&mut new, &mut cx.weights, node, &inputs, &ty))
                    .filter(|_| cx.steps.rewrite(Self::NAME, node))
                {
                    Some(v) => {
                        fired = true;
                        new.set(node.outputs[0], v);
                    }
                    None => new.copy(old, node),
                }
            }
            let body = new.finish(old);
            fired |= body.nodes.len() != func.body.nodes.len();
            func.body = body;
            if !fired {
                break;
            }
            changed = Changed::Yes;
        }
        Ok(changed)
    }
}

/// What stands for the node's (single) result, if a rule fires. Operands and type are those of the new body.
fn rewrite(
    new: &mut Rebuild,
    weights: &mut Weights,
    node: &Node,
    inputs: &[ValueId],
    ty: &TensorType,
) -> Option<ValueId> {
    let x = *inputs.first()?;
    let same_type = new.ty(x) == ty;
    let name = node.name.as_str();
    match node.op {
        GraphOp::Cast | GraphOp::Broadcast | GraphOp::Reshape if same_type => Some(x),
        GraphOp::Reshape => reshape(new, weights, x, ty, name),
        GraphOp::Broadcast => {
            let p = new.producer_of(x, GraphOp::Broadcast).cloned();
            if let Some(p) = p {
                return Some(new.emit1(GraphOp::Broadcast, Attrs::new(), &[p.inputs[0]], ty.clone(), name));
            }
            splat_as(new, x, ty, name)
        }
        GraphOp::Transpose => transpose(new, node, x, ty),
        GraphOp::Slice if same_type && node.attrs.get_ints("steps").iter().all(|&s| s == 1) => Some(x),
        GraphOp::Concat if inputs.len() == 1 => Some(x),
        GraphOp::Pad if same_type && node.attrs.get_ints("low").iter().all(|&p| p == 0) => Some(x),
        GraphOp::Reduce if new.ty(x).elements().is_some() => {
            // Reducing dims of size 1 moves nothing, whatever the kind.
            let dims = new.ty(x).static_dims()?;
            let trivial =
                node.attrs.get_ints("axes").iter().all(|&a| dims[a as usize] == 1) && new.ty(x).dtype == ty.dtype;
            trivial.then(|| new.emit1(GraphOp::Reshape, Attrs::new(), &[x], ty.clone(), name))
        }
        GraphOp::Unary => unary(new, node, x),
        GraphOp::Binary => binary(new, node, inputs, ty),
        GraphOp::Select => match new.splat(x) {
            Some(c) => Some(if c != 0.0 { inputs[1] } else { inputs[2] }),
            None => (inputs[1] == inputs[2]).then_some(inputs[1]),
        },
        GraphOp::Matmul => matmul(new, node, inputs, ty),
        _ => None,
    }
}

fn reshape(new: &mut Rebuild, weights: &mut Weights, x: ValueId, ty: &TensorType, name: &str) -> Option<ValueId> {
    let p = new.producer(x)?.clone();
    match p.op {
        GraphOp::Reshape => Some(new.emit1(GraphOp::Reshape, Attrs::new(), &[p.inputs[0]], ty.clone(), name)),
        GraphOp::Constant => {
            let Some(Attr::Elements { dtype, data, splat, .. }) = p.attrs.get("value").cloned() else { return None };
            let value = Attr::Elements { dtype, dims: ty.static_dims()?, data, splat };
            Some(new.emit1(GraphOp::Constant, Attrs::new().with("value", value), &[], ty.clone(), name))
        }
        GraphOp::Weight => {
            let t = weights.get(p.attrs.get_str("key"))?.reshaped(&ty.static_dims()?);
            let key = weights.insert_fresh(p.attrs.get_str("key"), t.clone());
            Some(new.weight(&key, &t, name))
        }
        _ => None,
    }
}

/// A broadcast of a one-element constant is a splat.
fn splat_as(new: &mut Rebuild, x: ValueId, ty: &TensorType, name: &str) -> Option<ValueId> {
    let p = new.producer_of(x, GraphOp::Constant)?;
    let Some(Attr::Elements { dtype, data, .. }) = p.attrs.get("value") else { return None };
    if data.len() as u64 != dtype.size() {
        return None;
    }
    let value = Attr::Elements { dtype: *dtype, dims: ty.static_dims()?, data: data.clone(), splat: true };
    Some(new.emit1(GraphOp::Constant, Attrs::new().with("value", value), &[], ty.clone(), name))
}

fn transpose(new: &mut Rebuild, node: &Node, x: ValueId, ty: &TensorType) -> Option<ValueId> {
    let perm = node.attrs.get_ints("permutation");
    if perm.iter().zip(0..).all(|(&p, i)| p == i) {
        return Some(x);
    }
    if let Some(p) = new.producer_of(x, GraphOp::Transpose).cloned() {
        let inner = p.attrs.get_ints("permutation");
        let both: Vec<i64> = perm.iter().map(|&i| inner[i as usize]).collect();
        return Some(new.emit1(
            GraphOp::Transpose,
            Attrs::new().ints("permutation", both),
            &[p.inputs[0]],
            ty.clone(),
            &node.name,
        ));
    }
    // Moving only dims of size 1 leaves the elements in place.
    let dims = new.ty(x).static_dims()?;
    let moved: Vec<i64> = perm.iter().copied().filter(|&p| dims[p as usize] != 1).collect();
    moved.is_sorted().then(|| new.emit1(GraphOp::Reshape, Attrs::new(), &[x], ty.clone(), &node.name))
}

fn unary(new: &mut Rebuild, node: &Node, x: ValueId) -> Option<ValueId> {
    let p = new.producer_of(x, GraphOp::Unary)?;
    let inner: UnaryKind = p.attrs.get_enum("kind");
    match (node.attrs.get_enum("kind"), inner) {
        (UnaryKind::Neg, UnaryKind::Neg) | (UnaryKind::Not, UnaryKind::Not) => Some(p.inputs[0]),
        (UnaryKind::Relu, UnaryKind::Relu | UnaryKind::Sigmoid | UnaryKind::Exp) | (UnaryKind::Abs, UnaryKind::Abs) => {
            Some(x)
        }
        _ => None,
    }
}

fn binary(new: &mut Rebuild, node: &Node, inputs: &[ValueId], ty: &TensorType) -> Option<ValueId> {
    let (a, b) = (inputs[0], inputs[1]);
    let (ca, cb) = (new.splat(a), new.splat(b));
    let float = ty.dtype.is_float();
    let product = |new: &mut Rebuild, l, r| {
        new.emit1(GraphOp::Binary, Attrs::new().int("kind", BinaryKind::Mul), &[l, r], ty.clone(), &node.name)
    };
    match (node.attrs.get_enum("kind"), ca, cb) {
        (BinaryKind::Add, Some(0.0), _) | (BinaryKind::Mul, Some(1.0), _) => Some(b),
        (BinaryKind::Add | BinaryKind::Sub, _, Some(0.0))
        | (BinaryKind::Mul | BinaryKind::Div | BinaryKind::Pow, _, Some(1.0)) => Some(a),
        (BinaryKind::Pow, _, Some(2.0)) if float => Some(product(new, a, a)),
        (BinaryKind::Pow, _, Some(3.0)) if float => {
            let square = product(new, a, a);
            Some(product(new, square, a))
        }
        // numpy's and C's pow(-inf, 0.5) is +inf and pow(-0, 0.5) is +0, where sqrt gives NaN and -0: only a square is safe.
        (BinaryKind::Pow, _, Some(0.5)) if float && is_not_negative(new, a) => {
            Some(new.emit1(GraphOp::Unary, Attrs::new().int("kind", UnaryKind::Sqrt), &[a], ty.clone(), &node.name))
        }
        (BinaryKind::And | BinaryKind::Or | BinaryKind::Max | BinaryKind::Min, ..) if a == b => Some(a),
        _ => None,
    }
}

/// Whether no element can be below zero or minus zero, seen locally.
fn is_not_negative(new: &Rebuild, v: ValueId) -> bool {
    new.producer_of(v, GraphOp::Unary)
        .is_some_and(|p| matches!(p.attrs.get_enum("kind"), UnaryKind::Abs | UnaryKind::Exp | UnaryKind::Sigmoid))
}

/// Swapping the last two dims of an operand becomes a flag. Of a transpose of the right operand that moves its innermost dim to the
/// last place but one (the keys of attention), the swap alone becomes the flag: what is left copies whole rows.
fn matmul(new: &mut Rebuild, node: &Node, inputs: &[ValueId], ty: &TensorType) -> Option<ValueId> {
    let mut attrs = node.attrs.clone();
    let mut operands = inputs.to_vec();
    for (i, flag) in [(0, "transpose_lhs"), (1, "transpose_rhs")] {
        let Some(p) = new.producer_of(operands[i], GraphOp::Transpose).cloned() else { continue };
        let mut rest = p.attrs.get_ints("permutation").to_vec();
        let r = rest.len();
        if r < 2 || rest[r - 2] != r as i64 - 1 {
            continue;
        }
        rest.swap(r - 2, r - 1);
        if rest.is_sorted() {
            operands[i] = p.inputs[0];
        } else if i == 1 {
            let dims = rest.iter().map(|&d| new.ty(p.inputs[0]).dims[d as usize].clone()).collect();
            let ty = TensorType { dtype: new.ty(p.inputs[0]).dtype, dims };
            let attrs = Attrs::new().ints("permutation", rest);
            operands[i] = new.emit1(GraphOp::Transpose, attrs, &[p.inputs[0]], ty, &p.name);
        } else {
            continue;
        }
        let old = attrs.get_bool(flag);
        attrs = attrs.flag(flag, !old);
    }
    (operands != inputs).then(|| new.emit1(GraphOp::Matmul, attrs, &operands, ty.clone(), &node.name))
}
