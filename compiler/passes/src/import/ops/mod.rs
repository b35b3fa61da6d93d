//! Converters, one file a family of operators. To add an operator: one function here and one line in its family's `OPS`.

mod activation;
mod arithmetic;
mod attention;
mod constant;
mod contract;
mod dequantised;
mod einsum;
mod index;
mod logic;
mod norm;
mod pad_slice;
mod pool;
mod quantise;
mod recurrent;
mod reduce;
mod reshape;
mod resize;
mod scatter;
mod sort;
mod spatial;
mod window;

pub(super) use dequantised::Dequantised;

use super::table::Entry;

/// All converters.
pub(super) const FAMILIES: &[&[Entry]] = &[
    activation::OPS,
    arithmetic::OPS,
    attention::OPS,
    constant::OPS,
    contract::OPS,
    einsum::OPS,
    index::OPS,
    logic::OPS,
    norm::OPS,
    pad_slice::OPS,
    pool::OPS,
    quantise::OPS,
    recurrent::OPS,
    reduce::OPS,
    reshape::OPS,
    resize::OPS,
    scatter::OPS,
    sort::OPS,
    spatial::OPS,
];
