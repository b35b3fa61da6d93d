//! Index expressions and affine maps.

use melior::Context;
use melior::ir::Type;
use melior::ir::attribute::{FloatAttribute, IntegerAttribute};
use melior::ir::r#type::IntegerType;
use melior::ir::{AffineExpr, AffineMap, Attribute};
use neap_mlir::inspect::{Plain, plain};
use neap_mlir::symbols::{self, Symbols};

use crate::affine::Space;
use crate::ir::{Index, Scalar};

/// A map from `iterators` dims to the indices.
pub(super) fn map<'c>(cx: &'c Context, symbols: &mut Symbols, iterators: usize, index: &[Index]) -> AffineMap<'c> {
    let exprs: Vec<AffineExpr<'c>> = index.iter().map(|i| expr(cx, symbols, i)).collect();
    symbols::map(cx, iterators, &exprs)
}

fn expr<'c>(cx: &'c Context, symbols: &mut Symbols, index: &Index) -> AffineExpr<'c> {
    match index {
        Index::Size(d) => symbols.expr(cx, d),
        Index::Iter(i) => AffineExpr::dim(cx, *i),
        Index::Add(a, b) => expr(cx, symbols, a) + expr(cx, symbols, b),
        Index::Mul(a, d) => expr(cx, symbols, a) * symbols.expr(cx, d),
        Index::FloorDiv(a, d) => AffineExpr::floor_div(expr(cx, symbols, a), symbols.expr(cx, d)),
        Index::Mod(a, d) => AffineExpr::modulo(expr(cx, symbols, a), symbols.expr(cx, d)),
    }
}

/// The simplified indices of a map.
pub(super) fn indices(map: AffineMap<'_>, symbols: &Symbols, space: &Space) -> Result<Vec<Index>, String> {
    (0..map.result_count())
        .filter_map(|i| map.result(i).ok())
        .map(|e| Ok(space.simplify(&index(e, symbols)?)))
        .collect()
}

fn index(e: AffineExpr<'_>, symbols: &Symbols) -> Result<Index, String> {
    if e.is_dim() {
        return Ok(Index::Iter(e.dim_position()));
    }
    if e.is_symbolic_or_constant() {
        return Ok(Index::Size(symbols.meaning(e)?));
    }
    if e.is_add() {
        return Ok(Index::Add(Box::new(index(e.lhs(), symbols)?), Box::new(index(e.rhs(), symbols)?)));
    }
    // Products keep the size on one side, divisions on the right.
    let (a, d) = if e.rhs().is_symbolic_or_constant() { (e.lhs(), e.rhs()) } else { (e.rhs(), e.lhs()) };
    let (a, d) = (Box::new(index(a, symbols)?), symbols.meaning(d)?);
    if e.is_mul() {
        Ok(Index::Mul(a, d))
    } else if e.is_floor_div() {
        Ok(Index::FloorDiv(a, d))
    } else if e.is_mod() {
        Ok(Index::Mod(a, d))
    } else {
        Err(format!("`{e}` is no index expression of a kernel"))
    }
}

/// What is read outside a buffer.
pub(super) fn outside<'c>(cx: &'c Context, s: Option<Scalar>) -> Attribute<'c> {
    match s {
        None => Attribute::unit(cx),
        Some(Scalar::Float(v)) => FloatAttribute::new(cx, Type::float64(cx), v).into(),
        Some(Scalar::Int(v)) => IntegerAttribute::new(IntegerType::new(cx, 64).into(), v).into(),
    }
}

/// The inverse of [`outside`].
pub(super) fn read_outside(a: Attribute<'_>) -> Result<Option<Scalar>, String> {
    match plain(a) {
        Plain::Unit => Ok(None),
        Plain::Float(v) => Ok(Some(Scalar::Float(v))),
        Plain::Int(v) => Ok(Some(Scalar::Int(v))),
        _ => Err(format!("outside is {a}, expected unit or a number")),
    }
}
