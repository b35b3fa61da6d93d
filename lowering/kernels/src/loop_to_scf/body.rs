//! The scalar body: reads, operations, stores, over lanes or one at a time.

use neap_optable::{BinaryKind, DType};

use super::nest::Site;
use super::stage::Env;
use super::value::{Lanes, Val};
use crate::explicit::{Buf, Cmp, Elem, V};
use crate::ir::{BufferId, Role, ScalarOp};
use crate::scalar;
use crate::schedule::Place;

impl<'c> Env<'_, '_, 'c> {
    /// Values of all operations.
    pub(crate) fn body(&self, site: Site<'_>, iters: &[V<'c>], lanes: Option<Lanes<'c>>) -> Vec<Val<'c>> {
        let b = self.b;
        let types = scalar::dtypes_of(&site.nest.ops, |i| self.dtype(site.nest.reads[i].buffer), |id| self.dtype(id));
        let mut out: Vec<Val<'c>> = vec![];
        let count = lanes.map_or(0, |l| l.count);
        for op in &site.nest.ops {
            let v = |o: &crate::ir::OpId| out[o.0];
            let t = |o: &crate::ir::OpId| types[o.0];
            // A result is one for all lanes if its operands are.
            let pack = |r: V<'c>| if r.ty().is_scalar() { Val::One(r) } else { Val::Many(r) };
            let value = match op {
                ScalarOp::Read(i) => self.read(site, &site.nest.reads[*i], iters, lanes),
                ScalarOp::Load(buffer, index) => {
                    let index: Vec<Val<'c>> = index.iter().map(v).collect();
                    self.load_at(*buffer, &index, lanes)
                }
                ScalarOp::Const(t, s) => Val::One(scalar::constant(b, *t, *s)),
                ScalarOp::Iter(i) => {
                    let at = b.index_cast(iters[*i], Elem::I64);
                    if lanes.is_some_and(|l| l.iter == *i) { Val::Ramp(at) } else { Val::One(at) }
                }
                ScalarOp::Size(d) => Val::One(b.index_cast(b.size(d, &self.sizes), Elem::I64)),
                ScalarOp::Unary(k, x) => pack(scalar::unary(b, *k, t(x), v(x).plain(b, count))),
                ScalarOp::Binary(k, x, y) => match (k, v(x), v(y)) {
                    (BinaryKind::Add, Val::Ramp(r), Val::One(c)) | (BinaryKind::Add, Val::One(c), Val::Ramp(r)) => {
                        Val::Ramp(b.add(r, c))
                    }
                    (BinaryKind::Sub, Val::Ramp(r), Val::One(c)) => Val::Ramp(b.sub(r, c)),
                    (k, Val::One(x1), Val::One(y1)) => Val::One(scalar::binary(b, *k, t(x), x1, y1)),
                    (k, x1, y1) => Val::Many(scalar::binary(b, *k, t(x), x1.many(b, count), y1.many(b, count))),
                },
                ScalarOp::Compare(k, x, y) => match (v(x).one(), v(y).one()) {
                    (Some(x1), Some(y1)) => Val::One(scalar::compare(b, *k, t(x), x1, y1)),
                    _ => Val::Many(scalar::compare(b, *k, t(x), v(x).many(b, count), v(y).many(b, count))),
                },
                ScalarOp::Select(c, x, y) => match (v(c).one(), v(x).one(), v(y).one()) {
                    (Some(c1), Some(x1), Some(y1)) => Val::One(b.select(c1, x1, y1)),
                    (Some(c1), ..) => Val::Many(b.select(c1, v(x).many(b, count), v(y).many(b, count))),
                    (None, ..) => Val::Many(b.select(v(c).many(b, count), v(x).many(b, count), v(y).many(b, count))),
                },
                ScalarOp::Cast(to, x) => pack(scalar::cast(b, t(x), *to, v(x).plain(b, count))),
                ScalarOp::Fma(x, y, z) => match (v(x).one(), v(y).one(), v(z).one()) {
                    (Some(x1), Some(y1), Some(z1)) => Val::One(scalar::round(b, t(z), b.fma(x1, y1, z1))),
                    _ => {
                        let sum = b.fma(v(x).many(b, count), v(y).many(b, count), v(z).many(b, count));
                        Val::Many(scalar::round(b, t(z), sum))
                    }
                },
            };
            out.push(value);
        }
        out
    }

    pub(crate) fn dtype(&self, id: BufferId) -> DType {
        self.kernel.buffers[id.0].dtype
    }

    /// Temporaries under a vectorised axis hold a vector for every element.
    fn is_wide(&self, id: BufferId) -> bool {
        self.stage.axis.is_some() && self.kernel.buffers[id.0].role == Role::Temp
    }

    fn buf(&self, id: BufferId) -> Buf<'c> {
        self.buffers[&id]
    }

    fn read(&self, site: Site<'_>, p: &Place, iters: &[V<'c>], lanes: Option<Lanes<'c>>) -> Val<'c> {
        let b = self.b;
        if let Some(v) = self.values.borrow().get(&p.buffer) {
            return *v;
        }
        let dtype = self.dtype(p.buffer);
        if self.is_wide(p.buffer) {
            let width = self.stage.lanes;
            let read = |at: V<'c>| {
                let at = b.mul(at, b.index(i64::from(width)));
                scalar::from_memory(b, dtype, b.vload(self.buf(p.buffer), at, width))
            };
            if p.guards.is_empty() {
                return Val::Many(read(self.affine(&p.offset, site.space, iters)));
            }
            let inside = self.inside(site, p, iters, None);
            let at = b.select(inside, self.affine(&p.offset, site.space, iters), b.index(0));
            let outside = scalar::constant(b, dtype, p.outside.expect("guarded reads have a value outside"));
            return Val::Many(b.select(inside, read(at), b.broadcast(outside, width)));
        }
        match lanes {
            Some(l) if p.depends(l.iter) => {
                Val::Many(scalar::from_memory(b, dtype, self.read_lanes(site, p, iters, l)))
            }
            _ => Val::One(scalar::from_memory(b, dtype, self.read_one(site, p, iters))),
        }
    }

    /// Whether the guards hold that do not (`without` given: not counting that iterator's) depend on lanes.
    fn inside(&self, site: Site<'_>, p: &Place, iters: &[V<'c>], without: Option<usize>) -> V<'c> {
        let b = self.b;
        let mut all = b.int(Elem::I1, 1);
        for (g, size) in p.guards.iter().filter(|(g, _)| without.is_none_or(|v| !g.mentions(v))) {
            let holds = b.in_range(self.affine(g, site.space, iters), b.size(size, &self.sizes));
            all = if all.known() == Some(1) { holds } else { b.and(all, holds) };
        }
        all
    }

    /// What memory holds for a read outside.
    fn outside(&self, p: &Place) -> V<'c> {
        let value = p.outside.expect("guarded reads have a value outside");
        scalar::to_memory(self.b, self.dtype(p.buffer), scalar::constant(self.b, self.dtype(p.buffer), value))
    }

    fn read_one(&self, site: Site<'_>, p: &Place, iters: &[V<'c>]) -> V<'c> {
        let b = self.b;
        let at = self.affine(&p.offset, site.space, iters);
        if p.guards.is_empty() {
            return b.load(self.buf(p.buffer), at);
        }
        let outside = self.outside(p);
        if self.kernel.buffers[p.buffer.0].dims.iter().any(|d| d.as_const() == Some(0)) {
            return outside;
        }
        // Element 0 is always there, so the load needs no branch.
        let inside = self.inside(site, p, iters, None);
        let x = b.load(self.buf(p.buffer), b.select(inside, at, b.index(0)));
        b.select(inside, x, outside)
    }

    fn read_lanes(&self, site: Site<'_>, p: &Place, iters: &[V<'c>], l: Lanes<'c>) -> V<'c> {
        let b = self.b;
        let elem = self.buf(p.buffer).elem;
        let empty = self.kernel.buffers[p.buffer.0].dims.iter().any(|d| d.as_const() == Some(0));
        if empty {
            return b.broadcast(self.outside(p), l.count);
        }
        let step = if p.offset.opaque_in(l.iter) { None } else { p.offset.coefficient(l.iter).as_i64() };
        let moving: Vec<_> = p.guards.iter().filter(|(g, _)| g.mentions(l.iter)).collect();
        let at = || self.affine(&p.offset, site.space, iters);
        match (step, moving.as_slice(), p.guards.is_empty()) {
            (Some(1), [], true) => match l.active {
                None => b.vload(self.buf(p.buffer), at(), l.count),
                Some(n) if self.masked => {
                    b.masked_load(self.buf(p.buffer), at(), b.create_mask(n, l.count), b.zero(elem.scalar()))
                }
                Some(_) => self.by_lane(site, p, iters, l, false),
            },
            (Some(1), [], false) if self.masked => {
                let inside = self.inside(site, p, iters, None);
                let n = l.active.unwrap_or(b.index(i64::from(l.count)));
                let mask = b.create_mask(b.select(inside, n, b.index(0)), l.count);
                b.masked_load(self.buf(p.buffer), at(), mask, self.outside(p))
            }
            (Some(s @ (1 | 2)), [(g, size)], _)
                if self.masked && !g.opaque_in(l.iter) && g.coefficient(l.iter).as_i64() == Some(s) =>
            {
                let (first, size) = (self.affine(g, site.space, iters), b.size(size, &self.sizes));
                self.read_window(site, p, iters, l, s, Some((first, size)))
            }
            (Some(2), [], _) if self.masked => self.read_window(site, p, iters, l, 2, None),
            (Some(2), [], true) if l.active.is_none() => self.every_second(self.buf(p.buffer), at(), l.count),
            (_, [], true) => self.by_lane(site, p, iters, l, false),
            _ => self.unless_inside(site, p, iters, l),
        }
    }

    /// Elements in steps of 1 or 2, by masks. `window`: the index of lane 0 along the guarded dim, and its size.
    fn read_window(
        &self,
        site: Site<'_>,
        p: &Place,
        iters: &[V<'c>],
        l: Lanes<'c>,
        step: i64,
        window: Option<(V<'c>, V<'c>)>,
    ) -> V<'c> {
        let b = self.b;
        let (at, outside) = (
            self.affine(&p.offset, site.space, iters),
            if p.guards.is_empty() { b.zero(self.buf(p.buffer).elem.scalar()) } else { self.outside(p) },
        );
        let rows = self.inside(site, p, iters, Some(l.iter));
        // Elements from the first lane's to the last meant one's.
        let lanes = l.active.unwrap_or(b.index(i64::from(l.count)));
        let mut end = b.sub(b.mul(lanes, b.index(step)), b.index(step - 1));
        if let Some((first, size)) = window {
            end = b.min(b.sub(size, first), end);
        }
        let end = b.select(rows, end, b.index(0));
        let part = |from: i64| {
            let from = b.index(from);
            let mut mask = b.create_mask(b.sub(end, from), l.count);
            if let Some((first, _)) = window {
                let before = b.create_mask(b.sub(b.sub(b.index(0), first), from), l.count);
                mask = b.and(mask, b.not(before));
            }
            b.masked_load(self.buf(p.buffer), b.add(at, from), mask, outside)
        };
        if step == 1 {
            return part(0);
        }
        let count = i64::from(l.count);
        b.shuffle(part(0), part(count), &(0..count).map(|i| 2 * i).collect::<Vec<_>>())
    }

    /// Elements 0, 2, 4, ... from two vectors that end at the last of them.
    fn every_second(&self, from: Buf<'c>, at: V<'c>, count: u32) -> V<'c> {
        let (b, n) = (self.b, i64::from(count));
        let (low, high) = (b.vload(from, at, count), b.vload(from, b.add(at, b.index(n - 1)), count));
        let pick = |i: i64| if 2 * i < n { 2 * i } else { n + 2 * i - (n - 1) };
        b.shuffle(low, high, &(0..n).map(pick).collect::<Vec<_>>())
    }

    /// Without guards if the first and the last lane are inside (indices are monotonic in the lane), else with them.
    fn unless_inside(&self, site: Site<'_>, p: &Place, iters: &[V<'c>], l: Lanes<'c>) -> V<'c> {
        let b = self.b;
        let monotonic = p.guards.iter().all(|(g, _)| !g.opaque_in(l.iter));
        if l.active.is_some() || !monotonic {
            return self.by_lane(site, p, iters, l, true);
        }
        let ends = [0, i64::from(l.count) - 1].map(|lane| {
            let mut at = iters.to_vec();
            at[l.iter] = b.add(at[l.iter], b.index(lane));
            self.inside(site, p, &at, None)
        });
        let values = b.if_else(
            b.and(ends[0], ends[1]),
            |b| {
                vec![match p.offset.coefficient(l.iter).as_i64() {
                    Some(1) => b.vload(self.buf(p.buffer), self.affine(&p.offset, site.space, iters), l.count),
                    Some(2) => {
                        self.every_second(self.buf(p.buffer), self.affine(&p.offset, site.space, iters), l.count)
                    }
                    _ => self.by_lane(site, p, iters, l, false),
                }]
            },
            |_| vec![self.by_lane(site, p, iters, l, true)],
        );
        values[0]
    }

    /// Lane by lane. Lanes that are not meant read what the last one that is reads.
    fn by_lane(&self, site: Site<'_>, p: &Place, iters: &[V<'c>], l: Lanes<'c>, guarded: bool) -> V<'c> {
        let b = self.b;
        let step = if p.offset.opaque_in(l.iter) { None } else { p.offset.coefficient(l.iter).as_i64() };
        let base = self.affine(&p.offset, site.space, iters);
        let mut lanes: Vec<V<'c>> = vec![];
        for i in 0..i64::from(l.count) {
            if let Some(n) = l.active.and_then(|n| n.known())
                && i >= n
            {
                lanes.push(lanes[0]);
                continue;
            }
            let mut lane = b.index(i);
            if let Some(n) = l.active {
                lane = b.min(lane, b.sub(n, b.index(1)));
            }
            if !guarded && let Some(s) = step {
                lanes.push(b.load(self.buf(p.buffer), b.add(base, b.mul(lane, b.index(s)))));
                continue;
            }
            let mut at = iters.to_vec();
            at[l.iter] = b.add(at[l.iter], lane);
            lanes.push(if guarded {
                self.read_one(site, p, &at)
            } else {
                b.load(self.buf(p.buffer), self.affine(&p.offset, site.space, &at))
            });
        }
        b.from_elements(&lanes)
    }

    /// Row-major offset of computed indices: one for all lanes, or counting along them, or one a lane.
    fn offset_at(&self, id: BufferId, index: &[Val<'c>], lane: u32) -> V<'c> {
        let b = self.b;
        let mut sum = b.index(0);
        for (i, d) in index.iter().zip(&self.kernel.buffers[id.0].dims) {
            let i = b.index_cast(i.lane(b, lane), Elem::Index);
            sum = b.add(b.mul(sum, b.size(d, &self.sizes)), i);
        }
        sum
    }

    /// Whether computed indices step through memory by 1 from lane to lane.
    fn counts(&self, id: BufferId, index: &[Val<'c>]) -> bool {
        let dims = &self.kernel.buffers[id.0].dims;
        let Some(at) = index.iter().rposition(|i| matches!(i, Val::Ramp(_))) else { return false };
        dims[at + 1..].iter().all(|d| d.as_const() == Some(1))
            && index.iter().enumerate().all(|(i, v)| i == at || matches!(v, Val::One(_)))
    }

    fn load_at(&self, id: BufferId, index: &[Val<'c>], lanes: Option<Lanes<'c>>) -> Val<'c> {
        let b = self.b;
        let (dtype, buf) = (self.dtype(id), self.buf(id));
        let uniform = index.iter().all(|i| matches!(i, Val::One(_)));
        let Some(l) = lanes.filter(|_| !uniform) else {
            return Val::One(scalar::from_memory(b, dtype, b.load(buf, self.offset_at(id, index, 0))));
        };
        if self.counts(id, index) {
            let at = self.offset_at(id, index, 0);
            match l.active {
                None => return Val::Many(scalar::from_memory(b, dtype, b.vload(buf, at, l.count))),
                Some(n) if self.masked => {
                    let v = b.masked_load(buf, at, b.create_mask(n, l.count), b.zero(buf.elem.scalar()));
                    return Val::Many(scalar::from_memory(b, dtype, v));
                }
                Some(_) => {}
            }
        }
        // Indices of lanes that are not meant may be anything; the last one meant stands in for them.
        let known = l.active.map(|n| n.known());
        let mut values: Vec<V<'c>> = vec![];
        for i in 0..l.count {
            values.push(match (known, l.active) {
                (Some(Some(n)), _) if i64::from(i) >= n => values[0],
                (Some(None), Some(n)) => {
                    let meant = b.cmp(Cmp::Lt, b.index(i64::from(i)), n);
                    let (here, first) = (self.offset_at(id, index, i), self.offset_at(id, index, 0));
                    b.load(buf, b.select(meant, here, first))
                }
                _ => b.load(buf, self.offset_at(id, index, i)),
            });
        }
        Val::Many(scalar::from_memory(b, dtype, b.from_elements(&values)))
    }

    pub(crate) fn store(
        &self,
        site: Site<'_>,
        to: &Place,
        value: Val<'c>,
        when: Option<Val<'c>>,
        iters: &[V<'c>],
        lanes: Option<Lanes<'c>>,
    ) {
        let b = self.b;
        if self.kernel.buffers[to.buffer.0].role == Role::Temp && !self.buffers.contains_key(&to.buffer) {
            // A sum of f16 or bf16 is one of f32 until here.
            let dtype = self.dtype(to.buffer);
            let value = match value {
                Val::One(v) => Val::One(scalar::round(b, dtype, v)),
                Val::Many(v) => Val::Many(scalar::round(b, dtype, v)),
                Val::Ramp(_) => value,
            };
            self.values.borrow_mut().insert(to.buffer, value);
            return;
        }
        let dtype = self.dtype(to.buffer);
        let at = self.affine(&to.offset, site.space, iters);
        if self.is_wide(to.buffer) {
            let width = self.stage.lanes;
            let at = b.mul(at, b.index(i64::from(width)));
            let mut v = scalar::to_memory(b, dtype, value.many(b, width));
            if let Some(w) = when {
                v = b.select(w.many(b, width), v, b.vload(self.buf(to.buffer), at, width));
            }
            b.vstore(v, self.buf(to.buffer), at);
            return;
        }
        let Some(l) = lanes else {
            let v = scalar::to_memory(b, dtype, value.lane(b, 0));
            let condition = when.map_or(b.int(Elem::I1, 1), |w| w.lane(b, 0));
            b.when(condition, |b| b.store(v, self.buf(to.buffer), at));
            return;
        };
        let step = if to.offset.opaque_in(l.iter) { None } else { to.offset.coefficient(l.iter).as_i64() };
        let v = match value {
            Val::One(v) => Val::One(scalar::to_memory(b, dtype, v)),
            other => Val::Many(scalar::to_memory(b, dtype, other.many(b, l.count))),
        };
        self.store_lanes(to.buffer, v, when, l, step == Some(1), |i| {
            let mut here = iters.to_vec();
            here[l.iter] = b.add(here[l.iter], b.index(i64::from(i)));
            match step {
                Some(s) => b.add(at, b.index(s * i64::from(i))),
                None => self.affine(&to.offset, site.space, &here),
            }
        });
    }

    pub(crate) fn store_at(
        &self,
        to: BufferId,
        index: &[Val<'c>],
        value: Val<'c>,
        when: Option<Val<'c>>,
        lanes: Option<Lanes<'c>>,
    ) {
        let b = self.b;
        let dtype = self.dtype(to);
        let Some(l) = lanes else {
            let v = scalar::to_memory(b, dtype, value.lane(b, 0));
            let condition = when.map_or(b.int(Elem::I1, 1), |w| w.lane(b, 0));
            b.when(condition, |b| b.store(v, self.buf(to), self.offset_at(to, index, 0)));
            return;
        };
        let v = match value {
            Val::One(v) => Val::One(scalar::to_memory(b, dtype, v)),
            other => Val::Many(scalar::to_memory(b, dtype, other.many(b, l.count))),
        };
        self.store_lanes(to, v, when, l, self.counts(to, index), |i| self.offset_at(to, index, i));
    }

    /// Stores the meant lanes; `contiguous`: `at` steps by 1.
    fn store_lanes(
        &self,
        to: BufferId,
        value: Val<'c>,
        when: Option<Val<'c>>,
        l: Lanes<'c>,
        contiguous: bool,
        at: impl Fn(u32) -> V<'c>,
    ) {
        let b = self.b;
        let buf = self.buf(to);
        if contiguous && (self.masked || (l.active.is_none() && when.is_none())) {
            let v = value.many(b, l.count);
            let tail = l.active.map(|n| b.create_mask(n, l.count));
            let when = when.map(|w| w.many(b, l.count));
            match (tail, when) {
                (None, None) => b.vstore(v, buf, at(0)),
                (Some(m), None) | (None, Some(m)) => b.masked_store(v, buf, at(0), m),
                (Some(m), Some(w)) => b.masked_store(v, buf, at(0), b.and(m, w)),
            }
            return;
        }
        for i in 0..l.count {
            let mut condition = when.map_or(b.int(Elem::I1, 1), |w| w.lane(b, i));
            if let Some(n) = l.active {
                let meant = b.cmp(Cmp::Lt, b.index(i64::from(i)), n);
                match meant.known() {
                    Some(0) => return,
                    Some(_) => {}
                    None => condition = if condition.known() == Some(1) { meant } else { b.and(condition, meant) },
                }
            }
            b.when(condition, |b| b.store(value.lane(b, i), buf, at(i)));
        }
    }
}
