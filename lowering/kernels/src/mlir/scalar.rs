//! Which upstream operation means exactly what a scalar operation of a kernel means.
//!
//! What is not in these tables differs somewhere: `arith.divsi` is undefined for 0 where graph.binary gives 0, shifts are undefined
//! beyond the width, unsigned types are refused altogether. Those are operations of the loop dialect.

use neap_optable::{BinaryKind, CompareKind, DType, UnaryKind};

/// The operation of `math` or `arith` for a unary function.
pub(super) fn unary(kind: UnaryKind, dtype: DType) -> Option<&'static str> {
    use UnaryKind as K;
    if !dtype.is_float() {
        return (kind == K::Abs && signed(dtype)).then_some("math.absi");
    }
    Some(match kind {
        K::Abs => "math.absf",
        K::Neg => "arith.negf",
        K::Exp => "math.exp",
        K::Log => "math.log",
        K::Sqrt => "math.sqrt",
        K::Sin => "math.sin",
        K::Cos => "math.cos",
        K::Tan => "math.tan",
        K::Tanh => "math.tanh",
        K::Erf => "math.erf",
        K::Floor => "math.floor",
        K::Ceil => "math.ceil",
        K::Round => "math.roundeven",
        K::Asin => "math.asin",
        K::Acos => "math.acos",
        K::Atan => "math.atan",
        K::Sinh => "math.sinh",
        K::Cosh => "math.cosh",
        K::Asinh => "math.asinh",
        K::Acosh => "math.acosh",
        K::Atanh => "math.atanh",
        K::Isnan => "math.isnan",
        K::Isinf => "math.isinf",
        K::Sign | K::Reciprocal | K::Sigmoid | K::Relu | K::Not | K::Softplus => return None,
    })
}

/// The operation of `math` or `arith` for a binary function.
pub(super) fn binary(kind: BinaryKind, dtype: DType) -> Option<&'static str> {
    use BinaryKind as K;
    if dtype.is_float() {
        return Some(match kind {
            K::Add => "arith.addf",
            K::Sub => "arith.subf",
            K::Mul => "arith.mulf",
            K::Div => "arith.divf",
            K::Max => "arith.maximumf",
            K::Min => "arith.minimumf",
            K::Fmod => "arith.remf",
            K::Pow => "math.powf",
            K::Atan2 => "math.atan2",
            K::Mod | K::And | K::Or | K::Xor | K::Shl | K::Shr => return None,
        });
    }
    Some(match kind {
        K::And if !dtype.is_unsigned() => "arith.andi",
        K::Or if !dtype.is_unsigned() => "arith.ori",
        K::Xor if !dtype.is_unsigned() => "arith.xori",
        _ if !signed(dtype) => return None,
        K::Add => "arith.addi",
        K::Sub => "arith.subi",
        K::Mul => "arith.muli",
        K::Max => "arith.maxsi",
        K::Min => "arith.minsi",
        K::Div | K::Pow | K::Mod | K::Fmod | K::And | K::Or | K::Xor | K::Shl | K::Shr | K::Atan2 => return None,
    })
}

/// The operation and the number of its predicate for a comparison.
pub(super) fn compare(kind: CompareKind, dtype: DType) -> Option<(&'static str, i64)> {
    use CompareKind as K;
    if dtype.is_float() {
        // Ordered, but "not equal" holds for NaN.
        let predicate = match kind {
            K::Eq => 1,
            K::Ne => 13,
            K::Lt => 4,
            K::Le => 5,
            K::Gt => 2,
            K::Ge => 3,
        };
        return Some(("arith.cmpf", predicate));
    }
    let predicate = match kind {
        K::Eq => 0,
        K::Ne => 1,
        K::Lt => 2,
        K::Le => 3,
        K::Gt => 4,
        K::Ge => 5,
    };
    (signed(dtype) || (dtype == DType::Bool && predicate < 2)).then_some(("arith.cmpi", predicate))
}

/// The operation of `arith` for a conversion.
pub(super) fn cast(to: DType, from: DType) -> Option<&'static str> {
    let wider = to.size() > from.size();
    match (from.is_float(), to.is_float()) {
        (true, true) if wider => Some("arith.extf"),
        (true, true) if to.size() < from.size() => Some("arith.truncf"),
        // By way of f32.
        (false, true) if to.is_half() => None,
        (false, true) if signed(from) => Some("arith.sitofp"),
        (false, true) if from == DType::Bool => Some("arith.uitofp"),
        (false, false) if signed(from) && signed(to) && wider => Some("arith.extsi"),
        (false, false) if signed(from) && signed(to) && to.size() < from.size() => Some("arith.trunci"),
        (false, false) if from == DType::Bool && signed(to) => Some("arith.extui"),
        _ => None,
    }
}

/// Whether elements are integers that `arith` takes, with a sign.
fn signed(dtype: DType) -> bool {
    dtype.is_int() && !dtype.is_unsigned()
}
