//! Loads, stores and windows into the scratch.

use melior::ir::Attribute;
use melior::ir::attribute::{BoolAttribute, DenseI64ArrayAttribute, IntegerAttribute};
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::r#type::{IntegerType, MemRefType};
use melior::ir::{BlockLike, Type, Value};

use super::builder::{Builder, result};
use super::types::{Buf, Elem, V};

impl<'c> Buf<'c> {
    pub(super) fn mlir(cx: &'c melior::Context, elem: Elem) -> Type<'c> {
        MemRefType::new(elem.mlir(cx), &[i64::MIN], None::<Attribute<'c>>, None).into()
    }
}

impl<'c> Builder<'c> {
    /// One element.
    pub fn load(&self, from: Buf<'c>, at: V<'c>) -> V<'c> {
        self.emit("memref.load", &[from.value, self.raw(at)], from.elem.scalar(), &[])
    }

    /// Stores one element.
    pub fn store(&self, v: V<'c>, to: Buf<'c>, at: V<'c>) {
        assert!(v.ty() == to.elem.scalar(), "store of {} into {:?}", v.ty(), to.elem);
        self.emit_void("memref.store", &[self.raw(v), to.value, self.raw(at)]);
    }

    /// A hint that the line of an element is read soon, into the second-level cache; the element need not exist.
    pub fn prefetch(&self, from: Buf<'c>, at: V<'c>) {
        let i32 = IntegerType::new(self.context(), 32).into();
        let flag = |v| BoolAttribute::new(self.context(), v).into();
        let locality = IntegerAttribute::new(i32, 2).into();
        let attributes = [("isWrite", flag(false)), ("localityHint", locality), ("isDataCache", flag(true))];
        let op = self.make("memref.prefetch", &[from.value, self.raw(at)], &[], &attributes, |b| b);
        self.block.get().append_operation(op);
    }

    /// Consecutive elements.
    pub fn vload(&self, from: Buf<'c>, at: V<'c>, lanes: u32) -> V<'c> {
        self.emit("vector.load", &[from.value, self.raw(at)], from.elem.vector(lanes), &[])
    }

    /// Stores consecutive elements; a scalar is stored as one element.
    pub fn vstore(&self, v: V<'c>, to: Buf<'c>, at: V<'c>) {
        if v.ty().is_scalar() {
            return self.store(v, to, at);
        }
        assert!(v.elem() == to.elem, "store of {} into {:?}", v.ty(), to.elem);
        self.emit_void("vector.store", &[self.raw(v), to.value, self.raw(at)]);
    }

    /// Consecutive elements where the mask holds, else those of `other`.
    pub fn masked_load(&self, from: Buf<'c>, at: V<'c>, mask: V<'c>, other: V<'c>) -> V<'c> {
        let other = self.same_lanes(other, mask).0;
        assert!(other.elem() == from.elem && mask.elem() == Elem::I1, "load of {} from {:?}", other.ty(), from.elem);
        let operands = [from.value, self.raw(at), self.raw(mask), self.raw(other)];
        self.emit("vector.maskedload", &operands, other.ty(), &[])
    }

    /// Stores consecutive elements where the mask holds.
    pub fn masked_store(&self, v: V<'c>, to: Buf<'c>, at: V<'c>, mask: V<'c>) {
        assert!(v.elem() == to.elem && mask.elem() == Elem::I1, "store of {} into {:?}", v.ty(), to.elem);
        // LLVM 22 makes a scalar store of a constant mask of one lane, and where the vector was truncated it stores the element
        // as wide as it was before.
        if is_first_lane(self.raw(mask)) {
            return self.store(self.extract(v, 0), to, at);
        }
        self.emit_void("vector.maskedstore", &[to.value, self.raw(at), self.raw(mask), self.raw(v)]);
    }

    /// A typed window into a byte buffer: `len` elements from byte `offset` (a multiple of the element's size).
    pub fn view(&self, bytes: Buf<'c>, offset: V<'c>, elem: Elem, len: V<'c>) -> Buf<'c> {
        assert!(bytes.elem == Elem::I8, "view of {:?}", bytes.elem);
        let op = self.make("memref.view", &[bytes.value, self.raw(offset), self.raw(len)], &[], &[], |b| {
            b.add_results(&[Buf::mlir(self.context(), elem)])
        });
        debug_assert_eq!(op.result_count(), 1);
        Buf { elem, value: result(self.block.get().append_operation(op), 0) }
    }
}

/// Whether a mask is the constant one of the first lane.
fn is_first_lane(mask: Value<'_, '_>) -> bool {
    let Ok(made) = OperationResult::try_from(mask) else { return false };
    let op = made.owner();
    let one =
        |a: Attribute<'_>| DenseI64ArrayAttribute::try_from(a).is_ok_and(|a| a.len() == 1 && a.element(0) == Ok(1));
    op.name().as_string_ref().as_str() == Ok("vector.constant_mask") && op.attribute("mask_dim_sizes").is_ok_and(one)
}
