//! Conversions between element types.

use super::{
    translate::Translator,
    value::{PART, Val, mask_type, part_count, part_type, scalar_type, width},
};
use crate::{
    CodegenError,
    stage::illegal,
    types::{Elem, ValueType},
};
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use melior::ir::OperationRef;

impl Translator<'_> {
    /// `index_cast`, `extsi`, `extui`, `trunci`.
    pub(super) fn resize(&mut self, op: OperationRef<'_, '_>, name: &str) -> Result<Val, CodegenError> {
        let value = self.operand(op, 0)?;
        let to = self.result_type(op)?;
        Ok(self.resize_to(value, to.elem(), name != "arith.extui"))
    }

    /// Extends or truncates to another integer type.
    fn resize_to(&mut self, value: Val, to: Elem, signed: bool) -> Val {
        let lanes = value.lanes();
        let from = value.ty.elem();
        if !value.is_vector() {
            let scalar = self.resize_scalar(value.parts[0], from, to, signed);
            return Val::single(ValueType::Scalar(to), scalar);
        }
        match (from, to) {
            (Elem::I1, _) => {
                let mask = self.at_width(value, width(to));
                if signed {
                    return Val::vector(to, lanes, mask.parts);
                }
                let one = self.vector_constant(to, lanes, &vec![1; lanes as usize]);
                let parts = mask.parts.iter().zip(&one.parts).map(|(&m, &o)| self.b.ins().band(m, o)).collect();
                Val::vector(to, lanes, parts)
            }
            (_, Elem::I1) => {
                // The lowest bit, as a mask.
                let shift = self.b.ins().iconst(types::I32, i64::from(value.width) - 1);
                let parts = value
                    .parts
                    .iter()
                    .map(|&x| {
                        let top = self.b.ins().ishl(x, shift);
                        let zero = self.part_constant(mask_type(value.width), &[0; 16]);
                        self.b.ins().icmp(cranelift_codegen::ir::condcodes::IntCC::SignedLessThan, top, zero)
                    })
                    .collect();
                Val::mask(lanes, value.width, parts)
            }
            _ if width(to) > value.width => {
                let parts = self.widen(value.parts, value.width, width(to), lanes, signed);
                Val::vector(to, lanes, parts)
            }
            _ => {
                let parts = self.truncate(value.parts, value.width, width(to), lanes);
                Val::vector(to, lanes, parts)
            }
        }
    }

    fn resize_scalar(&mut self, value: Value, from: Elem, to: Elem, signed: bool) -> Value {
        let ty = scalar_type(to);
        // A truth value is 0 or 1 here; as a signed number true is -1.
        let value = if from == Elem::I1 && signed && to != Elem::I1 { self.b.ins().ineg(value) } else { value };
        let resized = match scalar_type(from).bits().cmp(&ty.bits()) {
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => self.b.ins().ireduce(ty, value),
            std::cmp::Ordering::Less if signed => self.b.ins().sextend(ty, value),
            std::cmp::Ordering::Less => self.b.ins().uextend(ty, value),
        };
        if to == Elem::I1 { self.b.ins().band_imm_u(resized, 1) } else { resized }
    }

    /// Lanes made wider, step by step.
    pub(super) fn widen(&mut self, mut parts: Vec<Value>, from: u32, to: u32, lanes: u32, signed: bool) -> Vec<Value> {
        let mut bits = from;
        while bits < to {
            bits *= 2;
            let count = part_count(lanes, bits);
            let mut wider = Vec::with_capacity(count);
            for part in parts {
                for high in [false, true] {
                    if wider.len() < count {
                        wider.push(match (signed, high) {
                            (true, false) => self.b.ins().swiden_low(part),
                            (true, true) => self.b.ins().swiden_high(part),
                            (false, false) => self.b.ins().uwiden_low(part),
                            (false, true) => self.b.ins().uwiden_high(part),
                        });
                    }
                }
            }
            parts = wider;
        }
        parts
    }

    /// Masks made narrower.
    pub(super) fn narrow_masks(&mut self, parts: Vec<Value>, from: u32, to: u32, lanes: u32) -> Vec<Value> {
        self.narrow(parts, from, to, lanes, |t, a, b, _| t.b.ins().snarrow(a, b))
    }

    /// The low bits of each lane.
    fn truncate(&mut self, parts: Vec<Value>, from: u32, to: u32, lanes: u32) -> Vec<Value> {
        self.narrow(parts, from, to, lanes, |t, a, b, bits| {
            // The instruction saturates: with the high bits gone there is nothing to saturate.
            let mask = ((1u64 << (bits / 2)) - 1).to_le_bytes();
            let bytes = mask[..bits as usize / 8].repeat((PART / bits) as usize);
            let low = t.part_constant(mask_type(bits), &bytes);
            let (a, b) = (t.b.ins().band(a, low), t.b.ins().band(b, low));
            t.b.ins().unarrow(a, b)
        })
    }

    /// Lanes made narrower, step by step; `pack` does 32 and 16 bits.
    fn narrow(
        &mut self,
        mut parts: Vec<Value>,
        from: u32,
        to: u32,
        lanes: u32,
        pack: impl Fn(&mut Self, Value, Value, u32) -> Value,
    ) -> Vec<Value> {
        let mut bits = from;
        while bits > to {
            parts = parts
                .chunks(2)
                .map(|pair| {
                    let (a, b) = (pair[0], *pair.last().unwrap_or(&pair[0]));
                    if bits == 64 { self.even_words(a, b) } else { pack(self, a, b, bits) }
                })
                .collect();
            bits /= 2;
            debug_assert_eq!(parts.len(), part_count(lanes, bits));
        }
        parts
    }

    /// The low halves of 64-bit lanes.
    fn even_words(&mut self, a: Value, b: Value) -> Value {
        let bytes = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27];
        let words = self.shuffle_bytes(a, b, bytes);
        self.view_as(types::I32X4, words)
    }

    /// `sitofp`, `uitofp`.
    pub(super) fn int_to_float(&mut self, op: OperationRef<'_, '_>, signed: bool) -> Result<Val, CodegenError> {
        let value = self.operand(op, 0)?;
        let to = self.result_type(op)?.elem();
        let lanes = value.lanes();
        let convert = |t: &mut Self, ty: Type, x: Value| {
            if signed { t.b.ins().fcvt_from_sint(ty, x) } else { t.b.ins().fcvt_from_uint(ty, x) }
        };
        // Small integers first become 32 bits wide, which loses nothing.
        let value = if value.ty.elem().bits() < 32 { self.resize_to(value, Elem::I32, signed) } else { value };
        if value.is_vector() && value.width == 32 && to == Elem::F32 {
            let parts = value.parts.iter().map(|&x| convert(self, types::F32X4, x)).collect();
            return Ok(Val::vector(to, lanes, parts));
        }
        if value.is_vector() && value.width == 32 {
            let wide = self.widen(value.parts, 32, 64, lanes, signed);
            let parts = wide.into_iter().map(|x| convert(self, types::F64X2, x)).collect();
            return Ok(Val::vector(to, lanes, parts));
        }
        Ok(self.by_lane(&[value], to, |t, s| convert(t, scalar_type(to), s[0])))
    }

    /// `fptosi`, `fptoui`; kernels convert only values in range.
    pub(super) fn float_to_int(&mut self, op: OperationRef<'_, '_>, signed: bool) -> Result<Val, CodegenError> {
        let value = self.operand(op, 0)?;
        let to = self.result_type(op)?.elem();
        if to == Elem::I1 {
            return Err(illegal(&op, "compare with zero instead"));
        }
        let lanes = value.lanes();
        let convert = |t: &mut Self, ty: Type, x: Value| {
            if signed { t.b.ins().fcvt_to_sint_sat(ty, x) } else { t.b.ins().fcvt_to_uint_sat(ty, x) }
        };
        let middle = if to.bits() < 32 { Elem::I32 } else { to };
        let converted = if value.is_vector() && value.width == 32 && width(middle) == 32 {
            let parts = value.parts.iter().map(|&x| convert(self, types::I32X4, x)).collect();
            Val::vector(middle, lanes, parts)
        } else {
            self.by_lane(&[value], middle, |t, s| convert(t, scalar_type(middle), s[0]))
        };
        Ok(if middle == to { converted } else { self.resize_to(converted, to, signed) })
    }

    /// `extf`, `truncf` between f32 and f64.
    pub(super) fn float_to_float(&mut self, op: OperationRef<'_, '_>) -> Result<Val, CodegenError> {
        let value = self.operand(op, 0)?;
        let to = self.result_type(op)?.elem();
        let lanes = value.lanes();
        if !value.is_vector() {
            let x = value.parts[0];
            let scalar = if to == Elem::F64 {
                self.b.ins().fpromote(types::F64, x)
            } else {
                self.b.ins().fdemote(types::F32, x)
            };
            return Ok(Val::single(ValueType::Scalar(to), scalar));
        }
        let count = part_count(lanes, width(to));
        let mut parts = Vec::with_capacity(count);
        if to == Elem::F64 {
            for &part in &value.parts {
                parts.push(self.b.ins().fvpromote_low(part));
                if parts.len() < count {
                    let high =
                        self.shuffle_bytes(part, part, [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15]);
                    let high = self.view_as(types::F32X4, high);
                    parts.push(self.b.ins().fvpromote_low(high));
                }
            }
        } else {
            for pair in value.parts.chunks(2) {
                let low = self.b.ins().fvdemote(pair[0]);
                parts.push(if pair.len() == 2 {
                    let high = self.b.ins().fvdemote(pair[1]);
                    let bytes = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];
                    let both = self.shuffle_bytes(low, high, bytes);
                    self.view_as(types::F32X4, both)
                } else {
                    low
                });
            }
        }
        Ok(Val::vector(to, lanes, parts))
    }

    /// `arith.bitcast` between elements of one size.
    pub(super) fn reinterpret(&mut self, op: OperationRef<'_, '_>) -> Result<Val, CodegenError> {
        let value = self.operand(op, 0)?;
        let ty = self.result_type(op)?;
        let elem = ty.elem();
        if (elem == Elem::I1) != (value.ty.elem() == Elem::I1) {
            return Err(illegal(&op, "truth values have no bits to reinterpret"));
        }
        let to = if value.is_vector() { part_type(elem) } else { scalar_type(elem) };
        let to = if elem == Elem::I1 && value.is_vector() { mask_type(value.width) } else { to };
        let parts = value.parts.iter().map(|&x| self.view_as(to, x)).collect();
        Ok(Val { ty, width: value.width, parts })
    }

    /// The same bits as lanes of another width.
    pub(super) fn view_lanes(&mut self, op: OperationRef<'_, '_>) -> Result<Val, CodegenError> {
        let value = self.operand(op, 0)?;
        let ty = self.result_type(op)?;
        let ValueType::Vector(elem, lanes) = ty else { return Err(illegal(&op, "it makes vectors")) };
        if elem == Elem::I1 || value.ty.elem() == Elem::I1 || !(lanes * width(elem)).is_multiple_of(PART) {
            return Err(illegal(&op, "whole registers of numbers are seen with other lanes"));
        }
        let parts = value.parts.iter().map(|&x| self.view_as(part_type(elem), x)).collect();
        Ok(Val::vector(elem, lanes, parts))
    }
}
