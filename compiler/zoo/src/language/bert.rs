//! BERT-base, uncased (Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2018), named as in
//! Hugging Face's `BertModel`.

use neap_onnx::proto::DataType;

use crate::builder::{Attr, Builder, Dim, Value};
use crate::layers::{gelu, join_heads, layer_norm, linear, node_name, scores, split_heads};
use crate::weights::Fill;
use crate::{Options, ZooError};

const EPSILON: f32 = 1e-12;

struct Config {
    layers: u64,
    width: u64,
    heads: u64,
    inner: u64,
    vocabulary: u64,
    positions: u64,
    seq: u64,
}

const BASE: Config =
    Config { layers: 12, width: 768, heads: 12, inner: 3072, vocabulary: 30522, positions: 512, seq: 128 };
const SMALL: Config = Config { layers: 2, width: 32, heads: 2, inner: 64, vocabulary: 100, positions: 64, seq: 16 };

pub(crate) fn write(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let c = if options.small { SMALL } else { BASE };
    let (batch, seq) = (Dim::of(options.batch, "batch", 1)?, Dim::of(options.seq, "seq", c.seq)?);
    if let Some(found) = seq.fixed().filter(|s| *s > c.positions) {
        return Err(ZooError::Size { what: "seq", found, expected: format!("1 to {}", c.positions) });
    }
    let norm =
        |b: &mut Builder, name: &str, x: &str| layer_norm(b, name, x, c.width, EPSILON, options.decomposed_norms);
    let ids = b.input("input_ids", DataType::Int64, &[batch, seq]);
    let mask = b.input("attention_mask", DataType::Int64, &[batch, seq]);
    let types = b.input("token_type_ids", DataType::Int64, &[batch, seq]);
    let sum = embeddings(b, &c, &ids, &types, seq);
    let mut x = norm(b, "embeddings.LayerNorm", &sum);
    let mask = mask_bias(b, &mask);

    let s = seq.fixed();
    let rows = batch.fixed().zip(s).map(|(n, s)| n * s);
    for i in 0..c.layers {
        let name = format!("encoder.layer.{i}");
        let attended = attention(b, &format!("{name}.attention"), &x, &mask, &c, rows, s);
        let sum = b.node(&node_name(&format!("{name}.attention.output")), "Add", &[&attended, &x], &[]);
        x = norm(b, &format!("{name}.attention.output.LayerNorm"), &sum);
        let inner = linear(b, &format!("{name}.intermediate.dense"), &x, (c.width, c.inner), rows);
        let active = gelu(b, &node_name(&format!("{name}.intermediate")), &inner);
        let back = linear(b, &format!("{name}.output.dense"), &active, (c.inner, c.width), rows);
        let sum = b.node(&node_name(&format!("{name}.output")), "Add", &[&back, &x], &[]);
        x = norm(b, &format!("{name}.output.LayerNorm"), &sum);
    }

    let zero = b.int(0);
    let first = b.node("/pooler", "Gather", &[&x, &zero], &[Attr::Int("axis", 1)]);
    let w = b.parameter("pooler.dense.weight", &[c.width, c.width], Fill::glorot(c.width, c.width));
    let bias = b.parameter("pooler.dense.bias", &[c.width], Fill::Range(-0.1, 0.1));
    let pooled = b.node("/pooler/dense", "Gemm", &[&first, &w, &bias], &[Attr::Int("transB", 1)]);
    b.count_macs(batch.fixed().map(|n| n * c.width * c.width));
    let pooled = b.node("/pooler/activation", "Tanh", &[&pooled], &[]);
    b.output("last_hidden_state", &x, DataType::Float, &[batch, seq, Dim::Fixed(c.width)]);
    b.output("pooler_output", &pooled, DataType::Float, &[batch, Dim::Fixed(c.width)]);
    Ok(())
}

/// Words, token types and positions, summed.
fn embeddings(b: &mut Builder, c: &Config, ids: &str, types: &str, seq: Dim) -> Value {
    let table = |b: &mut Builder, name: &str, rows| {
        b.parameter(&format!("embeddings.{name}.weight"), &[rows, c.width], Fill::Spread(0.5))
    };
    let words = table(b, "word_embeddings", c.vocabulary);
    let words = b.node("/embeddings/word_embeddings", "Gather", &[&words, ids], &[]);
    let kinds = table(b, "token_type_embeddings", 2);
    let kinds = b.node("/embeddings/token_type_embeddings", "Gather", &[&kinds, types], &[]);
    let sum = b.node("/embeddings", "Add", &[&words, &kinds], &[]);
    let ids = (0..c.positions as i64).flat_map(i64::to_le_bytes).collect::<Vec<u8>>();
    let ids = b.constant("embeddings.position_ids".into(), DataType::Int64, &[1, c.positions], ids);
    let end = match seq.fixed() {
        Some(s) => b.ints(&[s as i64]),
        None => {
            let shape = b.node("/embeddings", "Shape", &[types], &[]);
            let one = b.int(1);
            let length = b.node("/embeddings", "Gather", &[&shape, &one], &[Attr::Int("axis", 0)]);
            let axis = b.ints(&[0]);
            b.node("/embeddings", "Unsqueeze", &[&length, &axis], &[])
        }
    };
    let (start, axes) = (b.ints(&[0]), b.ints(&[1]));
    let ids = b.node("/embeddings", "Slice", &[&ids, &start, &end, &axes], &[]);
    let places = table(b, "position_embeddings", c.positions);
    let places = b.node("/embeddings/position_embeddings", "Gather", &[&places, &ids], &[]);
    b.node("/embeddings/positions", "Add", &[&sum, &places], &[])
}

/// 0 where a token counts and the least float where not, [batch, 1, 1, seq].
fn mask_bias(b: &mut Builder, mask: &str) -> Value {
    let (one, two) = (b.ints(&[1]), b.ints(&[2]));
    let m = b.node("", "Unsqueeze", &[mask, &one], &[]);
    let m = b.node("/mask", "Unsqueeze", &[&m, &two], &[]);
    let m = b.node("", "Cast", &[&m], &[Attr::Int("to", DataType::Float as i64)]);
    let (one, least) = (b.float(1.0), b.float(f32::MIN));
    let off = b.node("", "Sub", &[&one, &m], &[]);
    b.node("", "Mul", &[&off, &least], &[])
}

fn attention(
    b: &mut Builder,
    name: &str,
    x: &str,
    mask: &str,
    c: &Config,
    rows: Option<u64>,
    seq: Option<u64>,
) -> Value {
    let at = node_name(&format!("{name}.self"));
    let head = c.width / c.heads;
    let part = |b: &mut Builder, which: &str| {
        let y = linear(b, &format!("{name}.self.{which}"), x, (c.width, c.width), rows);
        split_heads(b, &format!("{at}/{which}"), &y, c.heads, c.width)
    };
    let (q, k, v) = (part(b, "query"), part(b, "key"), part(b, "value"));
    let scores = scores(b, &at, &q, &k, head);
    let masked = b.node(&at, "Add", &[&scores, mask], &[]);
    let weights = b.node(&at, "Softmax", &[&masked], &[Attr::Int("axis", -1)]);
    let mixed = b.node(&format!("{at}/mixed"), "MatMul", &[&weights, &v], &[]);
    // Scores and mixing: each row meets every token of its sequence.
    b.count_macs(rows.zip(seq).map(|(r, s)| 2 * r * s * c.width));
    let joined = join_heads(b, &format!("{at}/joined"), &mixed, c.width);
    linear(b, &format!("{name}.output.dense"), &joined, (c.width, c.width), rows)
}
