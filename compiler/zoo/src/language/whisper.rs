//! The encoder of Whisper, base (Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision", 2022), named as in
//! Hugging Face's `WhisperEncoder`.

use neap_onnx::proto::DataType;

use crate::builder::{Attr, Builder, Dim, Value};
use crate::layers::{gelu, join_heads, layer_norm, linear, mix, node_name, projection, slice, split_heads};
use crate::weights::Fill;
use crate::{Options, ZooError};

const EPSILON: f32 = 1e-5;

struct Config {
    layers: u64,
    width: u64,
    heads: u64,
    mels: u64,
    /// Frames of 20 ms.
    frames: u64,
}

const BASE: Config = Config { layers: 6, width: 512, heads: 8, mels: 80, frames: 1500 };
const SMALL: Config = Config { layers: 2, width: 32, heads: 2, mels: 8, frames: 16 };

pub(crate) fn write(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let c = if options.small { SMALL } else { BASE };
    let batch = Dim::of(options.batch, "batch", 1)?;
    // The second convolution halves the frames, which a symbol could not say of the input.
    let frames = match options.seq {
        crate::Size::Fixed(n) => n,
        _ => c.frames,
    };
    if !(1..=c.frames).contains(&frames) {
        return Err(ZooError::Size { what: "seq", found: frames, expected: format!("1 to {}", c.frames) });
    }
    let rows = batch.fixed().map(|n| n * frames);
    let dims = [batch, Dim::Fixed(c.mels), Dim::Fixed(2 * frames)];
    let x = b.input("input_features", DataType::Float, &dims);
    let x = conv(b, "conv1", &x, (c.mels, c.width), 1, rows.map(|r| 2 * r));
    let x = gelu(b, "/gelu1", &x);
    let x = conv(b, "conv2", &x, (c.width, c.width), 2, rows);
    let x = gelu(b, "/gelu2", &x);
    let x = b.node("", "Transpose", &[&x], &[Attr::Ints("perm", &[0, 2, 1])]);
    let mut places = b.parameter("embed_positions.weight", &[c.frames, c.width], Fill::Spread(0.5));
    if frames < c.frames {
        places = slice(b, "/embed_positions", &places, 0, (0, frames as i64));
    }
    let mut x = b.node("", "Add", &[&x, &places], &[]);
    let norm =
        |b: &mut Builder, name: &str, x: &str| layer_norm(b, name, x, c.width, EPSILON, options.decomposed_norms);
    for i in 0..c.layers {
        let name = format!("layers.{i}");
        let at = node_name(&name);
        let y = norm(b, &format!("{name}.self_attn_layer_norm"), &x);
        let y = attention(b, &format!("{name}.self_attn"), &y, &c, rows, frames);
        x = b.node(&at, "Add", &[&x, &y], &[]);
        let y = norm(b, &format!("{name}.final_layer_norm"), &x);
        let y = linear(b, &format!("{name}.fc1"), &y, (c.width, 4 * c.width), rows);
        let y = gelu(b, &format!("{at}/activation_fn"), &y);
        let y = linear(b, &format!("{name}.fc2"), &y, (4 * c.width, c.width), rows);
        x = b.node(&at, "Add", &[&x, &y], &[]);
    }
    let x = norm(b, "layer_norm", &x);
    b.output("last_hidden_state", &x, DataType::Float, &[batch, Dim::Fixed(frames), Dim::Fixed(c.width)]);
    Ok(())
}

/// Of three frames; `frames` is how many results there are in the batch.
fn conv(
    b: &mut Builder,
    name: &str,
    x: &str,
    (inputs, filters): (u64, u64),
    stride: i64,
    frames: Option<u64>,
) -> Value {
    let filter = b.parameter(&format!("{name}.weight"), &[filters, inputs, 3], Fill::he(3 * inputs));
    let bias = b.parameter(&format!("{name}.bias"), &[filters], Fill::Range(-0.1, 0.1));
    b.count_macs(frames.map(|f| f * filters * inputs * 3));
    let attrs = [
        Attr::Ints("dilations", &[1]),
        Attr::Int("group", 1),
        Attr::Ints("kernel_shape", &[3]),
        Attr::Ints("pads", &[1, 1]),
        Attr::Ints("strides", &[stride]),
    ];
    b.node(&node_name(name), "Conv", &[x, &filter, &bias], &attrs)
}

/// Keys have no bias; queries are scaled before they meet them.
fn attention(b: &mut Builder, name: &str, x: &str, c: &Config, rows: Option<u64>, frames: u64) -> Value {
    let (at, sizes) = (node_name(name), (c.width, c.width));
    let q = linear(b, &format!("{name}.q_proj"), x, sizes, rows);
    let scale = b.float(((c.width / c.heads) as f32).powf(-0.5));
    let q = b.node(&at, "Mul", &[&q, &scale], &[]);
    let k = projection(b, &format!("{name}.k_proj"), x, sizes, rows);
    let v = linear(b, &format!("{name}.v_proj"), x, sizes, rows);
    let [q, k, v] =
        [("q", q), ("k", k), ("v", v)].map(|(n, y)| split_heads(b, &format!("{at}/{n}"), &y, c.heads, c.width));
    let kt = b.node(&format!("{at}/keys"), "Transpose", &[&k], &[Attr::Ints("perm", &[0, 1, 3, 2])]);
    let scores = b.node(&at, "MatMul", &[&q, &kt], &[]);
    let mixed = mix(b, &at, &scores, &v, rows.map(|r| 2 * r * frames * c.width));
    let joined = join_heads(b, &at, &mixed, c.width);
    linear(b, &format!("{name}.out_proj"), &joined, sizes, rows)
}
