//! Graphs, nodes and attributes from protobuf, with functions inlined on the way.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::decode::plain_domain;
use crate::external::ExternalData;
use crate::function::Functions;
use crate::proto::{AttributeProto, AttributeType, DimensionValue, GraphProto, NodeProto, TypeValue, ValueInfoProto};
use crate::{Attribute, DimInfo, Error, Graph, Node, ValueInfo, ValueType, tensor};

/// What decoding a graph needs from around it.
pub(crate) struct Cx<'a> {
    pub functions: &'a Functions<'a>,
    pub external: &'a dyn ExternalData,
    /// Nodes decoded so far; bounds what inlining can blow up to.
    pub count: Cell<usize>,
}

/// How names and attributes read where a node stands: at the top as they are, in a function's body by the call.
pub(crate) struct Scope<'a> {
    /// Opsets by domain.
    pub opsets: &'a BTreeMap<String, i64>,
    /// The call that is being inlined.
    pub call: Option<Call<'a>>,
}

/// One inlined call.
pub(crate) struct Call<'a> {
    /// Put before names of inner values and nodes.
    pub prefix: String,
    /// Formal to actual value names.
    pub values: BTreeMap<&'a str, String>,
    /// The call's attributes, with the function's defaults.
    pub attributes: BTreeMap<String, Attribute>,
    /// Functions being inlined, outermost first.
    pub stack: Vec<usize>,
}

impl<'a> Scope<'a> {
    /// The scope of the model's own graph.
    pub fn top(opsets: &'a BTreeMap<String, i64>) -> Self {
        Scope { opsets, call: None }
    }

    /// The name of a value, seen from outside all functions.
    pub fn value(&self, name: &str) -> String {
        match &self.call {
            Some(c) if !name.is_empty() => c.values.get(name).cloned().unwrap_or_else(|| format!("{}{name}", c.prefix)),
            _ => name.to_string(),
        }
    }
}

impl<'a> Cx<'a> {
    pub fn new(functions: &'a Functions<'a>, external: &'a dyn ExternalData) -> Self {
        Cx { functions, external, count: Cell::new(0) }
    }

    /// Decodes a graph; order and uniqueness of its values are checked later, over all graphs at once.
    pub fn graph(&self, p: &GraphProto, scope: &Scope<'_>, place: &str) -> Result<Graph, Error> {
        let mut initialisers = BTreeMap::new();
        for t in &p.initializer {
            if t.name.is_empty() {
                return Err(Error::Missing { place: format!("an initialiser of {place}"), what: "name" });
            }
            let value = tensor::decode(t, self.external, &format!("initialiser `{}`", t.name))?;
            let name = scope.value(&t.name);
            if initialisers.insert(name.clone(), value).is_some() {
                let what = || "an initialiser".to_string();
                return Err(Error::Twice { value: name, first: what(), second: what() });
            }
        }
        if let Some(s) = p.sparse_initializer.first() {
            let name = s.values.as_ref().map_or("", |v| v.name.as_str());
            return Err(Error::Unsupported { place: format!("initialiser `{name}`"), what: "sparse tensors" });
        }
        let infos = |list: &[ValueInfoProto], what: &str| {
            list.iter().map(|v| value_info(v, scope, what)).collect::<Result<Vec<_>, _>>()
        };
        let mut inputs = infos(&p.input, "input")?;
        inputs.retain(|i| !initialisers.contains_key(&i.name));
        let mut nodes = Vec::with_capacity(p.node.len());
        self.nodes(&p.node, scope, &mut nodes)?;
        Ok(Graph {
            name: p.name.clone(),
            inputs,
            outputs: infos(&p.output, "output")?,
            initialisers,
            nodes,
            // A hint: what cannot be read is left out.
            value_info: p.value_info.iter().filter_map(|v| value_info(v, scope, "value").ok()).collect(),
        })
    }

    /// Decodes nodes, calls of functions replaced by the functions' bodies.
    pub fn nodes(&self, list: &[NodeProto], scope: &Scope<'_>, out: &mut Vec<Node>) -> Result<(), Error> {
        for (index, p) in list.iter().enumerate() {
            self.count.set(self.count.get() + 1);
            let own = if p.name.is_empty() { format!("{}_{index}", p.op_type) } else { p.name.clone() };
            let name = scope.call.as_ref().map_or(own.clone(), |c| format!("{}{own}", c.prefix));
            let place = format!("node `{name}` ({})", p.op_type);
            if p.op_type.is_empty() {
                return Err(Error::Missing { place: format!("node {index} (`{}`)", p.name), what: "operator" });
            }
            let attributes = self.attributes(&p.attribute, scope, &place)?;
            let domain = plain_domain(&p.domain);
            let inputs: Vec<String> = p.input.iter().map(|v| scope.value(v)).collect();
            let outputs: Vec<String> = p.output.iter().map(|v| scope.value(v)).collect();
            if let Some(id) = self.functions.find(domain, &p.op_type, &p.overload) {
                self.inline(id, &name, inputs, outputs, attributes, scope, out)?;
                continue;
            }
            let opset = *scope
                .opsets
                .get(domain)
                .ok_or_else(|| Error::NoOpset { place: place.clone(), domain: domain.to_string() })?;
            out.push(Node { op: p.op_type.clone(), domain: domain.into(), opset, name, inputs, outputs, attributes });
        }
        Ok(())
    }

    /// Decodes attributes; one that refers to an attribute of the enclosing call takes its value, or vanishes if that has none.
    pub fn attributes(
        &self,
        list: &[AttributeProto],
        scope: &Scope<'_>,
        place: &str,
    ) -> Result<BTreeMap<String, Attribute>, Error> {
        let mut out = BTreeMap::new();
        for a in list {
            let value = match &scope.call {
                Some(c) if !a.ref_attr_name.is_empty() => c.attributes.get(&a.ref_attr_name).cloned(),
                _ => Some(self.attribute(a, scope, place)?),
            };
            if let Some(v) = value {
                out.insert(a.name.clone(), v);
            }
        }
        Ok(out)
    }

    fn attribute(&self, a: &AttributeProto, scope: &Scope<'_>, place: &str) -> Result<Attribute, Error> {
        use AttributeType as T;
        let damaged = |why| Error::Attribute { place: place.into(), name: a.name.clone(), why };
        let at = || format!("attribute `{}` of {place}", a.name);
        let text = |s: &[u8]| String::from_utf8_lossy(s).into_owned();
        let tensor = |t| tensor::decode(t, self.external, &at());
        let graph = |g| self.graph(g, scope, &at()).map(Arc::new);
        let kind = match T::try_from(a.r#type).map_err(|_| damaged("it has an unknown type"))? {
            T::Undefined => guess(a),
            kind => kind,
        };
        // A scalar equal to its default may be absent in the file.
        Ok(match kind {
            T::Float => Attribute::Float(a.f.unwrap_or(0.0)),
            T::Int => Attribute::Int(a.i.unwrap_or(0)),
            T::String => Attribute::Str(a.s.as_deref().map(text).unwrap_or_default()),
            T::Tensor => Attribute::Tensor(tensor(a.t.as_ref().ok_or_else(|| damaged("its tensor is missing"))?)?),
            T::Graph => Attribute::Graph(graph(a.g.as_ref().ok_or_else(|| damaged("its graph is missing"))?)?),
            T::Floats => Attribute::Floats(a.floats.clone()),
            T::Ints => Attribute::Ints(a.ints.clone()),
            T::Strings => Attribute::Strs(a.strings.iter().map(|s| text(s)).collect()),
            T::Tensors => Attribute::Tensors(a.tensors.iter().map(tensor).collect::<Result<_, _>>()?),
            T::Graphs => Attribute::Graphs(a.graphs.iter().map(graph).collect::<Result<_, _>>()?),
            T::SparseTensor | T::SparseTensors => Attribute::Other("sparse tensor"),
            T::TypeProto | T::TypeProtos => Attribute::Other("type"),
            T::Undefined => return Err(damaged("it has no value")),
        })
    }
}

/// The kind of an attribute that does not tell, as IR version 1 allowed.
fn guess(a: &AttributeProto) -> AttributeType {
    use AttributeType as T;
    let found = [
        (a.f.is_some(), T::Float),
        (a.i.is_some(), T::Int),
        (a.s.is_some(), T::String),
        (a.t.is_some(), T::Tensor),
        (a.g.is_some(), T::Graph),
        (!a.floats.is_empty(), T::Floats),
        (!a.ints.is_empty(), T::Ints),
        (!a.strings.is_empty(), T::Strings),
        (!a.tensors.is_empty(), T::Tensors),
        (!a.graphs.is_empty(), T::Graphs),
    ];
    found.iter().find(|(there, _)| *there).map_or(T::Undefined, |(_, t)| *t)
}

fn value_info(v: &ValueInfoProto, scope: &Scope<'_>, what: &str) -> Result<ValueInfo, Error> {
    let place = format!("{what} `{}`", v.name);
    if v.name.is_empty() {
        return Err(Error::Missing { place: Cow::from(format!("an {what}")).into_owned(), what: "name" });
    }
    let ty = match v.r#type.as_ref().and_then(|t| t.value.as_ref()) {
        None => ValueType::Unknown,
        Some(TypeValue::SequenceType(_)) => ValueType::Other("a sequence"),
        Some(TypeValue::MapType(_)) => ValueType::Other("a map"),
        Some(TypeValue::OptionalType(_)) => ValueType::Other("an optional"),
        Some(TypeValue::SparseTensorType(_)) => ValueType::Other("a sparse tensor"),
        Some(TypeValue::OpaqueType(_)) => ValueType::Other("an opaque type"),
        Some(TypeValue::TensorType(t)) if t.elem_type == 0 => ValueType::Unknown,
        Some(TypeValue::TensorType(t)) => {
            let elem = tensor::element_type(t.elem_type, &place)?;
            let dim = |(axis, d): (usize, &crate::proto::Dimension)| match &d.value {
                Some(DimensionValue::DimValue(n)) => match u64::try_from(*n) {
                    Ok(n) => Ok(DimInfo::Known(n)),
                    Err(_) if *n == -1 => Ok(DimInfo::Open),
                    Err(_) => Err(Error::NegativeDim { place: place.clone(), axis, dim: *n }),
                },
                Some(DimensionValue::DimParam(s)) if !matches!(s.as_str(), "" | "?" | "-1" | "None") => {
                    Ok(DimInfo::Named(s.clone()))
                }
                _ => Ok(DimInfo::Open),
            };
            let shape = t.shape.as_ref().map(|s| s.dim.iter().enumerate().map(dim).collect::<Result<_, _>>());
            ValueType::Tensor(elem, shape.transpose()?)
        }
    };
    Ok(ValueInfo { name: scope.value(&v.name), ty })
}
