//! A graph as plain data: the mirror of a `func.func` or of a `graph.fusion` region of the graph dialect.
//!
//! Passes, the reference interpreter, the kernel lowering and the planner decide on this form; `neap-mlir` reads and writes it.

use std::collections::BTreeMap;

use crate::{Attrs, GraphOp, Tensor, TensorType};

/// Index of a value within its [`Body`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// One operator instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it computes.
    pub op: GraphOp,
    /// Its attributes, named as in the ODS definition.
    pub attrs: Attrs,
    /// Operands in order.
    pub inputs: Vec<ValueId>,
    /// Results in order.
    pub outputs: Vec<ValueId>,
    /// Where it comes from: ONNX node names joined by `+` (the op's location in MLIR).
    pub name: String,
    /// The region of a `graph.fusion`; its `args` correspond to `inputs`, its `results` to `outputs`.
    pub region: Option<Box<Body>>,
}

/// A straight-line graph in topological order: every value is defined (as an argument or by an earlier node) before its uses.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Body {
    /// Type of each value.
    pub types: Vec<TensorType>,
    /// Arguments, in order.
    pub args: Vec<ValueId>,
    /// Names of the arguments (model inputs); empty inside a fusion.
    pub arg_names: Vec<String>,
    /// Operators in topological order.
    pub nodes: Vec<Node>,
    /// Results, in order.
    pub results: Vec<ValueId>,
    /// Names of the results (model outputs); empty inside a fusion.
    pub result_names: Vec<String>,
}

impl Body {
    /// Adds a value without a definition (the caller gives it one).
    pub fn value(&mut self, ty: TensorType) -> ValueId {
        self.types.push(ty);
        ValueId(self.types.len() as u32 - 1)
    }

    /// Some of the nodes as a graph of their own: what they read from elsewhere are its arguments, and what others read of theirs, or
    /// is a result, are its results. `chosen` has a flag a node.
    pub fn part(&self, chosen: &[bool]) -> Body {
        let mut out = Body { types: self.types.clone(), ..Body::default() };
        let mut own = vec![false; self.types.len()];
        let mut read = vec![false; self.types.len()];
        self.results.iter().for_each(|v| read[v.0 as usize] = true);
        for (n, chosen) in self.nodes.iter().zip(chosen) {
            if *chosen {
                n.outputs.iter().for_each(|v| own[v.0 as usize] = true);
                out.nodes.push(n.clone());
            } else {
                n.inputs.iter().for_each(|v| read[v.0 as usize] = true);
            }
        }
        for v in out.nodes.iter().flat_map(|n| &n.inputs) {
            if !own[v.0 as usize] && !out.args.contains(v) {
                out.args.push(*v);
            }
        }
        let given = out.nodes.iter().flat_map(|n| &n.outputs);
        out.results = given.filter(|v| read[v.0 as usize]).copied().collect();
        let names = |ids: &[ValueId]| ids.iter().map(|v| format!("v{}", v.0)).collect();
        (out.arg_names, out.result_names) = (names(&out.args), names(&out.results));
        out
    }

    /// Adds an argument.
    pub fn arg(&mut self, ty: TensorType) -> ValueId {
        let v = self.value(ty);
        self.args.push(v);
        v
    }

    /// Appends an operator with new results of the given types and returns them.
    pub fn push(
        &mut self,
        op: GraphOp,
        attrs: Attrs,
        inputs: &[ValueId],
        types: impl IntoIterator<Item = TensorType>,
        name: impl Into<String>,
    ) -> Vec<ValueId> {
        let outputs: Vec<ValueId> = types.into_iter().map(|t| self.value(t)).collect();
        self.nodes.push(Node {
            op,
            attrs,
            inputs: inputs.to_vec(),
            outputs: outputs.clone(),
            name: name.into(),
            region: None,
        });
        outputs
    }

    /// Type of a value.
    pub fn ty(&self, v: ValueId) -> &TensorType {
        &self.types[v.0 as usize]
    }

    /// For every value the index of the node that defines it; `None` for arguments.
    pub fn producers(&self) -> Vec<Option<usize>> {
        let mut out = vec![None; self.types.len()];
        for (i, n) in self.nodes.iter().enumerate() {
            for o in &n.outputs {
                out[o.0 as usize] = Some(i);
            }
        }
        out
    }

    /// For every value how often nodes and results use it.
    pub fn use_counts(&self) -> Vec<u32> {
        let mut out = vec![0; self.types.len()];
        for v in self.nodes.iter().flat_map(|n| &n.inputs).chain(&self.results) {
            out[v.0 as usize] += 1;
        }
        out
    }
}

/// The tensors behind `graph.weight` keys.
#[derive(Clone, Debug, Default)]
pub struct Weights(BTreeMap<String, Tensor>);

impl Weights {
    /// The tensor under `key`.
    pub fn get(&self, key: &str) -> Option<&Tensor> {
        self.0.get(key)
    }

    /// Stores a tensor, replacing any under the same key.
    pub fn insert(&mut self, key: impl Into<String>, t: Tensor) {
        self.0.insert(key.into(), t);
    }

    /// Stores a tensor under a key not yet taken, made from `stem`, and returns the key.
    pub fn insert_fresh(&mut self, stem: &str, t: Tensor) -> String {
        let mut key = stem.to_string();
        let mut n = 1;
        while self.0.contains_key(&key) {
            key = format!("{stem}.{n}");
            n += 1;
        }
        self.0.insert(key.clone(), t);
        key
    }

    /// Drops what `keep` refuses.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.0.retain(|k, _| keep(k));
    }

    /// All weights in order of key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Tensor)> {
        self.0.iter().map(|(k, t)| (k.as_str(), t))
    }
}
