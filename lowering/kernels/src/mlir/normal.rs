//! The normal form of a kernel: what reading it from MLIR gives.

use neap_optable::DType;

use crate::affine::Space;
use crate::ir::{Access, Effect, Index, Kernel, Nest, OpId, Scalar, ScalarOp};

/// The kernel with each nest's reads as its first scalar operations in order, constants rounded to their type, indices simplified.
pub fn normal(kernel: &Kernel) -> Kernel {
    let mut out = kernel.clone();
    for nest in &mut out.nests {
        *nest = normal_nest(kernel, nest);
    }
    out
}

fn normal_nest(kernel: &Kernel, nest: &Nest) -> Nest {
    let space = Space::new(&kernel.outer, &nest.iters);
    let access = |a: &Access| Access { index: a.index.iter().map(|i| space.simplify(i)).collect(), ..a.clone() };
    let mut to = vec![OpId(0); nest.ops.len()];
    let mut ops: Vec<ScalarOp> = (0..nest.reads.len()).map(ScalarOp::Read).collect();
    for (i, op) in nest.ops.iter().enumerate() {
        if let ScalarOp::Read(r) = op {
            to[i] = OpId(*r);
            continue;
        }
        ops.push(renumbered(op, &to));
        to[i] = OpId(ops.len() - 1);
    }
    let effects = nest.effects.iter().map(|e| renumbered_effect(e, &to, &access)).collect();
    Nest { iters: nest.iters.clone(), reads: nest.reads.iter().map(access).collect(), ops, effects }
}

fn renumbered(op: &ScalarOp, to: &[OpId]) -> ScalarOp {
    match op {
        ScalarOp::Const(d, s) => ScalarOp::Const(*d, rounded(*d, *s)),
        other => other.renumbered(|o| to[o.0]),
    }
}

fn renumbered_effect(e: &Effect, to: &[OpId], access: &dyn Fn(&Access) -> Access) -> Effect {
    let at = |o: &OpId| to[o.0];
    match e {
        Effect::Store { to, value, when } => {
            Effect::Store { to: access(to), value: at(value), when: when.as_ref().map(at) }
        }
        Effect::StoreAt { to, index, value, when } => Effect::StoreAt {
            to: *to,
            index: index.iter().map(at).collect(),
            value: at(value),
            when: when.as_ref().map(at),
        },
        Effect::Reduce { to, combine, value, second } => {
            Effect::Reduce { to: access(to), combine: *combine, value: at(value), second: second.as_ref().map(at) }
        }
    }
}

/// A constant as its type holds it.
fn rounded(dtype: DType, s: Scalar) -> Scalar {
    match (dtype, s) {
        (_, Scalar::Float(v)) => Scalar::Float(dtype.rounded(v)),
        (DType::Bool, Scalar::Int(v)) => Scalar::Int(i64::from(v != 0)),
        _ => s,
    }
}

/// Whether an access is one that MLIR can hold: an index for each dim of its buffer.
pub(super) fn fits(kernel: &Kernel, access: &Access) -> bool {
    kernel.buffers.get(access.buffer.0).is_some_and(|b| b.dims.len() == access.index.len())
}

/// The largest iterator that an index uses, plus one.
pub(super) fn iterators(index: &Index) -> usize {
    match index {
        Index::Size(_) => 0,
        Index::Iter(i) => i + 1,
        Index::Add(a, b) => iterators(a).max(iterators(b)),
        Index::Mul(a, _) | Index::FloorDiv(a, _) | Index::Mod(a, _) => iterators(a),
    }
}
