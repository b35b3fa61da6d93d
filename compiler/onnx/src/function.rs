//! Model-local functions: found by name and replaced by their bodies.

use std::collections::{BTreeMap, HashMap};

use crate::decode::{opsets, plain_domain};
use crate::graph::{Call, Cx, Scope};
use crate::proto::FunctionProto;
use crate::{Attribute, Error, Node};

/// Calls within calls; real models have a handful.
const MAX_DEPTH: usize = 32;
/// Nodes after inlining; guards against functions that double at every level.
const MAX_NODES: usize = 4_000_000;

/// The functions of a model.
pub(crate) struct Functions<'a> {
    list: Vec<(&'a FunctionProto, BTreeMap<String, i64>)>,
    index: HashMap<(&'a str, &'a str, &'a str), usize>,
}

impl<'a> Functions<'a> {
    /// Finds functions by domain, name and overload.
    pub fn index(list: &'a [FunctionProto]) -> Result<Self, Error> {
        let mut out = Functions { list: vec![], index: HashMap::new() };
        for (i, f) in list.iter().enumerate() {
            if out.index.insert((plain_domain(&f.domain), &f.name, &f.overload), i).is_some() {
                return Err(Error::Function {
                    name: f.name.clone(),
                    why: "defined twice; export the model again".into(),
                });
            }
            out.list.push((f, opsets(&f.opset_import)?));
        }
        Ok(out)
    }

    /// The function that a node calls, if it calls one.
    pub fn find(&self, domain: &str, op: &str, overload: &str) -> Option<usize> {
        if self.list.is_empty() { None } else { self.index.get(&(domain, op, overload)).copied() }
    }
}

impl Cx<'_> {
    /// Appends the body of function `id`, called by node `name`.
    #[expect(clippy::too_many_arguments, reason = "the decoded fields of one node, which is not built for a call")]
    pub fn inline(
        &self,
        id: usize,
        name: &str,
        inputs: Vec<String>,
        outputs: Vec<String>,
        mut attributes: BTreeMap<String, Attribute>,
        caller: &Scope<'_>,
        out: &mut Vec<Node>,
    ) -> Result<(), Error> {
        let (f, opsets) = &self.functions.list[id];
        let fail = |why: &str| Err(Error::Function { name: f.name.clone(), why: why.into() });
        let mut stack = caller.call.as_ref().map(|c| c.stack.clone()).unwrap_or_default();
        if stack.contains(&id) {
            return fail("it calls itself, which ONNX does not allow");
        }
        stack.push(id);
        if stack.len() > MAX_DEPTH {
            return fail("more than 32 functions call one another in a row; inline them when exporting");
        }
        if self.count.get() > MAX_NODES {
            return fail("inlining gives more than 4 million nodes; the model is surely wrong");
        }
        if inputs.len() > f.input.len() || outputs.len() > f.output.len() {
            return fail(&format!("node `{name}` passes more inputs or outputs than it has; export the model again"));
        }
        for a in self.attributes(&f.attribute_proto, &Scope::top(opsets), &format!("function `{}`", f.name))? {
            attributes.entry(a.0).or_insert(a.1);
        }
        let mut values = BTreeMap::new();
        for (i, formal) in f.input.iter().enumerate() {
            values.insert(formal.as_str(), inputs.get(i).cloned().unwrap_or_default());
        }
        let mut passed = vec![];
        for (formal, actual) in f.output.iter().zip(outputs) {
            // An output that is an input (or another output) again needs a node to carry it to its second name.
            if actual.is_empty() {
            } else if let Some(source) = values.get(formal.as_str()) {
                passed.push((source.clone(), actual));
            } else {
                values.insert(formal, actual);
            }
        }
        let scope = Scope { opsets, call: Some(Call { prefix: format!("{name}/"), values, attributes, stack }) };
        self.nodes(&f.node, &scope, out)?;
        for (source, actual) in passed {
            out.push(Node {
                op: "Identity".into(),
                domain: String::new(),
                opset: *crate::OPSETS.end(),
                name: name.into(),
                inputs: vec![source],
                outputs: vec![actual],
                attributes: BTreeMap::new(),
            });
        }
        Ok(())
    }
}
