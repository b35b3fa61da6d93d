//! Quantised forms of float models, as onnxruntime's two quantisers write them.

mod dynamic;
mod moments;
mod qdq;
mod store;

use neap_onnx::proto::GraphProto;

/// Makes a float graph a quantised one.
pub(crate) type Quantise = fn(&mut GraphProto);

pub(crate) use dynamic::quantise as dynamic;
pub(crate) use qdq::quantise as qdq;
