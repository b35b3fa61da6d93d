//! Dynamic quantisation, as onnxruntime's `quantize_dynamic` with `per_channel` writes it: each product with a constant matrix
//! becomes DynamicQuantizeLinear of its activations (once for all its readers), MatMulInteger with int8 weights that have a
//! scale a column, and a multiplication with both scales; tables that are gathered from are int8 with one scale.

use std::collections::HashSet;

use neap_onnx::proto::{DataType, GraphProto, NodeProto};

use super::store::{Store, int};

/// Rewrites a transformer.
pub(crate) fn quantise(g: &mut GraphProto) {
    let nodes = std::mem::take(&mut g.node);
    let mut store = Store::take(g);
    let mut quantised = HashSet::new();
    for n in nodes {
        let matrix = |i: usize| n.input.get(i).and_then(|w| store.weight(w)).is_some_and(|w| w.dims.len() == 2);
        match n.op_type.as_str() {
            "MatMul" if matrix(1) => product(&mut store, &mut quantised, &n, &n.output[0]),
            "Gemm" if matrix(1) => {
                transpose(&mut store, &n.input[1]);
                let sum = format!("{}_MatMul", n.output[0]);
                product(&mut store, &mut quantised, &n, &sum);
                store.node(format!("{}_Add", n.name), "Add", &[&sum, &n.input[2]], &[&n.output[0]], vec![]);
            }
            "Gather" if matrix(0) => table(&mut store, &n),
            _ => store.nodes.push(n),
        }
    }
    store.give(g);
}

/// `out = x w`
fn product(store: &mut Store, quantised: &mut HashSet<String>, n: &NodeProto, out: &str) {
    let x = &n.input[0];
    let ([w, ws, wz], _) = store.quantised(&n.input[1], Some(1)).expect("it was just seen");
    let parts = ["quantized", "scale", "zero_point"].map(|part| format!("{x}_{part}"));
    let [xq, xs, xz] = parts.each_ref().map(String::as_str);
    if quantised.insert(x.clone()) {
        store.node(format!("{x}_QuantizeLinear"), "DynamicQuantizeLinear", &[x], &[xq, xs, xz], vec![]);
    }
    let (whole, float, scale) =
        (format!("{out}_output_quantized"), format!("{out}_output_float"), format!("{}_quant_scale", n.name));
    store.node(format!("{}_quant", n.name), "MatMulInteger", &[xq, &w, xz, &wz], &[&whole], vec![]);
    let to = vec![int("to", DataType::Float as i64)];
    store.node(format!("{}_cast", n.name), "Cast", &[&whole], &[&float], to);
    store.node(format!("{}_quant_scales_mul", n.name), "Mul", &[xs, &ws], &[&scale], vec![]);
    store.node(format!("{}_quant_output_scale_mul", n.name), "Mul", &[&float, &scale], &[out], vec![]);
}

/// Rows of a table.
fn table(store: &mut Store, n: &NodeProto) {
    let ([w, s, z], _) = store.quantised(&n.input[0], None).expect("it was just seen");
    let (whole, out) = (format!("{}_quantized", n.output[0]), &n.output[0]);
    store.node(format!("{}_quant", n.name), "Gather", &[&w, &n.input[1]], &[&whole], n.attribute.clone());
    store.node(format!("{out}_DequantizeLinear"), "DequantizeLinear", &[&whole, &s, &z], &[out], vec![]);
}

/// A weight [outputs, inputs] as [inputs, outputs].
fn transpose(store: &mut Store, name: &str) {
    let Some(w) = store.weight_mut(name) else { return };
    let (rows, columns) = (w.dims[0] as usize, w.dims[1] as usize);
    w.data = (0..rows * columns).map(|i| w.data[i % rows * columns + i / rows]).collect();
    w.dims.swap(0, 1);
}
