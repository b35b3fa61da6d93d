//! The initialisers and the nodes of a graph that is being rewritten.

use std::collections::HashMap;

use neap_onnx::proto::{AttributeProto, AttributeType, DataType, GraphProto, NodeProto, TensorProto};

/// Elements of a weight as floats, with its dims.
pub(super) struct Floats {
    pub dims: Vec<i64>,
    pub data: Vec<f32>,
}

/// A graph taken apart.
pub(super) struct Store {
    weights: HashMap<String, Floats>,
    /// Initialisers of the new graph.
    pub initializers: Vec<TensorProto>,
    /// Nodes of the new graph.
    pub nodes: Vec<NodeProto>,
}

impl Store {
    /// Takes the float weights out of a graph; other initialisers stay as they are.
    pub fn take(g: &mut GraphProto) -> Self {
        let (floats, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut g.initializer).into_iter().partition(|t| t.data_type == DataType::Float as i32);
        let weights = floats.into_iter().map(|t| {
            let bytes = t.raw_data.unwrap_or_default();
            let data = bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
            (t.name, Floats { dims: t.dims, data })
        });
        Store { weights: weights.collect(), initializers: rest, nodes: vec![] }
    }

    pub fn weight(&self, name: &str) -> Option<&Floats> {
        self.weights.get(name)
    }

    pub fn weight_mut(&mut self, name: &str) -> Option<&mut Floats> {
        self.weights.get_mut(name)
    }

    pub fn set_weight(&mut self, name: &str, dims: &[i64], data: Vec<f32>) {
        self.weights.insert(name.into(), Floats { dims: dims.to_vec(), data });
    }

    /// Adds an initialiser, once under its name.
    pub fn initializer(&mut self, name: String, dtype: DataType, dims: &[i64], data: Vec<u8>) -> String {
        if !self.initializers.iter().any(|t| t.name == name) {
            self.initializers.push(TensorProto {
                dims: dims.to_vec(),
                data_type: dtype as i32,
                name: name.clone(),
                raw_data: Some(data.into()),
                ..TensorProto::default()
            });
        }
        name
    }

    pub fn floats(&mut self, name: String, dims: &[i64], data: &[f32]) -> String {
        self.initializer(name, DataType::Float, dims, data.iter().flat_map(|v| v.to_le_bytes()).collect())
    }

    /// A weight as 8-bit integers with a scale for each index of `axis`, symmetric: initialisers `_quantized`, `_scale` and
    /// `_zero_point`, whose names are given back, and the scales.
    pub fn quantised(&mut self, name: &str, axis: Option<usize>) -> Option<([String; 3], Vec<f32>)> {
        let Floats { dims, data } = self.weights.get(name)?;
        let (dims, channels) = (dims.clone(), axis.map_or(1, |a| dims[a] as usize));
        let inner: usize = axis.map_or(data.len(), |a| dims[a + 1..].iter().product::<i64>() as usize);
        let channel = |i: usize| i / inner % channels;
        let mut most = vec![0f32; channels];
        for (i, v) in data.iter().enumerate() {
            most[channel(i)] = most[channel(i)].max(v.abs());
        }
        let scales: Vec<f32> = most.iter().map(|m| if *m > 0.0 { m / 127.0 } else { 1.0 }).collect();
        let narrow =
            |(i, v): (usize, &f32)| (v / scales[channel(i)]).round_ties_even().clamp(-127.0, 127.0) as i8 as u8;
        let bytes = data.iter().enumerate().map(narrow).collect();
        let each: &[i64] = if axis.is_some() { &[channels as i64] } else { &[] };
        let names = [
            self.initializer(format!("{name}_quantized"), DataType::Int8, &dims, bytes),
            self.floats(format!("{name}_scale"), each, &scales),
            self.initializer(format!("{name}_zero_point"), DataType::Int8, each, vec![0; channels]),
        ];
        Some((names, scales))
    }

    pub fn node(&mut self, name: String, op: &str, input: &[&str], output: &[&str], attribute: Vec<AttributeProto>) {
        let owned = |names: &[&str]| names.iter().map(|s| s.to_string()).collect();
        let (input, output) = (owned(input), owned(output));
        self.nodes.push(NodeProto { input, output, name, op_type: op.into(), attribute, ..NodeProto::default() });
    }

    /// Puts the graph together again: the weights that its nodes still read go with it.
    pub fn give(mut self, g: &mut GraphProto) {
        let mut read: Vec<&String> = self.nodes.iter().flat_map(|n| &n.input).collect();
        read.sort_unstable();
        read.dedup();
        let names: Vec<String> = read.into_iter().filter(|n| self.weights.contains_key(*n)).cloned().collect();
        for name in names {
            if let Some(w) = self.weights.remove(&name) {
                self.floats(name, &w.dims, &w.data);
            }
        }
        (g.initializer, g.node) = (self.initializers, self.nodes);
    }
}

/// An integer attribute.
pub(super) fn int(name: &str, v: i64) -> AttributeProto {
    AttributeProto { name: name.into(), r#type: AttributeType::Int as i32, i: Some(v), ..AttributeProto::default() }
}

/// How many nodes read each value.
pub(super) fn readers(g: &GraphProto) -> HashMap<String, usize> {
    let mut out = HashMap::new();
    for name in g.node.iter().flat_map(|n| &n.input).chain(g.output.iter().map(|o| &o.name)) {
        *out.entry(name.clone()).or_insert(0) += 1;
    }
    out
}
