//! Symbolic sizes as affine expressions over the symbols of one function or kernel.
//!
//! Symbol `s<i>` of every map in it means entry i of its list of symbols: a string names a model's size, and
//! `["mul", affine_map<()[s0, s1] -> (s0, s1)>]` is a size that affine expressions cannot say, computed from earlier entries
//! (`mul`, `floordiv`, `mod`, `max`, `min`).

use std::collections::HashMap;

use melior::Context;
use melior::ir::attribute::{ArrayAttribute, StringAttribute};
use melior::ir::{AffineExpr, AffineMap, Attribute};
use neap_optable::{Atom, Dim};

use crate::ffi::{self, Plain};

/// The symbols of one function or kernel, by position.
#[derive(Default)]
pub struct Symbols {
    /// What each means.
    meanings: Vec<Dim>,
    /// How the ones that are not names are computed.
    derived: HashMap<usize, (&'static str, Vec<Dim>)>,
    positions: HashMap<Dim, usize>,
}

const OPERATIONS: [&str; 5] = ["mul", "floordiv", "mod", "max", "min"];

impl Symbols {
    /// With these names as the first symbols.
    pub fn with_names(names: &[String]) -> Self {
        let mut out = Symbols::default();
        for name in names {
            let (meaning, at) = (Dim::symbol(name), out.meanings.len());
            out.positions.entry(meaning.clone()).or_insert(at);
            out.meanings.push(meaning);
        }
        out
    }

    /// What each symbol means, in order.
    pub fn meanings(&self) -> &[Dim] {
        &self.meanings
    }

    /// The list of symbols as an attribute.
    pub fn attribute<'c>(&mut self, cx: &'c Context) -> Attribute<'c> {
        let entries: Vec<Attribute<'c>> = (0..self.meanings.len())
            .map(|i| match self.derived.get(&i).cloned() {
                Some((operation, args)) => {
                    let map = ffi::map_attribute(self.map(cx, &args));
                    ArrayAttribute::new(cx, &[StringAttribute::new(cx, operation).into(), map]).into()
                }
                None => StringAttribute::new(cx, &self.meanings[i].to_string()).into(),
            })
            .collect();
        ArrayAttribute::new(cx, &entries).into()
    }

    /// Reads the list of symbols.
    ///
    /// # Errors
    /// What is not of the form that the module's page says.
    pub fn read(attribute: Attribute<'_>) -> Result<Symbols, String> {
        let expected = || "symbols: expected an array of names and [operation, affine map] pairs".to_string();
        let Plain::Array(entries) = ffi::plain(attribute) else { return Err(expected()) };
        let mut out = Symbols::default();
        for entry in entries {
            let meaning = match ffi::plain(entry) {
                Plain::Str(name) => Dim::symbol(name),
                Plain::Array(pair) if pair.len() == 2 => match (ffi::plain(pair[0]), ffi::plain(pair[1])) {
                    (Plain::Str(operation), Plain::Map(map)) => {
                        let args = out.results(map)?;
                        apply(operation, &args).ok_or_else(|| {
                            format!("symbols: `{operation}` of {} sizes, expected one of {OPERATIONS:?}", args.len())
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
        let exprs: Vec<AffineExpr<'c>> = dims.iter().map(|d| self.expr(cx, d)).collect();
        map(cx, 0, &exprs)
    }

    /// The sizes that the results of a map without dims mean.
    ///
    /// # Errors
    /// An expression that is not one over known symbols.
    pub fn results(&self, map: AffineMap<'_>) -> Result<Vec<Dim>, String> {
        (0..map.result_count()).filter_map(|i| map.result(i).ok()).map(|e| self.meaning(e)).collect()
    }

    /// A size as an expression, with new symbols where it needs them.
    pub fn expr<'c>(&mut self, cx: &'c Context, dim: &Dim) -> AffineExpr<'c> {
        let direct = self.sum(cx, dim, true);
        // MLIR simplifies as it builds: where reading would not give the same form, divisions become symbols of their own.
        if self.meaning(direct).as_ref() == Ok(dim) { direct } else { self.sum(cx, dim, false) }
    }

    fn sum<'c>(&mut self, cx: &'c Context, dim: &Dim, divide: bool) -> AffineExpr<'c> {
        let mut out: Option<AffineExpr<'c>> = None;
        for (coefficient, atoms) in dim.terms() {
            let constant = AffineExpr::constant(cx, coefficient);
            let term = match atoms {
                [] => constant,
                [atom] => self.atom(cx, atom, divide) * constant,
                many => self.fresh(cx, "mul", many.iter().map(Dim::from_atom).collect()) * constant,
            };
            out = Some(match out {
                Some(sum) => sum + term,
                None => term,
            });
        }
        out.unwrap_or_else(|| AffineExpr::constant(cx, 0))
    }

    fn atom<'c>(&mut self, cx: &'c Context, atom: &Atom, divide: bool) -> AffineExpr<'c> {
        let positive = |y: &Dim| y.as_i64().filter(|v| divide && *v > 0).map(|v| AffineExpr::constant(cx, v));
        let (operation, x, y) = match atom {
            Atom::Sym(name) => return self.symbol(cx, Dim::symbol(name), None),
            Atom::FloorDiv(x, y) => match positive(y) {
                Some(y) => return AffineExpr::floor_div(self.sum(cx, x, divide), y),
                None => ("floordiv", x, y),
            },
            Atom::Mod(x, y) => match positive(y) {
                Some(y) => return AffineExpr::modulo(self.sum(cx, x, divide), y),
                None => ("mod", x, y),
            },
            Atom::Max(x, y) => ("max", x, y),
            Atom::Min(x, y) => ("min", x, y),
        };
        self.fresh(cx, operation, vec![(**x).clone(), (**y).clone()])
    }

    /// The symbol for an operation on sizes, after the symbols of its arguments.
    fn fresh<'c>(&mut self, cx: &'c Context, operation: &'static str, args: Vec<Dim>) -> AffineExpr<'c> {
        self.map(cx, &args);
        match apply(operation, &args) {
            Some(meaning) => self.symbol(cx, meaning, Some((operation, args))),
            // Division by a constant 0, which `Dim` never holds.
            None => AffineExpr::constant(cx, 0),
        }
    }

    fn symbol<'c>(
        &mut self,
        cx: &'c Context,
        meaning: Dim,
        derived: Option<(&'static str, Vec<Dim>)>,
    ) -> AffineExpr<'c> {
        let next = self.meanings.len();
        let position = *self.positions.entry(meaning.clone()).or_insert(next);
        if position == next {
            self.meanings.push(meaning);
            if let Some(d) = derived {
                self.derived.insert(next, d);
            }
        }
        AffineExpr::symbol(cx, position)
    }

    /// The size that an expression over symbols means.
    ///
    /// # Errors
    /// Iterators, symbols that are not listed, division by 0.
    pub fn meaning(&self, e: AffineExpr<'_>) -> Result<Dim, String> {
        if e.is_constant() {
            return Ok(Dim::constant(e.constant_value()));
        }
        if e.is_symbol() {
            let i = e.symbol_position();
            let meaning = self.meanings.get(i).cloned();
            return meaning
                .ok_or_else(|| format!("symbol s{i} is not listed; there are {} symbols", self.meanings.len()));
        }
        if !e.is_binary() {
            return Err(format!("`{e}` is not an expression over symbols"));
        }
        let (x, y) = (self.meaning(e.lhs())?, self.meaning(e.rhs())?);
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

/// A map over iterators and as few symbols as it uses, so that equal maps are equal whatever symbols come later.
pub fn map<'c>(cx: &'c Context, iterators: usize, results: &[AffineExpr<'c>]) -> AffineMap<'c> {
    let symbols = results.iter().map(|e| symbols_used(*e)).max().unwrap_or(0);
    AffineMap::new(cx, iterators, symbols, results)
}

/// One more than the last symbol an expression uses.
fn symbols_used(e: AffineExpr<'_>) -> usize {
    if e.is_symbol() {
        e.symbol_position() + 1
    } else if e.is_binary() {
        symbols_used(e.lhs()).max(symbols_used(e.rhs()))
    } else {
        0
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
