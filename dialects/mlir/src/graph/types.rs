//! Tensor types: static dims as they are, symbolic ones as `?` with an affine map over the function's symbols as the encoding.

use std::collections::HashMap;

use melior::Context;
use melior::ir::r#type::RankedTensorType;
use melior::ir::{Attribute, Type};
use neap_optable::{Dim, TensorType};

use crate::element::{dtype, element, element_of};
use crate::ffi::{self, Plain};
use crate::symbols::Symbols;

/// Types of one function from plain to MLIR.
pub(super) struct Encoder<'c> {
    cx: &'c Context,
    symbols: Symbols,
    cache: HashMap<TensorType, Type<'c>>,
}

impl<'c> Encoder<'c> {
    /// Without symbols yet: they are numbered as types need them.
    pub fn new(cx: &'c Context) -> Self {
        Encoder { cx, symbols: Symbols::default(), cache: HashMap::new() }
    }

    /// The MLIR type.
    pub fn encode(&mut self, ty: &TensorType) -> Type<'c> {
        if let Some(t) = self.cache.get(ty) {
            return *t;
        }
        let dims: Vec<Option<i64>> = ty.dims.iter().map(|d| d.as_const().map(|c| c as i64)).collect();
        let encoding = dims.contains(&None).then(|| ffi::map_attribute(self.symbols.map(self.cx, &ty.dims)));
        let out = ffi::tensor(&dims, element(self.cx, ty.dtype), encoding);
        self.cache.insert(ty.clone(), out);
        out
    }

    /// The attribute `graph.symbols` for all types encoded so far; `None` without symbols.
    pub fn symbols(&mut self) -> Option<Attribute<'c>> {
        (!self.symbols.meanings().is_empty()).then(|| self.symbols.attribute(self.cx))
    }
}

/// Types of one function from MLIR to plain.
pub(super) struct Decoder {
    symbols: Symbols,
    cache: HashMap<usize, TensorType>,
}

impl Decoder {
    /// With the function's `graph.symbols`.
    pub fn new(symbols: Option<Attribute<'_>>) -> Result<Self, String> {
        let symbols = symbols.map(Symbols::read).transpose()?.unwrap_or_default();
        Ok(Decoder { symbols, cache: HashMap::new() })
    }

    /// The plain type.
    pub fn decode(&mut self, ty: Type<'_>) -> Result<TensorType, String> {
        let key = ffi::type_key(ty);
        if let Some(t) = self.cache.get(&key) {
            return Ok(t.clone());
        }
        let out = self.tensor(ty)?;
        self.cache.insert(key, out.clone());
        Ok(out)
    }

    fn tensor(&self, ty: Type<'_>) -> Result<TensorType, String> {
        let tensor =
            RankedTensorType::try_from(ty).map_err(|_| format!("found type {ty}, expected a ranked tensor"))?;
        let encoding = match tensor.encoding().map(ffi::plain) {
            None => None,
            Some(Plain::Map(map)) => Some(self.symbols.results(map).map_err(|e| format!("{ty}: {e}"))?),
            Some(_) => return Err(format!("{ty}: expected an affine map as encoding")),
        };
        let mut dims = vec![];
        for (i, d) in ffi::dims(tensor).into_iter().enumerate() {
            dims.push(match (d, encoding.as_ref().and_then(|e| e.get(i))) {
                (Some(size), _) => Dim::constant(size),
                (None, Some(meaning)) => meaning.clone(),
                (None, None) => {
                    return Err(format!(
                        "{ty}: dim {i} has no symbol; write `tensor<?xf32, affine_map<()[s0] -> (s0)>>` \
                         and list s0 in the function's graph.symbols"
                    ));
                }
            });
        }
        let dtype = dtype(element_of(ty)).ok_or_else(|| format!("{ty}: no such element type in neap"))?;
        Ok(TensorType { dtype, dims })
    }
}
