//! Floating-point arithmetic, bit for bit as LLVM's.

use super::{
    translate::{Translator, uses},
    value::Val,
};
use crate::{CodegenError, types::Elem};
use cranelift_codegen::ir::{InstBuilder, Value, condcodes::FloatCC, types};
use melior::ir::{OperationRef, operation::OperationLike};

/// A constant operand of a minimum or maximum.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    PlusZero,
    MinusZero,
    Other,
}

impl Translator<'_> {
    /// Operations that treat lanes alike: one to three operands of the result's type.
    pub(super) fn float(&mut self, op: OperationRef<'_, '_>, name: &str) -> Result<Val, CodegenError> {
        let mut operands: Vec<Val> = (0..op.operand_count()).map(|i| self.operand(op, i)).collect::<Result<_, _>>()?;
        let readers = |i| op.operand(i).map_or(0, |value| uses(value).count());
        if name == "math.fma" && readers(0) > readers(1) {
            // The instruction overwrites its first factor: better the one that fewer others read.
            operands.swap(0, 1);
        }
        let mut parts = Vec::new();
        for i in 0..operands[0].parts.len() {
            let x = |k: usize| operands[k].parts[i];
            parts.push(match name {
                "arith.addf" => self.b.ins().fadd(x(0), x(1)),
                "arith.subf" => self.b.ins().fsub(x(0), x(1)),
                "arith.mulf" => self.b.ins().fmul(x(0), x(1)),
                "arith.divf" => self.b.ins().fdiv(x(0), x(1)),
                "arith.negf" => self.b.ins().fneg(x(0)),
                "math.fma" => self.b.ins().fma(x(0), x(1), x(2)),
                "math.sqrt" => self.b.ins().sqrt(x(0)),
                "math.absf" => self.b.ins().fabs(x(0)),
                "math.floor" => self.b.ins().floor(x(0)),
                "math.ceil" => self.b.ins().ceil(x(0)),
                "math.trunc" => self.b.ins().trunc(x(0)),
                "math.roundeven" => self.b.ins().nearest(x(0)),
                _ => self.copysign(x(0), x(1), operands[0].is_vector()),
            });
        }
        Ok(Val { parts, ..operands[0].clone() })
    }

    fn copysign(&mut self, magnitude: Value, sign: Value, vector: bool) -> Value {
        if !vector {
            return self.b.ins().fcopysign(magnitude, sign);
        }
        let ty = self.b.func.dfg.value_type(magnitude);
        let (bits, minus) = self.minus_zero(ty);
        let (magnitude, sign) = (self.view_as(bits, magnitude), self.view_as(bits, sign));
        let sign = self.b.ins().band(sign, minus);
        let magnitude = self.b.ins().band_not(magnitude, minus);
        let both = self.b.ins().bor(magnitude, sign);
        self.view_as(ty, both)
    }

    /// The sign bit of every lane, as integers.
    fn minus_zero(&mut self, ty: cranelift_codegen::ir::Type) -> (cranelift_codegen::ir::Type, Value) {
        if ty == types::F32X4 {
            let bit = self.part_constant(types::I32X4, &i32::MIN.to_le_bytes().repeat(4));
            (types::I32X4, bit)
        } else {
            let bit = self.part_constant(types::I64X2, &i64::MIN.to_le_bytes().repeat(2));
            (types::I64X2, bit)
        }
    }

    /// `arith.maximumf` and `arith.minimumf`: NaN propagates, -0 is less than +0.
    pub(super) fn extreme(&mut self, op: OperationRef<'_, '_>, max: bool) -> Result<Val, CodegenError> {
        let (mut a, mut b) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let elem = a.ty.elem();
        let mut bound = self.splat_bits(op, 1).and_then(|bits| classify(elem, bits));
        if bound.is_none() {
            bound = self.splat_bits(op, 0).and_then(|bits| classify(elem, bits));
            if bound.is_some() {
                std::mem::swap(&mut a, &mut b);
            }
        }
        let vector = a.is_vector();
        Ok(self.zip(a, b, |t, x, y| t.extreme_part(x, y, max, bound, vector)))
    }

    /// The instruction gives its second operand for NaN and for equal zeros; so a bound that cannot meet a zero of the
    /// other sign goes first, and nothing is left to mend.
    fn extreme_part(&mut self, x: Value, y: Value, max: bool, bound: Option<Bound>, vector: bool) -> Value {
        match bound {
            Some(Bound::Other) => return self.instruction(y, x, max, vector),
            Some(Bound::MinusZero) if max => return self.instruction(y, x, max, vector),
            Some(Bound::PlusZero) if !max => return self.instruction(y, x, max, vector),
            _ => {}
        }
        let mut result = self.instruction(x, y, max, vector);
        if bound.is_none() {
            // Equal operands differ at most in the sign of zero.
            let equal = self.b.ins().fcmp(FloatCC::Equal, x, y);
            let zeros = self.combine(x, y, max);
            result = self.choose(equal, zeros, result, vector);
        }
        let nan = self.b.ins().fcmp(FloatCC::Unordered, x, x);
        self.choose(nan, x, result, vector)
    }

    /// `x < y ? x : y` or `x > y ? x : y`, in the shape that Cranelift makes one instruction of.
    fn instruction(&mut self, x: Value, y: Value, max: bool, vector: bool) -> Value {
        let (low, high) = if max { (y, x) } else { (x, y) };
        let less = self.b.ins().fcmp(FloatCC::LessThan, low, high);
        if vector {
            let ty = self.b.func.dfg.value_type(x);
            let mask = self.view_as(ty, less);
            self.b.ins().bitselect(mask, x, y)
        } else {
            self.b.ins().select(less, x, y)
        }
    }

    /// And (for the maximum) or or of the bits.
    fn combine(&mut self, x: Value, y: Value, and: bool) -> Value {
        if and { self.b.ins().band(x, y) } else { self.b.ins().bor(x, y) }
    }

    fn choose(&mut self, condition: Value, x: Value, y: Value, vector: bool) -> Value {
        if vector { self.blend(condition, x, y) } else { self.b.ins().select(condition, x, y) }
    }
}

/// `None` for NaN.
fn classify(elem: Elem, bits: u64) -> Option<Bound> {
    let number = if elem == Elem::F32 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) };
    match number {
        n if n.is_nan() => None,
        n if n == 0.0 => Some(if n.is_sign_negative() { Bound::MinusZero } else { Bound::PlusZero }),
        _ => Some(Bound::Other),
    }
}
