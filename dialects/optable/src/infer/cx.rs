//! What every family needs: operands and attributes by name, and comparisons of dims.

use crate::{Attr, Attrs, DType, Dim, TensorType};

/// The operands and attributes of the op at hand.
pub(super) struct Cx<'a> {
    pub(super) attrs: &'a Attrs,
    pub(super) ins: &'a [TensorType],
}

impl<'a> Cx<'a> {
    /// All operands, when there are exactly `N`.
    pub(super) fn operands<const N: usize>(&self) -> Result<&'a [TensorType; N], String> {
        self.ins.try_into().map_err(|_| format!("has {} operands, expected {N}", self.ins.len()))
    }

    fn attr(&self, name: &str) -> Result<&'a Attr, String> {
        self.attrs.get(name).ok_or_else(|| format!("lacks the attribute {name}"))
    }

    pub(super) fn int(&self, name: &str) -> Result<i64, String> {
        match self.attr(name)? {
            Attr::Int(v) => Ok(*v),
            _ => Err(format!("attribute {name} is not an integer")),
        }
    }

    pub(super) fn enumeration<E: TryFrom<i64, Error = i64>>(&self, name: &str) -> Result<E, String> {
        E::try_from(self.int(name)?).map_err(|v| format!("attribute {name} has no case {v}"))
    }

    pub(super) fn float(&self, name: &str) -> Result<f64, String> {
        match self.attr(name)? {
            Attr::Float(v) => Ok(*v),
            _ => Err(format!("attribute {name} is not a float")),
        }
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, String> {
        match self.attr(name)? {
            Attr::Bool(v) => Ok(*v),
            _ => Err(format!("attribute {name} is not a bool")),
        }
    }

    pub(super) fn string(&self, name: &str) -> Result<&'a str, String> {
        match self.attr(name)? {
            Attr::Str(v) => Ok(v),
            _ => Err(format!("attribute {name} is not a string")),
        }
    }

    /// An integer list of a known length.
    pub(super) fn ints(&self, name: &str, len: usize) -> Result<&'a [i64], String> {
        match self.attr(name)? {
            Attr::Ints(v) if v.len() == len => Ok(v),
            Attr::Ints(v) => Err(format!("attribute {name} has {} entries, expected {len}", v.len())),
            _ => Err(format!("attribute {name} is not a list of integers")),
        }
    }

    /// An integer list of any length.
    pub(super) fn any_ints(&self, name: &str) -> Result<&'a [i64], String> {
        match self.attr(name)? {
            Attr::Ints(v) => Ok(v),
            _ => Err(format!("attribute {name} is not a list of integers")),
        }
    }

    /// A float list of a known length.
    pub(super) fn floats(&self, name: &str, len: usize) -> Result<&'a [f64], String> {
        match self.attr(name)? {
            Attr::Floats(v) if v.len() == len => Ok(v),
            Attr::Floats(v) => Err(format!("attribute {name} has {} entries, expected {len}", v.len())),
            _ => Err(format!("attribute {name} is not a list of floats")),
        }
    }

    /// The attribute `axis` as a dim of `t`; axes are normalised, so negative ones are refused.
    pub(super) fn axis(&self, t: &TensorType) -> Result<usize, String> {
        axis_in(self.int("axis")?, t)
    }
}

/// `axis` as a dim of `t`.
pub(super) fn axis_in(axis: i64, t: &TensorType) -> Result<usize, String> {
    usize::try_from(axis)
        .ok()
        .filter(|&a| a < t.rank())
        .ok_or_else(|| format!("axis {axis} is not a dim of {t}, expected 0 to {}", t.rank() as i64 - 1))
}

/// The only result.
pub(super) fn one(outs: &[TensorType]) -> Result<&TensorType, String> {
    match outs {
        [t] => Ok(t),
        _ => Err(format!("has {} results, expected 1", outs.len())),
    }
}

/// Whether two sizes provably differ.
pub(super) fn differ(a: &Dim, b: &Dim) -> bool {
    a.sub(b).as_i64().is_some_and(|d| d != 0)
}

/// Whether `a < b` provably.
pub(super) fn less(a: &Dim, b: &Dim) -> bool {
    a.sub(b).as_i64().is_some_and(|d| d < 0)
}

/// Of two sizes that must be equal the one that says more.
pub(super) fn merge(a: &Dim, b: &Dim) -> Dim {
    if a.is_const() || !b.is_const() { a.clone() } else { b.clone() }
}

/// Merges the dims of operands that must have one shape.
pub(super) fn merge_shapes(a: &TensorType, b: &TensorType) -> Result<Vec<Dim>, String> {
    if a.rank() != b.rank() {
        return Err(format!("operands {a} and {b} have different ranks"));
    }
    for (i, (x, y)) in a.dims.iter().zip(&b.dims).enumerate() {
        if differ(x, y) {
            return Err(format!("operands {a} and {b} differ in dim {i}: {x} against {y}"));
        }
    }
    Ok(a.dims.iter().zip(&b.dims).map(|(x, y)| merge(x, y)).collect())
}

/// Fails unless `found` may be `expected` (same element type and rank, no dim provably different).
pub(super) fn same_type(what: &str, found: &TensorType, expected: &TensorType) -> Result<(), String> {
    same_dtype(what, found, expected.dtype)?;
    if found.rank() != expected.rank() {
        return Err(format!("{what} is {found}, expected {expected}"));
    }
    for (i, (f, e)) in found.dims.iter().zip(&expected.dims).enumerate() {
        if differ(f, e) {
            return Err(format!("{what} is {found}, expected {expected}: dim {i} is {f}, expected {e}"));
        }
    }
    Ok(())
}

/// [`same_type`] of every result.
pub(super) fn same_types(expected: &[TensorType], outs: &[TensorType]) -> Result<(), String> {
    if expected.len() != outs.len() {
        return Err(format!("has {} results, expected {}", outs.len(), expected.len()));
    }
    expected.iter().zip(outs).enumerate().try_for_each(|(i, (e, o))| same_type(&format!("result {i}"), o, e))
}

pub(super) fn same_dtype(what: &str, found: &TensorType, expected: DType) -> Result<(), String> {
    if found.dtype == expected {
        return Ok(());
    }
    Err(format!("{what} is {found}, expected elements of type {expected}"))
}

pub(super) fn need_rank(what: &str, t: &TensorType, rank: usize) -> Result<(), String> {
    if t.rank() == rank {
        return Ok(());
    }
    Err(format!("{what} is {t}, expected rank {rank}"))
}

/// Fails unless the dim may be `expected`.
pub(super) fn need_dim(what: &str, t: &TensorType, dim: usize, expected: &Dim) -> Result<(), String> {
    if differ(&t.dims[dim], expected) {
        return Err(format!("{what} is {t}: dim {dim} is {}, expected {expected}", t.dims[dim]));
    }
    Ok(())
}

pub(super) fn need_float(what: &str, t: &TensorType) -> Result<(), String> {
    if t.dtype.is_float() {
        return Ok(());
    }
    Err(format!("{what} is {t}, expected a float type"))
}

/// Fails for bool.
pub(super) fn need_number(what: &str, t: &TensorType) -> Result<(), String> {
    if t.dtype != DType::Bool {
        return Ok(());
    }
    Err(format!("{what} is {t}, expected numbers"))
}

/// Indices are i32 or i64.
pub(super) fn need_index(t: &TensorType) -> Result<(), String> {
    if matches!(t.dtype, DType::I32 | DType::I64) {
        return Ok(());
    }
    Err(format!("indices are {t}, expected i32 or i64"))
}

/// Fails if a dim is a negative constant.
pub(super) fn check_sizes(t: &TensorType) -> Result<(), String> {
    match t.dims.iter().position(|d| d.as_i64().is_some_and(|v| v < 0)) {
        Some(i) => Err(format!("{t} has the negative dim {i}")),
        None => Ok(()),
    }
}
