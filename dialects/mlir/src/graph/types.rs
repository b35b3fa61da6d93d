//! Tensor types: static dims as they are, symbolic ones as `?` with an affine map over the function's symbols as the encoding.

use std::collections::HashMap;

use melior::Context;
use melior::ir::r#type::{IntegerType, RankedTensorType};
use melior::ir::{Attribute, Type, TypeLike};
use neap_optable::{DType, Dim, TensorType};

use super::symbols::Symbols;
use crate::ffi::{self, Plain};

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

    /// The attribute `graph.symbols` for all types encoded so far.
    pub fn symbols(&mut self) -> Option<Attribute<'c>> {
        self.symbols.attribute(self.cx)
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
            Some(Plain::Map(map)) => Some(map),
            Some(_) => return Err(format!("{ty}: expected an affine map as encoding")),
        };
        let mut dims = vec![];
        for (i, d) in ffi::dims(tensor).into_iter().enumerate() {
            dims.push(match (d, encoding) {
                (Some(size), _) => Dim::constant(size),
                (None, Some(map)) => self.symbols.result(map, i).map_err(|e| format!("{ty}: {e}"))?,
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

/// MLIR's element type.
pub(crate) fn element<'c>(cx: &'c Context, dtype: DType) -> Type<'c> {
    match dtype {
        DType::F32 => Type::float32(cx),
        DType::F64 => Type::float64(cx),
        DType::F16 => Type::float16(cx),
        DType::BF16 => Type::bfloat16(cx),
        DType::Bool => IntegerType::new(cx, 1).into(),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => IntegerType::new(cx, 8 * dtype.size() as u32).into(),
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => IntegerType::unsigned(cx, 8 * dtype.size() as u32).into(),
    }
}

/// The element type that MLIR's means, if neap has it.
pub(crate) fn dtype(ty: Type<'_>) -> Option<DType> {
    if let Ok(int) = IntegerType::try_from(ty) {
        return match (int.width(), int.is_signless(), int.is_unsigned()) {
            (1, true, _) => Some(DType::Bool),
            (8, true, _) => Some(DType::I8),
            (16, true, _) => Some(DType::I16),
            (32, true, _) => Some(DType::I32),
            (64, true, _) => Some(DType::I64),
            (8, _, true) => Some(DType::U8),
            (16, _, true) => Some(DType::U16),
            (32, _, true) => Some(DType::U32),
            (64, _, true) => Some(DType::U64),
            _ => None,
        };
    }
    match () {
        () if ty.is_f32() => Some(DType::F32),
        () if ty.is_f64() => Some(DType::F64),
        () if ty.is_f16() => Some(DType::F16),
        () if ty.is_bf16() => Some(DType::BF16),
        () => None,
    }
}

pub(super) fn element_of<'c>(ty: Type<'c>) -> Type<'c> {
    use melior::ir::r#type::ShapedTypeLike;
    match RankedTensorType::try_from(ty) {
        Ok(t) => t.element(),
        Err(_) => ty,
    }
}
