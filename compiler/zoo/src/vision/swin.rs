//! Swin-T (Liu et al., "Swin Transformer: Hierarchical Vision Transformer using Shifted Windows", 2021), named as in torchvision.

use neap_onnx::proto::DataType;

use super::vit::parts;
use crate::builder::{Attr, Builder, Dim, Value};
use crate::layers::{gelu, join_heads, layer_norm, linear, mix, node_name, projection, slice, unsqueeze};
use crate::map::{Conv, Map, gemm};
use crate::weights::Fill;
use crate::{Options, ZooError};

const EPSILON: f32 = 1e-5;
const PATCH: u64 = 4;
/// What a token of another region counts in a shifted window.
const APART: f32 = -100.0;

struct Config {
    layers: &'static [u64],
    width: u64,
    /// Of the first stage.
    heads: u64,
    window: u64,
    classes: u64,
    image: u64,
}

const TINY: Config = Config { layers: &[2, 2, 6, 2], width: 96, heads: 3, window: 7, classes: 1000, image: 224 };
const SMALL: Config = Config { layers: &[2, 2], width: 16, heads: 2, window: 4, classes: 10, image: 64 };

/// Tokens [batch, side, side, width].
struct Tokens {
    value: Value,
    side: u64,
    width: u64,
    batch: Dim,
    decomposed_norms: bool,
}

pub(crate) fn write(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let c = if options.small { SMALL } else { TINY };
    let unit = (PATCH * c.window) << (c.layers.len() - 1);
    let images = Map::images(b, options, c.image, unit)?;
    if images.size[0] % unit != 0 {
        // The windows of every stage tile its tokens.
        let expected = format!("a multiple of {unit}");
        return Err(ZooError::Size { what: "image", found: images.size[0], expected });
    }
    let patches = images.conv(b, "features.0.0", Conv::new(c.width, PATCH).stride(PATCH).pad(0).bias());
    let value =
        b.node("/features/features.0/0.1", "Transpose", &[&patches.value], &[Attr::Ints("perm", &[0, 2, 3, 1])]);
    let (side, batch, decomposed_norms) = (patches.size[0], patches.batch, options.decomposed_norms);
    let mut x = Tokens { value, side, width: c.width, batch, decomposed_norms };
    x.value = x.norm(b, "features.0.2");
    for (stage, layers) in c.layers.iter().enumerate() {
        if stage > 0 {
            x = x.merge(b, &format!("features.{}", 2 * stage));
        }
        for i in 0..*layers {
            // Every other layer's windows are shifted by half of them, where there is more than one.
            let shift = if i % 2 == 1 && x.side > c.window { c.window / 2 } else { 0 };
            let name = format!("features.{}.{i}", 2 * stage + 1);
            x.block(b, &name, c.heads << stage, c.window, shift);
        }
    }
    let y = x.norm(b, "norm");
    let y = b.node("/permute", "Transpose", &[&y], &[Attr::Ints("perm", &[0, 3, 1, 2])]);
    let y = b.node("/avgpool", "GlobalAveragePool", &[&y], &[]);
    let y = b.node("/flatten", "Flatten", &[&y], &[Attr::Int("axis", 1)]);
    let out = gemm(b, "head", &y, (x.width, c.classes), batch);
    b.output("output", &out, DataType::Float, &[batch, Dim::Fixed(c.classes)]);
    Ok(())
}

impl Tokens {
    fn rows(&self) -> Option<u64> {
        self.batch.fixed().map(|n| n * self.side * self.side)
    }

    fn norm(&self, b: &mut Builder, name: &str) -> Value {
        layer_norm(b, name, &self.value, self.width, EPSILON, self.decomposed_norms)
    }

    fn add(&mut self, b: &mut Builder, name: &str, y: &str) {
        self.value = b.node(name, "Add", &[&self.value, y], &[]);
    }

    fn block(&mut self, b: &mut Builder, name: &str, heads: u64, window: u64, shift: u64) {
        let (at, rows, width) = (node_name(name), self.rows(), self.width);
        let y = self.norm(b, &format!("{name}.norm1"));
        let y = self.attention(b, &format!("{name}.attn"), &y, heads, window, shift);
        self.add(b, &at, &y);
        let y = self.norm(b, &format!("{name}.norm2"));
        let y = linear(b, &format!("{name}.mlp.0"), &y, (width, 4 * width), rows);
        let y = gelu(b, &node_name(&format!("{name}.mlp.1")), &y);
        let y = linear(b, &format!("{name}.mlp.3"), &y, (4 * width, width), rows);
        self.add(b, &at, &y);
    }

    /// Within windows, each a sequence of its own: [batch windows, window^2, width].
    fn attention(&self, b: &mut Builder, name: &str, x: &str, heads: u64, window: u64, shift: u64) -> Value {
        let at = node_name(name);
        let (side, width, rows) = (self.side as i64, self.width, self.rows());
        let (w, tokens, head, across) = (window as i64, window * window, width / heads, side / window as i64);
        let x = if shift > 0 { roll(b, &format!("{at}/roll"), x, shift as i64) } else { x.to_string() };
        let shape = b.ints(&[-1, across, w, across, w, width as i64]);
        let tiled = b.node(&format!("{at}/windows"), "Reshape", &[&x, &shape], &[]);
        let swap = [Attr::Ints("perm", &[0, 1, 3, 2, 4, 5])];
        let tiled = b.node(&format!("{at}/windows"), "Transpose", &[&tiled], &swap);
        let shape = b.ints(&[-1, tokens as i64, width as i64]);
        let tiled = b.node(&format!("{at}/windows"), "Reshape", &[&tiled, &shape], &[]);

        let all = linear(b, &format!("{name}.qkv"), &tiled, (width, 3 * width), rows);
        let [q, k, v] = parts(b, &at, &all, tokens, heads, head);
        let scale = b.float((head as f32).powf(-0.5));
        let q = b.node(&at, "Mul", &[&q, &scale], &[]);
        let kt = b.node(&format!("{at}/keys"), "Transpose", &[&k], &[Attr::Ints("perm", &[0, 1, 3, 2])]);
        let mut scores = b.node(&at, "MatMul", &[&q, &kt], &[]);
        let bias = position_bias(b, name, window, heads);
        scores = b.node(&at, "Add", &[&scores, &bias], &[]);
        if shift > 0 {
            scores = self.mask(b, &at, &scores, heads, window, shift);
        }
        let mixed = mix(b, &at, &scores, &v, rows.map(|r| 2 * r * tokens * width));
        let joined = join_heads(b, &at, &mixed, width);
        let y = linear(b, &format!("{name}.proj"), &joined, (width, width), rows);

        let shape = b.ints(&[-1, across, across, w, w, width as i64]);
        let y = b.node(&format!("{at}/back"), "Reshape", &[&y, &shape], &[]);
        let y = b.node(&format!("{at}/back"), "Transpose", &[&y], &swap);
        let shape = b.ints(&[-1, side, side, width as i64]);
        let y = b.node(&format!("{at}/back"), "Reshape", &[&y, &shape], &[]);
        if shift > 0 { roll(b, &format!("{at}/unroll"), &y, side - shift as i64) } else { y }
    }

    /// Keeps apart what was not side by side before the shift.
    fn mask(&self, b: &mut Builder, at: &str, scores: &str, heads: u64, window: u64, shift: u64) -> Value {
        let (side, n, tokens) = (self.side, self.side / window, window * window);
        // The three regions of a shifted row or column.
        let region = |p: u64| {
            if p < side - window {
                0
            } else if p < side - shift {
                1
            } else {
                2
            }
        };
        let mut mask = vec![];
        for tile in 0..n * n {
            let place = |t: u64| (tile / n * window + t / window, tile % n * window + t % window);
            let of = |t: u64| (region(place(t).0), region(place(t).1));
            mask.extend((0..tokens * tokens).map(|i| if of(i / tokens) == of(i % tokens) { 0.0 } else { APART }));
        }
        let bytes = mask.into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>();
        let dims = [1, n * n, 1, tokens, tokens];
        let mask = b.constant(format!("attention_mask_{side}_{window}"), DataType::Float, &dims, bytes);
        let (n, heads, tokens) = ((n * n) as i64, heads as i64, tokens as i64);
        let shape = b.ints(&[-1, n, heads, tokens, tokens]);
        let apart = b.node(&format!("{at}/mask"), "Reshape", &[scores, &shape], &[]);
        let masked = b.node(&format!("{at}/mask"), "Add", &[&apart, &mask], &[]);
        let shape = b.ints(&[-1, heads, tokens, tokens]);
        b.node(&format!("{at}/mask"), "Reshape", &[&masked, &shape], &[])
    }

    /// Each square of four tokens as one, twice as wide.
    fn merge(&self, b: &mut Builder, name: &str) -> Tokens {
        let at = node_name(name);
        let step = |b: &mut Builder, x: &str, axis: i64, first: i64| {
            let (from, to, axis, step) = (b.ints(&[first]), b.ints(&[i64::MAX]), b.ints(&[axis]), b.ints(&[2]));
            b.node(&at, "Slice", &[x, &from, &to, &axis, &step], &[])
        };
        let corners = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(row, column)| {
            let rows = step(b, &self.value, 1, row);
            step(b, &rows, 2, column)
        });
        let all = b.node(&at, "Concat", &corners.each_ref().map(String::as_str), &[Attr::Int("axis", -1)]);
        let all = Tokens { value: all, side: self.side / 2, width: 4 * self.width, ..*self };
        let normal = all.norm(b, &format!("{name}.norm"));
        let value = projection(b, &format!("{name}.reduction"), &normal, (4 * self.width, 2 * self.width), all.rows());
        Tokens { value, width: 2 * self.width, ..all }
    }
}

/// By where two tokens of a window lie to each other, [1, heads, window^2, window^2].
fn position_bias(b: &mut Builder, name: &str, window: u64, heads: u64) -> Value {
    let (tokens, span) = (window * window, 2 * window - 1);
    let table = b.parameter(&format!("{name}.relative_position_bias_table"), &[span * span, heads], Fill::Spread(0.5));
    let index = (0..tokens * tokens).flat_map(|i| {
        let (from, to) = (i / tokens, i % tokens);
        let apart = |f: u64, t: u64| f + window - 1 - t;
        let index = apart(from / window, to / window) * span + apart(from % window, to % window);
        (index as i64).to_le_bytes()
    });
    let index = index.collect::<Vec<u8>>();
    let index = b.constant(format!("relative_position_index_{window}"), DataType::Int64, &[tokens * tokens], index);
    let at = format!("{}/bias", node_name(name));
    let bias = b.node(&at, "Gather", &[&table, &index], &[Attr::Int("axis", 0)]);
    let shape = b.ints(&[tokens as i64, tokens as i64, heads as i64]);
    let bias = b.node(&at, "Reshape", &[&bias, &shape], &[]);
    let bias = b.node(&at, "Transpose", &[&bias], &[Attr::Ints("perm", &[2, 0, 1])]);
    unsqueeze(b, &at, &bias, &[0])
}

/// The first `by` rows and columns moved to the end.
fn roll(b: &mut Builder, name: &str, x: &str, by: i64) -> Value {
    [1, 2].iter().fold(x.to_string(), |x, axis| {
        let rest = slice(b, name, &x, *axis, (by, i64::MAX));
        let first = slice(b, name, &x, *axis, (0, by));
        b.node(name, "Concat", &[&rest, &first], &[Attr::Int("axis", *axis)])
    })
}
