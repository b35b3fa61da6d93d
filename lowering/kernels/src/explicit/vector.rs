//! Rank-1 vectors.

use melior::ir::attribute::{DenseI32ArrayAttribute, DenseI64ArrayAttribute, StringAttribute};

use super::builder::Builder;
use super::types::{Elem, Repr, V};

impl<'c> Builder<'c> {
    /// A scalar in every lane; a vector of that many lanes is returned as it is.
    pub fn broadcast(&self, v: V<'c>, lanes: u32) -> V<'c> {
        if v.ty().lanes == lanes {
            return v;
        }
        assert!(v.ty().is_scalar(), "broadcast of {} to {lanes} lanes", v.ty());
        let ty = v.elem().vector(lanes);
        match v.known() {
            Some(k) => V { ty, repr: Repr::Op(self.constant(ty, k as u64)) },
            None => self.emit("vector.broadcast", &[self.raw(v)], ty, &[]),
        }
    }

    /// The first `n` of `lanes` lanes (none if negative, all if more).
    pub fn create_mask(&self, n: V<'c>, lanes: u32) -> V<'c> {
        if let Some(n) = n.known() {
            return self.constant_mask(n, lanes);
        }
        self.emit("vector.create_mask", &[self.raw(n)], Elem::I1.vector(lanes), &[])
    }

    /// The first `n` of `lanes` lanes.
    pub fn constant_mask(&self, n: i64, lanes: u32) -> V<'c> {
        let n = n.clamp(0, i64::from(lanes));
        let sizes = DenseI64ArrayAttribute::new(self.context(), &[n]).into();
        self.emit("vector.constant_mask", &[], Elem::I1.vector(lanes), &[("mask_dim_sizes", sizes)])
    }

    /// One lane.
    pub fn extract(&self, v: V<'c>, lane: i64) -> V<'c> {
        let at = DenseI64ArrayAttribute::new(self.context(), &[lane]).into();
        self.emit("vector.extract", &[self.raw(v)], v.elem().scalar(), &[("static_position", at)])
    }

    /// The vector with one lane replaced.
    pub fn insert(&self, scalar: V<'c>, into: V<'c>, lane: i64) -> V<'c> {
        let at = DenseI64ArrayAttribute::new(self.context(), &[lane]).into();
        self.emit("vector.insert", &[self.raw(scalar), self.raw(into)], into.ty(), &[("static_position", at)])
    }

    /// A vector of scalars.
    pub fn from_elements(&self, scalars: &[V<'c>]) -> V<'c> {
        let operands: Vec<_> = scalars.iter().map(|s| self.raw(*s)).collect();
        self.emit("vector.from_elements", &operands, scalars[0].elem().vector(scalars.len() as u32), &[])
    }

    /// Picks lanes out of two vectors laid end to end.
    pub fn shuffle(&self, a: V<'c>, b: V<'c>, lanes: &[i64]) -> V<'c> {
        let mask = DenseI64ArrayAttribute::new(self.context(), lanes).into();
        self.emit("vector.shuffle", &[self.raw(a), self.raw(b)], a.elem().vector(lanes.len() as u32), &[("mask", mask)])
    }

    /// 0, 1, 2, ... as index.
    pub fn step(&self, lanes: u32) -> V<'c> {
        self.emit("vector.step", &[], Elem::Index.vector(lanes), &[])
    }

    /// The same bits as lanes of another width.
    pub fn reinterpret(&self, v: V<'c>, to: Elem) -> V<'c> {
        let lanes = v.ty().lanes * v.elem().bits() / to.bits();
        self.emit("vector.bitcast", &[self.raw(v)], to.vector(lanes), &[])
    }

    /// Of 16-bit lanes, signed: the sum of the products of each two neighbours, as 32-bit lanes. x86-64 only.
    pub fn pair_products(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        assert!(a.ty() == b.ty() && a.elem() == Elem::I16, "pair products of {} and {}", a.ty(), b.ty());
        let name = match a.ty().lanes {
            8 => "llvm.x86.sse2.pmadd.wd",
            16 => "llvm.x86.avx2.pmadd.wd",
            lanes => {
                assert!(lanes == 32, "pair products of {}", a.ty());
                "llvm.x86.avx512.pmaddw.d.512"
            }
        };
        self.intrinsic(name, &[a, b], Elem::I32.vector(a.ty().lanes / 2))
    }

    /// `sum` plus, in each 32-bit lane, the products of four neighbouring unsigned 8-bit lanes of `a` and signed ones of `b`;
    /// sums wrap. x86-64 with VNNI only.
    pub fn quad_products(&self, sum: V<'c>, a: V<'c>, b: V<'c>) -> V<'c> {
        let fits = a.ty() == b.ty() && a.elem() == Elem::I8 && sum.ty() == Elem::I32.vector(a.ty().lanes / 4);
        assert!(fits, "quad products of {}, {} and {}", sum.ty(), a.ty(), b.ty());
        let name = match a.ty().lanes {
            32 => "llvm.x86.avx512.vpdpbusd.256",
            lanes => {
                assert!(lanes == 64, "quad products of {}", a.ty());
                "llvm.x86.avx512.vpdpbusd.512"
            }
        };
        self.intrinsic(name, &[sum, a, b], sum.ty())
    }

    fn intrinsic(&self, name: &str, operands: &[V<'c>], ty: super::types::Ty) -> V<'c> {
        let name = StringAttribute::new(self.context(), name).into();
        let segments = DenseI32ArrayAttribute::new(self.context(), &[operands.len() as i32, 0]).into();
        let bundles = DenseI32ArrayAttribute::new(self.context(), &[]).into();
        let attributes = [("intrin", name), ("operandSegmentSizes", segments), ("op_bundle_sizes", bundles)];
        let operands: Vec<_> = operands.iter().map(|v| self.raw(*v)).collect();
        self.emit("llvm.call_intrinsic", &operands, ty, &attributes)
    }
}
