//! Layers that several architectures share, spelled as PyTorch's exporter spells them.

use crate::builder::{Attr, Builder, Dim, Value};
use crate::weights::Fill;

/// `layer1.0.conv1` as PyTorch names its node: `/layer1/layer1.0/conv1`.
pub(crate) fn node_name(module: &str) -> String {
    let parts: Vec<&str> = module.split('.').collect();
    let mut out = String::new();
    for (i, part) in parts.iter().enumerate() {
        // A number is an index into the module before it.
        let indexed = part.parse::<u32>().is_ok() && i > 0;
        out.push('/');
        if indexed {
            out.push_str(parts[i - 1]);
            out.push('.');
        }
        out.push_str(part);
    }
    out
}

/// `x W + b` on the last dim, `w` stored [inputs, outputs]; `rows` is how often it is applied.
pub(crate) fn linear(b: &mut Builder, name: &str, x: &str, (inputs, outputs): (u64, u64), rows: Option<u64>) -> Value {
    let w = b.parameter(&format!("{name}.weight"), &[inputs, outputs], Fill::glorot(inputs, outputs));
    let bias = b.parameter(&format!("{name}.bias"), &[outputs], Fill::Range(-0.1, 0.1));
    let product = b.node(&node_name(name), "MatMul", &[x, &w], &[]);
    b.count_macs(rows.map(|r| r * inputs * outputs));
    b.node(&node_name(name), "Add", &[&bias, &product], &[])
}

/// Layer normalisation over the last dim.
pub(crate) fn layer_norm(b: &mut Builder, name: &str, x: &str, width: u64, epsilon: f32, decomposed: bool) -> Value {
    let scale = b.parameter(&format!("{name}.weight"), &[width], Fill::Range(0.8, 1.2));
    let bias = b.parameter(&format!("{name}.bias"), &[width], Fill::Range(-0.1, 0.1));
    let at = node_name(name);
    if !decomposed {
        let attrs = [Attr::Int("axis", -1), Attr::Float("epsilon", epsilon)];
        return b.node(&at, "LayerNormalization", &[x, &scale, &bias], &attrs);
    }
    let last = [Attr::Ints("axes", &[-1])];
    let mean = b.node(&at, "ReduceMean", &[x], &last);
    let centred = b.node(&at, "Sub", &[x, &mean], &[]);
    let two = b.float(2.0);
    let square = b.node(&at, "Pow", &[&centred, &two], &[]);
    let variance = b.node(&format!("{at}/variance"), "ReduceMean", &[&square], &last);
    let epsilon = b.float(epsilon);
    let sum = b.node(&at, "Add", &[&variance, &epsilon], &[]);
    let root = b.node(&at, "Sqrt", &[&sum], &[]);
    let normal = b.node(&at, "Div", &[&centred, &root], &[]);
    let scaled = b.node(&at, "Mul", &[&normal, &scale], &[]);
    b.node(&format!("{at}/bias"), "Add", &[&scaled, &bias], &[])
}

/// [batch, seq, width] to [batch, heads, seq, width / heads].
pub(crate) fn split_heads(b: &mut Builder, name: &str, x: &str, heads: u64, width: u64) -> Value {
    let shape = b.ints(&[0, 0, heads as i64, (width / heads) as i64]);
    let split = b.node(name, "Reshape", &[x, &shape], &[]);
    b.node(name, "Transpose", &[&split], &[Attr::Ints("perm", &[0, 2, 1, 3])])
}

/// [batch, heads, seq, width / heads] to [batch, seq, width].
pub(crate) fn join_heads(b: &mut Builder, name: &str, x: &str, width: u64) -> Value {
    let back = b.node(name, "Transpose", &[x], &[Attr::Ints("perm", &[0, 2, 1, 3])]);
    let shape = b.ints(&[0, 0, width as i64]);
    b.node(name, "Reshape", &[&back, &shape], &[])
}

/// `q k^T / sqrt(size of a head)`, not yet masked.
pub(crate) fn scores(b: &mut Builder, name: &str, q: &str, k: &str, head: u64) -> Value {
    let kt = b.node(&format!("{name}/keys"), "Transpose", &[k], &[Attr::Ints("perm", &[0, 1, 3, 2])]);
    let product = b.node(&format!("{name}/scores"), "MatMul", &[q, &kt], &[]);
    let root = b.float((head as f32).sqrt());
    b.node(&format!("{name}/scores"), "Div", &[&product, &root], &[])
}

/// x / 2 (1 + erf(x / sqrt 2)), as exporters decompose it.
pub(crate) fn gelu(b: &mut Builder, name: &str, x: &str) -> Value {
    let (root, one, half) = (b.float(2f32.sqrt()), b.float(1.0), b.float(0.5));
    let scaled = b.node(name, "Div", &[x, &root], &[]);
    let erf = b.node(name, "Erf", &[&scaled], &[]);
    let sum = b.node(name, "Add", &[&erf, &one], &[]);
    let product = b.node(name, "Mul", &[x, &sum], &[]);
    b.node(&format!("{name}/half"), "Mul", &[&product, &half], &[])
}

/// x sigmoid(x).
pub(crate) fn silu(b: &mut Builder, name: &str, x: &str) -> Value {
    let gate = b.node(name, "Sigmoid", &[x], &[]);
    b.node(name, "Mul", &[x, &gate], &[])
}

/// `x W` on the last dim; `rows` is how often it is applied.
pub(crate) fn projection(
    b: &mut Builder,
    name: &str,
    x: &str,
    (inputs, outputs): (u64, u64),
    rows: Option<u64>,
) -> Value {
    let w = b.parameter(&format!("{name}.weight"), &[inputs, outputs], Fill::glorot(inputs, outputs));
    b.count_macs(rows.map(|r| r * inputs * outputs));
    b.node(&node_name(name), "MatMul", &[x, &w], &[])
}

/// Root mean square normalisation over the last dim (Zhang and Sennrich 2019).
pub(crate) fn rms_norm(b: &mut Builder, name: &str, x: &str, width: u64, epsilon: f32) -> Value {
    let scale = b.parameter(&format!("{name}.weight"), &[width], Fill::Range(0.8, 1.2));
    let (at, two, epsilon) = (node_name(name), b.float(2.0), b.float(epsilon));
    let square = b.node(&at, "Pow", &[x, &two], &[]);
    let mean = b.node(&at, "ReduceMean", &[&square], &[Attr::Ints("axes", &[-1])]);
    let sum = b.node(&at, "Add", &[&mean, &epsilon], &[]);
    let root = b.node(&at, "Sqrt", &[&sum], &[]);
    let normal = b.node(&at, "Div", &[x, &root], &[]);
    b.node(&at, "Mul", &[&scale, &normal], &[])
}

/// The softmax of the scores, times the values: [batch, heads, seq, size of a head]. `macs` counts scores and mixing.
pub(crate) fn mix(b: &mut Builder, name: &str, scores: &str, v: &str, macs: Option<u64>) -> Value {
    let weights = b.node(name, "Softmax", &[scores], &[Attr::Int("axis", -1)]);
    b.count_macs(macs);
    b.node(&format!("{name}/mixed"), "MatMul", &[&weights, v], &[])
}

/// The numbers from 0 to `length`, which is a known one or the size of this dim of a value.
pub(crate) fn positions(b: &mut Builder, name: &str, of: &str, dim: i64, length: Dim) -> Value {
    let end = match length.fixed() {
        Some(n) => b.int(n as i64),
        None => {
            let shape = b.node(name, "Shape", &[of], &[]);
            let index = b.int(dim);
            b.node(name, "Gather", &[&shape, &index], &[Attr::Int("axis", 0)])
        }
    };
    let (zero, one) = (b.int(0), b.int(1));
    b.node(name, "Range", &[&zero, &end, &one], &[])
}

/// A value with dims of size 1 at these places.
pub(crate) fn unsqueeze(b: &mut Builder, name: &str, x: &str, axes: &[i64]) -> Value {
    let axes = b.ints(axes);
    b.node(name, "Unsqueeze", &[x, &axes], &[])
}

/// Elements `from` to `to` along an axis.
pub(crate) fn slice(b: &mut Builder, name: &str, x: &str, axis: i64, (from, to): (i64, i64)) -> Value {
    let (from, to, axis) = (b.ints(&[from]), b.ints(&[to]), b.ints(&[axis]));
    b.node(name, "Slice", &[x, &from, &to, &axis], &[])
}
