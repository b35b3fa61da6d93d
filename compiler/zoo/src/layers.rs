//! Layers that several architectures share, spelled as PyTorch's exporter spells them.

use crate::builder::{Attr, Builder, Value};
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
