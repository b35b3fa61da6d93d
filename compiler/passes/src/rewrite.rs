//! Rewriting a [`Body`] by building it anew, front to back.

use std::collections::HashMap;

use neap_optable::{Attr, Attrs, Body, GraphOp, Node, Tensor, TensorType, ValueId, Weights};

/// A body under construction, with equal nodes shared.
///
/// Rules look at operands that are already rewritten, so one walk reaches far and no use lists are kept.
#[derive(Debug, Default)]
pub struct Rebuild {
    /// What has been built so far.
    pub body: Body,
    producer: Vec<Option<usize>>,
    seen: HashMap<(GraphOp, Vec<ValueId>, String), Vec<ValueId>>,
    map: HashMap<ValueId, ValueId>,
}

impl Rebuild {
    /// Starts with the arguments of `old`.
    pub fn new(old: &Body) -> Self {
        let mut new = Rebuild::default();
        for (&a, i) in old.args.iter().zip(0..) {
            let v = new.body.arg(old.ty(a).clone());
            new.map.insert(a, v);
            new.body.arg_names.extend(old.arg_names.get(i).cloned());
        }
        new
    }

    /// The new value for an old one.
    pub fn get(&self, old: ValueId) -> ValueId {
        self.map[&old]
    }

    /// Says which new value stands for an old one.
    pub fn set(&mut self, old: ValueId, new: ValueId) {
        self.map.insert(old, new);
    }

    /// The new operands of an old node.
    pub fn inputs(&self, node: &Node) -> Vec<ValueId> {
        node.inputs.iter().map(|&v| self.get(v)).collect()
    }

    /// Type of a new value.
    pub fn ty(&self, v: ValueId) -> &TensorType {
        self.body.ty(v)
    }

    /// The new node that defines a new value.
    pub fn producer(&self, v: ValueId) -> Option<&Node> {
        self.producer.get(v.0 as usize).copied().flatten().map(|i| &self.body.nodes[i])
    }

    /// The new node that defines a new value, if it is of this op.
    pub fn producer_of(&self, v: ValueId, op: GraphOp) -> Option<&Node> {
        self.producer(v).filter(|n| n.op == op)
    }

    /// Appends an op, or gives the results of an equal one that is there already.
    pub fn emit(
        &mut self,
        op: GraphOp,
        attrs: Attrs,
        inputs: &[ValueId],
        types: &[TensorType],
        name: &str,
    ) -> Vec<ValueId> {
        let key = (op, inputs.to_vec(), format!("{attrs:?}{types:?}"));
        if let Some(v) = self.seen.get(&key) {
            return v.clone();
        }
        let out = self.body.push(op, attrs, inputs, types.iter().cloned(), name);
        self.note(&out);
        self.seen.insert(key, out.clone());
        out
    }

    /// Appends a single-result op.
    pub fn emit1(&mut self, op: GraphOp, attrs: Attrs, inputs: &[ValueId], ty: TensorType, name: &str) -> ValueId {
        self.emit(op, attrs, inputs, &[ty], name)[0]
    }

    fn note(&mut self, out: &[ValueId]) {
        self.producer.resize(self.body.types.len(), None);
        for v in out {
            self.producer[v.0 as usize] = Some(self.body.nodes.len() - 1);
        }
    }

    /// Appends an old node as it is, with its operands replaced, and maps its results.
    pub fn copy(&mut self, old: &Body, node: &Node) {
        let inputs = self.inputs(node);
        let types: Vec<TensorType> = node.outputs.iter().map(|&o| old.ty(o).clone()).collect();
        let out = if node.region.is_some() {
            let out = self.body.push(node.op, node.attrs.clone(), &inputs, types, node.name.clone());
            self.body.nodes.last_mut().expect("just pushed").region = node.region.clone();
            self.note(&out);
            out
        } else {
            self.emit(node.op, node.attrs.clone(), &inputs, &types, &node.name)
        };
        for (&o, n) in node.outputs.iter().zip(out) {
            self.set(o, n);
        }
    }

    /// A `graph.constant` with the given tensor, which is small or a splat.
    pub fn constant(&mut self, t: &Tensor, splat: bool, name: &str) -> ValueId {
        let value = Attr::Elements { dtype: t.dtype, dims: t.dims.clone(), data: t.data.to_vec(), splat };
        self.emit1(GraphOp::Constant, Attrs::new().with("value", value), &[], t.ty(), name)
    }

    /// A tensor as a constant (at most 64 elements, or all equal) or as a weight.
    pub fn tensor(&mut self, weights: &mut Weights, t: &Tensor, stem: &str) -> ValueId {
        if t.len() <= 64 {
            return self.constant(t, false, stem);
        }
        let size = t.dtype.size() as usize;
        let first = &t.data[..size];
        if t.data.chunks_exact(size).all(|c| c == first) {
            let value = Attr::Elements { dtype: t.dtype, dims: t.dims.clone(), data: first.to_vec(), splat: true };
            return self.emit1(GraphOp::Constant, Attrs::new().with("value", value), &[], t.ty(), stem);
        }
        let key = weights.insert_fresh(stem, t.clone());
        self.weight(&key, t, stem)
    }

    /// A `graph.weight` for a tensor that is stored under `key`.
    pub fn weight(&mut self, key: &str, t: &Tensor, name: &str) -> ValueId {
        let hash = blake3::hash(&t.data).to_hex()[..16].to_string();
        self.emit1(GraphOp::Weight, Attrs::new().str("key", key).str("hash", hash), &[], t.ty(), name)
    }

    /// The element of a constant whose elements are all equal, as a float; integers and bools are converted.
    pub fn splat(&self, v: ValueId) -> Option<f64> {
        let n = self.producer(v)?;
        match n.op {
            GraphOp::Broadcast | GraphOp::Reshape => self.splat(n.inputs[0]),
            GraphOp::Constant => {
                let t = constant_tensor(n, self.ty(v))?;
                let size = t.dtype.size() as usize;
                let first = t.data.get(..size)?;
                if !t.data.chunks_exact(size).all(|c| c == first) {
                    return None;
                }
                let one = Tensor { dtype: t.dtype, dims: vec![], data: t.data.slice(..size) };
                match one.to_i64() {
                    Some(i) => Some(i[0] as f64),
                    None => {
                        one.elements::<f32>().map(|e| f64::from(e[0])).or_else(|| one.elements::<f64>().map(|e| e[0]))
                    }
                }
            }
            _ => None,
        }
    }

    /// The tensor behind a constant or weight (a splat stays one element in a tensor of its full shape only if small).
    pub fn value_of(&self, weights: &Weights, v: ValueId) -> Option<Tensor> {
        let n = self.producer(v)?;
        match n.op {
            GraphOp::Constant => constant_tensor(n, self.ty(v)),
            GraphOp::Weight => weights.get(n.attrs.get_str("key")).cloned(),
            _ => None,
        }
    }

    /// Ends the walk: sets the results, drops dead nodes, and gives the new body.
    pub fn finish(mut self, old: &Body) -> Body {
        self.body.results = old.results.iter().map(|&r| self.get(r)).collect();
        self.body.result_names = old.result_names.clone();
        let live = live_nodes(&self.body);
        let mut keep = live.iter();
        self.body.nodes.retain(|_| *keep.next().expect("one flag a node"));
        self.body
    }
}

/// For every node whether a result depends on it.
pub fn live_nodes(body: &Body) -> Vec<bool> {
    let mut needed = vec![false; body.types.len()];
    for r in &body.results {
        needed[r.0 as usize] = true;
    }
    let mut live = vec![false; body.nodes.len()];
    for (i, n) in body.nodes.iter().enumerate().rev() {
        if n.outputs.iter().any(|o| needed[o.0 as usize]) {
            live[i] = true;
            for v in &n.inputs {
                needed[v.0 as usize] = true;
            }
        }
    }
    live
}

/// The tensor of a `graph.constant`, splats written out up to a mebibyte.
fn constant_tensor(n: &Node, ty: &TensorType) -> Option<Tensor> {
    let Some(Attr::Elements { dtype, dims, data, splat }) = n.attrs.get("value") else { return None };
    let data = if *splat {
        let bytes = ty.bytes().filter(|b| *b <= 1 << 20)? as usize;
        data.repeat(bytes / data.len().max(1))
    } else {
        data.clone()
    };
    Some(Tensor { dtype: *dtype, dims: dims.clone(), data: data.into() })
}
