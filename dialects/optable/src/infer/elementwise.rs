//! Elementwise operators: one shape for all operands and the result.

use super::cx::{Cx, merge_shapes, need_float, need_number, one, same_dtype, same_type};
use crate::{BinaryKind, CompareKind, DType, TensorType, UnaryKind};

pub(super) fn unary(cx: &Cx<'_>) -> Result<TensorType, String> {
    let [input] = cx.operands()?;
    let kind: UnaryKind = cx.enumeration("kind")?;
    let what = format!("operand of {}", kind.name());
    match kind {
        UnaryKind::Not => same_dtype(&what, input, DType::Bool)?,
        UnaryKind::Abs | UnaryKind::Neg | UnaryKind::Sign | UnaryKind::Relu => need_number(&what, input)?,
        UnaryKind::Exp
        | UnaryKind::Log
        | UnaryKind::Sqrt
        | UnaryKind::Reciprocal
        | UnaryKind::Sin
        | UnaryKind::Cos
        | UnaryKind::Tan
        | UnaryKind::Tanh
        | UnaryKind::Erf
        | UnaryKind::Sigmoid
        | UnaryKind::Floor
        | UnaryKind::Ceil
        | UnaryKind::Round
        | UnaryKind::Isnan
        | UnaryKind::Isinf
        | UnaryKind::Softplus
        | UnaryKind::Asin
        | UnaryKind::Acos
        | UnaryKind::Atan
        | UnaryKind::Sinh
        | UnaryKind::Cosh
        | UnaryKind::Asinh
        | UnaryKind::Acosh
        | UnaryKind::Atanh => need_float(&what, input)?,
    }
    let dtype = match kind {
        UnaryKind::Isnan | UnaryKind::Isinf => DType::Bool,
        _ => input.dtype,
    };
    Ok(TensorType { dtype, dims: input.dims.clone() })
}

pub(super) fn binary(cx: &Cx<'_>) -> Result<TensorType, String> {
    let [lhs, rhs] = cx.operands()?;
    let kind: BinaryKind = cx.enumeration("kind")?;
    let what = format!("operand of {}", kind.name());
    same_dtype(&format!("right {what}"), rhs, lhs.dtype)?;
    match kind {
        BinaryKind::And | BinaryKind::Or | BinaryKind::Xor => {
            if lhs.dtype.is_float() {
                return Err(format!("{what} is {lhs}, expected bool or integers"));
            }
        }
        BinaryKind::Shl | BinaryKind::Shr => {
            if !lhs.dtype.is_int() {
                return Err(format!("{what} is {lhs}, expected integers"));
            }
        }
        BinaryKind::Atan2 => need_float(&what, lhs)?,
        BinaryKind::Add
        | BinaryKind::Sub
        | BinaryKind::Mul
        | BinaryKind::Div
        | BinaryKind::Pow
        | BinaryKind::Max
        | BinaryKind::Min
        | BinaryKind::Mod
        | BinaryKind::Fmod => need_number(&what, lhs)?,
    }
    Ok(TensorType { dtype: lhs.dtype, dims: merge_shapes(lhs, rhs)? })
}

pub(super) fn compare(cx: &Cx<'_>) -> Result<TensorType, String> {
    let [lhs, rhs] = cx.operands()?;
    let _: CompareKind = cx.enumeration("kind")?;
    same_dtype("right operand", rhs, lhs.dtype)?;
    Ok(TensorType { dtype: DType::Bool, dims: merge_shapes(lhs, rhs)? })
}

pub(super) fn select(cx: &Cx<'_>) -> Result<TensorType, String> {
    let [condition, on_true, on_false] = cx.operands()?;
    same_dtype("condition", condition, DType::Bool)?;
    same_dtype("third operand", on_false, on_true.dtype)?;
    let values = TensorType { dtype: on_true.dtype, dims: merge_shapes(on_true, on_false)? };
    Ok(TensorType { dtype: values.dtype, dims: merge_shapes(&values, condition)? })
}

pub(super) fn cast(cx: &Cx<'_>, outs: &[TensorType]) -> Result<(), String> {
    let [input] = cx.operands()?;
    let out = one(outs)?;
    same_type("result", out, &TensorType { dtype: out.dtype, dims: input.dims.clone() })
}
