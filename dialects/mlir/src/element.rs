//! Element types.

use melior::Context;
use melior::ir::r#type::{IntegerType, RankedTensorType, ShapedTypeLike};
use melior::ir::{Type, TypeLike};
use neap_optable::DType;

/// MLIR's element type.
pub fn element<'c>(cx: &'c Context, dtype: DType) -> Type<'c> {
    match dtype {
        DType::F32 => Type::float32(cx),
        DType::F64 => Type::float64(cx),
        DType::F16 => Type::float16(cx),
        DType::BF16 => Type::bfloat16(cx),
        DType::Bool => IntegerType::new(cx, 1).into(),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => IntegerType::new(cx, 8 * dtype.size() as u32).into(),
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => IntegerType::unsigned(cx, 8 * dtype.size() as u32).into(),
    }
}

/// The element type that MLIR's means, if neap has it.
pub fn dtype(ty: Type<'_>) -> Option<DType> {
    if let Ok(int) = IntegerType::try_from(ty) {
        return match (int.width(), int.is_signless(), int.is_unsigned()) {
            (1, true, _) => Some(DType::Bool),
            (8, true, _) => Some(DType::I8),
            (16, true, _) => Some(DType::I16),
            (32, true, _) => Some(DType::I32),
            (64, true, _) => Some(DType::I64),
            (8, _, true) => Some(DType::U8),
            (16, _, true) => Some(DType::U16),
            (32, _, true) => Some(DType::U32),
            (64, _, true) => Some(DType::U64),
            _ => None,
        };
    }
    match () {
        () if ty.is_f32() => Some(DType::F32),
        () if ty.is_f64() => Some(DType::F64),
        () if ty.is_f16() => Some(DType::F16),
        () if ty.is_bf16() => Some(DType::BF16),
        () => None,
    }
}

/// The element type of a tensor; another type itself.
pub(crate) fn element_of<'c>(ty: Type<'c>) -> Type<'c> {
    match RankedTensorType::try_from(ty) {
        Ok(t) => t.element(),
        Err(_) => ty,
    }
}
