//! Images on their way through a convolutional network.

use neap_onnx::proto::DataType;

use crate::builder::{Attr, Builder, Dim, Value};
use crate::layers::node_name;
use crate::weights::Fill;
use crate::{Options, ZooError};

/// Images in a convolutional network: a value [batch, channels, height, width].
#[derive(Clone)]
pub(crate) struct Map {
    pub(crate) value: Value,
    pub(crate) channels: u64,
    /// Height and width.
    pub(crate) size: [u64; 2],
    pub(crate) batch: Dim,
}

/// A convolution.
#[derive(Clone, Copy)]
pub(crate) struct Conv {
    filters: u64,
    kernel: [u64; 2],
    strides: [u64; 2],
    pads: [u64; 2],
    dilation: u64,
    groups: u64,
    bias: bool,
}

impl Conv {
    /// Square, without bias, with stride 1 and pads that keep the size.
    pub(crate) fn new(filters: u64, kernel: u64) -> Self {
        Conv::tall(filters, [kernel, kernel])
    }

    /// With a kernel of this height and width.
    pub(crate) fn tall(filters: u64, kernel: [u64; 2]) -> Self {
        let pads = kernel.map(|k| k / 2);
        Conv { filters, kernel, strides: [1, 1], pads, dilation: 1, groups: 1, bias: false }
    }

    pub(crate) fn filters(&self) -> u64 {
        self.filters
    }

    pub(crate) fn stride(self, stride: u64) -> Self {
        self.strides([stride; 2])
    }

    /// Strides along height and width.
    pub(crate) fn strides(self, strides: [u64; 2]) -> Self {
        Conv { strides, ..self }
    }

    pub(crate) fn groups(self, groups: u64) -> Self {
        Conv { groups, ..self }
    }

    pub(crate) fn pad(self, pad: u64) -> Self {
        Conv { pads: [pad; 2], ..self }
    }

    /// Dilated, with pads that keep the size.
    pub(crate) fn dilation(self, dilation: u64) -> Self {
        Conv { dilation, pads: self.kernel.map(|k| k / 2 * dilation), ..self }
    }

    pub(crate) fn bias(self) -> Self {
        Conv { bias: true, ..self }
    }
}

/// Batch normalisation: `gain` scales what it gives.
#[derive(Clone, Copy)]
pub(crate) struct Norm {
    pub(crate) epsilon: f32,
    pub(crate) gain: f32,
}

/// PyTorch's usual one.
pub(crate) const NORM: Norm = Norm { epsilon: 1e-5, gain: 1.0 };

/// A pooling window.
#[derive(Clone, Copy)]
pub(crate) struct Pool {
    kernel: u64,
    stride: u64,
    /// Before and after.
    pads: [u64; 2],
    ceil: bool,
    count_pads: bool,
}

impl Pool {
    /// Padded by half a kernel; pads are counted in averages.
    pub(crate) const fn new(kernel: u64, stride: u64) -> Self {
        Pool { kernel, stride, pads: [kernel / 2; 2], ceil: false, count_pads: true }
    }

    pub(crate) const fn pad(self, pad: u64) -> Self {
        Pool { pads: [pad; 2], ..self }
    }

    /// A last window may hang over the end.
    pub(crate) const fn ceil(self) -> Self {
        Pool { ceil: true, ..self }
    }

    /// Averages are over the image alone.
    pub(crate) const fn inside(self) -> Self {
        Pool { count_pads: false, ..self }
    }

    fn size(&self, size: u64) -> u64 {
        let span = size + self.pads[0] + self.pads[1] - self.kernel;
        let count = if self.ceil { span.div_ceil(self.stride) } else { span / self.stride } + 1;
        // A window that would start behind the image does not exist.
        if self.ceil && (count - 1) * self.stride >= size + self.pads[0] { count - 1 } else { count }
    }
}

impl Map {
    /// The model's input: RGB images, `least` to 4096 pixels a side.
    pub(crate) fn images(b: &mut Builder, options: &Options, usual: u64, least: u64) -> Result<Map, ZooError> {
        let size = options.image.unwrap_or(usual);
        if !(least..=4096).contains(&size) {
            return Err(ZooError::Size { what: "image", found: size, expected: format!("{least} to 4096") });
        }
        let batch = Dim::of(options.batch, "batch", 1)?;
        let value = b.input("input", DataType::Float, &[batch, Dim::Fixed(3), Dim::Fixed(size), Dim::Fixed(size)]);
        Ok(Map { value, channels: 3, size: [size; 2], batch })
    }

    /// The same map under another value.
    pub(crate) fn with(&self, value: Value) -> Map {
        Map { value, ..*self }
    }

    pub(crate) fn conv(&self, b: &mut Builder, name: &str, c: Conv) -> Map {
        let per_group = self.channels / c.groups;
        let fan_in = per_group * c.kernel[0] * c.kernel[1];
        let dims = [c.filters, per_group, c.kernel[0], c.kernel[1]];
        let filter = b.parameter(&format!("{name}.weight"), &dims, Fill::he(fan_in));
        let mut inputs = vec![self.value.clone(), filter];
        if c.bias {
            inputs.push(b.parameter(&format!("{name}.bias"), &[c.filters], Fill::Range(-0.1, 0.1)));
        }
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let [pads, kernel, strides] = [c.pads, c.kernel, c.strides].map(|v| v.map(|n| n as i64));
        let attrs = [
            Attr::Ints("dilations", &[c.dilation as i64; 2]),
            Attr::Int("group", c.groups as i64),
            Attr::Ints("kernel_shape", &kernel),
            Attr::Ints("pads", &[pads[0], pads[1], pads[0], pads[1]]),
            Attr::Ints("strides", &strides),
        ];
        let value = b.node(&node_name(name), "Conv", &inputs, &attrs);
        let size = [0, 1].map(|i| {
            let reach = (c.kernel[i] - 1) * c.dilation + 1;
            (self.size[i] + 2 * c.pads[i] - reach) / c.strides[i] + 1
        });
        b.count_macs(self.batch.fixed().map(|n| n * c.filters * size[0] * size[1] * fan_in));
        Map { value, channels: c.filters, size, ..*self }
    }

    /// A transposed convolution whose stride is its kernel, with bias.
    pub(crate) fn up_conv(&self, b: &mut Builder, name: &str, filters: u64, kernel: u64) -> Map {
        // Each result sees one input a channel.
        let filter =
            b.parameter(&format!("{name}.weight"), &[self.channels, filters, kernel, kernel], Fill::he(self.channels));
        let bias = b.parameter(&format!("{name}.bias"), &[filters], Fill::Range(-0.1, 0.1));
        let k = [kernel as i64; 2];
        let attrs = [
            Attr::Ints("dilations", &[1, 1]),
            Attr::Int("group", 1),
            Attr::Ints("kernel_shape", &k),
            Attr::Ints("pads", &[0; 4]),
            Attr::Ints("strides", &k),
        ];
        let value = b.node(&node_name(name), "ConvTranspose", &[&self.value, &filter, &bias], &attrs);
        let size = self.size.map(|s| s * kernel);
        b.count_macs(self.batch.fixed().map(|n| n * filters * size[0] * size[1] * self.channels));
        Map { value, channels: filters, size, ..*self }
    }

    pub(crate) fn norm(&self, b: &mut Builder, name: &str, norm: Norm) -> Map {
        let (n, gain) = ([self.channels], norm.gain);
        let scale = b.parameter(&format!("{name}.weight"), &n, Fill::Range(0.8 * gain, 1.2 * gain));
        let bias = b.parameter(&format!("{name}.bias"), &n, Fill::Range(-0.1, 0.1));
        let mean = b.statistic(&format!("{name}.running_mean"), &n, Fill::Range(-0.1, 0.1));
        let var = b.statistic(&format!("{name}.running_var"), &n, Fill::Range(0.8, 1.2));
        let inputs = [&*self.value, &scale, &bias, &mean, &var];
        let attrs = [Attr::Float("epsilon", norm.epsilon), Attr::Float("momentum", 0.9)];
        self.with(b.node(&node_name(name), "BatchNormalization", &inputs, &attrs))
    }

    /// A convolution and its batch norm.
    pub(crate) fn conv_norm(&self, b: &mut Builder, conv: &str, norm: &str, c: Conv, gain: f32) -> Map {
        self.conv(b, conv, c).norm(b, norm, Norm { gain, ..NORM })
    }

    /// An elementwise operator without attributes; `name` is the node's.
    pub(crate) fn apply(&self, b: &mut Builder, name: &str, op: &str) -> Map {
        self.with(b.node(name, op, &[&self.value], &[]))
    }

    pub(crate) fn relu(&self, b: &mut Builder, name: &str) -> Map {
        self.apply(b, name, "Relu")
    }

    pub(crate) fn add(&self, b: &mut Builder, name: &str, other: &Map) -> Map {
        self.with(b.node(name, "Add", &[&self.value, &other.value], &[]))
    }

    pub(crate) fn max_pool(&self, b: &mut Builder, name: &str, p: Pool) -> Map {
        self.pool(b, name, "MaxPool", p)
    }

    pub(crate) fn average_pool(&self, b: &mut Builder, name: &str, p: Pool) -> Map {
        self.pool(b, name, "AveragePool", p)
    }

    fn pool(&self, b: &mut Builder, name: &str, op: &str, p: Pool) -> Map {
        let [kernel, stride] = [p.kernel, p.stride].map(|n| [n as i64; 2]);
        let [low, high] = p.pads.map(|n| n as i64);
        let pads = [low, low, high, high];
        let mut attrs = vec![
            Attr::Int("ceil_mode", p.ceil.into()),
            Attr::Ints("kernel_shape", &kernel),
            Attr::Ints("pads", &pads),
            Attr::Ints("strides", &stride),
        ];
        if op == "AveragePool" {
            attrs.push(Attr::Int("count_include_pad", p.count_pads.into()));
        }
        let value = b.node(name, op, &[&self.value], &attrs);
        Map { value, size: self.size.map(|s| p.size(s)), ..*self }
    }

    /// Averages over the image, and one linear layer to the classes: the model's output.
    pub(crate) fn classify(&self, b: &mut Builder, name: &str, classes: u64) {
        let pooled = b.node("/avgpool", "GlobalAveragePool", &[&self.value], &[]);
        let flat = b.node("", "Flatten", &[&pooled], &[Attr::Int("axis", 1)]);
        let out = gemm(b, name, &flat, (self.channels, classes), self.batch);
        b.output("output", &out, DataType::Float, &[self.batch, Dim::Fixed(classes)]);
    }
}

/// Maps of one size, channel after channel.
pub(crate) fn concat(b: &mut Builder, name: &str, parts: &[Map]) -> Map {
    let values: Vec<&str> = parts.iter().map(|p| p.value.as_str()).collect();
    let value = b.node(name, "Concat", &values, &[Attr::Int("axis", 1)]);
    Map { value, channels: parts.iter().map(|p| p.channels).sum(), ..parts[0] }
}

/// `W x + b` on [batch, inputs], `W` stored [outputs, inputs].
pub(crate) fn gemm(b: &mut Builder, name: &str, x: &str, (inputs, outputs): (u64, u64), batch: Dim) -> Value {
    let w = b.parameter(&format!("{name}.weight"), &[outputs, inputs], Fill::glorot(inputs, outputs));
    let bias = b.parameter(&format!("{name}.bias"), &[outputs], Fill::Range(-0.1, 0.1));
    b.count_macs(batch.fixed().map(|n| n * outputs * inputs));
    let attrs = [Attr::Float("alpha", 1.0), Attr::Float("beta", 1.0), Attr::Int("transB", 1)];
    b.node(&node_name(name), "Gemm", &[x, &w, &bias], &attrs)
}
