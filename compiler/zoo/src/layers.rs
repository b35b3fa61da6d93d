//! Layers that several architectures share, spelled as PyTorch's exporter spells them.

use neap_onnx::proto::DataType;

use crate::builder::{Attr, Builder, Dim, Value};
use crate::weights::Fill;
use crate::{Options, ZooError};

/// Images in a convolutional network: a value [batch, channels, size, size].
pub(crate) struct Map {
    pub(crate) value: Value,
    pub(crate) channels: u64,
    pub(crate) size: u64,
    pub(crate) batch: Dim,
}

/// A square convolution without bias.
#[derive(Clone, Copy)]
pub(crate) struct Conv {
    pub(crate) filters: u64,
    pub(crate) kernel: u64,
    pub(crate) stride: u64,
    pub(crate) groups: u64,
}

impl Map {
    /// The model's input: RGB images.
    pub(crate) fn images(b: &mut Builder, options: &Options, usual: u64) -> Result<Map, ZooError> {
        let size = options.image.unwrap_or(usual);
        if !(32..=4096).contains(&size) {
            return Err(ZooError::Size { what: "image", found: size, expected: "32 to 4096".into() });
        }
        let batch = Dim::of(options.batch, "batch", 1)?;
        let value = b.input("input", DataType::Float, &[batch, Dim::Fixed(3), Dim::Fixed(size), Dim::Fixed(size)]);
        Ok(Map { value, channels: 3, size, batch })
    }

    /// A convolution with pads that keep the size, and its batch norm. `gain` scales what the norm gives.
    pub(crate) fn conv_norm(&self, b: &mut Builder, conv_name: &str, norm_name: &str, c: Conv, gain: f32) -> Map {
        let per_group = self.channels / c.groups;
        let fan_in = per_group * c.kernel * c.kernel;
        let (k, s, p) = (c.kernel as i64, c.stride as i64, (c.kernel / 2) as i64);
        let filter =
            b.parameter(&format!("{conv_name}.weight"), &[c.filters, per_group, c.kernel, c.kernel], Fill::he(fan_in));
        let conv = b.node(
            &node_name(conv_name),
            "Conv",
            &[&self.value, &filter],
            &[
                Attr::Ints("dilations", &[1, 1]),
                Attr::Int("group", c.groups as i64),
                Attr::Ints("kernel_shape", &[k, k]),
                Attr::Ints("pads", &[p, p, p, p]),
                Attr::Ints("strides", &[s, s]),
            ],
        );
        let size = (self.size + 2 * (c.kernel / 2) - c.kernel) / c.stride + 1;
        b.count_macs(self.batch.fixed().map(|n| n * c.filters * size * size * fan_in));

        let n = [c.filters];
        let scale = b.parameter(&format!("{norm_name}.weight"), &n, Fill::Range(0.8 * gain, 1.2 * gain));
        let bias = b.parameter(&format!("{norm_name}.bias"), &n, Fill::Range(-0.1, 0.1));
        let mean = b.statistic(&format!("{norm_name}.running_mean"), &n, Fill::Range(-0.1, 0.1));
        let var = b.statistic(&format!("{norm_name}.running_var"), &n, Fill::Range(0.8, 1.2));
        let value = b.node(
            &node_name(norm_name),
            "BatchNormalization",
            &[&conv, &scale, &bias, &mean, &var],
            &[Attr::Float("epsilon", 1e-5), Attr::Float("momentum", 0.9)],
        );
        Map { value, channels: c.filters, size, batch: self.batch }
    }

    /// The same map under another value.
    pub(crate) fn with(&self, value: Value) -> Map {
        Map { value, ..*self }
    }

    /// Averages over the image, and one linear layer to the classes: the model's output.
    pub(crate) fn classify(&self, b: &mut Builder, name: &str, classes: u64) {
        let pooled = b.node("/avgpool", "GlobalAveragePool", &[&self.value], &[]);
        let flat = b.node("", "Flatten", &[&pooled], &[Attr::Int("axis", 1)]);
        let w = b.parameter(&format!("{name}.weight"), &[classes, self.channels], Fill::glorot(self.channels, classes));
        let bias = b.parameter(&format!("{name}.bias"), &[classes], Fill::Range(-0.1, 0.1));
        let out = b.node(
            &node_name(name),
            "Gemm",
            &[&flat, &w, &bias],
            &[Attr::Float("alpha", 1.0), Attr::Float("beta", 1.0), Attr::Int("transB", 1)],
        );
        b.count_macs(self.batch.fixed().map(|n| n * classes * self.channels));
        b.output("output", &out, DataType::Float, &[self.batch, Dim::Fixed(classes)]);
    }
}

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
