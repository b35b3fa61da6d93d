//! Writes an ONNX graph node by node.

use std::collections::HashMap;

use bytes::Bytes;
use neap_onnx::proto::{
    AttributeProto, AttributeType, DataType, Dimension, DimensionValue, GraphProto, ModelProto, NodeProto,
    OperatorSetIdProto, TensorProto, TensorShapeProto, TensorTypeProto, TypeProto, TypeValue, ValueInfoProto,
};

use crate::weights::Fill;
use crate::{Counts, Size, ZooError};

/// First opset with LayerNormalization; what PyTorch's exporter writes by default.
const OPSET: i64 = 17;
const IR_VERSION: i64 = 8;

/// The name of a value.
pub(crate) type Value = String;

/// A dim of an input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dim {
    /// Known.
    Fixed(u64),
    /// To be settled when compiling.
    Symbol(&'static str),
}

impl Dim {
    /// The size asked for, `usual` by default.
    pub(crate) fn of(size: Size, symbol: &'static str, usual: u64) -> Result<Self, ZooError> {
        match size {
            Size::Usual => Ok(Dim::Fixed(usual)),
            Size::Fixed(0) => Err(ZooError::Size { what: symbol, found: 0, expected: "at least 1".into() }),
            Size::Fixed(n) => Ok(Dim::Fixed(n)),
            Size::Symbolic => Ok(Dim::Symbol(symbol)),
        }
    }

    pub(crate) fn fixed(self) -> Option<u64> {
        match self {
            Dim::Fixed(n) => Some(n),
            Dim::Symbol(_) => None,
        }
    }
}

/// An attribute of a node.
#[derive(Clone, Copy)]
pub(crate) enum Attr<'a> {
    Int(&'static str, i64),
    Ints(&'static str, &'a [i64]),
    Float(&'static str, f32),
    Text(&'static str, &'static str),
}

/// A graph being written. Weights are drawn only when it is finished.
pub(crate) struct Builder {
    graph: GraphProto,
    seed: u64,
    weights: Vec<(String, Vec<u64>, Fill)>,
    /// How many nodes have asked for a name.
    names: HashMap<String, u32>,
    parameters: u64,
    macs: Option<u64>,
}

impl Builder {
    pub(crate) fn new(name: &str, seed: u64) -> Self {
        let graph = GraphProto { name: name.into(), ..GraphProto::default() };
        Builder { graph, seed, weights: vec![], names: HashMap::new(), parameters: 0, macs: Some(0) }
    }

    /// A model input.
    pub(crate) fn input(&mut self, name: impl Into<String>, dtype: DataType, dims: &[Dim]) -> Value {
        let name = name.into();
        self.graph.input.push(info(&name, dtype, dims));
        name
    }

    /// Makes a value a model output under a name of its own.
    pub(crate) fn output(&mut self, name: impl Into<String>, value: &str, dtype: DataType, dims: &[Dim]) {
        let name = name.into();
        if let Some(output) = self.graph.node.iter_mut().flat_map(|n| &mut n.output).find(|o| *o == value) {
            output.clone_from(&name);
        }
        for input in self.graph.node.iter_mut().flat_map(|n| &mut n.input).filter(|i| *i == value) {
            input.clone_from(&name);
        }
        self.graph.output.push(info(&name, dtype, dims));
    }

    /// A trained parameter.
    pub(crate) fn parameter(&mut self, name: &str, dims: &[u64], fill: Fill) -> Value {
        self.parameters += dims.iter().product::<u64>();
        self.statistic(name, dims, fill)
    }

    /// A stored tensor that is not trained.
    pub(crate) fn statistic(&mut self, name: &str, dims: &[u64], fill: Fill) -> Value {
        self.weights.push((name.into(), dims.to_vec(), fill));
        name.into()
    }

    /// A constant 1-D integer tensor, stored once however often asked for.
    pub(crate) fn ints(&mut self, values: &[i64]) -> Value {
        let name = format!("ints_{}", values.iter().map(i64::to_string).collect::<Vec<_>>().join("_"));
        let data = values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        self.constant(name, DataType::Int64, &[values.len() as u64], data)
    }

    /// A constant 0-d integer.
    pub(crate) fn int(&mut self, value: i64) -> Value {
        self.constant(format!("int_{value}"), DataType::Int64, &[], value.to_le_bytes().to_vec())
    }

    /// A constant 0-d float.
    pub(crate) fn float(&mut self, value: f32) -> Value {
        self.constant(format!("float_{value}"), DataType::Float, &[], value.to_le_bytes().to_vec())
    }

    /// A constant tensor, stored once under its name.
    pub(crate) fn constant(&mut self, name: String, dtype: DataType, dims: &[u64], data: impl Into<Bytes>) -> Value {
        if !self.graph.initializer.iter().any(|t| t.name == name) {
            self.graph.initializer.push(tensor(&name, dtype, dims, data.into()));
        }
        name
    }

    /// A node with one result, named after it.
    pub(crate) fn node(&mut self, name: &str, op: &str, inputs: &[&str], attrs: &[Attr<'_>]) -> Value {
        self.nodes(name, op, inputs, attrs, 1).remove(0)
    }

    /// A node with several results. Asked for again, a name gets a number, as exporters do it.
    pub(crate) fn nodes(
        &mut self,
        name: &str,
        op: &str,
        inputs: &[&str],
        attrs: &[Attr<'_>],
        results: usize,
    ) -> Vec<Value> {
        let wanted = format!("{name}/{op}");
        let again = self.names.entry(wanted.clone()).and_modify(|n| *n += 1).or_insert(0);
        let name = if *again == 0 { wanted } else { format!("{wanted}_{again}") };
        let output: Vec<Value> = (0..results).map(|i| format!("{name}_output_{i}")).collect();
        self.graph.node.push(NodeProto {
            input: inputs.iter().map(|s| s.to_string()).collect(),
            output: output.clone(),
            name,
            op_type: op.into(),
            attribute: attrs.iter().map(attribute).collect(),
            ..NodeProto::default()
        });
        output
    }

    /// Counts multiply-adds; `None` when they depend on a symbol.
    pub(crate) fn count_macs(&mut self, macs: Option<u64>) {
        self.macs = self.macs.zip(macs).map(|(a, b)| a + b);
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts { parameters: self.parameters, macs: self.macs }
    }

    /// Draws the weights and closes the model.
    pub(crate) fn finish(mut self) -> ModelProto {
        for (name, dims, fill) in &self.weights {
            let data = fill.draw(self.seed, name, dims.iter().product());
            self.graph.initializer.push(tensor(name, DataType::Float, dims, data));
        }
        ModelProto {
            ir_version: IR_VERSION,
            opset_import: vec![OperatorSetIdProto { domain: String::new(), version: OPSET }],
            producer_name: "neap-zoo".into(),
            producer_version: env!("CARGO_PKG_VERSION").into(),
            graph: Some(self.graph),
            ..ModelProto::default()
        }
    }
}

fn info(name: &str, dtype: DataType, dims: &[Dim]) -> ValueInfoProto {
    let dim = |d: &Dim| Dimension {
        value: Some(match d {
            Dim::Fixed(n) => DimensionValue::DimValue(*n as i64),
            Dim::Symbol(s) => DimensionValue::DimParam((*s).into()),
        }),
        ..Dimension::default()
    };
    let shape = TensorShapeProto { dim: dims.iter().map(dim).collect() };
    let tensor = TensorTypeProto { elem_type: dtype as i32, shape: Some(shape) };
    let r#type = TypeProto { value: Some(TypeValue::TensorType(tensor)), ..TypeProto::default() };
    ValueInfoProto { name: name.into(), r#type: Some(r#type), ..ValueInfoProto::default() }
}

fn tensor(name: &str, dtype: DataType, dims: &[u64], data: Bytes) -> TensorProto {
    TensorProto {
        dims: dims.iter().map(|d| *d as i64).collect(),
        data_type: dtype as i32,
        name: name.into(),
        raw_data: Some(data),
        ..TensorProto::default()
    }
}

fn attribute(a: &Attr<'_>) -> AttributeProto {
    let new = |name: &str, kind: AttributeType| AttributeProto {
        name: name.into(),
        r#type: kind as i32,
        ..AttributeProto::default()
    };
    match a {
        Attr::Int(name, v) => AttributeProto { i: Some(*v), ..new(name, AttributeType::Int) },
        Attr::Ints(name, v) => AttributeProto { ints: v.to_vec(), ..new(name, AttributeType::Ints) },
        Attr::Text(name, v) => AttributeProto { s: Some((*v).into()), ..new(name, AttributeType::String) },
        Attr::Float(name, v) => AttributeProto { f: Some(*v), ..new(name, AttributeType::Float) },
    }
}
