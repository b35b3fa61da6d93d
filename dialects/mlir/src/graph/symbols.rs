//! Symbolic dims as affine expressions over the symbols of one function.
//!
//! Symbol `s<i>` of every type in a function means entry i of its attribute `graph.symbols`: a string names a model's size, and
//! `["mul", affine_map<()[s0, s1] -> (s0, s1)>]` is a size that affine expressions cannot say, computed from earlier entries
//! (`mul`, `floordiv`, `mod`, `max`, `min`).

use std::collections::HashMap;

use melior::Context;
use melior::ir::attribute::{ArrayAttribute, StringAttribute};
use melior::ir::{AffineExpr, AffineMap, Attribute};
use neap_optable::{Atom, Dim};

use crate::ffi::{self, Plain};

/// The symbols of one function, by position.
#[derive(Default)]
pub(super) struct Symbols {
    /// What each means.
    meanings: Vec<Dim>,
    /// How the ones that are not names are computed.
    derived: HashMap<usize, (&'static str, Vec<Dim>)>,
    positions: HashMap<Dim, usize>,
}

const OPERATIONS: [&str; 5] = ["mul", "floordiv", "mod", "max", "min"];

impl Symbols {
    /// The attribute `graph.symbols`; `None` without symbols.
    pub fn attribute<'c>(&mut self, cx: &'c Context) -> Option<Attribute<'c>> {
        if self.meanings.is_empty() {
            return None;
        }
        let entries: Vec<Attribute<'c>> = (0..self.meanings.len())
            .map(|i| match self.derived.get(&i).cloned() {
                Some((operation, args)) => {
                    let map = ffi::map_attribute(self.map(cx, &args));
                    ArrayAttribute::new(cx, &[StringAttribute::new(cx, operation).into(), map]).into()
                }
                None => StringAttribute::new(cx, &self.meanings[i].to_string()).into(),
            })
            .collect();
        Some(ArrayAttribute::new(cx, &entries).into())
    }

    /// Reads the attribute `graph.symbols`.
    pub fn read(attribute: Attribute<'_>) -> Result<Symbols, String> {
        let expected = || "graph.symbols: expected an array of names and [operation, affine map] pairs".to_string();
        let Plain::Array(entries) = ffi::plain(attribute) else { return Err(expected()) };
        let mut out = Symbols::default();
        for entry in entries {
            let meaning = match ffi::plain(entry) {
                Plain::Str(name) => Dim::symbol(name),
                Plain::Array(pair) if pair.len() == 2 => match (ffi::plain(pair[0]), ffi::plain(pair[1])) {
                    (Plain::Str(operation), Plain::Map(map)) => {
                        let args =
                            (0..map.result_count()).map(|i| out.result(map, i)).collect::<Result<Vec<_>, _>>()?;
                        apply(operation, &args).ok_or_else(|| {
                            format!(
                                "graph.symbols: `{operation}` of {} sizes, expected one of {OPERATIONS:?}",
                                args.len()
                            )
                        })?
                    }
                    _ => return Err(expected()),
                },
                _ => return Err(expected()),
            };
            out.meanings.push(meaning);
        }
        Ok(out)
    }

    /// A map without dims whose results are the sizes.
    pub fn map<'c>(&mut self, cx: &'c Context, dims: &[Dim]) -> AffineMap<'c> {
        let mut used = 0;
        let exprs: Vec<AffineExpr<'c>> = dims.iter().map(|d| self.expr(cx, d, &mut used)).collect();
        // As few symbols as the map uses, so that equal shapes get equal types whatever symbols come later.
        AffineMap::new(cx, 0, used, &exprs)
    }

    /// The size that result `i` of a map means.
    pub fn result(&self, map: AffineMap<'_>, i: usize) -> Result<Dim, String> {
        self.dim(map.result(i).map_err(|_| format!("the encoding has {} results", map.result_count()))?)
    }

    fn expr<'c>(&mut self, cx: &'c Context, dim: &Dim, used: &mut usize) -> AffineExpr<'c> {
        let mut seen = *used;
        let direct = self.sum(cx, dim, true, &mut seen);
        // MLIR simplifies as it builds: where reading would not give the same form, divisions become symbols of their own.
        if self.dim(direct).as_ref() == Ok(dim) {
            *used = seen;
            return direct;
        }
        self.sum(cx, dim, false, used)
    }

    fn sum<'c>(&mut self, cx: &'c Context, dim: &Dim, divide: bool, used: &mut usize) -> AffineExpr<'c> {
        let mut out: Option<AffineExpr<'c>> = None;
        for (coefficient, atoms) in dim.terms() {
            let constant = AffineExpr::constant(cx, coefficient);
            let term = match atoms {
                [] => constant,
                [atom] => self.atom(cx, atom, divide, used) * constant,
                many => {
                    let args: Vec<Dim> = many.iter().map(Dim::from_atom).collect();
                    self.fresh(cx, "mul", args, used) * constant
                }
            };
            out = Some(match out {
                Some(sum) => sum + term,
                None => term,
            });
        }
        out.unwrap_or_else(|| AffineExpr::constant(cx, 0))
    }

    fn atom<'c>(&mut self, cx: &'c Context, atom: &Atom, divide: bool, used: &mut usize) -> AffineExpr<'c> {
        let positive = |y: &Dim| y.as_i64().filter(|v| divide && *v > 0).map(|v| AffineExpr::constant(cx, v));
        let (operation, x, y) = match atom {
            Atom::Sym(name) => return self.symbol(cx, Dim::symbol(name), None, used),
            Atom::FloorDiv(x, y) => match positive(y) {
                Some(y) => return AffineExpr::floor_div(self.sum(cx, x, divide, used), y),
                None => ("floordiv", x, y),
            },
            Atom::Mod(x, y) => match positive(y) {
                Some(y) => return AffineExpr::modulo(self.sum(cx, x, divide, used), y),
                None => ("mod", x, y),
            },
            Atom::Max(x, y) => ("max", x, y),
            Atom::Min(x, y) => ("min", x, y),
        };
        self.fresh(cx, operation, vec![(**x).clone(), (**y).clone()], used)
    }

    /// The symbol for an operation on sizes, after the symbols of its arguments.
    fn fresh<'c>(
        &mut self,
        cx: &'c Context,
        operation: &'static str,
        args: Vec<Dim>,
        used: &mut usize,
    ) -> AffineExpr<'c> {
        self.map(cx, &args);
        match apply(operation, &args) {
            Some(meaning) => self.symbol(cx, meaning, Some((operation, args)), used),
            // Division by a constant 0, which `Dim` never holds.
            None => AffineExpr::constant(cx, 0),
        }
    }

    fn symbol<'c>(
        &mut self,
        cx: &'c Context,
        meaning: Dim,
        derived: Option<(&'static str, Vec<Dim>)>,
        used: &mut usize,
    ) -> AffineExpr<'c> {
        let next = self.meanings.len();
        let position = *self.positions.entry(meaning.clone()).or_insert(next);
        if position == next {
            self.meanings.push(meaning);
            if let Some(d) = derived {
                self.derived.insert(next, d);
            }
        }
        *used = (*used).max(position + 1);
        AffineExpr::symbol(cx, position)
    }

    fn dim(&self, e: AffineExpr<'_>) -> Result<Dim, String> {
        if e.is_constant() {
            return Ok(Dim::constant(e.constant_value()));
        }
        if e.is_symbol() {
            let i = e.symbol_position();
            return self.meanings.get(i).cloned().ok_or_else(|| {
                format!("symbol s{i} has no entry in graph.symbols, which has {}", self.meanings.len())
            });
        }
        if !e.is_binary() {
            return Err(format!("`{e}` is not an expression over symbols"));
        }
        let (x, y) = (self.dim(e.lhs())?, self.dim(e.rhs())?);
        let zero = || format!("`{e}` divides by 0");
        if e.is_add() {
            Ok(x.add(&y))
        } else if e.is_mul() {
            Ok(x.mul(&y))
        } else if e.is_floor_div() {
            x.floor_div(&y).ok_or_else(zero)
        } else if e.is_ceil_div() {
            x.scale(-1).floor_div(&y).map(|d| d.scale(-1)).ok_or_else(zero)
        } else {
            x.modulo(&y).ok_or_else(zero)
        }
    }
}

fn apply(operation: &str, args: &[Dim]) -> Option<Dim> {
    match (operation, args) {
        ("mul", [first, rest @ ..]) => Some(rest.iter().fold(first.clone(), |p, a| p.mul(a))),
        ("floordiv", [x, y]) => x.floor_div(y),
        ("mod", [x, y]) => x.modulo(y),
        ("max", [x, y]) => Some(x.max_with(y)),
        ("min", [x, y]) => Some(x.min_with(y)),
        _ => None,
    }
}
