//! `scf.for` and `scf.if` as blocks with parameters.

use super::{
    translate::Translator,
    value::{Val, width},
};
use crate::{
    CodegenError,
    legality::operations,
    stage::{illegal, op_name},
    types::{Elem, ValueType},
};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, condcodes::IntCC};
use melior::ir::{BlockLike, BlockRef, OperationRef, RegionLike, ValueLike, operation::OperationLike};

impl Translator<'_> {
    /// A loop; one that carries a register tile first runs as often as it can in an unrolled copy, since each iteration
    /// ends by moving what it carries back to where the next one wants it.
    pub(super) fn for_loop(&mut self, op: OperationRef<'_, '_>) -> Result<(), CodegenError> {
        let [lower, upper, step] = [0, 1, 2].map(|i| self.operand(op, i));
        let (mut start, upper, step) = (lower?.parts[0], upper?.parts[0], step?.parts[0]);
        let body = self.block_of(op, 0)?;
        let mut carried: Vec<Val> = (3..op.operand_count()).map(|i| self.operand(op, i)).collect::<Result<_, _>>()?;
        let copies = copies(body, &carried);
        if copies > 1 {
            let ahead = self.b.ins().imul_imm_s(step, i64::from(copies) - 1);
            let limit = self.b.ins().isub(upper, ahead);
            (start, carried) = self.run(op, body, (start, limit, step), carried, copies)?;
        }
        let (_, results) = self.run(op, body, (start, upper, step), carried, 1)?;
        self.bind_results(op, results);
        Ok(())
    }

    /// `copies` iterations at a time, tested at the end behind a test whether the loop runs at all: one branch a round.
    /// Gives the variable (where there are several copies) and the carried values after the loop.
    fn run(
        &mut self,
        op: OperationRef<'_, '_>,
        body: BlockRef<'_, '_>,
        (start, limit, step): (Value, Value, Value),
        initial: Vec<Val>,
        copies: u32,
    ) -> Result<(Value, Vec<Val>), CodegenError> {
        let index = ValueType::Scalar(Elem::Index);
        let (enter, exit) = (self.b.create_block(), self.b.create_block());
        let variable = self.params(enter, index).parts[0];
        let mut carried: Vec<Val> = initial.iter().map(|v| self.params(enter, v.ty)).collect();
        let last = (copies > 1).then(|| self.params(exit, index).parts[0]);
        let results: Vec<Val> = initial.iter().map(|v| self.params(exit, v.ty)).collect();

        let initial = self.arguments(initial);
        self.branch((start, limit), enter, exit, &initial, copies > 1);
        self.b.switch_to_block(enter);
        let quiet = std::mem::replace(&mut self.quiet, !stores(body));
        self.depth += 1;
        let mut origins = vec![None; carried.len()];
        let mut next = variable;
        for copy in 0..copies {
            let distance = self.splat_bits(op, 2).map(|step| (variable, step as i64 * i64::from(copy)));
            let counter = Val::single(index, next);
            let bound = std::iter::once((counter, distance)).chain(carried.into_iter().zip(origins));
            for (i, (value, origin)) in bound.enumerate() {
                let argument = body.argument(i).map_err(|_| illegal(&op, "its body takes too few arguments"))?;
                self.note_depth(argument, self.depth);
                self.note_origin(argument, origin);
                self.bind(argument, value);
            }
            self.block(body)?;
            next = self.b.ins().iadd(next, step);
            let end = terminator(op, body)?;
            carried = (0..end.operand_count()).map(|i| self.operand(end, i)).collect::<Result<_, _>>()?;
            origins = (0..end.operand_count()).map(|i| self.origin(end, i)).collect();
        }
        self.depth -= 1;
        self.quiet = quiet;
        let carried = self.arguments(carried);
        self.branch((next, limit), enter, exit, &carried, copies > 1);
        self.b.switch_to_block(exit);
        Ok((last.unwrap_or(start), results))
    }

    /// To `enter` while the variable is below the limit, else to `exit`.
    fn branch(&mut self, (at, limit): (Value, Value), enter: Block, exit: Block, carried: &[BlockArg], hand_on: bool) {
        let mut inside = vec![BlockArg::Value(at)];
        inside.extend(carried);
        let outside = if hand_on { &inside } else { carried };
        let more = self.b.ins().icmp(IntCC::SignedLessThan, at, limit);
        self.b.ins().brif(more, enter, &inside, exit, outside);
    }

    pub(super) fn if_else(&mut self, op: OperationRef<'_, '_>) -> Result<(), CodegenError> {
        let condition = self.operand(op, 0)?.parts[0];
        let types: Vec<ValueType> = op
            .results()
            .map(|r| ValueType::read(r.r#type()).map_err(|reason| illegal(&op, reason)))
            .collect::<Result<_, _>>()?;
        let (then, exit) = (self.b.create_block(), self.b.create_block());
        let has_else = op.region(1).ok().and_then(|r| r.first_block()).is_some();
        let other = if has_else { self.b.create_block() } else { exit };
        let results: Vec<Val> = types.iter().map(|&ty| self.params(exit, ty)).collect();
        self.b.ins().brif(condition, then, &[], other, &[]);
        for (block, region) in [(then, 0), (other, 1)].into_iter().take(1 + usize::from(has_else)) {
            self.b.switch_to_block(block);
            let body = self.block_of(op, region)?;
            self.block(body)?;
            let yielded = self.yielded(op, body)?;
            self.b.ins().jump(exit, &yielded);
        }
        self.b.switch_to_block(exit);
        self.bind_results(op, results);
        Ok(())
    }

    /// Results are block parameters, so they belong to the loop that encloses the operation.
    fn bind_results(&mut self, op: OperationRef<'_, '_>, results: Vec<Val>) {
        for (to, value) in op.results().zip(results) {
            self.note_depth(to, self.depth);
            self.bind(to, value);
        }
    }

    fn block_of<'c: 'a, 'a>(&self, op: OperationRef<'c, 'a>, i: usize) -> Result<BlockRef<'c, 'a>, CodegenError> {
        op.region(i).ok().and_then(|r| r.first_block()).ok_or_else(|| illegal(&op, "a region has no block"))
    }

    /// What a region's `scf.yield` hands on.
    fn yielded(&mut self, op: OperationRef<'_, '_>, body: BlockRef<'_, '_>) -> Result<Vec<BlockArg>, CodegenError> {
        let end = terminator(op, body)?;
        let values = (0..end.operand_count()).map(|i| self.operand(end, i)).collect::<Result<_, _>>()?;
        Ok(self.arguments(values))
    }

    /// Parts as block arguments, truth vectors at the width that parameters have.
    fn arguments(&mut self, values: Vec<Val>) -> Vec<BlockArg> {
        let mut arguments = Vec::new();
        for value in values {
            let value = self.at_width(value, width(Elem::I1));
            arguments.extend(value.parts.into_iter().map(BlockArg::Value));
        }
        arguments
    }
}

/// How many vector parts a loop must carry, and how many operations it may have, to be unrolled, and how often.
const TILE_PARTS: usize = 4;
const TILE_OPS: usize = 96;
const TILE_COPIES: u32 = 4;

/// How many iterations a round of the loop has.
fn copies(body: BlockRef<'_, '_>, carried: &[Val]) -> u32 {
    let parts: usize = carried.iter().filter(|v| v.is_vector()).map(|v| v.parts.len()).sum();
    let ops = operations(body.first_operation());
    let small = ops.map(|op| 1 + op.region_count() * TILE_OPS).sum::<usize>() <= TILE_OPS;
    if parts >= TILE_PARTS && small { TILE_COPIES } else { 1 }
}

fn terminator<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    body: BlockRef<'c, 'a>,
) -> Result<OperationRef<'c, 'a>, CodegenError> {
    body.terminator().ok_or_else(|| illegal(&op, "a region has no scf.yield"))
}

/// Whether a block or a region inside it writes memory.
fn stores(block: BlockRef<'_, '_>) -> bool {
    operations(block.first_operation()).any(|op| {
        matches!(op_name(&op).as_str(), "memref.store" | "vector.store" | "vector.maskedstore")
            || op.regions().filter_map(|region| region.first_block()).any(stores)
    })
}
