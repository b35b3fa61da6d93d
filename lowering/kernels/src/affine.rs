//! Index expressions as sums: what lowering simplifies with and schedules read strides from.

use neap_optable::Dim;

use crate::ir::{Access, Buffer, Index, Iter};

/// constant + sum of coefficient times atom. Atoms are iterators, or floor divisions and remainders that stay opaque.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Affine {
    /// The part without iterators.
    pub constant: Dim,
    /// (atom, coefficient), sorted by atom; atoms are `Index::Iter`, `Index::FloorDiv` or `Index::Mod`; no zero coefficients.
    pub terms: Vec<(Index, Dim)>,
}

/// Extents of the iterators in scope, the outer ones first; what is provable of an index follows from them.
#[derive(Clone, Debug, Default)]
pub struct Space {
    /// Extent of each iterator, numbered as in [`Index::Iter`].
    pub extents: Vec<Dim>,
}

impl Space {
    /// The space of outer and own iterators.
    pub fn new(outer: &[Iter], own: &[Iter]) -> Self {
        Space { extents: outer.iter().chain(own).map(|i| i.extent.clone()).collect() }
    }

    /// The simplest form of an index.
    pub fn simplify(&self, index: &Index) -> Index {
        self.affine(index).to_index()
    }

    /// An index as a sum, simplified.
    pub fn affine(&self, index: &Index) -> Affine {
        match index {
            Index::Size(d) => Affine::constant(d.clone()),
            Index::Iter(i) if self.extents.get(*i).is_some_and(|e| e.as_const() == Some(1)) => Affine::zero(),
            Index::Iter(_) => Affine::atom(index.clone()),
            Index::Add(a, b) => self.affine(a).add(&self.affine(b)),
            Index::Mul(a, d) => self.affine(a).scale(d),
            Index::FloorDiv(a, d) => self.floor_div(&self.affine(a), d),
            Index::Mod(a, d) => self.modulo(&self.affine(a), d),
        }
    }

    /// Row-major element offset of an access, ignoring that it may fall outside.
    pub fn offset(&self, access: &Access, buffer: &Buffer) -> Affine {
        self.linear(&access.index, &buffer.dims)
    }

    /// Row-major offset of an index tuple in a shape.
    pub fn linear(&self, index: &[Index], dims: &[Dim]) -> Affine {
        let mut sum = Affine::zero();
        for (i, d) in index.iter().zip(dims) {
            sum = sum.scale(d).add(&self.affine(i));
        }
        sum
    }

    /// The index tuple in a shape of a row-major offset.
    pub fn delinearise(&self, offset: &Affine, dims: &[Dim]) -> Vec<Index> {
        let mut out = vec![Index::zero(); dims.len()];
        let mut rest = offset.clone();
        for (i, d) in dims.iter().enumerate().rev() {
            if d.as_const() == Some(1) {
                continue;
            }
            if dims[..i].iter().all(|d| d.as_const() == Some(1)) {
                out[i] = rest.to_index();
                break;
            }
            out[i] = self.modulo(&rest, d).to_index();
            rest = self.floor_div(&rest, d);
        }
        out
    }

    fn floor_div(&self, a: &Affine, d: &Dim) -> Affine {
        let (mut quotient, rest) = a.split(d);
        if !self.inside(&rest, d) {
            quotient = quotient.add(&Affine::atom(Index::FloorDiv(Box::new(rest.to_index()), d.clone())));
        }
        quotient
    }

    fn modulo(&self, a: &Affine, d: &Dim) -> Affine {
        let (_, rest) = a.split(d);
        if self.inside(&rest, d) { rest } else { Affine::atom(Index::Mod(Box::new(rest.to_index()), d.clone())) }
    }

    /// Whether 0 <= a < d is certain.
    pub fn inside(&self, a: &Affine, d: &Dim) -> bool {
        self.upper(a).is_some_and(|max| d.sub(&Dim::constant(1)).sub(&max).as_i64().is_some_and(|v| v >= 0))
    }

    /// Largest value of an index that is certainly not negative, as far as is known.
    pub fn upper(&self, a: &Affine) -> Option<Dim> {
        let mut max = Some(a.constant.clone()).filter(not_negative)?;
        for (atom, c) in &a.terms {
            let top = match atom {
                Index::Iter(i) => self.extents.get(*i)?.sub(&Dim::constant(1)),
                Index::Mod(_, d) => d.sub(&Dim::constant(1)),
                Index::FloorDiv(x, d) => self.upper(&self.affine(x))?.floor_div(d)?,
                _ => return None,
            };
            max = max.add(&top.mul(Some(c).filter(|c| not_negative(c))?));
        }
        Some(max)
    }
}

fn not_negative(d: &Dim) -> bool {
    d.terms().all(|(c, _)| c >= 0)
}

impl Affine {
    /// 0
    pub fn zero() -> Self {
        Affine::constant(Dim::constant(0))
    }

    /// A size.
    pub fn constant(d: Dim) -> Self {
        Affine { constant: d, terms: vec![] }
    }

    fn atom(atom: Index) -> Self {
        Affine { constant: Dim::constant(0), terms: vec![(atom, Dim::constant(1))] }
    }

    /// self + other
    pub fn add(&self, other: &Affine) -> Affine {
        let mut out = Affine { constant: self.constant.add(&other.constant), terms: self.terms.clone() };
        for (atom, c) in &other.terms {
            out.add_term(atom, c);
        }
        out.recombine()
    }

    /// self * d
    pub fn scale(&self, d: &Dim) -> Affine {
        if d.as_i64() == Some(0) {
            return Affine::zero();
        }
        Affine {
            constant: self.constant.mul(d),
            terms: self.terms.iter().map(|(a, c)| (a.clone(), c.mul(d))).collect(),
        }
    }

    /// Coefficient of an iterator that occurs as an atom of its own; 0 if it does not.
    pub fn coefficient(&self, iter: usize) -> Dim {
        self.terms.iter().find(|(a, _)| *a == Index::Iter(iter)).map_or(Dim::constant(0), |(_, c)| c.clone())
    }

    /// Whether an iterator occurs inside an opaque atom.
    pub fn opaque_in(&self, iter: usize) -> bool {
        self.terms.iter().any(|(a, _)| !matches!(a, Index::Iter(_)) && a.mentions(iter))
    }

    /// As an index expression.
    pub fn to_index(&self) -> Index {
        let mut out: Option<Index> = None;
        for (atom, c) in &self.terms {
            let term = if c.as_i64() == Some(1) { atom.clone() } else { Index::Mul(Box::new(atom.clone()), c.clone()) };
            out = Some(match out {
                None => term,
                Some(sum) => Index::Add(Box::new(sum), Box::new(term)),
            });
        }
        match out {
            None => Index::Size(self.constant.clone()),
            Some(sum) if self.constant.as_i64() == Some(0) => sum,
            Some(sum) => Index::Add(Box::new(sum), Box::new(Index::Size(self.constant.clone()))),
        }
    }

    fn add_term(&mut self, atom: &Index, c: &Dim) {
        match self.terms.binary_search_by(|(a, _)| a.cmp(atom)) {
            Ok(i) => {
                self.terms[i].1 = self.terms[i].1.add(c);
                if self.terms[i].1.as_i64() == Some(0) {
                    self.terms.remove(i);
                }
            }
            Err(i) => self.terms.insert(i, (atom.clone(), c.clone())),
        }
    }

    /// floor(x/d) * d + x mod d = x
    fn recombine(mut self) -> Affine {
        let found = self.terms.iter().enumerate().find_map(|(i, (atom, c))| {
            let Index::Mod(x, d) = atom else { return None };
            let whole = Index::FloorDiv(x.clone(), d.clone());
            let j = self.terms.iter().position(|(a, cc)| *a == whole && *cc == c.mul(d))?;
            Some((i, j, (**x).clone(), c.clone()))
        });
        let Some((i, j, x, c)) = found else { return self };
        self.terms.remove(i.max(j));
        self.terms.remove(i.min(j));
        // `x` was simplified when it became an atom, so no extents are needed to read it again.
        self.add(&Space::default().affine(&x).scale(&c))
    }

    /// (quotient, rest) with self = quotient * d + rest, where the quotient takes every term that d divides.
    fn split(&self, d: &Dim) -> (Affine, Affine) {
        let (mut q, mut r) = (Affine::zero(), Affine::zero());
        match (self.constant.as_i64(), d.as_i64()) {
            (Some(c), Some(k)) if k > 0 => {
                q.constant = Dim::constant(c.div_euclid(k));
                r.constant = Dim::constant(c.rem_euclid(k));
            }
            _ => match self.constant.exact_div(d) {
                Some(whole) => q.constant = whole,
                None => r.constant = self.constant.clone(),
            },
        }
        for (atom, c) in &self.terms {
            match c.exact_div(d) {
                Some(whole) => q.terms.push((atom.clone(), whole)),
                None => r.terms.push((atom.clone(), c.clone())),
            }
        }
        (q, r)
    }
}

impl Index {
    /// 0
    pub fn zero() -> Index {
        Index::Size(Dim::constant(0))
    }

    /// A constant.
    pub fn constant(v: i64) -> Index {
        Index::Size(Dim::constant(v))
    }

    /// self + other
    #[allow(clippy::should_implement_trait, reason = "by reference, and beside `times`")]
    pub fn add(&self, other: &Index) -> Index {
        Index::Add(Box::new(self.clone()), Box::new(other.clone()))
    }

    /// self * d
    pub fn times(&self, d: &Dim) -> Index {
        Index::Mul(Box::new(self.clone()), d.clone())
    }

    /// Whether the iterator occurs.
    pub fn mentions(&self, iter: usize) -> bool {
        match self {
            Index::Size(_) => false,
            Index::Iter(i) => *i == iter,
            Index::Add(a, b) => a.mentions(iter) || b.mentions(iter),
            Index::Mul(a, _) | Index::FloorDiv(a, _) | Index::Mod(a, _) => a.mentions(iter),
        }
    }

    /// The highest iterator that occurs.
    pub fn deepest(&self) -> Option<usize> {
        match self {
            Index::Size(_) => None,
            Index::Iter(i) => Some(*i),
            Index::Add(a, b) => a.deepest().max(b.deepest()),
            Index::Mul(a, _) | Index::FloorDiv(a, _) | Index::Mod(a, _) => a.deepest(),
        }
    }
}
