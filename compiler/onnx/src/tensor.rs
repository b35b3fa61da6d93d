//! Tensors: checking shape against data, and bringing all of ONNX's data fields into one form.

use std::sync::Arc;

use bytes::Bytes;

use crate::external::ExternalData;
use crate::proto::{DataLocation, DataType, TensorProto};
use crate::{ElementType, Error, Tensor};

/// Decodes one tensor; `place` names it in errors.
pub(crate) fn decode(p: &TensorProto, external: &dyn ExternalData, place: &str) -> Result<Arc<Tensor>, Error> {
    let elem = element_type(p.data_type, place)?;
    if p.segment.is_some() {
        return Err(Error::Unsupported { place: place.into(), what: "tensors split into segments" });
    }
    let mut dims = Vec::with_capacity(p.dims.len());
    for (axis, &dim) in p.dims.iter().enumerate() {
        dims.push(u64::try_from(dim).map_err(|_| Error::NegativeDim { place: place.into(), axis, dim })?);
    }
    let too_large = || Error::TooLarge { place: place.into(), dims: dims.clone() };
    let count = count(&dims).ok_or_else(too_large)?;
    let bytes = u64::try_from((u128::from(count) * u128::from(elem.bits())).div_ceil(8)).map_err(|_| too_large())?;
    if i64::try_from(bytes).is_err() {
        return Err(too_large());
    }
    let wrong = |expected, found, unit| Error::DataSize {
        place: place.into(),
        dims: dims.clone(),
        elem,
        expected,
        found,
        unit,
    };

    let data = if p.data_location == DataLocation::External as i32 {
        read_external(p, external, bytes, place)?
    } else if let Some(raw) = p.raw_data.as_ref().filter(|r| !r.is_empty() || bytes == 0) {
        raw.clone()
    } else {
        let (data, found) = typed(p, elem);
        // Sub-byte and complex elements do not come one a field entry; their byte count below tells.
        if elem.bits() >= 8 && !matches!(elem, ElementType::Complex64 | ElementType::Complex128) && found != count {
            return Err(wrong(count, found, "elements"));
        }
        data.into()
    };
    if data.len() as u64 != bytes {
        return Err(wrong(bytes, data.len() as u64, "bytes"));
    }
    Ok(Arc::new(Tensor { elem, dims, data }))
}

/// The element type with ONNX's number.
pub(crate) fn element_type(number: i32, place: &str) -> Result<ElementType, Error> {
    if number == DataType::String as i32 {
        return Err(Error::Strings { place: place.into() });
    }
    ElementType::from_onnx(number).ok_or_else(|| Error::ElementType { place: place.into(), number })
}

/// Product of the sizes; a 0 anywhere makes it 0 even if the others overflow.
fn count(dims: &[u64]) -> Option<u64> {
    if dims.contains(&0) { Some(0) } else { dims.iter().try_fold(1u64, |a, &b| a.checked_mul(b)) }
}

fn read_external(p: &TensorProto, external: &dyn ExternalData, bytes: u64, place: &str) -> Result<Bytes, Error> {
    let field = |key: &str| p.external_data.iter().find(|e| e.key == key).map(|e| e.value.as_str());
    let number = |key: &str| match field(key).filter(|v| !v.is_empty()) {
        None => Ok(None),
        Some(v) => v.parse::<u64>().map(Some).map_err(|_| Error::ExternalField {
            place: place.into(),
            key: key.into(),
            value: v.into(),
        }),
    };
    let location =
        field("location").ok_or(Error::Missing { place: place.into(), what: "location of its external data" })?;
    // Without a length the tensor's own size is what is wanted; `read` then finds a file that is too short.
    let length = number("length")?.unwrap_or(bytes);
    let offset = number("offset")?.unwrap_or(0);
    external.read(location, offset, length).map_err(|source| Error::External { place: place.into(), source })
}

/// Elements of the typed data fields as little-endian bytes, and how many entries there were.
fn typed(p: &TensorProto, elem: ElementType) -> (Vec<u8>, u64) {
    use ElementType as E;
    fn pack<T: Copy, const N: usize>(values: &[T], to: impl Fn(T) -> [u8; N]) -> (Vec<u8>, u64) {
        (values.iter().flat_map(|&v| to(v)).collect(), values.len() as u64)
    }
    match elem {
        E::F32 | E::Complex64 => pack(&p.float_data, f32::to_le_bytes),
        E::F64 | E::Complex128 => pack(&p.double_data, f64::to_le_bytes),
        E::I64 => pack(&p.int64_data, i64::to_le_bytes),
        E::U64 => pack(&p.uint64_data, u64::to_le_bytes),
        E::U32 => pack(&p.uint64_data, |v| (v as u32).to_le_bytes()),
        E::I32 => pack(&p.int32_data, i32::to_le_bytes),
        E::I16 | E::U16 | E::F16 | E::Bf16 => pack(&p.int32_data, |v| (v as u16).to_le_bytes()),
        E::Bool => pack(&p.int32_data, |v| [u8::from(v != 0)]),
        E::I8
        | E::U8
        | E::F8E4M3Fn
        | E::F8E4M3FnUz
        | E::F8E5M2
        | E::F8E5M2FnUz
        | E::F8E8M0
        | E::U4
        | E::I4
        | E::F4E2M1
        | E::U2
        | E::I2
        | E::F6E2M3
        | E::F6E3M2 => pack(&p.int32_data, |v| [v as u8]),
    }
}
