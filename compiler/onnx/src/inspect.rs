//! A summary of a model, for `neap inspect`.

use std::collections::BTreeMap;

use crate::{Graph, Model, ValueInfo};

/// What a model consists of, subgraphs included.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// Exporter.
    pub producer: String,
    /// ONNX IR version.
    pub ir_version: i64,
    /// Opset versions by domain.
    pub opsets: BTreeMap<String, i64>,
    /// How often each (domain, operator) occurs.
    pub ops: BTreeMap<(String, String), usize>,
    /// Inputs with their declared types.
    pub inputs: Vec<ValueInfo>,
    /// Outputs with their declared types.
    pub outputs: Vec<ValueInfo>,
    /// Number of initialisers.
    pub weights: usize,
    /// Elements of all initialisers.
    pub parameters: u64,
    /// Bytes of all initialisers.
    pub weight_bytes: u64,
}

/// Counts what is in a model.
pub fn inspect(model: &Model) -> Inspection {
    let mut out = Inspection {
        producer: model.producer.clone(),
        ir_version: model.ir_version,
        opsets: model.opsets.clone(),
        ops: BTreeMap::new(),
        inputs: model.graph.inputs.clone(),
        outputs: model.graph.outputs.clone(),
        weights: 0,
        parameters: 0,
        weight_bytes: 0,
    };
    add(&mut out, &model.graph);
    out
}

fn add(out: &mut Inspection, graph: &Graph) {
    out.weights += graph.initialisers.len();
    for t in graph.initialisers.values() {
        out.parameters = out.parameters.saturating_add(t.data.len() as u64 * 8 / t.elem.bits());
        out.weight_bytes = out.weight_bytes.saturating_add(t.data.len() as u64);
    }
    for n in &graph.nodes {
        *out.ops.entry((n.domain.clone(), n.op.clone())).or_insert(0) += 1;
        n.subgraphs().for_each(|g| add(out, g));
    }
}
