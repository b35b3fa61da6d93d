//! Symbolic sizes: integer polynomials over named symbols and floor divisions, in a canonical form.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A size: a constant or an expression over symbols. Equal sizes compare equal when their polynomials do.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dim(Poly);

/// Sum of coefficient times product of atoms; no zero coefficients; the empty product is the constant term.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
struct Poly(BTreeMap<Vec<Atom>, i64>);

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
        let mut p = Poly::default();
        if v != 0 {
            p.0.insert(vec![], v);
        }
        Dim(p)
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
        Dim(Poly(BTreeMap::from([(vec![a], 1)])))
    }

    /// The value as an integer of either sign, if constant.
    pub fn as_i64(&self) -> Option<i64> {
        match self.0.0.len() {
            0 => Some(0),
            1 => self.0.0.get(&vec![]).copied(),
            _ => None,
        }
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
        for (k, v) in &other.0.0 {
            let c = p.0.entry(k.clone()).or_insert(0);
            *c = c.saturating_add(*v);
        }
        p.0.retain(|_, v| *v != 0);
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
        for (ka, va) in &self.0.0 {
            for (kb, vb) in &other.0.0 {
                let mut k = ka.clone();
                k.extend(kb.iter().cloned());
                k.sort();
                let c = p.0.entry(k).or_insert(0);
                *c = c.saturating_add(va.saturating_mul(*vb));
            }
        }
        p.0.retain(|_, v| *v != 0);
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
        if self.0.0.is_empty() {
            return (other.as_i64() != Some(0)).then(|| Dim::constant(0));
        }
        let (key, coeff) = other.0.0.iter().next().filter(|_| other.0.0.len() == 1)?;
        let mut p = Poly::default();
        for (k, v) in &self.0.0 {
            if v % coeff != 0 {
                return None;
            }
            let mut k = k.clone();
            for a in key {
                let at = k.iter().position(|x| x == a)?;
                k.remove(at);
            }
            p.0.insert(k, v / coeff);
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
        for (atoms, c) in &self.0.0 {
            let mut term = Dim::constant(*c);
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
        for a in self.0.0.keys().flatten() {
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
        self.0.0.iter().map(|(k, v)| (*v, k.as_slice()))
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.0.is_empty() {
            return f.write_str("0");
        }
        // Symbols first reads better: `n + 1`, not `1 + n`.
        for (i, (atoms, c)) in self.0.0.iter().rev().enumerate() {
            match (i, *c < 0) {
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
