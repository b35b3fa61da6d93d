//! GPT-2, the smallest (Radford et al., "Language Models are Unsupervised Multitask Learners", 2019), named as in
//! Hugging Face's `GPT2LMHeadModel`: prefill, and decoding with the KV cache as inputs and outputs.

use neap_onnx::proto::DataType;

use crate::builder::{Attr, Builder, Dim, Value};
use crate::layers::{join_heads, layer_norm, node_name, scores, split_heads};
use crate::weights::Fill;
use crate::{Options, ZooError};

struct Config {
    layers: u64,
    width: u64,
    heads: u64,
    vocabulary: u64,
    context: u64,
    seq: u64,
}

const FULL: Config = Config { layers: 12, width: 768, heads: 12, vocabulary: 50257, context: 1024, seq: 128 };
const SMALL: Config = Config { layers: 2, width: 32, heads: 2, vocabulary: 100, context: 64, seq: 16 };

pub(crate) fn prefill(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let c = config(options);
    write(b, &c, options, c.seq, None)
}

pub(crate) fn decode(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let c = config(options);
    let past = Dim::of(options.past, "past", c.seq)?;
    write(b, &c, options, 1, Some(past))
}

fn config(options: &Options) -> Config {
    if options.small { SMALL } else { FULL }
}

/// Sizes and values that every layer uses.
struct Shared {
    /// [1, 1, seq, total]: whether a token sees another.
    mask: Value,
    /// batch and seq as one tensor, where they are not both known.
    leading: Option<Value>,
    batch: Dim,
    seq: Dim,
    past: Option<Dim>,
    /// batch * seq
    rows: Option<u64>,
    /// Tokens seen: past + seq.
    total: Option<u64>,
}

fn write(b: &mut Builder, c: &Config, options: &Options, usual: u64, past: Option<Dim>) -> Result<(), ZooError> {
    let (batch, seq) = (Dim::of(options.batch, "batch", 1)?, Dim::of(options.seq, "seq", usual)?);
    let total = seq.fixed().zip(past.map_or(Some(0), Dim::fixed)).map(|(s, p)| s + p);
    if let Some(found) = total.filter(|t| *t > c.context) {
        return Err(ZooError::Size { what: "past + seq", found, expected: format!("1 to {}", c.context) });
    }
    let norm = |b: &mut Builder, name: &str, x: &str| layer_norm(b, name, x, c.width, 1e-5, options.decomposed_norms);
    let ids = b.input("input_ids", DataType::Int64, &[batch, seq]);
    let head = Dim::Fixed(c.width / c.heads);
    let cache = |length| [batch, Dim::Fixed(c.heads), length, head];
    let mut caches = vec![];
    if let Some(past) = past {
        for i in 0..c.layers {
            let key = b.input(format!("past_key_values.{i}.key"), DataType::Float, &cache(past));
            let value = b.input(format!("past_key_values.{i}.value"), DataType::Float, &cache(past));
            caches.push((key, value));
        }
    }

    let at = "/transformer";
    let (first, end) = span(b, &ids, caches.first().map(|(k, _)| k.as_str()), seq, past);
    let mask = mask(b, c, &first, &end);
    let leading = batch.fixed().zip(seq.fixed()).is_none().then(|| b.node(at, "Shape", &[&ids], &[]));
    let rows = batch.fixed().zip(seq.fixed()).map(|(n, s)| n * s);
    let shared = Shared { mask, leading, batch, seq, past, rows, total };

    let words = b.parameter("transformer.wte.weight", &[c.vocabulary, c.width], Fill::Spread(0.2));
    let x = b.node("/transformer/wte", "Gather", &[&words, &ids], &[]);
    let places = b.parameter("transformer.wpe.weight", &[c.context, c.width], Fill::Spread(0.1));
    let (first, end, one) = (scalar(b, "first", &first), scalar(b, "end", &end), b.int(1));
    let position = b.node(at, "Range", &[&first, &end, &one], &[]);
    let axis = b.ints(&[0]);
    let position = b.node(&format!("{at}/positions"), "Unsqueeze", &[&position, &axis], &[]);
    let places = b.node("/transformer/wpe", "Gather", &[&places, &position], &[]);
    let mut x = b.node(at, "Add", &[&x, &places], &[]);

    let mut presents = vec![];
    for i in 0..c.layers {
        let name = format!("transformer.h.{i}");
        let y = norm(b, &format!("{name}.ln_1"), &x);
        let (y, key, value) = attention(b, &format!("{name}.attn"), &y, caches.get(i as usize), c, &shared);
        presents.push((key, value));
        x = b.node(&node_name(&name), "Add", &[&y, &x], &[]);
        let y = norm(b, &format!("{name}.ln_2"), &x);
        let y = product(b, &format!("{name}.mlp.c_fc"), &y, (c.width, 4 * c.width), &shared);
        let y = gelu(b, &node_name(&format!("{name}.mlp.act")), &y);
        let y = product(b, &format!("{name}.mlp.c_proj"), &y, (4 * c.width, c.width), &shared);
        x = b.node(&node_name(&format!("{name}.mlp")), "Add", &[&x, &y], &[]);
    }
    let x = norm(b, "transformer.ln_f", &x);
    // The head is the word table again.
    let table = b.node("/lm_head", "Transpose", &[&words], &[Attr::Ints("perm", &[1, 0])]);
    let logits = b.node("/lm_head", "MatMul", &[&x, &table], &[]);
    b.count_macs(rows.map(|r| r * c.width * c.vocabulary));
    b.output("logits", &logits, DataType::Float, &[batch, seq, Dim::Fixed(c.vocabulary)]);
    let length = total.map_or(if past.is_some() { Dim::Symbol("total") } else { seq }, Dim::Fixed);
    for (i, (key, value)) in presents.iter().enumerate() {
        b.output(format!("present.{i}.key"), key, DataType::Float, &cache(length));
        b.output(format!("present.{i}.value"), value, DataType::Float, &cache(length));
    }
    Ok(())
}

/// The first position of the new tokens and the one after their last, each a tensor [1].
fn span(b: &mut Builder, ids: &str, past_key: Option<&str>, seq: Dim, past: Option<Dim>) -> (Value, Value) {
    let length = |b: &mut Builder, name: &str, of: &str, dim: i64, size: Dim| match size.fixed() {
        Some(n) => b.ints(&[n as i64]),
        None => {
            let at = format!("/transformer/{name}");
            let shape = b.node(&at, "Shape", &[of], &[]);
            let index = b.ints(&[dim]);
            b.node(&at, "Gather", &[&shape, &index], &[Attr::Int("axis", 0)])
        }
    };
    let Some((past, key)) = past.zip(past_key) else {
        return (b.ints(&[0]), length(b, "seq", ids, 1, seq));
    };
    if let Some((p, s)) = past.fixed().zip(seq.fixed()) {
        return (b.ints(&[p as i64]), b.ints(&[(p + s) as i64]));
    }
    let (first, new) = (length(b, "past", key, 2, past), length(b, "seq", ids, 1, seq));
    let end = b.node("/transformer/total", "Add", &[&first, &new], &[]);
    (first, end)
}

/// A tensor [1] as a 0-d one.
fn scalar(b: &mut Builder, name: &str, x: &str) -> Value {
    let axis = b.ints(&[0]);
    b.node(&format!("/transformer/{name}"), "Squeeze", &[x, &axis], &[])
}

/// The rows of the causal mask for positions [first, end): a token sees itself and those before it.
fn mask(b: &mut Builder, c: &Config, first: &str, end: &str) -> Value {
    let n = c.context;
    let causal = (0..n * n).map(|p| u8::from(p % n <= p / n)).collect::<Vec<u8>>();
    let causal = b.constant("transformer.bias".into(), DataType::Bool, &[1, 1, n, n], causal);
    let (zero, rows, columns) = (b.ints(&[0]), b.ints(&[2]), b.ints(&[3]));
    let visible = b.node("/transformer/mask/rows", "Slice", &[&causal, first, end, &rows], &[]);
    b.node("/transformer/mask/columns", "Slice", &[&visible, &zero, end, &columns], &[])
}

/// `x W + b` on the last dim as `Conv1D` does it: flattened to two dims and back.
fn product(b: &mut Builder, name: &str, x: &str, (inputs, outputs): (u64, u64), s: &Shared) -> Value {
    let at = node_name(name);
    let w = b.parameter(&format!("{name}.weight"), &[inputs, outputs], Fill::glorot(inputs, outputs));
    let bias = b.parameter(&format!("{name}.bias"), &[outputs], Fill::Range(-0.1, 0.1));
    let flat = b.ints(&[-1, inputs as i64]);
    let flat = b.node(&at, "Reshape", &[x, &flat], &[]);
    let y = b.node(&at, "Gemm", &[&flat, &w, &bias], &[Attr::Float("alpha", 1.0), Attr::Float("beta", 1.0)]);
    b.count_macs(s.rows.map(|r| r * inputs * outputs));
    let shape = match (&s.leading, s.batch.fixed().zip(s.seq.fixed())) {
        (Some(leading), _) => {
            let last = b.ints(&[outputs as i64]);
            b.node(&at, "Concat", &[leading, &last], &[Attr::Int("axis", 0)])
        }
        (None, Some((n, s))) => b.ints(&[n as i64, s as i64, outputs as i64]),
        (None, None) => b.ints(&[0, 0, outputs as i64]),
    };
    b.node(&format!("{at}/back"), "Reshape", &[&y, &shape], &[])
}

/// Gives the result, and keys and values with the cache before them.
fn attention(
    b: &mut Builder,
    name: &str,
    x: &str,
    cache: Option<&(Value, Value)>,
    c: &Config,
    s: &Shared,
) -> (Value, Value, Value) {
    let at = node_name(name);
    let all = product(b, &format!("{name}.c_attn"), x, (c.width, 3 * c.width), s);
    let w = c.width as i64;
    let sizes = b.ints(&[w, w, w]);
    let parts = b.nodes(&at, "Split", &[&all, &sizes], &[Attr::Int("axis", 2)], 3);
    let q = split_heads(b, &format!("{at}/query"), &parts[0], c.heads, c.width);
    let mut k = split_heads(b, &format!("{at}/key"), &parts[1], c.heads, c.width);
    let mut v = split_heads(b, &format!("{at}/value"), &parts[2], c.heads, c.width);
    if let (Some((key, value)), Some(_)) = (cache, s.past) {
        k = b.node(&format!("{at}/key"), "Concat", &[key, &k], &[Attr::Int("axis", -2)]);
        v = b.node(&format!("{at}/value"), "Concat", &[value, &v], &[Attr::Int("axis", -2)]);
    }
    let scores = scores(b, &at, &q, &k, c.width / c.heads);
    let least = b.float(f32::MIN);
    let masked = b.node(&at, "Where", &[&s.mask, &scores, &least], &[]);
    let weights = b.node(&at, "Softmax", &[&masked], &[Attr::Int("axis", -1)]);
    let mixed = b.node(&format!("{at}/mixed"), "MatMul", &[&weights, &v], &[]);
    b.count_macs(s.rows.zip(s.total).map(|(r, t)| 2 * r * t * c.width));
    let joined = join_heads(b, &format!("{at}/joined"), &mixed, c.width);
    (product(b, &format!("{name}.c_proj"), &joined, (c.width, c.width), s), k, v)
}

/// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), GPT-2's `gelu_new`.
fn gelu(b: &mut Builder, name: &str, x: &str) -> Value {
    let (half, three, cubic, one) = (b.float(0.5), b.float(3.0), b.float(0.044715), b.float(1.0));
    let root = b.float((2.0 / std::f32::consts::PI).sqrt());
    let halved = b.node(name, "Mul", &[x, &half], &[]);
    let cube = b.node(name, "Pow", &[x, &three], &[]);
    let scaled = b.node(&format!("{name}/cubic"), "Mul", &[&cube, &cubic], &[]);
    let sum = b.node(name, "Add", &[x, &scaled], &[]);
    let inner = b.node(&format!("{name}/root"), "Mul", &[&sum, &root], &[]);
    let tanh = b.node(name, "Tanh", &[&inner], &[]);
    let sum = b.node(&format!("{name}/one"), "Add", &[&tanh, &one], &[]);
    b.node(&format!("{name}/product"), "Mul", &[&halved, &sum], &[])
}
