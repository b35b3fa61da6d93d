//! Symbolic sizes: integer polynomials over named symbols and floor divisions, in a canonical form.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A size: a constant or an expression over symbols. Equal sizes compare equal when their polynomials do.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dim(Poly);

/// A constant and a sum of coefficient times product of atoms; no zero coefficients and no empty product. Most sizes are
/// constants alone, which so need no memory of their own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
struct Poly {
    constant: i64,
    rest: BTreeMap<Vec<Atom>, i64>,
}

impl Poly {
    /// Product and coefficient of each term, the constant first.
    fn terms(&self) -> impl DoubleEndedIterator<Item = (&[Atom], i64)> {
        let constant: &[Atom] = &[];
        let first = (self.constant != 0).then_some((constant, self.constant));
        first.into_iter().chain(self.rest.iter().map(|(k, v)| (k.as_slice(), *v)))
    }

    fn add(&mut self, key: Vec<Atom>, v: i64) {
        let c = if key.is_empty() { &mut self.constant } else { self.rest.entry(key).or_insert(0) };
        *c = c.saturating_add(v);
    }
}

impl Ord for Poly {
    fn cmp(&self, other: &Self) -> Ordering {
        self.terms().cmp(other.terms())
    }
}

impl PartialOrd for Poly {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What a product multiplies: a symbol, or an operation that polynomials cannot express.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    /// A named symbol, at least 0.
    Sym(Arc<str>),
    /// floor(a / b)
    FloorDiv(Box<Dim>, Box<Dim>),
    /// a mod b with the sign of b
    Mod(Box<Dim>, Box<Dim>),
    /// max(a, b)
    Max(Box<Dim>, Box<Dim>),
    /// min(a, b)
    Min(Box<Dim>, Box<Dim>),
}

impl From<u64> for Dim {
    fn from(v: u64) -> Self {
        Dim::constant(i64::try_from(v).unwrap_or(i64::MAX))
    }
}

impl Dim {
    /// The constant `v` (negative values occur in shape arithmetic, not in shapes).
    pub fn constant(v: i64) -> Self {
        Dim(Poly { constant: v, rest: BTreeMap::new() })
    }

    /// The symbol `name`.
    pub fn symbol(name: &str) -> Self {
        Dim::atom(Atom::Sym(name.into()))
    }

    /// One atom by itself.
    pub fn from_atom(a: &Atom) -> Self {
        Dim::atom(a.clone())
    }

    fn atom(a: Atom) -> Self {
        Dim(Poly { constant: 0, rest: BTreeMap::from([(vec![a], 1)]) })
    }

    /// The value as an integer of either sign, if constant.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.rest.is_empty().then_some(self.0.constant)
    }

    /// The value as a size, if constant and not negative.
    pub fn as_const(&self) -> Option<u64> {
        self.as_i64().and_then(|v| u64::try_from(v).ok())
    }

    /// Whether the size is known now.
    pub fn is_const(&self) -> bool {
        self.as_i64().is_some()
    }

    /// self + other (saturating in the coefficients).
    pub fn add(&self, other: &Dim) -> Dim {
        let mut p = self.0.clone();
        for (k, v) in other.0.terms() {
            p.add(k.to_vec(), v);
        }
        p.rest.retain(|_, v| *v != 0);
        Dim(p)
    }

    /// self - other
    pub fn sub(&self, other: &Dim) -> Dim {
        self.add(&other.scale(-1))
    }

    /// self * c
    pub fn scale(&self, c: i64) -> Dim {
        self.mul(&Dim::constant(c))
    }

    /// self * other (saturating in the coefficients).
    pub fn mul(&self, other: &Dim) -> Dim {
        let mut p = Poly::default();
        for (ka, va) in self.0.terms() {
            for (kb, vb) in other.0.terms() {
                let mut k = ka.to_vec();
                k.extend(kb.iter().cloned());
                k.sort();
                p.add(k, va.saturating_mul(vb));
            }
        }
        p.rest.retain(|_, v| *v != 0);
        Dim(p)
    }

    /// floor(self / other); division by a constant 0 gives `None`.
    pub fn floor_div(&self, other: &Dim) -> Option<Dim> {
        match (self.as_i64(), other.as_i64()) {
            (_, Some(0)) => None,
            (Some(a), Some(b)) => Some(Dim::constant(a.div_euclid(b) - i64::from(b < 0 && a.rem_euclid(b) != 0))),
            (_, Some(1)) => Some(self.clone()),
            _ => Some(
                self.exact_div(other)
                    .unwrap_or_else(|| Dim::atom(Atom::FloorDiv(Box::new(self.clone()), Box::new(other.clone())))),
            ),
        }
    }

    /// self / other when every term divides without rest.
    pub fn exact_div(&self, other: &Dim) -> Option<Dim> {
        if self.as_i64() == Some(0) {
            return (other.as_i64() != Some(0)).then(|| Dim::constant(0));
        }
        let mut terms = other.0.terms();
        let (key, coeff) = terms.next()?;
        if terms.next().is_some() {
            return None;
        }
        let mut p = Poly::default();
        for (k, v) in self.0.terms() {
            if v % coeff != 0 {
                return None;
            }
            let mut k = k.to_vec();
            for a in key {
                let at = k.iter().position(|x| x == a)?;
                k.remove(at);
            }
            p.add(k, v / coeff);
        }
        Some(Dim(p))
    }

    /// self mod other, with the sign of other; `None` for a constant 0.
    pub fn modulo(&self, other: &Dim) -> Option<Dim> {
        match (self.as_i64(), other.as_i64()) {
            (_, Some(0)) => None,
            (Some(a), Some(b)) => Some(Dim::constant(a - b * Dim::constant(a).floor_div(&Dim::constant(b))?.as_i64()?)),
            _ if self.exact_div(other).is_some() => Some(Dim::constant(0)),
            _ => Some(Dim::atom(Atom::Mod(Box::new(self.clone()), Box::new(other.clone())))),
        }
    }

    /// The larger of two.
    pub fn max_with(&self, other: &Dim) -> Dim {
        match self.sub(other).as_i64() {
            Some(d) if d >= 0 => self.clone(),
            Some(_) => other.clone(),
            None => Dim::atom(Atom::Max(Box::new(self.clone()), Box::new(other.clone()))),
        }
    }

    /// The smaller of two.
    pub fn min_with(&self, other: &Dim) -> Dim {
        match self.sub(other).as_i64() {
            Some(d) if d <= 0 => self.clone(),
            Some(_) => other.clone(),
            None => Dim::atom(Atom::Min(Box::new(self.clone()), Box::new(other.clone()))),
        }
    }

    /// Replaces symbols by what `of` gives for them; symbols it does not know stay.
    pub fn substitute(&self, of: &dyn Fn(&str) -> Option<Dim>) -> Dim {
        let mut sum = Dim::constant(0);
        for (atoms, c) in self.0.terms() {
            let mut term = Dim::constant(c);
            for a in atoms {
                let two = |x: &Dim, y: &Dim| (x.substitute(of), y.substitute(of));
                let v = match a {
                    Atom::Sym(s) => of(s).unwrap_or_else(|| Dim::symbol(s)),
                    Atom::FloorDiv(x, y) => {
                        let (x, y) = two(x, y);
                        x.floor_div(&y).unwrap_or(Dim::constant(0))
                    }
                    Atom::Mod(x, y) => {
                        let (x, y) = two(x, y);
                        x.modulo(&y).unwrap_or(Dim::constant(0))
                    }
                    Atom::Max(x, y) => {
                        let (x, y) = two(x, y);
                        x.max_with(&y)
                    }
                    Atom::Min(x, y) => {
                        let (x, y) = two(x, y);
                        x.min_with(&y)
                    }
                };
                term = term.mul(&v);
            }
            sum = sum.add(&term);
        }
        sum
    }

    /// The distinct symbols, sorted.
    pub fn symbols(&self) -> Vec<Arc<str>> {
        let mut out = vec![];
        self.visit(&mut |s| out.push(s.clone()));
        out.sort();
        out.dedup();
        out
    }

    fn visit(&self, f: &mut dyn FnMut(&Arc<str>)) {
        for a in self.0.rest.keys().flatten() {
            match a {
                Atom::Sym(s) => f(s),
                Atom::FloorDiv(x, y) | Atom::Mod(x, y) | Atom::Max(x, y) | Atom::Min(x, y) => {
                    x.visit(f);
                    y.visit(f);
                }
            }
        }
    }

    /// The terms: (coefficient, product of atoms), the constant term with an empty product.
    pub fn terms(&self) -> impl Iterator<Item = (i64, &[Atom])> {
        self.0.terms().map(|(k, v)| (v, k))
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.as_i64() == Some(0) {
            return f.write_str("0");
        }
        // Symbols first reads better: `n + 1`, not `1 + n`.
        for (i, (atoms, c)) in self.0.terms().rev().enumerate() {
            match (i, c < 0) {
                (0, true) => f.write_str("-")?,
                (0, false) => {}
                (_, true) => f.write_str(" - ")?,
                (_, false) => f.write_str(" + ")?,
            }
            let c = c.unsigned_abs();
            if atoms.is_empty() || c != 1 {
                write!(f, "{c}")?;
            }
            for (j, a) in atoms.iter().enumerate() {
                if j > 0 || c != 1 {
                    f.write_str("*")?;
                }
                write!(f, "{a}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Atom::Sym(s) => f.write_str(s),
            Atom::FloorDiv(a, b) => write!(f, "floor(({a})/({b}))"),
            Atom::Mod(a, b) => write!(f, "(({a}) mod ({b}))"),
            Atom::Max(a, b) => write!(f, "max({a}, {b})"),
            Atom::Min(a, b) => write!(f, "min({a}, {b})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_is_canonical() {
        let (n, m) = (Dim::symbol("n"), Dim::symbol("m"));
        assert_eq!(n.mul(&m).add(&n), n.add(&m.mul(&n)));
        assert_eq!(n.add(&m).sub(&m), n);
        assert_eq!(n.mul(&m).floor_div(&m), Some(n.clone()));
        assert_eq!(n.scale(6).add(&Dim::constant(4)).floor_div(&Dim::constant(2)).unwrap().to_string(), "3*n + 2");
        assert_eq!(Dim::constant(-7).floor_div(&Dim::constant(2)), Some(Dim::constant(-4)));
        assert_eq!(Dim::constant(-7).modulo(&Dim::constant(3)), Some(Dim::constant(2)));
        assert_eq!(Dim::constant(7).floor_div(&Dim::constant(-2)), Some(Dim::constant(-4)));
        let half = n.floor_div(&Dim::constant(2)).unwrap();
        assert_eq!(half.substitute(&|_| Some(Dim::constant(9))), Dim::constant(4));
        assert_eq!(n.max_with(&n.add(&Dim::constant(1))), n.add(&Dim::constant(1)));
    }
}
