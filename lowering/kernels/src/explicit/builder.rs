//! Where operations are appended, and constants.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use melior::Context;
use melior::ir::attribute::{DenseElementsAttribute, FloatAttribute, IntegerAttribute};
use melior::ir::operation::OperationBuilder;
use melior::ir::{Attribute, BlockLike, BlockRef, Identifier, Location, Operation, OperationRef, Value};

use super::types::{Elem, Repr, Ty, V};

/// Appends operations to the body of one function.
pub struct Builder<'c> {
    cx: &'c Context,
    location: Location<'c>,
    entry: BlockRef<'c, 'c>,
    pub(super) block: Cell<BlockRef<'c, 'c>>,
    constants: RefCell<HashMap<(Ty, u64), Value<'c, 'c>>>,
}

impl<'c> Builder<'c> {
    pub(super) fn new(cx: &'c Context, location: Location<'c>, entry: BlockRef<'c, 'c>) -> Self {
        Builder { cx, location, entry, block: Cell::new(entry), constants: RefCell::default() }
    }

    /// The MLIR context.
    pub fn context(&self) -> &'c Context {
        self.cx
    }

    /// An index constant.
    pub fn index(&self, v: i64) -> V<'c> {
        V { ty: Elem::Index.scalar(), repr: Repr::Known(v) }
    }

    /// An integer (or index, or bool) constant, wrapped to its width.
    pub fn int(&self, elem: Elem, v: i64) -> V<'c> {
        assert!(!elem.is_float(), "an integer constant of type {elem:?}");
        V { ty: elem.scalar(), repr: Repr::Known(elem.wrap(v)) }
    }

    /// A float constant, rounded to its type.
    pub fn float(&self, elem: Elem, v: f64) -> V<'c> {
        assert!(elem.is_float(), "a float constant of type {elem:?}");
        let ty = elem.scalar();
        V { ty, repr: Repr::Op(self.constant(ty, v.to_bits())) }
    }

    /// A constant of any type, splat over the lanes of a vector.
    pub fn splat(&self, ty: Ty, v: f64) -> V<'c> {
        let bits = if ty.elem.is_float() { v.to_bits() } else { ty.elem.wrap(v as i64) as u64 };
        if ty.is_scalar() && !ty.elem.is_float() {
            return self.int(ty.elem, v as i64);
        }
        V { ty, repr: Repr::Op(self.constant(ty, bits)) }
    }

    /// Zero of any type.
    pub fn zero(&self, ty: Ty) -> V<'c> {
        self.splat(ty, 0.0)
    }

    /// The SSA value, for what the builder has no method for.
    pub fn raw(&self, v: V<'c>) -> Value<'c, 'c> {
        match v.repr {
            Repr::Op(value) => value,
            Repr::Known(k) => self.constant(v.ty, k as u64),
        }
    }

    /// Constants live at the head of the function, one of a kind, so that they are in scope everywhere.
    pub(super) fn constant(&self, ty: Ty, bits: u64) -> Value<'c, 'c> {
        if let Some(v) = self.constants.borrow().get(&(ty, bits)) {
            return *v;
        }
        let elem = ty.elem.mlir(self.cx);
        let one: Attribute<'c> = if ty.elem.is_float() {
            FloatAttribute::new(self.cx, elem, f64::from_bits(bits)).into()
        } else {
            IntegerAttribute::new(elem, bits as i64).into()
        };
        let attribute = if ty.is_scalar() { one } else { DenseElementsAttribute::splat(ty.mlir(self.cx), one).into() };
        let op = self.make("arith.constant", &[], &[ty], &[("value", attribute)], |b| b);
        let v = result(self.entry.insert_operation(0, op), 0);
        self.constants.borrow_mut().insert((ty, bits), v);
        v
    }

    /// Appends an operation with one result.
    pub(super) fn emit(
        &self,
        name: &str,
        operands: &[Value<'c, 'c>],
        ty: Ty,
        attributes: &[(&str, Attribute<'c>)],
    ) -> V<'c> {
        let op = self.make(name, operands, &[ty], attributes, |b| b);
        V { ty, repr: Repr::Op(result(self.block.get().append_operation(op), 0)) }
    }

    /// Appends an operation without results.
    pub(super) fn emit_void(&self, name: &str, operands: &[Value<'c, 'c>]) {
        let op = self.make(name, operands, &[], &[], |b| b);
        self.block.get().append_operation(op);
    }

    pub(super) fn make(
        &self,
        name: &str,
        operands: &[Value<'c, 'c>],
        results: &[Ty],
        attributes: &[(&str, Attribute<'c>)],
        more: impl FnOnce(OperationBuilder<'c>) -> OperationBuilder<'c>,
    ) -> Operation<'c> {
        let results: Vec<_> = results.iter().map(|t| t.mlir(self.cx)).collect();
        let attributes: Vec<_> = attributes.iter().map(|(n, a)| (Identifier::new(self.cx, n), *a)).collect();
        let b = OperationBuilder::new(name, self.location)
            .add_operands(operands)
            .add_results(&results)
            .add_attributes(&attributes);
        more(b).build().unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub(super) fn location(&self) -> Location<'c> {
        self.location
    }
}

pub(super) fn result<'c>(op: OperationRef<'c, 'c>, i: usize) -> Value<'c, 'c> {
    op.result(i).expect("the operation was built with this result").into()
}
