//! Run-time sizes.

use std::collections::HashMap;
use std::sync::Arc;

use neap_optable::{Atom, Dim};

use super::arith::Cmp;
use super::builder::Builder;
use super::types::V;

/// The values of a function's symbols.
#[derive(Clone, Debug, Default)]
pub struct Sizes<'c>(HashMap<Arc<str>, V<'c>>);

impl<'c> Sizes<'c> {
    /// From symbol names and their values, in one order.
    pub fn new(names: &[String], values: &[V<'c>]) -> Self {
        Sizes(names.iter().zip(values).map(|(n, v)| (Arc::from(n.as_str()), *v)).collect())
    }
}

impl<'c> Builder<'c> {
    /// A size as an index. Its symbols must be among `sizes`.
    pub fn size(&self, d: &Dim, sizes: &Sizes<'c>) -> V<'c> {
        let mut sum = self.index(0);
        for (c, atoms) in d.terms() {
            let mut term = self.index(c);
            for a in atoms {
                term = self.mul(term, self.atom(a, sizes));
            }
            sum = self.add(sum, term);
        }
        sum
    }

    fn atom(&self, a: &Atom, sizes: &Sizes<'c>) -> V<'c> {
        let two = |x: &Dim, y: &Dim| (self.size(x, sizes), self.size(y, sizes));
        match a {
            Atom::Sym(s) => *sizes.0.get(s).unwrap_or_else(|| panic!("the kernel has no size {s}")),
            Atom::FloorDiv(x, y) => {
                let (x, y) = two(x, y);
                self.floor_div(x, y)
            }
            Atom::Mod(x, y) => {
                let (x, y) = two(x, y);
                self.sub(x, self.mul(self.floor_div(x, y), y))
            }
            Atom::Max(x, y) => {
                let (x, y) = two(x, y);
                self.max(x, y)
            }
            Atom::Min(x, y) => {
                let (x, y) = two(x, y);
                self.min(x, y)
            }
        }
    }

    /// Quotient of index scalars rounded down, for a positive divisor.
    pub fn floor_div(&self, a: V<'c>, by: V<'c>) -> V<'c> {
        if let (Some(x), Some(y)) = (a.known(), by.known()) {
            return self.index(x.div_euclid(y));
        }
        let quotient = self.div(a, by);
        let negative = self.cmp(Cmp::Lt, self.rem(a, by), self.index(0));
        self.select(negative, self.sub(quotient, self.index(1)), quotient)
    }
}
