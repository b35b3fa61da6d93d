//! The sizes of the model's inputs: declared, given by the user, taken from actual inputs, or left open.

use std::collections::BTreeMap;

use neap_onnx::{DimInfo, ElementType, Model, ValueInfo, ValueType};
use neap_optable::{DType, Dim, TensorType};

use super::ImportOptions;
use super::error::ImportError;

/// An input dim whose size the model leaves open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenDim {
    /// The name under which a size may be given: the dim's own, or `INPUT.AXIS`.
    pub name: String,
    /// First input that has it.
    pub input: String,
    /// Which dim of that input.
    pub axis: usize,
}

/// The open dims that `options` do not settle, in order of first occurrence.
pub fn open_dims(model: &Model, options: &ImportOptions) -> Result<Vec<OpenDim>, Vec<ImportError>> {
    let mut out: Vec<OpenDim> = vec![];
    for (info, ty) in model.graph.inputs.iter().zip(input_types(model, options)?) {
        for (axis, d) in ty.dims.iter().enumerate() {
            for name in d.symbols() {
                if out.iter().all(|o| o.name != *name) {
                    out.push(OpenDim { name: name.to_string(), input: info.name.clone(), axis });
                }
            }
        }
    }
    Ok(out)
}

/// Sizes of the model's open dims as actual input shapes settle them, by input name; inputs not given stay open.
///
/// # Errors
/// Names the input and the dim where shapes contradict the model or each other, with both sizes.
pub fn bind_dims(
    model: &Model,
    shapes: &BTreeMap<String, Vec<u64>>,
) -> Result<BTreeMap<String, u64>, Vec<ImportError>> {
    let mut out: BTreeMap<String, u64> = BTreeMap::new();
    let fail =
        |name: &str, reason: String| Err(vec![ImportError::Interface { place: "input", name: name.into(), reason }]);
    for info in &model.graph.inputs {
        let (Some(shape), ValueType::Tensor(_, Some(dims))) = (shapes.get(&info.name), &info.ty) else { continue };
        if shape.len() != dims.len() {
            return fail(&info.name, format!("has rank {}, the model expects rank {}", shape.len(), dims.len()));
        }
        for (axis, (d, &size)) in dims.iter().zip(shape).enumerate() {
            let key = match d {
                DimInfo::Known(0) | DimInfo::Open => format!("{}.{axis}", info.name),
                DimInfo::Known(n) if *n == size => continue,
                DimInfo::Known(n) => return fail(&info.name, format!("dim {axis} is {size}, the model expects {n}")),
                DimInfo::Named(name) => name.clone(),
            };
            match out.insert(key.clone(), size) {
                Some(before) if before != size => {
                    return fail(&info.name, format!("dim {axis} is {size}, but `{key}` is {before} elsewhere"));
                }
                _ => {}
            }
        }
    }
    Ok(out)
}

/// Types of the model's inputs, open dims as symbols.
pub(super) fn input_types(model: &Model, options: &ImportOptions) -> Result<Vec<TensorType>, Vec<ImportError>> {
    let inputs = &model.graph.inputs;
    let given = bindings(inputs, options)?;
    let mut errors = vec![];
    let mut out = vec![];
    for info in inputs {
        match input_type(info, &given) {
            Ok(ty) => out.push(ty),
            Err(reason) => errors.push(ImportError::Interface { place: "input", name: info.name.clone(), reason }),
        }
    }
    if errors.is_empty() { Ok(out) } else { Err(errors) }
}

fn input_type(info: &ValueInfo, given: &BTreeMap<String, u64>) -> Result<TensorType, String> {
    let (elem, dims) = match &info.ty {
        ValueType::Tensor(elem, Some(dims)) => (*elem, dims),
        ValueType::Tensor(_, None) => return Err("its rank is not declared; export the model with input shapes".into()),
        ValueType::Unknown => return Err("its type is not declared; export the model with input types".into()),
        ValueType::Other(what) => return Err(format!("it is {what}; neap takes tensors of numbers only")),
    };
    let dtype =
        dtype(elem).ok_or_else(|| format!("element type {elem} is not supported; export the model with f32"))?;
    let sizes = dims.iter().enumerate().map(|(axis, d)| {
        let (name, fixed) = key(info, axis, d);
        match fixed.or_else(|| given.get(&name).copied()) {
            Some(n) => Dim::from(n),
            None => Dim::symbol(&name),
        }
    });
    Ok(TensorType { dtype, dims: sizes.collect() })
}

/// Name of a dim, and its size where declared. Some exporters write 0 for a size they leave open.
fn key(info: &ValueInfo, axis: usize, d: &DimInfo) -> (String, Option<u64>) {
    let own = || format!("{}.{axis}", info.name);
    match d {
        DimInfo::Known(0) | DimInfo::Open => (own(), None),
        DimInfo::Known(n) => (own(), Some(*n)),
        DimInfo::Named(name) => (name.clone(), None),
    }
}

/// The given sizes by dim name, `INPUT.AXIS` of a named dim counting for the name.
fn bindings(inputs: &[ValueInfo], options: &ImportOptions) -> Result<BTreeMap<String, u64>, Vec<ImportError>> {
    let mut known: BTreeMap<String, (String, Option<u64>)> = BTreeMap::new();
    for info in inputs {
        let ValueType::Tensor(_, Some(dims)) = &info.ty else { continue };
        for (axis, d) in dims.iter().enumerate() {
            let (name, fixed) = key(info, axis, d);
            known.insert(name.clone(), (name.clone(), fixed));
            known.insert(format!("{}.{axis}", info.name), (name, fixed));
        }
    }
    let mut out: BTreeMap<String, u64> = BTreeMap::new();
    let mut errors = vec![];
    for (key, &size) in &options.dims {
        let mut fail = |reason: String| errors.push(ImportError::Dim { key: key.clone(), size, reason });
        match known.get(key) {
            None => {
                let mut names: Vec<&str> =
                    known.values().filter(|(_, f)| f.is_none()).map(|(n, _)| n.as_str()).collect();
                names.dedup();
                names.sort_unstable();
                names.dedup();
                let list = if names.is_empty() {
                    "all dims are fixed".into()
                } else {
                    format!("open dims: {}", names.join(", "))
                };
                fail(format!("the model has no dim of this name; {list}"));
            }
            Some((_, Some(n))) if *n != size => fail(format!("the model fixes this dim to {n}")),
            Some((_, Some(_))) => {}
            Some((name, None)) => match out.insert(name.clone(), size) {
                Some(before) if before != size => fail(format!("`{name}` is also given as {before}")),
                _ => {}
            },
        }
    }
    if errors.is_empty() { Ok(out) } else { Err(errors) }
}

/// The element type at the graph level; int4 and uint4 are int8 and uint8 there, complex numbers and other narrow ones have none.
pub(super) fn dtype(e: ElementType) -> Option<DType> {
    Some(match e {
        ElementType::F32 => DType::F32,
        ElementType::F64 => DType::F64,
        ElementType::F16 => DType::F16,
        ElementType::Bf16 => DType::BF16,
        ElementType::I8 | ElementType::I4 => DType::I8,
        ElementType::I16 => DType::I16,
        ElementType::I32 => DType::I32,
        ElementType::I64 => DType::I64,
        ElementType::U8 | ElementType::U4 => DType::U8,
        ElementType::U16 => DType::U16,
        ElementType::U32 => DType::U32,
        ElementType::U64 => DType::U64,
        ElementType::Bool => DType::Bool,
        _ => return None,
    })
}
