//! `arith.constant` as bit patterns.

use crate::types::{Elem, ValueType};
use melior::ir::{Attribute, AttributeLike};
use mlir_sys as sys;

/// The elements of a constant, zero-extended; one for scalars and for splats.
pub(super) fn bits(value: Attribute<'_>, ty: ValueType) -> Option<Vec<u64>> {
    let raw = value.to_raw();
    let elem = ty.elem();
    // SAFETY: `raw` is a live attribute; each reader below is called for the attribute and element type it is made for.
    unsafe {
        match ty {
            ValueType::Scalar(_) if sys::mlirAttributeIsAFloat(raw) => {
                let number = sys::mlirFloatAttrGetValueDouble(raw);
                Some(vec![if elem == Elem::F32 { u64::from((number as f32).to_bits()) } else { number.to_bits() }])
            }
            ValueType::Scalar(_) if sys::mlirAttributeIsAInteger(raw) => {
                Some(vec![truncate(sys::mlirIntegerAttrGetValueInt(raw) as u64, elem)])
            }
            ValueType::Vector(_, lanes) if sys::mlirAttributeIsADenseElements(raw) => {
                let count = if sys::mlirDenseElementsAttrIsSplat(raw) { 1 } else { lanes as isize };
                Some((0..count).map(|i| dense(raw, elem, i)).collect())
            }
            _ => None,
        }
    }
}

/// Element `i` of a dense attribute.
///
/// # Safety
/// `raw` is a live dense attribute of element type `elem` with more than `i` elements.
unsafe fn dense(raw: sys::MlirAttribute, elem: Elem, i: isize) -> u64 {
    // SAFETY: as the caller promises.
    unsafe {
        match elem {
            Elem::I1 => u64::from(sys::mlirDenseElementsAttrGetBoolValue(raw, i)),
            Elem::I8 => u64::from(sys::mlirDenseElementsAttrGetInt8Value(raw, i) as u8),
            Elem::I16 => u64::from(sys::mlirDenseElementsAttrGetInt16Value(raw, i) as u16),
            Elem::I32 => u64::from(sys::mlirDenseElementsAttrGetInt32Value(raw, i) as u32),
            Elem::I64 => sys::mlirDenseElementsAttrGetInt64Value(raw, i) as u64,
            Elem::Index => sys::mlirDenseElementsAttrGetIndexValue(raw, i),
            Elem::F32 => u64::from(sys::mlirDenseElementsAttrGetFloatValue(raw, i).to_bits()),
            Elem::F64 => sys::mlirDenseElementsAttrGetDoubleValue(raw, i).to_bits(),
        }
    }
}

/// The low bits that an element has.
pub(super) const fn truncate(value: u64, elem: Elem) -> u64 {
    match elem.bits() {
        64 => value,
        bits => value & ((1 << bits) - 1),
    }
}
