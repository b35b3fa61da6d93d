//! Values of a scalar body: one for all lanes, one a lane, or counting along the lanes.

use crate::explicit::{Builder, Elem, V};

/// The lanes that are computed at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes<'c> {
    /// The iterator that counts along them; its value is that of lane 0.
    pub(crate) iter: usize,
    /// How many.
    pub(crate) count: u32,
    /// How many of them are meant (the first ones); `None`: all.
    pub(crate) active: Option<V<'c>>,
}

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Val<'c> {
    /// The same in every lane.
    One(V<'c>),
    /// One a lane.
    Many(V<'c>),
    /// This i64 in lane 0, one more in each next.
    Ramp(V<'c>),
}

impl<'c> Val<'c> {
    /// As a vector.
    pub(crate) fn many(self, b: &Builder<'c>, lanes: u32) -> V<'c> {
        match self {
            Val::One(v) => b.broadcast(v, lanes),
            Val::Many(v) => v,
            Val::Ramp(v) => {
                let steps = b.index_cast(b.step(lanes), Elem::I64);
                b.add(b.broadcast(v, lanes), steps)
            }
        }
    }

    /// The scalar, if it is one; counting only happens along lanes.
    pub(crate) fn one(self) -> Option<V<'c>> {
        match self {
            Val::One(v) => Some(v),
            Val::Many(_) | Val::Ramp(_) => None,
        }
    }

    /// What lane `l` has.
    pub(crate) fn lane(self, b: &Builder<'c>, l: u32) -> V<'c> {
        match self {
            Val::One(v) => v,
            Val::Many(v) => b.extract(v, i64::from(l)),
            Val::Ramp(v) => b.add(v, b.int(Elem::I64, i64::from(l))),
        }
    }

    /// As its computing form: a scalar if it is one, else a vector.
    pub(crate) fn plain(self, b: &Builder<'c>, lanes: u32) -> V<'c> {
        match self {
            Val::One(v) => v,
            other => other.many(b, lanes),
        }
    }
}
