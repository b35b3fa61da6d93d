//! Builds one nest: reads and scalar operations, shared where they are equal.

use std::collections::HashMap;

use neap_optable::{BinaryKind, CompareKind, DType, Dim, UnaryKind, ValueId};

use crate::affine::Space;
use crate::ir::{Access, BufferId, Effect, Index, Iter, Nest, OpId, Scalar, ScalarOp};

/// A nest under construction.
pub(super) struct NestBuilder {
    /// Extents of all iterators in scope.
    pub(super) space: Space,
    nest: Nest,
    types: Vec<DType>,
    /// Values inlined so far, by index.
    pub(super) memo: HashMap<(ValueId, Vec<Index>), OpId>,
    outer: usize,
}

impl NestBuilder {
    pub(super) fn new(outer: &[Iter], iters: Vec<Iter>) -> Self {
        NestBuilder {
            space: Space::new(outer, &iters),
            nest: Nest { iters, reads: vec![], ops: vec![], effects: vec![] },
            types: vec![],
            memo: HashMap::new(),
            outer: outer.len(),
        }
    }

    /// The nest's own iterator at this position, as an index.
    pub(super) fn own(&self, position: usize) -> Index {
        Index::Iter(self.outer + position)
    }

    pub(super) fn effect(&mut self, e: Effect) {
        self.nest.effects.push(e);
    }

    pub(super) fn build(self) -> Nest {
        self.nest
    }

    pub(super) fn dtype(&self, op: OpId) -> DType {
        self.types[op.0]
    }

    fn push(&mut self, op: ScalarOp, dtype: DType) -> OpId {
        if let Some(i) = self.nest.ops.iter().position(|o| *o == op) {
            return OpId(i);
        }
        self.nest.ops.push(op);
        self.types.push(dtype);
        OpId(self.nest.ops.len() - 1)
    }

    /// Says what a value is at an index.
    pub(super) fn let_value(&mut self, v: ValueId, index: &[Index], op: OpId) {
        let index = index.iter().map(|i| self.space.simplify(i)).collect();
        self.memo.insert((v, index), op);
    }

    /// Reads an element by access map; indices are simplified.
    pub(super) fn read(&mut self, mut access: Access, dtype: DType) -> OpId {
        for i in &mut access.index {
            *i = self.space.simplify(i);
        }
        let at = match self.nest.reads.iter().position(|r| *r == access) {
            Some(i) => i,
            None => {
                self.nest.reads.push(access);
                self.nest.reads.len() - 1
            }
        };
        self.push(ScalarOp::Read(at), dtype)
    }

    pub(super) fn load(&mut self, buffer: BufferId, index: Vec<OpId>, dtype: DType) -> OpId {
        self.push(ScalarOp::Load(buffer, index), dtype)
    }

    pub(super) fn constant(&mut self, dtype: DType, v: Scalar) -> OpId {
        self.push(ScalarOp::Const(dtype, v), dtype)
    }

    /// A number in a type.
    pub(super) fn number(&mut self, dtype: DType, v: f64) -> OpId {
        let s = if dtype.is_float() { Scalar::Float(v) } else { Scalar::Int(v as i64) };
        self.constant(dtype, s)
    }

    pub(super) fn int(&mut self, v: i64) -> OpId {
        self.constant(DType::I64, Scalar::Int(v))
    }

    /// A size as i64.
    pub(super) fn size(&mut self, d: &Dim) -> OpId {
        match d.as_i64() {
            Some(v) => self.int(v),
            None => self.push(ScalarOp::Size(d.clone()), DType::I64),
        }
    }

    pub(super) fn unary(&mut self, k: UnaryKind, a: OpId) -> OpId {
        let t = match k {
            UnaryKind::Isnan | UnaryKind::Isinf | UnaryKind::Not => DType::Bool,
            _ => self.dtype(a),
        };
        self.push(ScalarOp::Unary(k, a), t)
    }

    pub(super) fn binary(&mut self, k: BinaryKind, a: OpId, b: OpId) -> OpId {
        if let (ScalarOp::Const(DType::I64, Scalar::Int(x)), ScalarOp::Const(DType::I64, Scalar::Int(y))) =
            (&self.nest.ops[a.0], &self.nest.ops[b.0])
        {
            let folded = match k {
                BinaryKind::Add => x.checked_add(*y),
                BinaryKind::Sub => x.checked_sub(*y),
                BinaryKind::Mul => x.checked_mul(*y),
                _ => None,
            };
            if let Some(v) = folded {
                return self.int(v);
            }
        }
        self.push(ScalarOp::Binary(k, a, b), self.dtype(a))
    }

    pub(super) fn compare(&mut self, k: CompareKind, a: OpId, b: OpId) -> OpId {
        self.push(ScalarOp::Compare(k, a, b), DType::Bool)
    }

    pub(super) fn select(&mut self, c: OpId, a: OpId, b: OpId) -> OpId {
        self.push(ScalarOp::Select(c, a, b), self.dtype(a))
    }

    pub(super) fn cast(&mut self, to: DType, a: OpId) -> OpId {
        if self.dtype(a) == to { a } else { self.push(ScalarOp::Cast(to, a), to) }
    }

    pub(super) fn fma(&mut self, a: OpId, b: OpId, c: OpId) -> OpId {
        self.push(ScalarOp::Fma(a, b, c), self.dtype(c))
    }

    pub(super) fn add(&mut self, a: OpId, b: OpId) -> OpId {
        self.binary(BinaryKind::Add, a, b)
    }

    pub(super) fn sub(&mut self, a: OpId, b: OpId) -> OpId {
        self.binary(BinaryKind::Sub, a, b)
    }

    pub(super) fn mul(&mut self, a: OpId, b: OpId) -> OpId {
        self.binary(BinaryKind::Mul, a, b)
    }

    pub(super) fn div(&mut self, a: OpId, b: OpId) -> OpId {
        self.binary(BinaryKind::Div, a, b)
    }

    pub(super) fn max(&mut self, a: OpId, b: OpId) -> OpId {
        self.binary(BinaryKind::Max, a, b)
    }

    pub(super) fn min(&mut self, a: OpId, b: OpId) -> OpId {
        self.binary(BinaryKind::Min, a, b)
    }

    pub(super) fn and(&mut self, a: OpId, b: OpId) -> OpId {
        self.binary(BinaryKind::And, a, b)
    }

    pub(super) fn or(&mut self, a: OpId, b: OpId) -> OpId {
        self.binary(BinaryKind::Or, a, b)
    }

    /// The value of an index expression, as i64.
    pub(super) fn index(&mut self, index: &Index) -> OpId {
        match self.space.simplify(index) {
            Index::Size(d) => self.size(&d),
            Index::Iter(i) => self.push(ScalarOp::Iter(i), DType::I64),
            Index::Add(a, b) => {
                let (a, b) = (self.index(&a), self.index(&b));
                self.add(a, b)
            }
            Index::Mul(a, d) => {
                let (a, d) = (self.index(&a), self.size(&d));
                self.mul(a, d)
            }
            // The remainder is never negative, so what is left divides exactly and rounding does not matter.
            Index::FloorDiv(a, d) => {
                let (a, d) = (self.index(&a), self.size(&d));
                let rest = self.binary(BinaryKind::Mod, a, d);
                let whole = self.sub(a, rest);
                self.div(whole, d)
            }
            Index::Mod(a, d) => {
                let (a, d) = (self.index(&a), self.size(&d));
                self.binary(BinaryKind::Mod, a, d)
            }
        }
    }

    /// A gathering index as i64: negative ones count from the end, then it is clamped to the dim.
    pub(super) fn clamped(&mut self, index: OpId, dim: &Dim) -> OpId {
        let i = self.counted_from_start(index, dim);
        let (zero, one, n) = (self.int(0), self.int(1), self.size(dim));
        let i = self.max(i, zero);
        let last = self.sub(n, one);
        self.min(i, last)
    }

    /// Whether a scattering index, negative ones counted from the end, lies in the dim.
    pub(super) fn inside(&mut self, index: OpId, dim: &Dim) -> OpId {
        let i = self.counted_from_start(index, dim);
        let (zero, n) = (self.int(0), self.size(dim));
        let (low, high) = (self.compare(CompareKind::Ge, i, zero), self.compare(CompareKind::Lt, i, n));
        self.and(low, high)
    }

    fn counted_from_start(&mut self, index: OpId, dim: &Dim) -> OpId {
        let i = self.cast(DType::I64, index);
        let (zero, n) = (self.int(0), self.size(dim));
        let negative = self.compare(CompareKind::Lt, i, zero);
        let from_end = self.add(i, n);
        self.select(negative, from_end, i)
    }
}

impl NestBuilder {
    /// The value of a constant operation.
    pub(super) fn known(&self, op: OpId) -> Option<Scalar> {
        match &self.nest.ops[op.0] {
            ScalarOp::Const(_, s) => Some(*s),
            _ => None,
        }
    }
}
