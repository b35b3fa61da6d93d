//! The plain model: what a `.onnx` file says, checked and without protobuf.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use bytes::Bytes;

use crate::ElementType;

/// A decoded model. Functions are inlined, external data is read, and every graph's nodes are in topological order.
#[derive(Clone, Debug)]
pub struct Model {
    /// ONNX IR version.
    pub ir_version: i64,
    /// Name and version of the exporter, as far as given.
    pub producer: String,
    /// Opset versions by domain; the default domain is `""` (also written `ai.onnx`).
    pub opsets: BTreeMap<String, i64>,
    /// The computation.
    pub graph: Graph,
}

/// A graph or subgraph: values have names, each is produced once and defined before its use.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The graph's name.
    pub name: String,
    /// Inputs in order, without those that have an initialiser (these are constants with a default nobody overrides).
    pub inputs: Vec<ValueInfo>,
    /// Outputs in order.
    pub outputs: Vec<ValueInfo>,
    /// Constant values by name.
    pub initialisers: BTreeMap<String, Arc<Tensor>>,
    /// Operators in topological order. A subgraph's nodes may read values of the graphs around it.
    pub nodes: Vec<Node>,
    /// What the exporter noted about inner values; a hint only.
    pub value_info: Vec<ValueInfo>,
}

/// A named value's declared type.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueInfo {
    /// The value's name.
    pub name: String,
    /// Its declared type.
    pub ty: ValueType,
}

/// A declared type.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueType {
    /// A dense tensor of numbers; without a shape even the rank is open.
    Tensor(ElementType, Option<Vec<DimInfo>>),
    /// Something neap does not compute on: strings, sequences, maps, sparse tensors. Holds its name.
    Other(&'static str),
    /// Not declared.
    Unknown,
}

/// A declared size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DimInfo {
    /// A number, 0 included (some exporters write 0 for "open").
    Known(u64),
    /// A name that stands for the same size wherever it occurs.
    Named(String),
    /// Not declared (also -1, `?`).
    Open,
}

/// One operator.
#[derive(Clone, Debug)]
pub struct Node {
    /// Operator name, such as `Conv`.
    pub op: String,
    /// Operator domain, `""` for ONNX's own.
    pub domain: String,
    /// Opset version that gives the operator its meaning.
    pub opset: i64,
    /// The node's name, or `<op>_<index>` where the file gives none; unique names are not promised.
    pub name: String,
    /// Operands; an empty name stands for an absent optional one.
    pub inputs: Vec<String>,
    /// Results; an empty name stands for an unwanted optional one.
    pub outputs: Vec<String>,
    /// Attributes by name.
    pub attributes: BTreeMap<String, Attribute>,
}

/// An attribute's value.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names are ONNX's")]
pub enum Attribute {
    Int(i64),
    Float(f32),
    Str(String),
    Tensor(Arc<Tensor>),
    Graph(Arc<Graph>),
    Ints(Vec<i64>),
    Floats(Vec<f32>),
    Strs(Vec<String>),
    Tensors(Vec<Arc<Tensor>>),
    Graphs(Vec<Arc<Graph>>),
    /// A kind neap has no use for (sparse tensors, types); holds its name.
    Other(&'static str),
}

/// A constant tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Element type.
    pub elem: ElementType,
    /// Shape.
    pub dims: Vec<u64>,
    /// Little-endian row-major elements, exactly as many bytes as type and shape ask for.
    pub data: Bytes,
}

impl Node {
    /// The subgraphs in the attributes.
    pub fn subgraphs(&self) -> impl Iterator<Item = &Arc<Graph>> {
        self.attributes.values().flat_map(|a| match a {
            Attribute::Graph(g) => std::slice::from_ref(g),
            Attribute::Graphs(gs) => gs.as_slice(),
            _ => &[],
        })
    }

    /// Names of the values it reads, those its subgraphs take from outside included.
    pub fn reads(&self) -> BTreeSet<&str> {
        let mut out: BTreeSet<&str> = self.inputs.iter().map(String::as_str).filter(|s| !s.is_empty()).collect();
        self.subgraphs().for_each(|g| out.extend(g.captures()));
        out
    }
}

impl Graph {
    /// Names that a subgraph takes from the graphs around it.
    pub fn captures(&self) -> BTreeSet<&str> {
        let own: HashSet<&str> = self
            .inputs
            .iter()
            .map(|i| i.name.as_str())
            .chain(self.initialisers.keys().map(String::as_str))
            .chain(self.nodes.iter().flat_map(|n| n.outputs.iter().map(String::as_str)))
            .collect();
        let used = self.nodes.iter().flat_map(Node::reads).chain(self.outputs.iter().map(|o| o.name.as_str()));
        used.filter(|n| !own.contains(n)).collect()
    }
}
