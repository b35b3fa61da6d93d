//! Loads, stores and views of buffers.

use super::{
    translate::Translator,
    value::{PART, Val, part_count, part_type, scalar_type, width},
};
use crate::{CodegenError, stage::illegal, types::ValueType};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Type, Value, types};
use melior::ir::OperationRef;

/// Buffers are aligned to their element only, and accesses stay inside them by the kernel's construction.
pub(super) fn flags() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// A base and a constant offset.
pub(super) type Address = (Value, i32);

impl Translator<'_> {
    pub(super) fn load(&mut self, op: OperationRef<'_, '_>) -> Result<Val, CodegenError> {
        let address = self.address(op, 0, 1)?;
        let ty = self.result_type(op)?;
        let flags = if self.may_move(op, 0, 1)? { flags().with_readonly().with_can_move() } else { flags() };
        Ok(self.load_at(ty, address, flags))
    }

    pub(super) fn store(&mut self, op: OperationRef<'_, '_>) -> Result<(), CodegenError> {
        let value = self.operand(op, 0)?;
        let address = self.address(op, 1, 2)?;
        self.store_at(&value, address);
        Ok(())
    }

    pub(super) fn view(&mut self, op: OperationRef<'_, '_>) -> Result<Val, CodegenError> {
        let base = self.operand(op, 0)?.parts[0];
        let shift = self.operand(op, 1)?.parts[0];
        Ok(Val::single(self.result_type(op)?, self.b.ins().iadd(base, shift)))
    }

    /// A vector's lanes on the stack.
    pub(super) fn slot(&mut self, value: &Val) -> Value {
        let size = 16 * value.parts.len() as u32;
        let slot = self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, size, 4));
        let address = self.b.ins().stack_addr(types::I64, slot, 0);
        for (i, &part) in value.parts.iter().enumerate() {
            self.b.ins().store(flags(), part, address, 16 * i as i32);
        }
        address
    }

    /// A whole vector read back from [`Translator::slot`].
    pub(super) fn load_slot(&mut self, like: &Val, slot: Value) -> Val {
        let parts = like
            .parts
            .iter()
            .enumerate()
            .map(|(i, &part)| {
                let ty = self.b.func.dfg.value_type(part);
                self.b.ins().load(ty, flags(), slot, 16 * i as i32)
            })
            .collect();
        Val { parts, ..like.clone() }
    }

    fn load_at(&mut self, ty: ValueType, (base, offset): Address, flags: MemFlagsData) -> Val {
        let ValueType::Vector(elem, lanes) = ty else {
            let scalar = self.b.ins().load(scalar_type(ty.elem()), flags, base, offset);
            return Val::single(ty, scalar);
        };
        let bits = lanes * width(elem);
        let parts = (0..part_count(lanes, width(elem)))
            .map(|i| {
                let at = offset + 16 * i as i32;
                match tail(bits, i) {
                    None => self.b.ins().load(part_type(elem), flags, base, at),
                    Some(rest) => self.load_tail(part_type(elem), rest, (base, at)),
                }
            })
            .collect();
        Val::vector(elem, lanes, parts)
    }

    /// The `bits` low bits of a part.
    fn load_tail(&mut self, ty: Type, bits: u32, (base, offset): Address) -> Value {
        let mut part = self.part_constant(types::I8X16, &[0; 16]);
        for (piece, at) in pieces(bits) {
            let scalar = self.b.ins().load(piece, flags(), base, offset + at as i32);
            part = self.view_as(piece.by(PART / piece.bits()).unwrap_or(types::I8X16), part);
            part = self.b.ins().insertlane(part, scalar, (at * 8 / piece.bits()) as u8);
        }
        self.view_as(ty, part)
    }

    fn store_at(&mut self, value: &Val, (base, offset): Address) {
        let bits = value.lanes() * value.width;
        for (i, &part) in value.parts.iter().enumerate() {
            let at = offset + 16 * i as i32;
            match tail(bits, i).filter(|_| value.is_vector()) {
                None => {
                    self.b.ins().store(flags(), part, base, at);
                }
                Some(rest) => {
                    for (piece, byte) in pieces(rest) {
                        let lanes = self.view_as(piece.by(PART / piece.bits()).unwrap_or(types::I8X16), part);
                        let scalar = self.b.ins().extractlane(lanes, (byte * 8 / piece.bits()) as u8);
                        self.b.ins().store(flags(), scalar, base, at + byte as i32);
                    }
                }
            }
        }
    }

    /// Address of element `operand[index]` of buffer `operand[buffer]`.
    pub(super) fn address(
        &mut self,
        op: OperationRef<'_, '_>,
        buffer: usize,
        index: usize,
    ) -> Result<Address, CodegenError> {
        let base = self.operand(op, buffer)?;
        let ValueType::Buffer(elem) = base.ty else { return Err(illegal(&op, "its base is no buffer")) };
        let bytes = i64::from(elem.bits() / 8);
        let (mut root, mut offset) = self.offset(op, index)?;
        // Room for the parts of a vector behind it.
        if i32::try_from(offset * bytes).is_ok_and(|o| o.checked_add(1 << 16).is_some()) {
            offset *= bytes;
        } else {
            (root, offset) = (self.operand(op, index)?.parts[0], 0);
        }
        let scaled = match bytes.trailing_zeros() {
            0 => root,
            shift => self.b.ins().ishl_imm_u(root, i64::from(shift)),
        };
        Ok((self.b.ins().iadd(base.parts[0], scaled), offset as i32))
    }
}

/// How many bits of part `i` belong to a vector of `bits` bits, if not all.
fn tail(bits: u32, i: usize) -> Option<u32> {
    let rest = bits - PART * i as u32;
    (rest < PART).then_some(rest)
}

/// A run of fewer than 128 bits as scalars, largest first, with their byte offsets.
fn pieces(bits: u32) -> Vec<(Type, u32)> {
    let mut list = Vec::new();
    let mut at = 0;
    for ty in [types::I64, types::I32, types::I16, types::I8] {
        if bits - at * 8 >= ty.bits() {
            list.push((ty, at));
            at += ty.bits() / 8;
        }
    }
    list
}
