//! The signature of one kernel stage, read from its `func.func`.

use crate::{CodegenError, types::Elem, types::ValueType};
use melior::ir::{
    Attribute, AttributeLike, BlockLike, OperationRef, RegionLike, ValueLike,
    attribute::{DictionaryAttribute, IntegerAttribute, StringAttribute},
    operation::OperationLike,
};
use neap_mlir::Diagnostic;

/// One buffer argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferParam {
    /// Element type.
    pub elem: Elem,
    /// Whether it overlaps no other buffer (`neap.noalias`).
    pub noalias: bool,
}

/// What the entry of a stage must pass on: buffers, sizes, then begin, end and scratch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Symbol.
    pub name: String,
    /// Buffer arguments.
    pub buffers: Vec<BufferParam>,
    /// Number of run-time sizes.
    pub dims: usize,
}

/// An error about an operation.
pub(crate) fn illegal<'c: 'a, 'a>(op: &impl OperationLike<'c, 'a>, reason: impl Into<String>) -> CodegenError {
    CodegenError::Illegal { op: op_name(op), location: Diagnostic::at(op.location(), "").place, reason: reason.into() }
}

/// Name of an operation, such as `arith.addf`.
pub(crate) fn op_name<'c: 'a, 'a>(op: &impl OperationLike<'c, 'a>) -> String {
    op.name().as_string_ref().as_str().unwrap_or_default().to_owned()
}

impl Stage {
    /// Reads and checks the signature of a `func.func`.
    pub fn read(func: OperationRef<'_, '_>) -> Result<Self, CodegenError> {
        let name = func
            .attribute("sym_name")
            .ok()
            .and_then(|a| StringAttribute::try_from(a).ok())
            .ok_or_else(|| illegal(&func, "a stage needs a name"))?
            .value()
            .to_owned();
        let (buffers, dims) = counts(func).ok_or_else(|| {
            illegal(&func, format!("@{name} needs the attribute neap.kernel = {{buffers = N : i64, dims = N : i64}}"))
        })?;
        let block = func
            .region(0)
            .ok()
            .and_then(|r| r.first_block())
            .ok_or_else(|| illegal(&func, format!("@{name} has no body")))?;
        let types: Vec<_> = (0..block.argument_count())
            .filter_map(|i| block.argument(i).ok())
            .map(|argument| ValueType::read(argument.r#type()))
            .collect::<Result<_, _>>()
            .map_err(|reason| illegal(&func, reason))?;
        let shape_ok = types.len() == buffers + dims + 3
            && types[..buffers].iter().all(|t| matches!(t, ValueType::Buffer(_)))
            && types[buffers..buffers + dims + 2].iter().all(|t| *t == ValueType::Scalar(Elem::Index))
            && types[buffers + dims + 2] == ValueType::Buffer(Elem::I8);
        if !shape_ok {
            return Err(illegal(
                &func,
                format!(
                    "@{name} must take {buffers} memrefs, {dims} sizes, begin, end (index) and scratch (memref<?xi8>)"
                ),
            ));
        }
        let results = func
            .attribute("function_type")
            .ok()
            .and_then(|a| melior::ir::attribute::TypeAttribute::try_from(a).ok())
            .and_then(|a| melior::ir::r#type::FunctionType::try_from(a.value()).ok())
            .map_or(0, |t| t.result_count());
        if results != 0 {
            return Err(illegal(&func, format!("@{name} must return nothing")));
        }
        let buffers = types[..buffers]
            .iter()
            .enumerate()
            .map(|(i, t)| BufferParam {
                elem: t.elem(),
                noalias: argument_attributes(func, i).is_some_and(|d| d.element_by_name("neap.noalias").is_some()),
            })
            .collect();
        Ok(Self { name, buffers, dims })
    }
}

/// The attributes of argument `i`.
fn argument_attributes<'c>(func: OperationRef<'c, '_>, i: usize) -> Option<DictionaryAttribute<'c>> {
    let list = func.attribute("arg_attrs").ok().filter(|a| a.is_array())?.to_raw();
    // SAFETY: it is an array attribute, and the position is in range.
    let element = unsafe {
        let inside = (i as isize) < mlir_sys::mlirArrayAttrGetNumElements(list);
        inside.then(|| Attribute::from_raw(mlir_sys::mlirArrayAttrGetElement(list, i as isize)))
    };
    DictionaryAttribute::try_from(element?).ok()
}

fn counts(func: OperationRef<'_, '_>) -> Option<(usize, usize)> {
    let kernel = DictionaryAttribute::try_from(func.attribute("neap.kernel").ok()?).ok()?;
    let number = |a: Attribute<'_>| usize::try_from(IntegerAttribute::try_from(a).ok()?.value()).ok();
    Some((number(kernel.element_by_name("buffers")?)?, number(kernel.element_by_name("dims")?)?))
}
