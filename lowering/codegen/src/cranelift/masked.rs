//! Masked loads and stores: a whole part at once where its mask is full, which is the common case, else lane by lane.

use super::{
    memory::{Address, flags},
    translate::Translator,
    value::{PART, Val, part_type, scalar_type},
};
use crate::{CodegenError, types::Elem};
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use melior::ir::{OperationRef, operation::OperationLike};

/// One part of a masked access.
struct Piece {
    /// Its lanes' mask, as wide as the elements.
    mask: Val,
    /// Pass-through or what is stored.
    value: Val,
    address: Address,
}

impl Translator<'_> {
    pub(super) fn masked_load(&mut self, op: OperationRef<'_, '_>) -> Result<Val, CodegenError> {
        let mut parts = Vec::new();
        let value = self.operand(op, op.operand_count() - 1)?;
        for piece in self.pieces(op)? {
            let ty = part_type(piece.value.ty.elem());
            let done = self.b.create_block();
            let result = self.b.append_block_param(done, ty);
            if let Some((fast, slow)) = self.full_or(&piece) {
                self.b.switch_to_block(fast);
                let whole = self.b.ins().load(ty, flags(), piece.address.0, piece.address.1);
                self.b.ins().jump(done, &[whole.into()]);
                self.b.switch_to_block(slow);
            }
            let elem = piece.value.ty.elem();
            let copy = self.slot(&piece.value);
            let scalars: Vec<Value> = (0..piece.value.lanes())
                .map(|lane| {
                    let from = self.lane_or(&piece, lane, copy);
                    self.b.ins().load(scalar_type(elem), flags(), from, 0)
                })
                .collect();
            let assembled = self.assemble(elem, &scalars).parts[0];
            self.b.ins().jump(done, &[assembled.into()]);
            self.b.switch_to_block(done);
            parts.push(result);
        }
        Ok(Val { parts, ..value })
    }

    pub(super) fn masked_store(&mut self, op: OperationRef<'_, '_>) -> Result<(), CodegenError> {
        for piece in self.pieces(op)? {
            let done = self.b.create_block();
            if let Some((fast, slow)) = self.full_or(&piece) {
                self.b.switch_to_block(fast);
                self.b.ins().store(flags(), piece.value.parts[0], piece.address.0, piece.address.1);
                self.b.ins().jump(done, &[]);
                self.b.switch_to_block(slow);
            }
            let waste = self.slot(&piece.value);
            for lane in 0..piece.value.lanes() {
                let to = self.lane_or(&piece, lane, waste);
                let scalar = self.lane(&piece.value, lane);
                self.b.ins().store(flags(), scalar, to, 0);
            }
            self.b.ins().jump(done, &[]);
            self.b.switch_to_block(done);
        }
        Ok(())
    }

    /// Address, mask and value by parts; the last two operands are the mask and the value.
    fn pieces(&mut self, op: OperationRef<'_, '_>) -> Result<Vec<Piece>, CodegenError> {
        let count = op.operand_count();
        let (mask, value) = (self.operand(op, count - 2)?, self.operand(op, count - 1)?);
        let (base, offset) = self.address(op, 0, 1)?;
        let (elem, lanes) = (value.ty.elem(), value.lanes());
        let mask = self.at_width(mask, value.width);
        let per_part = PART / value.width;
        let pieces = (0..value.parts.len() as u32).map(|i| {
            let here = per_part.min(lanes - i * per_part);
            Piece {
                mask: Val::mask(here, mask.width, vec![mask.parts[i as usize]]),
                value: Val::vector(elem, here, vec![value.parts[i as usize]]),
                address: (base, offset + 16 * i as i32),
            }
        });
        Ok(pieces.collect())
    }

    /// For a whole part: branches to a block for a full mask and one for another.
    fn full_or(&mut self, piece: &Piece) -> Option<(Block, Block)> {
        if piece.value.lanes() * piece.value.width != PART {
            return None;
        }
        let (fast, slow) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(slow);
        let full = self.b.ins().vall_true(piece.mask.parts[0]);
        self.b.ins().brif(full, fast, &[], slow, &[]);
        Some((fast, slow))
    }

    /// Address of a lane in memory where its mask is on, else of its copy on the stack, so that nothing branches.
    fn lane_or(&mut self, piece: &Piece, lane: u32, slot: Value) -> Value {
        debug_assert_ne!(piece.value.ty.elem(), Elem::I1);
        let bytes = i64::from(piece.value.width / 8 * lane);
        let on = self.lane(&piece.mask, lane);
        let memory = self.b.ins().iadd_imm_s(piece.address.0, i64::from(piece.address.1) + bytes);
        let stack = self.b.ins().iadd_imm_s(slot, bytes);
        self.b.ins().select(on, memory, stack)
    }
}
