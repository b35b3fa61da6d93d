//! Which function converts which operator.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::cx::{Cx, Val};
use super::error::Res;
use super::op::Op;
use super::ops;

/// Converts one node; gives its results, those behind the first it knows left out.
pub(super) type Convert = fn(&mut Cx, &Op<'_>) -> Res<Vec<Val>>;

/// One operator of ONNX's own domain.
pub(super) struct Entry {
    /// Its name.
    pub op: &'static str,
    /// The opset versions in which it exists and is converted.
    pub opsets: RangeInclusive<i64>,
    /// How.
    pub convert: Convert,
}

/// An operator that exists from an opset version on.
pub(super) const fn since(op: &'static str, opset: i64, convert: Convert) -> Entry {
    Entry { op, opsets: opset..=*neap_onnx::OPSETS.end(), convert }
}

/// An operator of all opset versions that neap reads.
pub(super) const fn always(op: &'static str, convert: Convert) -> Entry {
    since(op, *neap_onnx::OPSETS.start(), convert)
}

/// Finds converters by operator name.
pub(super) struct Table(HashMap<&'static str, &'static Entry>);

impl Table {
    pub fn new() -> Self {
        Table(ops::FAMILIES.iter().copied().flatten().map(|e| (e.op, e)).collect())
    }

    /// The converter, or why there is none and what to do.
    pub fn find(&self, domain: &str, op: &str, opset: i64) -> Result<Convert, String> {
        match domain {
            "" => {}
            "com.microsoft" | "com.ms.internal.nhwc" => {
                return Err("it is onnxruntime's own; export the model before onnxruntime optimises it".into());
            }
            "ai.onnx.ml" => {
                return Err("classical machine learning is out of neap's scope; cut the model before it".into());
            }
            _ => {
                return Err(
                    "neap knows ONNX's own operators only; export it as such, or as a model-local function".into()
                );
            }
        }
        match self.0.get(op) {
            Some(e) if e.opsets.contains(&opset) => Ok(e.convert),
            Some(e) if opset < *e.opsets.start() => {
                Err(format!("ONNX has it from opset {} on; export the model again", e.opsets.start()))
            }
            Some(e) => {
                Err(format!("ONNX has it up to opset {}; convert it with onnx.version_converter", e.opsets.end()))
            }
            None => Err(hint(op).into()),
        }
    }
}

/// What to do about operators that have no converter.
fn hint(op: &str) -> &'static str {
    match op {
        "Loop" | "Scan" | "SequenceMap" => "loops are not supported yet; export the model unrolled, with fixed sizes",
        "NonMaxSuppression" | "Unique" => "its result's shape depends on run-time data; cut the model before it",
        _ if op.starts_with("Sequence") || op.starts_with("Optional") || op.contains("Sequence") => {
            "sequences and optionals are not supported; export the model with tensors only"
        }
        _ if op.starts_with("Random") || matches!(op, "Bernoulli" | "Multinomial") => {
            "random numbers are not supported; export the model for inference"
        }
        _ if op.starts_with("String") || matches!(op, "RegexFullMatch" | "TfIdfVectorizer" | "ImageDecoder") => {
            "it works on strings or files; do this outside the model"
        }
        _ => "neap has no converter for it; export the model so that it is built from simpler operators",
    }
}
