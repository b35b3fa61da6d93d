//! The encoder of T5-small (Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
//! 2019), named as in Hugging Face's `T5EncoderModel`.

use neap_onnx::proto::DataType;

use crate::builder::{Attr, Builder, Dim, Value};
use crate::layers::{join_heads, mix, node_name, positions, projection, rms_norm, split_heads, unsqueeze};
use crate::weights::Fill;
use crate::{Options, ZooError};

const EPSILON: f32 = 1e-6;
/// Relative positions are told apart up to this distance, with logarithmic steps from a quarter of the buckets on.
const FARTHEST: f32 = 128.0;

struct Config {
    layers: u64,
    width: u64,
    heads: u64,
    inner: u64,
    vocabulary: u64,
    buckets: u64,
    seq: u64,
}

const T5: Config = Config { layers: 6, width: 512, heads: 8, inner: 2048, vocabulary: 32128, buckets: 32, seq: 128 };
const SMALL: Config = Config { layers: 2, width: 32, heads: 2, inner: 64, vocabulary: 100, buckets: 32, seq: 16 };

pub(crate) fn write(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let c = if options.small { SMALL } else { T5 };
    let (batch, seq) = (Dim::of(options.batch, "batch", 1)?, Dim::of(options.seq, "seq", c.seq)?);
    let rows = batch.fixed().zip(seq.fixed()).map(|(n, s)| n * s);
    let ids = b.input("input_ids", DataType::Int64, &[batch, seq]);
    let mask = b.input("attention_mask", DataType::Int64, &[batch, seq]);
    let words = b.parameter("shared.weight", &[c.vocabulary, c.width], Fill::Spread(1.0));
    let mut x = b.node("/encoder/embed_tokens", "Gather", &[&words, &ids], &[]);
    let bias = bias(b, &c, &ids, &mask, seq);
    for i in 0..c.layers {
        let name = format!("encoder.block.{i}.layer");
        let y = rms_norm(b, &format!("{name}.0.layer_norm"), &x, c.width, EPSILON);
        let y = attention(b, &format!("{name}.0.SelfAttention"), &y, &bias, &c, rows, seq);
        x = b.node(&node_name(&format!("{name}.0")), "Add", &[&x, &y], &[]);
        let y = rms_norm(b, &format!("{name}.1.layer_norm"), &x, c.width, EPSILON);
        let y = projection(b, &format!("{name}.1.DenseReluDense.wi"), &y, (c.width, c.inner), rows);
        let y = b.node(&node_name(&format!("{name}.1.DenseReluDense.act")), "Relu", &[&y], &[]);
        let y = projection(b, &format!("{name}.1.DenseReluDense.wo"), &y, (c.inner, c.width), rows);
        x = b.node(&node_name(&format!("{name}.1")), "Add", &[&x, &y], &[]);
    }
    let x = rms_norm(b, "encoder.final_layer_norm", &x, c.width, EPSILON);
    b.output("last_hidden_state", &x, DataType::Float, &[batch, seq, Dim::Fixed(c.width)]);
    Ok(())
}

/// Queries and keys are not scaled; what a position is comes from the bias alone.
fn attention(b: &mut Builder, name: &str, x: &str, bias: &str, c: &Config, rows: Option<u64>, seq: Dim) -> Value {
    let at = node_name(name);
    let part = |b: &mut Builder, which: &str| {
        let y = projection(b, &format!("{name}.{which}"), x, (c.width, c.width), rows);
        split_heads(b, &format!("{at}/{which}"), &y, c.heads, c.width)
    };
    let (q, k, v) = (part(b, "q"), part(b, "k"), part(b, "v"));
    let kt = b.node(&format!("{at}/keys"), "Transpose", &[&k], &[Attr::Ints("perm", &[0, 1, 3, 2])]);
    let scores = b.node(&at, "MatMul", &[&q, &kt], &[]);
    let scores = b.node(&at, "Add", &[&scores, bias], &[]);
    let mixed = mix(b, &at, &scores, &v, rows.zip(seq.fixed()).map(|(r, s)| 2 * r * s * c.width));
    let joined = join_heads(b, &at, &mixed, c.width);
    projection(b, &format!("{name}.o"), &joined, (c.width, c.width), rows)
}

/// By the distance of two tokens and the mask, [batch, heads, seq, seq]; the first layer's, used by all.
fn bias(b: &mut Builder, c: &Config, ids: &str, mask: &str, seq: Dim) -> Value {
    let name = "encoder.block.0.layer.0.SelfAttention";
    let at = node_name(name);
    let bucket = bucket(b, &at, c, ids, seq);
    let fill = Fill::Spread(0.5);
    let table = b.parameter(&format!("{name}.relative_attention_bias.weight"), &[c.buckets, c.heads], fill);
    let bias = b.node(&format!("{at}/relative_attention_bias"), "Gather", &[&table, &bucket], &[]);
    let bias = b.node(&at, "Transpose", &[&bias], &[Attr::Ints("perm", &[2, 0, 1])]);
    let bias = unsqueeze(b, &at, &bias, &[0]);
    let mask = unsqueeze(b, "/encoder/mask", mask, &[1, 2]);
    let mask = b.node("/encoder", "Cast", &[&mask], &[Attr::Int("to", DataType::Float as i64)]);
    let (one, least) = (b.float(1.0), b.float(f32::MIN));
    let off = b.node("/encoder", "Sub", &[&one, &mask], &[]);
    let off = b.node("/encoder", "Mul", &[&off, &least], &[]);
    b.node(&at, "Add", &[&bias, &off], &[])
}

/// The bucket of each distance, [seq, seq]: half of them for later tokens; the nearest by themselves, then by logarithm.
fn bucket(b: &mut Builder, at: &str, c: &Config, ids: &str, seq: Dim) -> Value {
    let position = positions(b, at, ids, 1, seq);
    let (down, across) = (unsqueeze(b, at, &position, &[1]), unsqueeze(b, at, &position, &[0]));
    let distance = b.node(at, "Sub", &[&across, &down], &[]);
    let (half, exact) = (c.buckets as i64 / 2, c.buckets as i64 / 4);
    let zero = b.int(0);
    let later = b.node(at, "Greater", &[&distance, &zero], &[]);
    let later = b.node(at, "Cast", &[&later], &[Attr::Int("to", DataType::Int64 as i64)]);
    let halves = b.int(half);
    let later = b.node(at, "Mul", &[&later, &halves], &[]);
    let distance = b.node(at, "Abs", &[&distance], &[]);
    let exacts = b.int(exact);
    let near = b.node(at, "Less", &[&distance, &exacts], &[]);
    let float = b.node(&format!("{at}/distance"), "Cast", &[&distance], &[Attr::Int("to", DataType::Float as i64)]);
    let (exactf, span, steps) =
        (b.float(exact as f32), b.float((FARTHEST / exact as f32).ln()), b.float((half - exact) as f32));
    let ratio = b.node(at, "Div", &[&float, &exactf], &[]);
    let log = b.node(at, "Log", &[&ratio], &[]);
    let share = b.node(at, "Div", &[&log, &span], &[]);
    let step = b.node(at, "Mul", &[&share, &steps], &[]);
    let step = b.node(&format!("{at}/step"), "Cast", &[&step], &[Attr::Int("to", DataType::Int64 as i64)]);
    let far = b.node(at, "Add", &[&step, &exacts], &[]);
    let last = b.int(half - 1);
    let far = b.node(at, "Min", &[&far, &last], &[]);
    let kept = b.node(at, "Where", &[&near, &distance, &far], &[]);
    b.node(&format!("{at}/bucket"), "Add", &[&later, &kept], &[])
}
