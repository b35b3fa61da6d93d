//! Element types of a nest's scalar operations.

use neap_optable::{DType, UnaryKind};

use crate::ir::{Kernel, Nest, ScalarOp};

/// The type of each scalar operation; `None` if an operand does not come earlier or a buffer does not exist.
pub(super) fn types(kernel: &Kernel, nest: &Nest) -> Option<Vec<DType>> {
    let mut out: Vec<DType> = Vec::with_capacity(nest.ops.len());
    for op in &nest.ops {
        let of = |i: usize| kernel.buffers.get(i).map(|b| b.dtype);
        let ty = match op {
            ScalarOp::Read(r) => of(nest.reads.get(*r)?.buffer.0)?,
            ScalarOp::Load(b, _) => of(b.0)?,
            ScalarOp::Const(d, _) | ScalarOp::Cast(d, _) => *d,
            ScalarOp::Iter(_) | ScalarOp::Size(_) => DType::I64,
            ScalarOp::Unary(UnaryKind::Not | UnaryKind::Isnan | UnaryKind::Isinf, _) | ScalarOp::Compare(..) => {
                DType::Bool
            }
            ScalarOp::Unary(_, a) | ScalarOp::Binary(_, a, _) | ScalarOp::Select(_, a, _) | ScalarOp::Fma(a, _, _) => {
                *out.get(a.0)?
            }
        };
        out.push(ty);
    }
    Some(out)
}
