//! What loops cost, in units of one vector instruction: enough to choose an axis and a grain.

use neap_optable::{BinaryKind, DType, UnaryKind};

use super::linear::{Action, LoopNest, Place};
use crate::ir::ScalarOp;

/// Iterations taken for a size that is not known.
const UNKNOWN: f64 = 256.0;

/// Cost of one access for a group of `lanes` iterations of `iter`.
fn access(p: &Place, iter: Option<usize>, lanes: f64) -> f64 {
    let guarded = if p.guards.is_empty() { 1.0 } else { 2.0 };
    let Some(v) = iter else { return guarded };
    if !p.depends(v) {
        return guarded;
    }
    let step = p.offset.coefficient(v).as_i64();
    match step {
        Some(0 | 1) if !p.offset.opaque_in(v) => guarded,
        Some(2) if !p.offset.opaque_in(v) => 3.0 * guarded,
        // Lane by lane, and put together.
        _ => 2.0 * lanes * guarded,
    }
}

fn operation(op: &ScalarOp, lanes: f64) -> f64 {
    match op {
        ScalarOp::Read(_) | ScalarOp::Const(..) | ScalarOp::Iter(_) | ScalarOp::Size(_) => 0.0,
        ScalarOp::Load(..) => 3.0 * lanes,
        ScalarOp::Unary(k, _) => match k {
            k if k.is_exact() => 1.0,
            UnaryKind::Sqrt | UnaryKind::Reciprocal => 8.0,
            UnaryKind::Exp => 18.0,
            _ => 30.0,
        },
        ScalarOp::Binary(BinaryKind::Div, ..) => 6.0,
        ScalarOp::Binary(BinaryKind::Pow | BinaryKind::Mod | BinaryKind::Fmod | BinaryKind::Atan2, ..) => 60.0,
        ScalarOp::Cast(DType::I64, _) => 4.0,
        ScalarOp::Binary(..)
        | ScalarOp::Compare(..)
        | ScalarOp::Select(..)
        | ScalarOp::Cast(..)
        | ScalarOp::Fma(..) => 1.0,
    }
}

/// Cost of one outer iteration's share of a nest, vectorised along `iter` (own or outer) by `lanes`.
pub(super) fn nest(n: &LoopNest, iter: Option<usize>, lanes: u32) -> f64 {
    let l = f64::from(lanes);
    let places: f64 = n.places().map(|p| access(p, iter, l)).sum();
    let ops: f64 = n.ops.iter().map(|o| operation(o, l)).sum();
    let scattered = n.actions.iter().filter(|a| matches!(a, Action::StoreAt { .. })).count() as f64 * 3.0 * l;
    let iterations: f64 = n.iters.iter().map(|i| i.extent.as_const().map_or(UNKNOWN, |v| v as f64)).product();
    // Loop control and address arithmetic.
    iterations * (places + ops + scattered + 1.0) / if iter.is_some() { l } else { 1.0 }
}
