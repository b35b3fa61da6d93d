//! From bytes to the plain model: the file as a whole.

use std::collections::BTreeMap;

use bytes::Bytes;
use prost::Message;

use crate::external::ExternalData;
use crate::function::Functions;
use crate::graph::{Cx, Scope};
use crate::proto::{ModelProto, OperatorSetIdProto};
use crate::{Error, Model, OPSETS, order};

/// Decodes and checks a model. The tensors share the memory of `bytes` and of what `external` gives.
pub fn decode(bytes: Bytes, external: &dyn ExternalData) -> Result<Model, Error> {
    if bytes.is_empty() {
        return Err(Error::Empty);
    }
    if let Some(kind) = other_file(&bytes) {
        return Err(Error::OtherFile(kind));
    }
    from_proto(parse(bytes)?, external)
}

/// Checks a model that is already in protobuf messages.
pub fn from_proto(p: ModelProto, external: &dyn ExternalData) -> Result<Model, Error> {
    let graph = p.graph.as_ref().ok_or(Error::NoGraph)?;
    let opsets = opsets(&p.opset_import)?;
    let functions = Functions::index(&p.functions)?;
    let cx = Cx::new(&functions, external);
    let mut graph = cx.graph(graph, &Scope::top(&opsets), "the graph")?;
    order::check_and_sort(&mut graph)?;
    let producer = format!("{} {}", p.producer_name, p.producer_version).trim().to_string();
    Ok(Model { ir_version: p.ir_version, producer, opsets, graph })
}

/// Opset versions by domain, each checked.
pub(crate) fn opsets(imports: &[OperatorSetIdProto]) -> Result<BTreeMap<String, i64>, Error> {
    let mut out = BTreeMap::new();
    for i in imports {
        let domain = plain_domain(&i.domain);
        if domain.is_empty() && i.version < *OPSETS.start() {
            return Err(Error::OpsetTooOld(i.version));
        }
        if domain.is_empty() && i.version > *OPSETS.end() {
            return Err(Error::OpsetTooNew(i.version));
        }
        out.insert(domain.to_string(), i.version);
    }
    Ok(out)
}

/// `ai.onnx` is another spelling of the default domain.
pub(crate) fn plain_domain(domain: &str) -> &str {
    if domain == "ai.onnx" { "" } else { domain }
}

fn parse(bytes: Bytes) -> Result<ModelProto, Error> {
    ModelProto::decode(bytes).map_err(|e| {
        // prost tells its errors apart by text only.
        if e.to_string().contains("recursion limit") { Error::TooDeep } else { Error::Protobuf(e) }
    })
}

/// Names files whose first bytes give them away, so that the message can say what was given instead of a model.
fn other_file(bytes: &[u8]) -> Option<&'static str> {
    const MAGIC: &[(&[u8], &str)] = &[
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"\x89PNG", "a PNG image"),
        (b"GIF8", "a GIF image"),
        (b"PK\x03\x04", "a zip archive (a PyTorch or npz file, perhaps)"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"\x7fELF", "an ELF binary"),
        (b"\x93NUMPY", "a numpy array"),
        (b"%PDF", "a PDF document"),
        (b"version https://git-lfs", "a Git LFS pointer; fetch the real file with git lfs pull"),
        (b"<!DOCTYPE", "a web page"),
        (b"<html", "a web page"),
        (b"{", "a JSON file"),
    ];
    MAGIC.iter().find(|(m, _)| bytes.starts_with(m)).map(|(_, name)| *name)
}
