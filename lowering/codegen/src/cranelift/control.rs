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
use cranelift_codegen::ir::{BlockArg, InstBuilder, condcodes::IntCC};
use melior::ir::{BlockLike, BlockRef, OperationRef, RegionLike, ValueLike, operation::OperationLike};

impl Translator<'_> {
    /// A loop tested at its end, behind a test whether it runs at all: one branch an iteration.
    pub(super) fn for_loop(&mut self, op: OperationRef<'_, '_>) -> Result<(), CodegenError> {
        let [lower, upper, step] = [0, 1, 2].map(|i| self.operand(op, i));
        let (lower, upper, step) = (lower?, upper?.parts[0], step?.parts[0]);
        let body = self.block_of(op, 0)?;
        let initial: Vec<Val> = (3..op.operand_count()).map(|i| self.operand(op, i)).collect::<Result<_, _>>()?;
        let (enter, exit) = (self.b.create_block(), self.b.create_block());
        let variable = self.params(enter, lower.ty);
        let carried: Vec<Val> = initial.iter().map(|v| self.params(enter, v.ty)).collect();
        let results: Vec<Val> = initial.iter().map(|v| self.params(exit, v.ty)).collect();

        let mut arguments = vec![BlockArg::Value(lower.parts[0])];
        let initial = self.arguments(initial);
        arguments.extend(&initial);
        let runs = self.b.ins().icmp(IntCC::SignedLessThan, lower.parts[0], upper);
        self.b.ins().brif(runs, enter, &arguments, exit, &initial);

        self.b.switch_to_block(enter);
        let counter = variable.parts[0];
        for (i, value) in std::iter::once(variable).chain(carried).enumerate() {
            let argument = body.argument(i).map_err(|_| illegal(&op, "its body takes too few arguments"))?;
            self.note_depth(argument, self.depth + 1);
            self.bind(argument, value);
        }
        let quiet = std::mem::replace(&mut self.quiet, !stores(body));
        self.depth += 1;
        self.block(body)?;
        self.depth -= 1;
        self.quiet = quiet;
        let yielded = self.yielded(op, body)?;
        let next = self.b.ins().iadd(counter, step);
        let more = self.b.ins().icmp(IntCC::SignedLessThan, next, upper);
        let mut arguments = vec![BlockArg::Value(next)];
        arguments.extend(&yielded);
        self.b.ins().brif(more, enter, &arguments, exit, &yielded);

        self.b.switch_to_block(exit);
        self.bind_results(op, results);
        Ok(())
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
        let end = body.terminator().ok_or_else(|| illegal(&op, "a region has no scf.yield"))?;
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

/// Whether a block or a region inside it writes memory.
fn stores(block: BlockRef<'_, '_>) -> bool {
    operations(block.first_operation()).any(|op| {
        matches!(op_name(&op).as_str(), "memref.store" | "vector.store" | "vector.maskedstore")
            || op.regions().filter_map(|region| region.first_block()).any(stores)
    })
}
