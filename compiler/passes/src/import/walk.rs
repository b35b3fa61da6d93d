//! Node by node through the model, collecting every reason against it.

use std::collections::{BTreeMap, HashMap, HashSet};

use neap_onnx::{Attribute, Graph, Model, Node};
use neap_optable::{Body, DType, Tensor, TensorType, Weights};

use super::cx::{Cx, Known, Val};
use super::dims::dtype;
use super::error::{ImportError, Refusal, Res, invalid, unsupported};
use super::four_bits;
use super::op::Op;
use super::table::Table;

/// Imports the model's graph.
pub(super) fn run(model: &Model, inputs: &[TensorType]) -> Result<Walked, Vec<ImportError>> {
    let mut walk = Walk { cx: Cx::new(), table: Table::new(), scopes: vec![], errors: Errors::default() };
    let graph = &model.graph;
    let mut scope = HashMap::new();
    for (info, ty) in graph.inputs.iter().zip(inputs) {
        scope.insert(info.name.as_str(), Some(walk.cx.argument(&info.name, ty.clone())));
    }
    walk.scopes.push(scope);
    let results = walk.graph(graph);
    for (info, v) in graph.outputs.iter().zip(results) {
        walk.cx.node = info.name.clone();
        match v.and_then(|v| walk.cx.materialise(v)) {
            Ok(id) => {
                walk.cx.body.results.push(id);
            }
            Err(Refusal::Poisoned) => {}
            Err(Refusal::Open(dims)) => walk.errors.list.push(open_dim(&info.name, "output", &dims)),
            Err(Refusal::Unsupported(reason) | Refusal::Invalid(reason)) => {
                walk.errors.list.push(ImportError::Interface { place: "output", name: info.name.clone(), reason });
            }
        }
        walk.cx.body.result_names.push(info.name.clone());
    }
    if !walk.errors.is_empty() {
        return Err(walk.errors.all());
    }
    Ok(Walked { body: walk.cx.body, weights: walk.cx.weights })
}

/// What the walk gives.
pub(super) struct Walked {
    pub body: Body,
    pub weights: Weights,
}

struct Walk<'m> {
    cx: Cx,
    table: Table,
    /// Values by name, innermost graph last; `None` for those that could not be converted.
    scopes: Vec<HashMap<&'m str, Option<Val>>>,
    errors: Errors,
}

impl<'m> Walk<'m> {
    /// Converts a graph in the innermost scope and gives its outputs.
    fn graph(&mut self, graph: &'m Graph) -> Vec<Res<Val>> {
        let needed = needed(graph);
        for (name, t) in &graph.initialisers {
            let v = match tensor(t) {
                Some(_) if four_bits::stay_packed(t) => match four_bits::unpacking(&mut self.cx, t, name) {
                    Ok(v) => Some(v),
                    Err(Refusal::Invalid(reason) | Refusal::Unsupported(reason)) => {
                        self.errors.list.push(ImportError::Interface {
                            place: "initialiser",
                            name: name.clone(),
                            reason,
                        });
                        None
                    }
                    Err(Refusal::Open(_) | Refusal::Poisoned) => None,
                },
                Some(t) => Some(self.cx.named_constant(t, name)),
                None => {
                    if needed.contains(name.as_str()) {
                        let reason = format!("element type {} is not supported; export the model with f32", t.elem);
                        self.errors.list.push(ImportError::Interface {
                            place: "initialiser",
                            name: name.clone(),
                            reason,
                        });
                    }
                    None
                }
            };
            if let Some(v) = v.filter(|_| t.elem.bits() == 4) {
                self.cx.narrow(v);
            }
            self.bind(name, v);
        }
        for node in &graph.nodes {
            if !node.outputs.iter().any(|o| needed.contains(o.as_str())) {
                continue;
            }
            self.cx.node = node.name.clone();
            let results = match self.node(node, &needed) {
                Ok(vals) => vals,
                Err(refusal) => {
                    self.errors.add(node, refusal);
                    vec![]
                }
            };
            for (i, name) in node.outputs.iter().enumerate().filter(|(_, n)| !n.is_empty()) {
                self.bind(name, results.get(i).copied());
            }
        }
        graph.outputs.iter().map(|o| self.lookup(&o.name)).collect()
    }

    fn bind(&mut self, name: &'m str, v: Option<Val>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, v);
        }
    }

    fn lookup(&self, name: &str) -> Res<Val> {
        self.scopes.iter().rev().find_map(|s| s.get(name)).copied().flatten().ok_or(Refusal::Poisoned)
    }

    fn node(&mut self, node: &'m Node, needed: &HashSet<&str>) -> Res<Vec<Val>> {
        let convert = match (node.op.as_str(), node.domain.as_str()) {
            ("If", "") => None,
            _ => Some(self.table.find(&node.domain, &node.op, node.opset).map_err(Refusal::Unsupported)?),
        };
        let mut inputs = vec![];
        for name in &node.inputs {
            inputs.push(if name.is_empty() { None } else { Some(self.lookup(name)?) });
        }
        let op = Op { node, inputs };
        let results = match convert {
            Some(convert) => convert(&mut self.cx, &op)?,
            None => self.branch(node, &op)?,
        };
        match node.outputs.iter().enumerate().skip(results.len()).find(|(_, o)| needed.contains(o.as_str())) {
            Some((i, o)) => unsupported(format!("its result {i} (`{o}`) is used, which neap does not compute")),
            None => Ok(results),
        }
    }

    /// `If`: the branch that is taken, or both and a selection if they have equal types.
    fn branch(&mut self, node: &'m Node, op: &Op<'_>) -> Res<Vec<Val>> {
        let condition = op.input(0)?;
        let of = |name: &str| match node.attributes.get(name) {
            Some(Attribute::Graph(g)) => Ok(&**g),
            _ => invalid(format!("attribute `{name}` is not a graph")),
        };
        let (on_true, on_false) = (of("then_branch")?, of("else_branch")?);
        if self.cx.dtype(condition) != DType::Bool {
            return invalid(format!("the condition is {}, expected bool", self.cx.ty(condition)));
        }
        let condition = self.cx.one_element(condition, "the condition")?;
        if let Known::Tensor(t) = self.cx.known(condition) {
            let taken = if t.data[0] != 0 { on_true } else { on_false };
            return self.inner(taken).into_iter().collect();
        }
        let before = self.errors.count();
        let mut both = vec![];
        for (side, g) in [("then", on_true), ("else", on_false)] {
            let results: Res<Vec<Val>> = self.inner(g).into_iter().collect();
            match results {
                Ok(vals) => both.push(vals),
                // Sizes that must be given are no fault of the branch.
                Err(Refusal::Poisoned) if self.errors.count() > before && !self.errors.is_open(before) => {
                    let why = self.errors.drop_since(before);
                    return unsupported(format!(
                        "its condition is known at run time only, so both branches must fit these inputs, but the {side} branch does not ({why})"
                    ));
                }
                Err(other) => return Err(other),
            }
        }
        self.cx.node = node.name.clone();
        if both[0].len() != both[1].len() {
            return invalid("its branches have different numbers of results");
        }
        let mut out = vec![];
        for (i, (&a, &b)) in both[0].iter().zip(&both[1]).enumerate() {
            let (x, y) = (self.cx.ty(a).clone(), self.cx.ty(b).clone());
            if x != y {
                return unsupported(format!(
                    "its condition is known at run time only and result {i} is {x} in one branch and {y} in the other; export the model without the branch"
                ));
            }
            out.push(self.cx.select(condition, a, b)?);
        }
        Ok(out)
    }

    fn inner(&mut self, graph: &'m Graph) -> Vec<Res<Val>> {
        self.scopes.push(HashMap::new());
        let out = self.graph(graph);
        self.scopes.pop();
        out
    }
}

/// Names of values that the outputs depend on.
fn needed(graph: &Graph) -> HashSet<&str> {
    let mut out: HashSet<&str> = graph.outputs.iter().map(|o| o.name.as_str()).collect();
    for n in graph.nodes.iter().rev() {
        if n.outputs.iter().any(|o| out.contains(o.as_str())) {
            out.extend(n.reads());
        }
    }
    out.remove("");
    out
}

/// A constant at the graph level; numbers of 4 bits take 8.
pub(super) fn tensor(t: &neap_onnx::Tensor) -> Option<Tensor> {
    let dtype = dtype(t.elem)?;
    if t.elem.bits() == 4 {
        return Some(four_bits::unpacked(t, dtype));
    }
    let mut data = t.data.clone();
    if dtype == DType::Bool && data.iter().any(|&b| b > 1) {
        data = data.iter().map(|&b| u8::from(b != 0)).collect::<Vec<_>>().into();
    }
    Some(Tensor { dtype, dims: t.dims.clone(), data })
}

#[derive(Default)]
struct Errors {
    list: Vec<ImportError>,
    /// Unsupported operators by (domain, name, opset, reason): how often, and the first node.
    unsupported: BTreeMap<(String, String, i64, String), (usize, String)>,
    order: Vec<(String, String, i64, String)>,
}

impl Errors {
    fn add(&mut self, node: &Node, refusal: Refusal) {
        match refusal {
            Refusal::Poisoned => {}
            Refusal::Invalid(reason) => {
                self.list.push(ImportError::Invalid { node: node.name.clone(), op: node.op.clone(), reason });
            }
            Refusal::Open(dims) => self.list.push(open_dim(&node.name, &node.op, &dims)),
            Refusal::Unsupported(reason) => {
                let key = (node.domain.clone(), node.op.clone(), node.opset, reason);
                if !self.unsupported.contains_key(&key) {
                    self.order.push(key.clone());
                }
                self.unsupported.entry(key).or_insert((0, node.name.clone())).0 += 1;
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.list.is_empty() && self.unsupported.is_empty()
    }

    /// A mark to come back to.
    fn count(&self) -> (usize, usize) {
        (self.list.len(), self.order.len())
    }

    /// Whether the first error since the mark asks for a size.
    fn is_open(&self, (list, order): (usize, usize)) -> bool {
        self.order.len() == order && matches!(self.list.get(list), Some(ImportError::OpenDim { .. }))
    }

    /// Takes back what was added since the mark and gives the first of it.
    fn drop_since(&mut self, (list, order): (usize, usize)) -> String {
        let first = match (self.order.get(order), self.list.get(list)) {
            (Some(key), _) => self.line(key).to_string(),
            (None, Some(e)) => e.to_string(),
            (None, None) => String::new(),
        };
        self.list.truncate(list);
        for key in self.order.drain(order..) {
            self.unsupported.remove(&key);
        }
        first
    }

    fn line(&self, key: &(String, String, i64, String)) -> ImportError {
        let (count, node) = &self.unsupported[key];
        let (domain, op, opset, reason) = key.clone();
        let domain = if domain.is_empty() { "ai.onnx".into() } else { domain };
        ImportError::Unsupported { op, domain, opset, count: *count, node: node.clone(), reason }
    }

    fn all(self) -> Vec<ImportError> {
        let mut out: Vec<ImportError> = self.order.iter().map(|k| self.line(k)).collect();
        out.extend(self.list);
        out
    }
}

fn open_dim(node: &str, op: &str, dims: &[String]) -> ImportError {
    let quoted: Vec<String> = dims.iter().map(|d| format!("`{d}`")).collect();
    let options: Vec<String> = dims.iter().map(|d| format!("--dim {d}=N")).collect();
    ImportError::OpenDim { node: node.into(), op: op.into(), dims: quoted.join(" and "), options: options.join(" ") }
}
