//! ViT-B/16 (Dosovitskiy et al., "An Image is Worth 16x16 Words: Transformers for Image Recognition at Scale", 2020), named as in
//! timm.

use neap_onnx::proto::DataType;

use crate::builder::{Attr, Builder, Dim, Value};
use crate::layers::{gelu, join_heads, layer_norm, linear, mix, node_name};
use crate::map::{Conv, Map, gemm};
use crate::weights::Fill;
use crate::{Options, ZooError};

const EPSILON: f32 = 1e-6;

struct Config {
    layers: u64,
    width: u64,
    heads: u64,
    patch: u64,
    classes: u64,
    image: u64,
}

const B16: Config = Config { layers: 12, width: 768, heads: 12, patch: 16, classes: 1000, image: 224 };
const SMALL: Config = Config { layers: 2, width: 32, heads: 2, patch: 16, classes: 10, image: 64 };

pub(crate) fn write(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let c = if options.small { SMALL } else { B16 };
    let images = Map::images(b, options, c.image, c.patch)?;
    if images.size[0] % c.patch != 0 {
        let expected = format!("a multiple of {}", c.patch);
        return Err(ZooError::Size { what: "image", found: images.size[0], expected });
    }
    let batch = images.batch;
    let patches = images.conv(b, "patch_embed.proj", Conv::new(c.width, c.patch).stride(c.patch).pad(0).bias());
    let tokens = patches.size[0] * patches.size[1] + 1;
    let rows = batch.fixed().map(|n| n * tokens);
    let shape = b.ints(&[0, c.width as i64, -1]);
    let x = b.node("/patch_embed", "Reshape", &[&patches.value, &shape], &[]);
    let x = b.node("/patch_embed", "Transpose", &[&x], &[Attr::Ints("perm", &[0, 2, 1])]);
    let class = class_token(b, &images.value, batch, c.width);
    let x = b.node("", "Concat", &[&class, &x], &[Attr::Int("axis", 1)]);
    let places = b.parameter("pos_embed", &[1, tokens, c.width], Fill::Spread(0.5));
    let mut x = b.node("", "Add", &[&x, &places], &[]);
    let norm =
        |b: &mut Builder, name: &str, x: &str| layer_norm(b, name, x, c.width, EPSILON, options.decomposed_norms);
    for i in 0..c.layers {
        let name = format!("blocks.{i}");
        let at = node_name(&name);
        let y = norm(b, &format!("{name}.norm1"), &x);
        let y = attention(b, &format!("{name}.attn"), &y, &c, tokens, rows);
        x = b.node(&at, "Add", &[&x, &y], &[]);
        let y = norm(b, &format!("{name}.norm2"), &x);
        let y = linear(b, &format!("{name}.mlp.fc1"), &y, (c.width, 4 * c.width), rows);
        let y = gelu(b, &node_name(&format!("{name}.mlp.act")), &y);
        let y = linear(b, &format!("{name}.mlp.fc2"), &y, (4 * c.width, c.width), rows);
        x = b.node(&at, "Add", &[&x, &y], &[]);
    }
    let x = norm(b, "norm", &x);
    let zero = b.int(0);
    let class = b.node("", "Gather", &[&x, &zero], &[Attr::Int("axis", 1)]);
    let out = gemm(b, "head", &class, (c.width, c.classes), batch);
    b.output("output", &out, DataType::Float, &[batch, Dim::Fixed(c.classes)]);
    Ok(())
}

/// The trained token that gathers what is seen, once for each image.
fn class_token(b: &mut Builder, images: &str, batch: Dim, width: u64) -> Value {
    let token = b.parameter("cls_token", &[1, 1, width], Fill::Spread(0.5));
    let shape = match batch.fixed() {
        Some(n) => b.ints(&[n as i64, 1, 1]),
        None => {
            let shape = b.node("/cls_token", "Shape", &[images], &[]);
            let (zero, ones) = (b.ints(&[0]), b.ints(&[1, 1]));
            let batch = b.node("/cls_token", "Gather", &[&shape, &zero], &[Attr::Int("axis", 0)]);
            b.node("/cls_token", "Concat", &[&batch, &ones], &[Attr::Int("axis", 0)])
        }
    };
    b.node("/cls_token", "Expand", &[&token, &shape], &[])
}

fn attention(b: &mut Builder, name: &str, x: &str, c: &Config, tokens: u64, rows: Option<u64>) -> Value {
    let at = node_name(name);
    let head = c.width / c.heads;
    let all = linear(b, &format!("{name}.qkv"), x, (c.width, 3 * c.width), rows);
    let [q, k, v] = parts(b, &at, &all, tokens, c.heads, head);
    let scale = b.float((head as f32).powf(-0.5));
    let q = b.node(&at, "Mul", &[&q, &scale], &[]);
    let kt = b.node(&format!("{at}/keys"), "Transpose", &[&k], &[Attr::Ints("perm", &[0, 1, 3, 2])]);
    let scores = b.node(&at, "MatMul", &[&q, &kt], &[]);
    let mixed = mix(b, &at, &scores, &v, rows.map(|r| 2 * r * tokens * c.width));
    let joined = join_heads(b, &at, &mixed, c.width);
    linear(b, &format!("{name}.proj"), &joined, (c.width, c.width), rows)
}

/// Queries, keys and values of [batch, tokens, 3 heads head]: [batch, heads, tokens, head] each.
pub(super) fn parts(b: &mut Builder, at: &str, all: &str, tokens: u64, heads: u64, head: u64) -> [Value; 3] {
    let shape = b.ints(&[-1, tokens as i64, 3, heads as i64, head as i64]);
    let apart = b.node(&format!("{at}/parts"), "Reshape", &[all, &shape], &[]);
    let first = b.node(&format!("{at}/parts"), "Transpose", &[&apart], &[Attr::Ints("perm", &[2, 0, 3, 1, 4])]);
    [0, 1, 2].map(|i| {
        let index = b.int(i);
        b.node(&format!("{at}/parts"), "Gather", &[&first, &index], &[Attr::Int("axis", 0)])
    })
}
