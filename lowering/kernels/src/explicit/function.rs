//! A function with the signature of a stage.

use melior::Context;
use melior::dialect::func;
use melior::ir::attribute::{ArrayAttribute, DictionaryAttribute, IntegerAttribute, StringAttribute, TypeAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::FunctionType;
use melior::ir::{Attribute, Block, BlockLike, Identifier, Location, Module, Region, RegionLike};

use super::builder::Builder;
use super::types::{Buf, Elem, Repr, V};

/// A buffer argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferArg {
    /// Element in memory.
    pub elem: Elem,
    /// Whether it overlaps no other buffer.
    pub noalias: bool,
}

/// What a stage's function looks like from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage<'a> {
    /// Symbol.
    pub name: &'a str,
    /// Buffers in order.
    pub buffers: Vec<BufferArg>,
    /// Number of run-time sizes.
    pub dims: usize,
}

/// The arguments inside.
pub struct StageArgs<'c> {
    /// Buffers in order.
    pub buffers: Vec<Buf<'c>>,
    /// Run-time sizes in order.
    pub dims: Vec<V<'c>>,
    /// Start of the slice of the parallel range.
    pub begin: V<'c>,
    /// End of the slice.
    pub end: V<'c>,
    /// The thread's scratch, 64-byte aligned bytes.
    pub scratch: Buf<'c>,
}

/// MLIR's verifier refused a function.
#[derive(Debug, thiserror::Error)]
#[error("the function {name} does not verify:\n{text}")]
pub struct BuildError {
    /// Symbol.
    pub name: String,
    /// The function in generic form.
    pub text: String,
}

/// Appends a function to a module and verifies it.
pub fn build_stage<'c>(
    cx: &'c Context,
    module: &Module<'c>,
    stage: &Stage<'_>,
    body: impl FnOnce(&Builder<'c>, StageArgs<'c>),
) -> Result<(), BuildError> {
    // An op of a dialect that is registered but not loaded would silently become an unregistered one.
    for dialect in ["func", "scf", "arith", "math", "memref", "vector"] {
        cx.get_or_load_dialect(dialect);
    }
    let location = Location::unknown(cx);
    let index = Elem::Index.mlir(cx);
    let mut types: Vec<_> = stage.buffers.iter().map(|b| Buf::mlir(cx, b.elem)).collect();
    types.extend((0..stage.dims + 2).map(|_| index));
    types.push(Buf::mlir(cx, Elem::I8));
    let region = Region::new();
    let block = region.append_block(Block::new(&types.iter().map(|t| (*t, location)).collect::<Vec<_>>()));
    let value = |i: usize| block.argument(i).expect("the block was made with this argument").into();
    let n = stage.buffers.len();
    let size = |i: usize| V { ty: Elem::Index.scalar(), repr: Repr::Op(value(n + i)) };
    let arguments = StageArgs {
        buffers: stage.buffers.iter().enumerate().map(|(i, b)| Buf { elem: b.elem, value: value(i) }).collect(),
        dims: (0..stage.dims).map(size).collect(),
        begin: size(stage.dims),
        end: size(stage.dims + 1),
        scratch: Buf { elem: Elem::I8, value: value(n + stage.dims + 2) },
    };
    let builder = Builder::new(cx, location, block);
    body(&builder, arguments);
    block.append_operation(func::r#return(&[], location));

    let id = |name| Identifier::new(cx, name);
    let count = |v: usize| Attribute::from(IntegerAttribute::new(Elem::I64.mlir(cx), v as i64));
    let facts = DictionaryAttribute::new(cx, &[(id("buffers"), count(n)), (id("dims"), count(stage.dims))]);
    let argument_attributes: Vec<Attribute<'c>> = (0..types.len())
        .map(|i| {
            let noalias = stage.buffers.get(i).is_some_and(|b| b.noalias);
            let unit = [(id("neap.noalias"), Attribute::unit(cx))];
            DictionaryAttribute::new(cx, if noalias { &unit } else { &[] }).into()
        })
        .collect();
    let function = func::func(
        cx,
        StringAttribute::new(cx, stage.name),
        TypeAttribute::new(FunctionType::new(cx, &types, &[]).into()),
        region,
        &[(id("neap.kernel"), facts.into()), (id("arg_attrs"), ArrayAttribute::new(cx, &argument_attributes).into())],
        location,
    );
    let function = module.body().append_operation(function);
    if function.verify() { Ok(()) } else { Err(BuildError { name: stage.name.to_owned(), text: function.to_string() }) }
}
