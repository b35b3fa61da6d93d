//! Static quantisation in QDQ form, as onnxruntime's `quantize_static` with `per_channel` writes it: batch norms folded into
//! convolutions, QuantizeLinear and DequantizeLinear around every activation (uint8, a scale a tensor), weights int8 with a
//! scale an output channel, biases int32 with the product of the scales of input and weight. A ReLU whose range the type's own
//! bounds keep goes.

use std::collections::HashMap;

use neap_onnx::proto::{DataType, GraphProto, NodeProto};

use super::moments::Moments;
use super::store::{Store, int, readers};

/// Scale and zero point of an activation.
type Grid = (f32, u8);

/// Rewrites a convolutional network.
pub(crate) fn quantise(g: &mut GraphProto) {
    let read = readers(g);
    let mut store = Store::take(g);
    let nodes = without_norms(&mut store, std::mem::take(&mut g.node), &read);
    let mut q = Quantiser { store, moments: HashMap::new(), grids: HashMap::new(), results: HashMap::new() };
    for o in &g.output {
        q.results.insert(o.name.clone(), format!("{}_QuantizeLinear_Input", o.name));
    }
    for input in &g.input {
        let moments = Moments::images(3);
        q.activation(&input.name, &moments, None);
        q.moments.insert(input.name.clone(), moments);
    }
    let mut nodes = nodes.into_iter().peekable();
    while let Some(mut n) = nodes.next() {
        let mut moments = q.after(&n);
        let alone = read.get(&n.output[0]) == Some(&1);
        if let Some(relu) = nodes.next_if(|next| next.op_type == "Relu" && alone && next.input[0] == n.output[0]) {
            moments = moments.rectified();
            n.output = relu.output;
        }
        q.node(n, moments);
    }
    q.store.give(g);
}

/// The nodes with every batch norm folded into the convolution before it.
fn without_norms(store: &mut Store, nodes: Vec<NodeProto>, read: &HashMap<String, usize>) -> Vec<NodeProto> {
    let mut out: Vec<NodeProto> = vec![];
    for n in nodes {
        let before = out.last().filter(|c| {
            c.op_type == "Conv"
                && n.op_type == "BatchNormalization"
                && c.output[0] == n.input[0]
                && read[&n.input[0]] == 1
        });
        if before.is_none() {
            out.push(n);
            continue;
        }
        let epsilon = n.attribute.iter().find(|a| a.name == "epsilon").and_then(|a| a.f).unwrap_or(1e-5);
        let vector = |i: usize| store.weight(&n.input[i]).map(|w| w.data.clone()).unwrap_or_default();
        let [scale, shift, mean, variance] = [1, 2, 3, 4].map(vector);
        let factors: Vec<f32> = scale.iter().zip(&variance).map(|(s, v)| s / (v + epsilon).sqrt()).collect();
        let conv = out.last_mut().expect("it was just seen");
        let mut bias =
            conv.input.get(2).and_then(|b| store.weight(b)).map_or(vec![0.0; scale.len()], |b| b.data.clone());
        for (c, b) in bias.iter_mut().enumerate() {
            *b = (*b - mean[c]) * factors[c] + shift[c];
        }
        if let Some(filter) = store.weight_mut(&conv.input[1]) {
            let each = filter.data.len() / factors.len();
            for (i, v) in filter.data.iter_mut().enumerate() {
                *v *= factors[i / each];
            }
        }
        let name = format!("{}_bias", conv.input[1]);
        store.set_weight(&name, &[bias.len() as i64], bias);
        conv.input.truncate(2);
        conv.input.push(name);
        conv.output = n.output;
    }
    out
}

struct Quantiser {
    store: Store,
    moments: HashMap<String, Moments>,
    grids: HashMap<String, Grid>,
    /// What the float form of a graph's result is called.
    results: HashMap<String, String>,
}

impl Quantiser {
    /// Moments of a node's result.
    fn after(&self, n: &NodeProto) -> Moments {
        let x = &self.moments[&n.input[0]];
        match n.op_type.as_str() {
            "Conv" | "Gemm" => {
                let w = self.store.weight(&n.input[1]).expect("filters are constant");
                let groups = n.attribute.iter().find(|a| a.name == "group").and_then(|a| a.i).unwrap_or(1);
                let bias = n.input.get(2).and_then(|b| self.store.weight(b)).map(|b| b.data.as_slice());
                x.filtered(&w.data, w.dims[0] as usize, groups as usize, bias)
            }
            "Add" => x.plus(&self.moments[&n.input[1]]),
            "Relu" => x.rectified(),
            "MaxPool" => x.greatest(),
            "GlobalAveragePool" => x.averaged(),
            _ => x.clone(),
        }
    }

    fn node(&mut self, mut n: NodeProto, moments: Moments) {
        let (result, x) = (n.output[0].clone(), n.input[0].clone());
        let product = matches!(n.op_type.as_str(), "Conv" | "Gemm");
        // What only selects or moves elements keeps their grid.
        let kept = matches!(n.op_type.as_str(), "MaxPool" | "Flatten").then(|| self.grids[&x]);
        let activations = if product { 1 } else { n.input.len() };
        for i in &mut n.input[..activations] {
            *i = format!("{i}_DequantizeLinear_Output");
        }
        if product {
            let scales = self.weight(&mut n.input[1]);
            if let Some(bias) = n.input.get_mut(2) {
                self.bias(bias, self.grids[&x].0, &scales);
            }
        }
        if let Some(float) = self.results.get(&result) {
            n.output[0].clone_from(float);
        }
        self.store.nodes.push(n);
        self.activation(&result, &moments, kept);
        self.moments.insert(result, moments);
    }

    /// QuantizeLinear and DequantizeLinear of a value.
    fn activation(&mut self, value: &str, m: &Moments, grid: Option<Grid>) {
        let (low, high) = m.range;
        let (scale, zero) = grid.unwrap_or_else(|| {
            let scale = ((high - low) / 255.0).max(1e-8);
            (scale as f32, (-low / scale).round_ties_even().clamp(0.0, 255.0) as u8)
        });
        self.grids.insert(value.into(), (scale, zero));
        let s = self.store.floats(format!("{value}_scale"), &[], &[scale]);
        let z = self.store.initializer(format!("{value}_zero_point"), DataType::Uint8, &[], vec![zero]);
        let float = self.results.get(value).cloned();
        let whole = format!("{value}_QuantizeLinear_Output");
        let back = if float.is_some() { value.to_string() } else { format!("{value}_DequantizeLinear_Output") };
        let from = float.as_deref().unwrap_or(value);
        self.store.node(format!("{value}_QuantizeLinear"), "QuantizeLinear", &[from, &s, &z], &[&whole], vec![]);
        self.store.node(format!("{value}_DequantizeLinear"), "DequantizeLinear", &[&whole, &s, &z], &[&back], vec![]);
    }

    /// A weight through DequantizeLinear; its scales.
    fn weight(&mut self, name: &mut String) -> Vec<f32> {
        let ([w, s, z], scales) = self.store.quantised(name, Some(0)).expect("filters are constant");
        let back = format!("{name}_DequantizeLinear_Output");
        let at = format!("{name}_DequantizeLinear");
        self.store.node(at, "DequantizeLinear", &[&w, &s, &z], &[&back], vec![int("axis", 0)]);
        *name = back;
        scales
    }

    /// A bias through DequantizeLinear.
    fn bias(&mut self, name: &mut String, input: f32, weights: &[f32]) {
        let data = self.store.weight(name).expect("biases are constant").data.clone();
        let (n, scales) = ([data.len() as i64], weights.iter().map(|w| input * w).collect::<Vec<_>>());
        let whole = data.iter().zip(&scales).flat_map(|(b, s)| ((b / s).round_ties_even() as i32).to_le_bytes());
        let q = self.store.initializer(format!("{name}_quantized"), DataType::Int32, &n, whole.collect());
        let s = self.store.floats(format!("{name}_quantized_scale"), &n, &scales);
        let z = format!("{name}_quantized_zero_point");
        let z = self.store.initializer(z, DataType::Int32, &n, vec![0; 4 * data.len()]);
        let back = format!("{name}_DequantizeLinear_Output");
        let at = format!("{name}_DequantizeLinear");
        self.store.node(at, "DequantizeLinear", &[&q, &s, &z], &[&back], vec![int("axis", 0)]);
        *name = back;
    }
}
