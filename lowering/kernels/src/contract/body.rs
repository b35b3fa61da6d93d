//! Scalar work on single elements: what is done to an operand's element before it is a factor, and to a sum before it is stored.

use neap_optable::{BinaryKind, DType};

use super::emit::{At, Env};
use super::plan::Factors;
use super::shape::{Body, Flat, Operand, Read};
use crate::explicit::{Elem, V};
use crate::ir::{BufferId, OpId, Scalar, ScalarOp};
use crate::scalar;

impl Body {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Offsets of what it reads but for the main element.
    pub(super) fn flats(&self) -> impl Iterator<Item = &Flat> {
        self.reads.iter().filter_map(|r| match r {
            Read::At(_, f) => Some(f),
            Read::Main => None,
        })
    }

    /// What `result` needs of a nest's operations, with the one read that is the main one. `read` says what each read is and its
    /// type; `None` where one cannot be read so, where there is no main read or more than one, or an operation looks at places.
    pub(super) fn of(
        ops: &[ScalarOp],
        result: OpId,
        read: impl Fn(usize) -> Option<(Read, DType)>,
    ) -> Option<(Body, usize)> {
        let mut needed = vec![false; result.0 + 1];
        needed[result.0] = true;
        for i in (0..=result.0).rev() {
            if needed[i] {
                ops[i].renumbered(|o| {
                    needed[o.0] = true;
                    o
                });
            }
        }
        let (mut body, mut types, mut main) = (Body::default(), vec![], None);
        let mut to = vec![OpId(0); ops.len()];
        for i in (0..=result.0).filter(|i| needed[*i]) {
            let op = match &ops[i] {
                ScalarOp::Load(..) | ScalarOp::Iter(_) => return None,
                ScalarOp::Read(r) => {
                    let (kind, dtype) = read(*r)?;
                    if kind == Read::Main && main.replace(*r).is_some() {
                        return None;
                    }
                    types.push(dtype);
                    body.reads.push(kind);
                    ScalarOp::Read(body.reads.len() - 1)
                }
                other => other.renumbered(|o| to[o.0]),
            };
            body.ops.push(op);
            to[i] = OpId(body.ops.len() - 1);
        }
        body.dtypes = scalar::dtypes_of(&body.ops, |i| types[i], |_| unreachable!("loads were refused"));
        let main = main?;
        // The element alone is no work.
        Some((if body.ops.len() == 1 { Body::default() } else { body }, main))
    }

    /// Where the result is the element as an integer of 32 bits: whether a value is added that does not depend on the element.
    pub(super) fn shift(&self) -> Option<bool> {
        // Of each operation: what it adds to the element, if that is what it is.
        let mut shifts: Vec<Option<bool>> = vec![];
        for (i, op) in self.ops.iter().enumerate() {
            let of = |o: &OpId| shifts[o.0];
            shifts.push(match op {
                ScalarOp::Read(r) if self.reads[*r] == Read::Main => Some(false),
                ScalarOp::Cast(DType::I32, a) => of(a),
                ScalarOp::Binary(BinaryKind::Sub, a, b) if of(b).is_none() => of(a).map(|_| true),
                ScalarOp::Binary(BinaryKind::Add, a, b) if of(b).is_none() => of(a).map(|_| true),
                ScalarOp::Binary(BinaryKind::Add, a, b) if of(a).is_none() => of(b).map(|_| true),
                // Nothing else may look at the element.
                op => {
                    let mut looks = false;
                    op.renumbered(|o| {
                        looks |= of(&o).is_some();
                        o
                    });
                    if looks {
                        return None;
                    }
                    None
                }
            });
            let wide = !matches!(op, ScalarOp::Binary(..)) || self.dtypes[i] == DType::I32;
            if shifts[i].is_some() && !wide {
                return None;
            }
        }
        *shifts.last()?
    }

    /// Least and greatest result, where it is an integer that is known to stay within 16 bits.
    pub(super) fn range(&self) -> Option<(i64, i64)> {
        let mut ranges: Vec<Option<(i64, i64)>> = vec![];
        for (op, dtype) in self.ops.iter().zip(&self.dtypes) {
            let of = |o: &OpId| ranges[o.0];
            let range = match op {
                ScalarOp::Read(_) => bounds(*dtype),
                ScalarOp::Const(_, Scalar::Int(v)) => Some((*v, *v)),
                ScalarOp::Cast(_, a) => of(a),
                ScalarOp::Binary(BinaryKind::Add, a, b) => of(a).zip(of(b)).map(|(a, b)| (a.0 + b.0, a.1 + b.1)),
                ScalarOp::Binary(BinaryKind::Sub, a, b) => of(a).zip(of(b)).map(|(a, b)| (a.0 - b.1, a.1 - b.0)),
                _ => None,
            };
            // What its type cannot hold has wrapped.
            let holds = |(low, high): &(i64, i64)| {
                dtype.is_int()
                    && bounds(*dtype).map_or(dtype.size() >= 4, |(least, most)| least <= *low && *high <= most)
            };
            ranges.push(range.filter(holds));
        }
        let (least, most) = (i64::from(i16::MIN) + 1, i64::from(i16::MAX));
        ranges.pop()?.filter(|(low, high)| least <= *low && *high <= most)
    }
}

/// Of an integer type of at most 16 bits.
fn bounds(dtype: DType) -> Option<(i64, i64)> {
    match dtype {
        DType::I8 => Some((i64::from(i8::MIN), i64::from(i8::MAX))),
        DType::U8 => Some((0, i64::from(u8::MAX))),
        DType::I16 => Some((i64::from(i16::MIN), i64::from(i16::MAX))),
        DType::U16 => Some((0, i64::from(u16::MAX))),
        _ => None,
    }
}

/// The columns that values belong to.
#[derive(Clone, Copy)]
pub(super) struct Columns<'c> {
    /// The first.
    pub first: V<'c>,
    /// How many; 0 is one, as a scalar.
    pub lanes: u32,
    /// Which of them exist, where not all do and the target has masks.
    pub mask: Option<V<'c>>,
    /// Whether some may not exist, and there is no mask.
    pub ragged: bool,
}

/// The value of every operation, given the main element (one a column, or with the same reads all in one row).
pub(super) fn values<'c>(env: &Env<'_, 'c>, body: &Body, at: &At<'c>, columns: Columns<'c>, main: V<'c>) -> Vec<V<'c>> {
    let b = env.b;
    let reads: Vec<V<'c>> = body
        .reads
        .iter()
        .map(|r| match r {
            Read::Main => main,
            Read::At(id, flat) => {
                let v = read(env, at, columns, *id, flat);
                // Of each column there may be several elements.
                let (lanes, wanted) = (i64::from(v.ty().lanes), i64::from(main.ty().lanes));
                let repeated = || (0..wanted).map(|l| l * lanes / wanted).collect::<Vec<_>>();
                if lanes == 0 || lanes == wanted { v } else { b.shuffle(v, v, &repeated()) }
            }
        })
        .collect();
    let mut out: Vec<V<'c>> = Vec::with_capacity(body.ops.len());
    for op in &body.ops {
        let dtype = |x: usize| body.dtypes[x];
        let v = match op {
            ScalarOp::Read(i) => reads[*i],
            ScalarOp::Const(t, v) => scalar::constant(b, *t, *v),
            ScalarOp::Size(d) => b.index_cast(env.size(d), scalar::elem(DType::I64)),
            ScalarOp::Unary(k, x) => scalar::unary(b, *k, dtype(x.0), out[x.0]),
            ScalarOp::Binary(k, x, y) => scalar::binary(b, *k, dtype(x.0), out[x.0], out[y.0]),
            ScalarOp::Compare(k, x, y) => scalar::compare(b, *k, dtype(x.0), out[x.0], out[y.0]),
            ScalarOp::Select(c, x, y) => b.select(out[c.0], out[x.0], out[y.0]),
            ScalarOp::Cast(to, x) => scalar::cast(b, dtype(x.0), *to, out[x.0]),
            ScalarOp::Fma(x, y, z) => scalar::round(b, dtype(z.0), b.fma(out[x.0], out[y.0], out[z.0])),
            ScalarOp::Load(..) | ScalarOp::Iter(_) => unreachable!("not recognised as scalar work"),
        };
        out.push(v);
    }
    out
}

fn read<'c>(env: &Env<'_, 'c>, at: &At<'c>, columns: Columns<'c>, id: BufferId, flat: &Flat) -> V<'c> {
    let (b, buffer) = (env.b, env.buffer(id));
    let Columns { first, lanes, mask, ragged } = columns;
    let stride = flat.run(&env.c.cols, &env.c.extents).and_then(|s| s.as_i64());
    let v = match stride {
        Some(0) => b.load(buffer, env.offset(flat, at)),
        Some(1) if lanes == 0 => b.load(buffer, b.add(env.offset(flat, at), first)),
        Some(1) if !ragged => {
            let from = b.add(env.offset(flat, at), first);
            match mask {
                Some(mask) => b.masked_load(buffer, from, mask, b.zero(buffer.elem.scalar())),
                None => b.vload(buffer, from, lanes),
            }
        }
        _ => {
            let last = b.sub(env.n, b.index(1));
            let one = |j: i64| {
                // Lanes past the last column read what it reads, and are not stored.
                let n = b.add(first, b.index(j));
                let n = if mask.is_some() || ragged { b.min(n, last) } else { n };
                b.load(buffer, env.offset(flat, &env.columns(at, n)))
            };
            if lanes == 0 { one(0) } else { b.from_elements(&(0..i64::from(lanes)).map(one).collect::<Vec<_>>()) }
        }
    };
    scalar::from_memory(b, env.dtype(id), v)
}

impl<'c> Env<'_, 'c> {
    /// The factors of elements that were loaded of an operand, at a position: of the columns from `n` on (a vector; two
    /// elements of each where it has twice the lanes; or one), or any of the row of `at`.
    pub fn factors(&self, o: &Operand, at: &At<'c>, n: V<'c>, v: V<'c>) -> V<'c> {
        let (b, s) = (self.b, self.s);
        let mut v = scalar::from_memory(b, o.dtype, v);
        if !o.prologue.is_empty() {
            let lanes = v.ty().lanes.min(s.lanes as u32);
            let several = self.ragged() && lanes > 0;
            let mask = (several && s.masks).then(|| b.create_mask(b.sub(self.n, n), lanes));
            let columns = Columns { first: n, lanes, mask, ragged: several && !s.masks };
            let all = values(self, &o.prologue, &at.without(&self.c.cols), columns, v);
            v = *all.last().expect("it is not empty");
        }
        if s.factors == Factors::Pairs { b.int_cast_s(v, Elem::I16) } else { v }
    }

    /// Elements of 8 bits as unsigned ones: a sign bit turned over adds 128.
    pub fn unsigned(&self, o: &Operand, v: V<'c>) -> V<'c> {
        match o.dtype {
            DType::I8 => self.b.xor(v, self.b.splat(v.ty(), f64::from(i8::MIN))),
            _ => v,
        }
    }

    /// What a factor is above its unsigned element, if anything.
    pub fn shift(&self, o: &Operand, at: &At<'c>) -> Option<V<'c>> {
        let (b, elem) = (self.b, Elem::I32.scalar());
        let signed = o.dtype == DType::I8;
        let shifted = o.prologue.shift() == Some(true);
        let shift = if shifted {
            let columns = Columns { first: b.index(0), lanes: 0, mask: None, ragged: false };
            let none = scalar::from_memory(b, o.dtype, b.zero(Elem::of(o.dtype).scalar()));
            let all = values(self, &o.prologue, &at.without(&self.c.cols), columns, none);
            *all.last().expect("it is not empty")
        } else {
            b.zero(elem)
        };
        let turned = if signed { b.sub(shift, b.int(Elem::I32, 128)) } else { shift };
        (signed || shifted).then_some(turned)
    }
}
