//! Integers, comparisons and selection.

use super::{
    translate::Translator,
    value::{Val, mask_type, part_type, scalar_type, width},
};
use crate::{
    CodegenError,
    stage::illegal,
    types::{Elem, ValueType},
};
use cranelift_codegen::ir::{
    InstBuilder, Value,
    condcodes::{FloatCC, IntCC},
    types,
};
use melior::ir::OperationRef;

impl Translator<'_> {
    /// Applies `f` to corresponding parts; truth vectors are brought to one width.
    pub(super) fn zip(&mut self, a: Val, b: Val, mut f: impl FnMut(&mut Self, Value, Value) -> Value) -> Val {
        let b = self.at_width(b, a.width);
        let parts = a.parts.iter().zip(&b.parts).map(|(&x, &y)| f(self, x, y)).collect();
        Val { parts, ..a }
    }

    /// Applies `f` to lanes one by one, where there is no instruction for vectors.
    pub(super) fn by_lane(
        &mut self,
        operands: &[Val],
        to: Elem,
        mut f: impl FnMut(&mut Self, &[Value]) -> Value,
    ) -> Val {
        let lanes = operands[0].lanes();
        if !operands[0].is_vector() {
            let scalars: Vec<Value> = operands.iter().map(|v| v.parts[0]).collect();
            return Val::single(ValueType::Scalar(to), f(self, &scalars));
        }
        let results: Vec<Value> = (0..lanes)
            .map(|lane| {
                let scalars: Vec<Value> = operands.iter().map(|v| self.lane(v, lane)).collect();
                f(self, &scalars)
            })
            .collect();
        self.assemble(to, &results)
    }

    /// Binary integer operations.
    pub(super) fn integer(&mut self, op: OperationRef<'_, '_>, name: &str) -> Result<Val, CodegenError> {
        let (a, b) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let elem = a.ty.elem();
        if elem == Elem::I1 {
            return self.truth(op, name, a, b);
        }
        let vector = a.is_vector();
        if vector && matches!(name, "arith.shli" | "arith.shrsi" | "arith.shrui") {
            return Ok(self.shift_vector(op, name, a, b));
        }
        let scalar_only = match name {
            "arith.divsi" | "arith.divui" | "arith.remsi" | "arith.remui" => true,
            "arith.muli" => elem == Elem::I8,
            _ => false,
        };
        let f = |t: &mut Self, x: Value, y: Value| match name {
            "arith.addi" => t.b.ins().iadd(x, y),
            "arith.subi" => t.b.ins().isub(x, y),
            "arith.muli" => t.b.ins().imul(x, y),
            "arith.divsi" => t.b.ins().sdiv(x, y),
            "arith.divui" => t.b.ins().udiv(x, y),
            "arith.remsi" => t.b.ins().srem(x, y),
            "arith.remui" => t.b.ins().urem(x, y),
            "arith.andi" => t.b.ins().band(x, y),
            "arith.ori" => t.b.ins().bor(x, y),
            "arith.xori" => t.b.ins().bxor(x, y),
            "arith.shli" => t.b.ins().ishl(x, y),
            "arith.shrsi" => t.b.ins().sshr(x, y),
            "arith.shrui" => t.b.ins().ushr(x, y),
            "arith.minsi" => t.b.ins().smin(x, y),
            "arith.maxsi" => t.b.ins().smax(x, y),
            "arith.minui" => t.b.ins().umin(x, y),
            _ => t.b.ins().umax(x, y),
        };
        Ok(if vector && scalar_only { self.by_lane(&[a, b], elem, |t, s| f(t, s[0], s[1])) } else { self.zip(a, b, f) })
    }

    /// Sums of the products of each two neighbouring 16-bit lanes: one instruction a register.
    pub(super) fn pair_products(&mut self, op: OperationRef<'_, '_>) -> Result<Val, CodegenError> {
        let (a, b) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let products = |t: &mut Self, x: Value, y: Value| {
            let (low_x, low_y) = (t.b.ins().swiden_low(x), t.b.ins().swiden_low(y));
            let low = t.b.ins().imul(low_x, low_y);
            let (high_x, high_y) = (t.b.ins().swiden_high(x), t.b.ins().swiden_high(y));
            let high = t.b.ins().imul(high_x, high_y);
            t.b.ins().iadd_pairwise(low, high)
        };
        let parts = a.parts.iter().zip(&b.parts).map(|(&x, &y)| products(self, x, y)).collect();
        Ok(Val::vector(Elem::I32, a.lanes() / 2, parts))
    }

    /// Truth values: bytes of 0 and 1, or lane masks.
    fn truth(&mut self, op: OperationRef<'_, '_>, name: &str, a: Val, b: Val) -> Result<Val, CodegenError> {
        Ok(match name {
            // Signed, true is -1 and the smaller.
            "arith.andi" | "arith.muli" | "arith.minui" | "arith.maxsi" => {
                self.zip(a, b, |t, x, y| t.b.ins().band(x, y))
            }
            "arith.ori" | "arith.maxui" | "arith.minsi" => self.zip(a, b, |t, x, y| t.b.ins().bor(x, y)),
            "arith.xori" | "arith.addi" | "arith.subi" => self.zip(a, b, |t, x, y| t.b.ins().bxor(x, y)),
            _ => return Err(illegal(&op, "truth values are not divided or shifted")),
        })
    }

    /// Cranelift shifts all lanes by one amount.
    fn shift_vector(&mut self, op: OperationRef<'_, '_>, name: &str, a: Val, b: Val) -> Val {
        let f = |t: &mut Self, x: Value, amount: Value| match name {
            "arith.shli" => t.b.ins().ishl(x, amount),
            "arith.shrsi" => t.b.ins().sshr(x, amount),
            _ => t.b.ins().ushr(x, amount),
        };
        match self.splat_bits(op, 1) {
            Some(amount) => {
                let amount = self.b.ins().iconst(types::I32, amount as i64);
                let parts = a.parts.iter().map(|&x| f(self, x, amount)).collect();
                Val { parts, ..a }
            }
            None => {
                let elem = a.ty.elem();
                self.by_lane(&[a, b], elem, |t, s| f(t, s[0], s[1]))
            }
        }
    }

    pub(super) fn compare_integers(&mut self, op: OperationRef<'_, '_>) -> Result<Val, CodegenError> {
        let (mut a, mut b) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let code = match self.number(op, "predicate")? {
            0 => IntCC::Equal,
            1 => IntCC::NotEqual,
            2 => IntCC::SignedLessThan,
            3 => IntCC::SignedLessThanOrEqual,
            4 => IntCC::SignedGreaterThan,
            5 => IntCC::SignedGreaterThanOrEqual,
            6 => IntCC::UnsignedLessThan,
            7 => IntCC::UnsignedLessThanOrEqual,
            8 => IntCC::UnsignedGreaterThan,
            9 => IntCC::UnsignedGreaterThanOrEqual,
            other => return Err(illegal(&op, format!("no predicate {other}"))),
        };
        let signed = matches!(
            code,
            IntCC::SignedLessThan
                | IntCC::SignedLessThanOrEqual
                | IntCC::SignedGreaterThan
                | IntCC::SignedGreaterThanOrEqual
        );
        if a.ty == ValueType::Scalar(Elem::I1) && signed {
            // As signed numbers, true is -1.
            for v in [&mut a, &mut b] {
                v.parts[0] = self.b.ins().ineg(v.parts[0]);
            }
        }
        let (vector, lanes, width) = (a.is_vector(), a.lanes(), a.width);
        let result = self.zip(a, b, |t, x, y| t.b.ins().icmp(code, x, y));
        Ok(truth_of(result, vector, lanes, width))
    }

    pub(super) fn compare_floats(&mut self, op: OperationRef<'_, '_>) -> Result<Val, CodegenError> {
        let (a, b) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let predicate = self.number(op, "predicate")?;
        let code = match predicate {
            1 => FloatCC::Equal,
            2 => FloatCC::GreaterThan,
            3 => FloatCC::GreaterThanOrEqual,
            4 => FloatCC::LessThan,
            5 => FloatCC::LessThanOrEqual,
            6 => FloatCC::OrderedNotEqual,
            7 => FloatCC::Ordered,
            8 => FloatCC::UnorderedOrEqual,
            9 => FloatCC::UnorderedOrGreaterThan,
            10 => FloatCC::UnorderedOrGreaterThanOrEqual,
            11 => FloatCC::UnorderedOrLessThan,
            12 => FloatCC::UnorderedOrLessThanOrEqual,
            13 => FloatCC::NotEqual,
            14 => FloatCC::Unordered,
            0 | 15 => {
                let (lanes, truth) = (a.lanes(), u64::from(predicate == 15));
                return Ok(if a.is_vector() {
                    self.vector_constant(Elem::I1, lanes, &vec![truth; lanes as usize])
                } else {
                    Val::single(ValueType::Scalar(Elem::I1), self.scalar_constant(Elem::I1, truth))
                });
            }
            other => return Err(illegal(&op, format!("no predicate {other}"))),
        };
        let (vector, lanes, width) = (a.is_vector(), a.lanes(), a.width);
        let result = self.zip(a, b, |t, x, y| match (vector, code) {
            // There is no vector instruction for these two.
            (true, FloatCC::OrderedNotEqual) => {
                let ordered = t.b.ins().fcmp(FloatCC::Ordered, x, y);
                let differ = t.b.ins().fcmp(FloatCC::NotEqual, x, y);
                t.b.ins().band(ordered, differ)
            }
            (true, FloatCC::UnorderedOrEqual) => {
                let unordered = t.b.ins().fcmp(FloatCC::Unordered, x, y);
                let equal = t.b.ins().fcmp(FloatCC::Equal, x, y);
                t.b.ins().bor(unordered, equal)
            }
            _ => t.b.ins().fcmp(code, x, y),
        });
        Ok(truth_of(result, vector, lanes, width))
    }

    pub(super) fn select(&mut self, op: OperationRef<'_, '_>) -> Result<Val, CodegenError> {
        let (condition, a, b) = (self.operand(op, 0)?, self.operand(op, 1)?, self.operand(op, 2)?);
        if !condition.is_vector() {
            let condition = condition.parts[0];
            return Ok(self.zip(a, b, |t, x, y| t.b.ins().select(condition, x, y)));
        }
        let condition = self.at_width(condition, a.width);
        let b = self.at_width(b, a.width);
        let parts = (0..a.parts.len()).map(|i| self.blend(condition.parts[i], a.parts[i], b.parts[i])).collect();
        Ok(Val { parts, ..a })
    }

    /// Lanes of `x` where the mask is all ones, of `y` where it is all zeros.
    pub(super) fn blend(&mut self, mask: Value, x: Value, y: Value) -> Value {
        let ty = self.b.func.dfg.value_type(x);
        let wide = match self.b.func.dfg.value_type(mask) {
            types::I32X4 => types::I32X4,
            types::I64X2 => types::I64X2,
            _ => types::I8X16,
        };
        let (mask, x, y) = (self.view_as(wide, mask), self.view_as(wide, x), self.view_as(wide, y));
        let blended = self.b.ins().blendv(mask, x, y);
        self.view_as(ty, blended)
    }

    /// Lane `i` as a scalar.
    pub(super) fn lane(&mut self, value: &Val, i: u32) -> Value {
        let per_part = super::value::PART / value.width;
        let part = value.parts[(i / per_part) as usize];
        let scalar = self.b.ins().extractlane(part, (i % per_part) as u8);
        if value.ty.elem() == Elem::I1 { self.b.ins().icmp_imm_s(IntCC::NotEqual, scalar, 0) } else { scalar }
    }

    /// A vector of scalars.
    pub(super) fn assemble(&mut self, elem: Elem, scalars: &[Value]) -> Val {
        let lanes = scalars.len() as u32;
        let per_part = (super::value::PART / width(elem)) as usize;
        let lane_type = if elem == Elem::I1 { types::I32 } else { scalar_type(elem) };
        let mut parts = Vec::new();
        for chunk in scalars.chunks(per_part) {
            let mut part = None;
            for (i, &scalar) in chunk.iter().enumerate() {
                let scalar = if elem == Elem::I1 { self.b.ins().bmask(lane_type, scalar) } else { scalar };
                part = Some(match part {
                    None => self.b.ins().splat(part_type(elem), scalar),
                    Some(part) => self.b.ins().insertlane(part, scalar, i as u8),
                });
            }
            parts.extend(part);
        }
        Val { ty: ValueType::Vector(elem, lanes), width: width(elem), parts }
    }
}

/// The result of a comparison of operands with lanes of `width` bits.
fn truth_of(result: Val, vector: bool, lanes: u32, width: u32) -> Val {
    debug_assert!(mask_type(width).bits() == 128);
    if vector {
        Val::mask(lanes, width, result.parts)
    } else {
        Val::single(ValueType::Scalar(Elem::I1), result.parts[0])
    }
}
