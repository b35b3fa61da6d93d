//! Decoders with rotary positions, grouped-query attention and gated linear units, named as in Hugging Face's
//! `LlamaForCausalLM`: SmolLM-135M, which is a Llama (Touvron et al. 2023) with GQA (Ainslie et al. 2023); and a small Mixtral
//! (Jiang et al., "Mixtral of Experts", 2024), whose MLP is a mixture of experts.

use neap_onnx::proto::DataType;

use super::moe;
use crate::builder::{Attr, Builder, Dim, Value};
use crate::layers::{mix, node_name, positions, projection, rms_norm, silu, slice, split_heads, unsqueeze};
use crate::weights::Fill;
use crate::{Options, ZooError};

const EPSILON: f32 = 1e-5;
const ROTARY_BASE: f64 = 10_000.0;

pub(super) struct Config {
    layers: u64,
    pub(super) width: u64,
    heads: u64,
    /// Heads of keys and values, each serving several of the queries.
    kv_heads: u64,
    pub(super) inner: u64,
    vocabulary: u64,
    context: u64,
    seq: u64,
    /// Whether the head is the word table again.
    tied: bool,
    /// 0 where the MLP is a plain one.
    pub(super) experts: u64,
}

const SMOLLM: Config = Config {
    layers: 30,
    width: 576,
    heads: 9,
    kv_heads: 3,
    inner: 1536,
    vocabulary: 49152,
    context: 2048,
    seq: 128,
    tied: true,
    experts: 0,
};

/// Mixtral 8x7B's proportions (inner = 3.5 width, a quarter of the heads for keys and values, 8 experts) an eighth as wide.
const MIXTRAL: Config = Config {
    layers: 4,
    width: 512,
    heads: 8,
    kv_heads: 2,
    inner: 1792,
    vocabulary: 32000,
    context: 4096,
    seq: 128,
    tied: false,
    experts: 8,
};

const SMALL: Config = Config {
    layers: 2,
    width: 32,
    heads: 4,
    kv_heads: 2,
    inner: 64,
    vocabulary: 100,
    context: 64,
    seq: 16,
    tied: true,
    experts: 0,
};

pub(crate) fn llama(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    write(b, options, if options.small { SMALL } else { SMOLLM })
}

pub(crate) fn mixtral(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    write(b, options, if options.small { Config { experts: 4, tied: false, ..SMALL } } else { MIXTRAL })
}

fn write(b: &mut Builder, options: &Options, c: Config) -> Result<(), ZooError> {
    let (batch, seq) = (Dim::of(options.batch, "batch", 1)?, Dim::of(options.seq, "seq", c.seq)?);
    if let Some(found) = seq.fixed().filter(|s| *s > c.context) {
        return Err(ZooError::Size { what: "seq", found, expected: format!("1 to {}", c.context) });
    }
    let rows = batch.fixed().zip(seq.fixed()).map(|(n, s)| n * s);
    let ids = b.input("input_ids", DataType::Int64, &[batch, seq]);
    let words = b.parameter("model.embed_tokens.weight", &[c.vocabulary, c.width], Fill::Spread(0.5));
    let mut x = b.node("/model/embed_tokens", "Gather", &[&words, &ids], &[]);
    let shared = Shared::new(b, &c, &ids, rows, seq);
    for i in 0..c.layers {
        let name = format!("model.layers.{i}");
        let y = rms_norm(b, &format!("{name}.input_layernorm"), &x, c.width, EPSILON);
        let y = attention(b, &format!("{name}.self_attn"), &y, &c, &shared);
        x = b.node(&node_name(&name), "Add", &[&x, &y], &[]);
        let y = rms_norm(b, &format!("{name}.post_attention_layernorm"), &x, c.width, EPSILON);
        let y = match c.experts {
            0 => mlp(b, &format!("{name}.mlp"), ["gate_proj", "up_proj", "down_proj"], &y, (c.width, c.inner), rows),
            _ => moe::mixture(b, &format!("{name}.block_sparse_moe"), &y, &c, rows),
        };
        x = b.node(&node_name(&name), "Add", &[&x, &y], &[]);
    }
    let x = rms_norm(b, "model.norm", &x, c.width, EPSILON);
    let logits = if c.tied {
        let table = b.node("/lm_head", "Transpose", &[&words], &[Attr::Ints("perm", &[1, 0])]);
        b.count_macs(rows.map(|r| r * c.width * c.vocabulary));
        b.node("/lm_head", "MatMul", &[&x, &table], &[])
    } else {
        projection(b, "lm_head", &x, (c.width, c.vocabulary), rows)
    };
    b.output("logits", &logits, DataType::Float, &[batch, seq, Dim::Fixed(c.vocabulary)]);
    Ok(())
}

/// What every layer uses.
struct Shared {
    /// [1, 1, seq, size of a head]
    cos: Value,
    sin: Value,
    /// [seq, seq]: whether a token sees another.
    visible: Value,
    rows: Option<u64>,
    seq: Dim,
}

impl Shared {
    fn new(b: &mut Builder, c: &Config, ids: &str, rows: Option<u64>, seq: Dim) -> Self {
        let (at, head) = ("/model/rotary_emb", c.width / c.heads);
        let position = positions(b, at, ids, 1, seq);
        let across = unsqueeze(b, at, &position, &[0]);
        let down = unsqueeze(b, at, &position, &[1]);
        let visible = b.node("/model/mask", "LessOrEqual", &[&across, &down], &[]);
        let frequencies = (0..head / 2).map(|i| ROTARY_BASE.powf(-(2.0 * i as f64) / head as f64) as f32);
        let frequencies = frequencies.flat_map(f32::to_le_bytes).collect::<Vec<u8>>();
        let dims = [1, head / 2];
        let frequencies = b.constant("model.rotary_emb.inv_freq".into(), DataType::Float, &dims, frequencies);
        let down = b.node(at, "Cast", &[&down], &[Attr::Int("to", DataType::Float as i64)]);
        let half = b.node(at, "MatMul", &[&down, &frequencies], &[]);
        let angles = b.node(at, "Concat", &[&half, &half], &[Attr::Int("axis", -1)]);
        let angles = unsqueeze(b, at, &angles, &[0, 1]);
        let (cos, sin) = (b.node(at, "Cos", &[&angles], &[]), b.node(at, "Sin", &[&angles], &[]));
        Shared { cos, sin, visible, rows, seq }
    }
}

fn attention(b: &mut Builder, name: &str, x: &str, c: &Config, s: &Shared) -> Value {
    let at = node_name(name);
    let head = c.width / c.heads;
    let part = |b: &mut Builder, which: &str, heads: u64| {
        let y = projection(b, &format!("{name}.{which}_proj"), x, (c.width, heads * head), s.rows);
        split_heads(b, &format!("{at}/{which}"), &y, heads, heads * head)
    };
    let (q, k, v) = (part(b, "q", c.heads), part(b, "k", c.kv_heads), part(b, "v", c.kv_heads));
    let q = rotate(b, &format!("{at}/q"), &q, head, s);
    let k = rotate(b, &format!("{at}/k"), &k, head, s);
    let k = repeat(b, &format!("{at}/k"), &k, c, s.seq);
    let v = repeat(b, &format!("{at}/v"), &v, c, s.seq);
    let kt = b.node(&format!("{at}/k"), "Transpose", &[&k], &[Attr::Ints("perm", &[0, 1, 3, 2])]);
    let product = b.node(&at, "MatMul", &[&q, &kt], &[]);
    let scale = b.float(1.0 / (head as f32).sqrt());
    let scores = b.node(&at, "Mul", &[&product, &scale], &[]);
    let least = b.float(f32::MIN);
    let masked = b.node(&at, "Where", &[&s.visible, &scores, &least], &[]);
    let macs = s.rows.zip(s.seq.fixed()).map(|(r, n)| 2 * r * n * c.width);
    let mixed = mix(b, &at, &masked, &v, macs);
    let joined = crate::layers::join_heads(b, &at, &mixed, c.width);
    projection(b, &format!("{name}.o_proj"), &joined, (c.width, c.width), s.rows)
}

/// Turns each pair of elements by its position's angle (Su et al. 2021): `x cos + (-x2, x1) sin`.
fn rotate(b: &mut Builder, name: &str, x: &str, head: u64, s: &Shared) -> Value {
    let half = head as i64 / 2;
    let first = slice(b, name, x, 3, (0, half));
    let second = slice(b, name, x, 3, (half, i64::MAX));
    let negative = b.node(name, "Neg", &[&second], &[]);
    let turned = b.node(name, "Concat", &[&negative, &first], &[Attr::Int("axis", -1)]);
    let kept = b.node(name, "Mul", &[x, &s.cos], &[]);
    let turned = b.node(name, "Mul", &[&turned, &s.sin], &[]);
    b.node(name, "Add", &[&kept, &turned], &[])
}

/// Each head of keys or values once for every query head that it serves.
fn repeat(b: &mut Builder, name: &str, x: &str, c: &Config, seq: Dim) -> Value {
    let (head, times) = ((c.width / c.heads) as i64, (c.heads / c.kv_heads) as i64);
    let wide = unsqueeze(b, name, x, &[2]);
    let shape = b.ints(&[1, 1, times, 1, 1]);
    let wide = b.node(name, "Expand", &[&wide, &shape], &[]);
    let seq = seq.fixed().map_or(-1, |s| s as i64);
    let shape = b.ints(&[0, c.heads as i64, seq, head]);
    b.node(name, "Reshape", &[&wide, &shape], &[])
}

/// `down(silu(gate(x)) up(x))`; the names are gate's, up's and down's.
pub(super) fn mlp(
    b: &mut Builder,
    name: &str,
    names: [&str; 3],
    x: &str,
    (width, inner): (u64, u64),
    rows: Option<u64>,
) -> Value {
    let [gate, up, down] = names.map(|n| format!("{name}.{n}"));
    let gate = projection(b, &gate, x, (width, inner), rows);
    let gate = silu(b, &node_name(&format!("{name}.act_fn")), &gate);
    let up = projection(b, &up, x, (width, inner), rows);
    let product = b.node(&node_name(name), "Mul", &[&gate, &up], &[]);
    projection(b, &down, &product, (inner, width), rows)
}
