//! INT4 and UINT4: weights stay packed, two elements a byte, and are unpacked where they are used.
//!
//! The graph level has no type of 4 bits. Unpacking is ordinary ops on bytes (spread, shift, mask), which fusion computes inside
//! the kernels that need the elements; so a weight takes half a byte an element in the artefact and in memory.

use bytes::Bytes;
use neap_onnx::ElementType;
use neap_optable::{Attrs, BinaryKind as B, DType, Dim, GraphOp, Tensor, TensorType};

use super::cx::{Cx, Val};
use super::error::Res;

/// Smaller tensors (scales' zero points and the like) are unpacked while importing.
const FEW: u64 = 4096;

/// Elements as bytes: the first of a pair is in the low half.
pub(super) fn unpacked(t: &neap_onnx::Tensor, dtype: DType) -> Tensor {
    let count = t.dims.iter().product::<u64>() as usize;
    let element = |i: usize| {
        let half = t.data[i / 2] >> (4 * (i % 2)) & 15;
        if t.elem == ElementType::I4 { (half ^ 8).wrapping_sub(8) } else { half }
    };
    Tensor { dtype, dims: t.dims.clone(), data: (0..count).map(element).collect::<Bytes>() }
}

/// Whether a tensor is unpacked at run time.
pub(super) fn stay_packed(t: &neap_onnx::Tensor) -> bool {
    t.elem.bits() == 4 && t.dims.iter().product::<u64>() > FEW
}

/// The elements of a packed weight, computed at run time.
pub(super) fn unpacking(cx: &mut Cx, t: &neap_onnx::Tensor, name: &str) -> Res<Val> {
    let (count, bytes) = (t.dims.iter().product::<u64>(), t.data.len() as u64);
    name.clone_into(&mut cx.node);
    let packed = cx.named_constant(Tensor { dtype: DType::U8, dims: vec![bytes, 1], data: t.data.clone() }, name);
    let packed = cx.at_run_time(packed)?;
    let pairs = [Dim::from(bytes), Dim::from(2)];
    let spread = cx.broadcast(packed, &pairs)?;
    let shifts = cx.constant(Tensor::new(&[2], &[0u8, 4]));
    let halves = cx.binary(B::Shr, spread, shifts)?;
    let halves = cx.with_number(B::And, halves, 15.0)?;
    let elements = match t.elem {
        ElementType::I4 => {
            let signed = cx.cast(halves, DType::I8)?;
            extended(cx, signed)?
        }
        _ => halves,
    };
    let all = cx.reshape(elements, vec![Dim::from(2 * bytes)])?;
    let out = TensorType { dtype: cx.dtype(all), dims: vec![Dim::from(count)] };
    let all = match 2 * bytes == count {
        true => all,
        // The last byte of an odd count is half empty.
        false => cx.op1(GraphOp::Slice, Attrs::new().ints("starts", [0]).ints("steps", [1]), &[all], out)?,
    };
    cx.reshape(all, t.dims.iter().map(|&d| Dim::from(d)).collect())
}

/// The number of 4 bits in each byte of 8 bits: wrapped, and of int8 with its sign.
pub(super) fn wrapped(cx: &mut Cx, v: Val) -> Res<Val> {
    let low = cx.with_number(B::And, v, 15.0)?;
    if cx.dtype(v) == DType::U8 { Ok(low) } else { extended(cx, low) }
}

fn extended(cx: &mut Cx, low: Val) -> Res<Val> {
    let flipped = cx.with_number(B::Xor, low, 8.0)?;
    cx.with_number(B::Sub, flipped, 8.0)
}
