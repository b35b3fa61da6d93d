//! Loops and branches as closures.

use melior::ir::{Block, BlockLike, Region, RegionLike};

use super::arith::Cmp;
use super::builder::{Builder, result};
use super::types::{Elem, Repr, Ty, V};

impl<'c> Builder<'c> {
    /// `for iv in (from..to).step_by(step)`, folding values: the body gets the current ones and returns the next.
    /// No iteration is emitted as nothing and a single known one as its body.
    pub fn for_iter(
        &self,
        from: V<'c>,
        to: V<'c>,
        step: i64,
        init: &[V<'c>],
        body: impl FnOnce(&Self, V<'c>, &[V<'c>]) -> Vec<V<'c>>,
    ) -> Vec<V<'c>> {
        assert!(step > 0, "a loop of step {step}");
        if let (Some(f), Some(t)) = (from.known(), to.known()) {
            if f >= t {
                return init.to_vec();
            }
            if f + step >= t {
                return body(self, from, init);
            }
        }
        let types: Vec<Ty> = init.iter().map(V::ty).collect();
        let mut arguments = vec![(Elem::Index.mlir(self.context()), self.location())];
        arguments.extend(types.iter().map(|t| (t.mlir(self.context()), self.location())));
        let region = Region::new();
        let block = region.append_block(Block::new(&arguments));
        let argument = |i: usize, ty: Ty| V {
            ty,
            repr: Repr::Op(block.argument(i).expect("the block was made with this argument").into()),
        };
        let current: Vec<V<'c>> = types.iter().enumerate().map(|(i, t)| argument(i + 1, *t)).collect();
        let outer = self.block.replace(block);
        let next = body(self, argument(0, Elem::Index.scalar()), &current);
        self.yield_(&next, &types);
        self.block.set(outer);
        let mut operands = vec![self.raw(from), self.raw(to), self.raw(self.index(step))];
        operands.extend(init.iter().map(|v| self.raw(*v)));
        let op = self.make("scf.for", &operands, &types, &[], |b| b.add_regions([region]));
        let op = outer.append_operation(op);
        types.iter().enumerate().map(|(i, ty)| V { ty: *ty, repr: Repr::Op(result(op, i)) }).collect()
    }

    /// `for iv in (from..to).step_by(step)`
    pub fn for_(&self, from: V<'c>, to: V<'c>, step: i64, body: impl FnOnce(&Self, V<'c>)) {
        self.for_iter(from, to, step, &[], |b, iv, _| {
            body(b, iv);
            Vec::new()
        });
    }

    /// Both sides give values of the same types. A known condition leaves only its side.
    pub fn if_else(
        &self,
        condition: V<'c>,
        then: impl FnOnce(&Self) -> Vec<V<'c>>,
        other: impl FnOnce(&Self) -> Vec<V<'c>>,
    ) -> Vec<V<'c>> {
        match condition.known() {
            Some(0) => return other(self),
            Some(_) => return then(self),
            None => {}
        }
        let outer = self.block.get();
        let (then_region, other_region) = (Region::new(), Region::new());
        self.block.set(then_region.append_block(Block::new(&[])));
        let values = then(self);
        let types: Vec<Ty> = values.iter().map(V::ty).collect();
        self.yield_(&values, &types);
        self.block.set(other_region.append_block(Block::new(&[])));
        let values = other(self);
        self.yield_(&values, &types);
        self.block.set(outer);
        let op =
            self.make("scf.if", &[self.raw(condition)], &types, &[], |b| b.add_regions([then_region, other_region]));
        let op = outer.append_operation(op);
        types.iter().enumerate().map(|(i, ty)| V { ty: *ty, repr: Repr::Op(result(op, i)) }).collect()
    }

    /// Does something only where the condition holds.
    pub fn when(&self, condition: V<'c>, then: impl FnOnce(&Self)) {
        match condition.known() {
            Some(0) => return,
            Some(_) => return then(self),
            None => {}
        }
        let outer = self.block.get();
        let region = Region::new();
        self.block.set(region.append_block(Block::new(&[])));
        then(self);
        self.yield_(&[], &[]);
        self.block.set(outer);
        let op = self.make("scf.if", &[self.raw(condition)], &[], &[], |b| b.add_regions([region, Region::new()]));
        outer.append_operation(op);
    }

    /// Quotient rounded up of non-negative indices.
    pub fn div_ceil(&self, a: V<'c>, by: i64) -> V<'c> {
        self.div_u(self.add(a, self.index(by - 1)), self.index(by))
    }

    /// Whether 0 <= a < bound, for a bound that is not negative.
    pub fn in_range(&self, a: V<'c>, bound: V<'c>) -> V<'c> {
        self.cmp(Cmp::Ult, a, bound)
    }

    fn yield_(&self, values: &[V<'c>], types: &[Ty]) {
        assert!(
            values.iter().map(V::ty).eq(types.iter().copied()),
            "a region yields {:?} instead of {types:?}",
            values.iter().map(V::ty).collect::<Vec<_>>()
        );
        let operands: Vec<_> = values.iter().map(|v| self.raw(*v)).collect();
        self.emit_void("scf.yield", &operands);
    }
}
