//! Building and taking apart vectors and masks.

use super::{
    translate::Translator,
    value::{PART, Val, mask_type, part_count, part_type, width},
};
use crate::{
    CodegenError,
    stage::illegal,
    types::{Elem, ValueType},
};
use cranelift_codegen::ir::{InstBuilder, Value, condcodes::IntCC, types};
use melior::ir::{OperationRef, operation::OperationLike};

/// What `static_position` holds where the position is an operand.
const DYNAMIC: i64 = i64::MIN;

impl Translator<'_> {
    pub(super) fn broadcast(&mut self, op: OperationRef<'_, '_>) -> Result<Val, CodegenError> {
        let value = self.operand(op, 0)?;
        let ValueType::Vector(elem, lanes) = self.result_type(op)? else {
            return Err(illegal(&op, "it makes vectors"));
        };
        let scalar = match value.ty {
            ValueType::Scalar(_) => value.parts[0],
            _ if value.lanes() == lanes => return Ok(value),
            _ if value.lanes() == 1 => self.lane(&value, 0),
            _ => return Err(illegal(&op, "only scalars and single lanes are broadcast")),
        };
        let scalar = if elem == Elem::I1 { self.b.ins().bmask(types::I32, scalar) } else { scalar };
        let part = self.b.ins().splat(part_type(elem), scalar);
        let parts = vec![part; part_count(lanes, width(elem))];
        Ok(Val { ty: ValueType::Vector(elem, lanes), width: width(elem), parts })
    }

    pub(super) fn extract(&mut self, op: OperationRef<'_, '_>) -> Result<Val, CodegenError> {
        let value = self.operand(op, 0)?;
        let ty = self.result_type(op)?;
        let position = self.position(op)?;
        if position == DYNAMIC {
            let at = self.operand(op, 1)?.parts[0];
            let slot = self.slot(&value);
            let address = self.lane_address(slot, at, value.width);
            let lane = if ty.elem().is_float() {
                super::value::scalar_type(ty.elem())
            } else {
                mask_type(value.width).lane_type()
            };
            let flags = cranelift_codegen::ir::MemFlagsData::new().with_notrap();
            let scalar = self.b.ins().load(lane, flags, address, 0);
            let scalar =
                if ty.elem() == Elem::I1 { self.b.ins().icmp_imm_s(IntCC::NotEqual, scalar, 0) } else { scalar };
            return Ok(Val::single(ty, scalar));
        }
        Ok(Val::single(ty, self.lane(&value, position as u32)))
    }

    pub(super) fn insert(&mut self, op: OperationRef<'_, '_>) -> Result<Val, CodegenError> {
        let (scalar, mut value) = (self.operand(op, 0)?.parts[0], self.operand(op, 1)?);
        let position = self.position(op)?;
        let lane_type = mask_type(value.width).lane_type();
        let scalar = if value.ty.elem() == Elem::I1 { self.b.ins().bmask(lane_type, scalar) } else { scalar };
        if position == DYNAMIC {
            let at = self.operand(op, 2)?.parts[0];
            let slot = self.slot(&value);
            let address = self.lane_address(slot, at, value.width);
            let flags = cranelift_codegen::ir::MemFlagsData::new().with_notrap();
            self.b.ins().store(flags, scalar, address, 0);
            return Ok(self.load_slot(&value, slot));
        }
        let per_part = PART / value.width;
        let part = &mut value.parts[position as usize / per_part as usize];
        *part = self.b.ins().insertlane(*part, scalar, (position as u32 % per_part) as u8);
        Ok(value)
    }

    fn position(&self, op: OperationRef<'_, '_>) -> Result<i64, CodegenError> {
        match self.numbers(op, "static_position")?[..] {
            [position] => Ok(position),
            _ => Err(illegal(&op, "it takes one position")),
        }
    }

    fn lane_address(&mut self, slot: Value, at: Value, width: u32) -> Value {
        let bytes = self.b.ins().imul_imm_s(at, i64::from(width / 8));
        self.b.ins().iadd(slot, bytes)
    }

    #[allow(clippy::wrong_self_convention, reason = "named after the MLIR op it lowers")]
    pub(super) fn from_elements(&mut self, op: OperationRef<'_, '_>) -> Result<Val, CodegenError> {
        let scalars: Vec<Value> =
            (0..op.operand_count()).map(|i| Ok(self.operand(op, i)?.parts[0])).collect::<Result<_, CodegenError>>()?;
        Ok(self.assemble(self.result_type(op)?.elem(), &scalars))
    }

    pub(super) fn step(&mut self, op: OperationRef<'_, '_>) -> Result<Val, CodegenError> {
        let ty = self.result_type(op)?;
        let ValueType::Vector(elem, lanes) = ty else { return Err(illegal(&op, "it makes vectors")) };
        let bits: Vec<u64> = (0..u64::from(lanes)).collect();
        Ok(self.vector_constant(elem, lanes, &bits))
    }

    pub(super) fn constant_mask(&mut self, op: OperationRef<'_, '_>) -> Result<Val, CodegenError> {
        let ValueType::Vector(_, lanes) = self.result_type(op)? else { return Err(illegal(&op, "it makes vectors")) };
        let &[on] = &self.numbers(op, "mask_dim_sizes")?[..] else { return Err(illegal(&op, "it takes one size")) };
        let bits: Vec<u64> = (0..i64::from(lanes)).map(|i| u64::from(i < on)).collect();
        Ok(self.vector_constant(Elem::I1, lanes, &bits))
    }

    /// Lanes before a run-time count, which may be negative or larger than the vector.
    pub(super) fn create_mask(&mut self, op: OperationRef<'_, '_>) -> Result<Val, CodegenError> {
        let ValueType::Vector(_, lanes) = self.result_type(op)? else { return Err(illegal(&op, "it makes vectors")) };
        let count = self.operand(op, 0)?.parts[0];
        let (zero, most) = (self.b.ins().iconst(types::I64, 0), self.b.ins().iconst(types::I64, i64::from(lanes)));
        let count = self.b.ins().smax(count, zero);
        let count = self.b.ins().smin(count, most);
        let count = self.b.ins().ireduce(types::I32, count);
        let limit = self.b.ins().splat(types::I32X4, count);
        let bits: Vec<u64> = (0..u64::from(lanes)).collect();
        let lane_numbers = self.vector_constant(Elem::I32, lanes, &bits);
        let parts = lane_numbers.parts.iter().map(|&n| self.b.ins().icmp(IntCC::SignedGreaterThan, limit, n)).collect();
        Ok(Val::mask(lanes, 32, parts))
    }

    pub(super) fn shuffle(&mut self, op: OperationRef<'_, '_>) -> Result<Val, CodegenError> {
        let (a, b) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let (a, b) = (self.at_width(a, width(Elem::I1)), self.at_width(b, width(Elem::I1)));
        let (elem, lane_width, split) = (a.ty.elem(), a.width, i64::from(a.lanes()));
        let mask = self.numbers(op, "mask")?;
        let per_part = i64::from(PART / lane_width);
        let mut parts = Vec::new();
        for wanted in mask.chunks(per_part as usize) {
            // Where each lane comes from: a part and a lane in it.
            let sources: Vec<(Value, i64)> = wanted
                .iter()
                .map(|&i| {
                    let (from, i) = if i < split { (&a, i.max(0)) } else { (&b, i - split) };
                    (from.parts[(i / per_part) as usize], i % per_part)
                })
                .collect();
            parts.push(self.gather_lanes(&sources, lane_width, elem));
        }
        Ok(Val { ty: ValueType::Vector(elem, mask.len() as u32), width: lane_width, parts })
    }

    fn gather_lanes(&mut self, sources: &[(Value, i64)], lane_width: u32, elem: Elem) -> Value {
        let ty = part_type(elem);
        let first = sources[0].0;
        let second = sources.iter().map(|s| s.0).find(|&p| p != first).unwrap_or(first);
        let whole = sources.len() as u32 * lane_width == PART;
        if whole && second == first && sources.iter().enumerate().all(|(i, s)| s.1 == i as i64) {
            return first;
        }
        if sources.iter().all(|s| s.0 == first || s.0 == second) {
            let bytes = i64::from(lane_width / 8);
            let mut pattern = [0u8; 16];
            for (i, byte) in pattern.iter_mut().enumerate() {
                let Some((part, lane)) = sources.get(i / bytes as usize) else { break };
                let base = if *part == first { 0 } else { 16 };
                *byte = (base + lane * bytes + i as i64 % bytes) as u8;
            }
            let bytes = self.shuffle_bytes(first, second, pattern);
            return self.view_as(ty, bytes);
        }
        let mut part = first;
        for (i, &(from, lane)) in sources.iter().enumerate() {
            let scalar = self.b.ins().extractlane(from, lane as u8);
            part = self.b.ins().insertlane(part, scalar, i as u8);
        }
        part
    }

    /// Bytes 0 to 15 come from `a`, 16 to 31 from `b`.
    pub(super) fn shuffle_bytes(&mut self, a: Value, b: Value, pattern: [u8; 16]) -> Value {
        let (a, b) = (self.view_as(types::I8X16, a), self.view_as(types::I8X16, b));
        let mask = self.b.func.dfg.immediates.push(pattern.as_slice().into());
        self.b.ins().shuffle(a, b, mask)
    }
}
