//! HRNet-W18 for classification (Wang et al., "Deep High-Resolution Representation Learning for Visual Recognition", 2019), named
//! as in timm: maps of one, two, three and four resolutions side by side, each stage's modules mixing all with all.

use super::resnet::{basic_block, bottleneck};
use crate::builder::{Attr, Builder};
use crate::layers::node_name;
use crate::map::{Conv, Map};
use crate::{Options, ZooError};

struct Config {
    /// Channels of the highest resolution; the next lower one has twice as many.
    width: u64,
    stem: u64,
    /// Modules of the stages with two, three and four resolutions.
    modules: [u64; 3],
    /// Residual blocks a resolution in a module, and in the first stage.
    blocks: u64,
    /// Width of the head's bottlenecks; doubled from resolution to resolution.
    head: u64,
    features: u64,
    classes: u64,
    image: u64,
}

const W18: Config =
    Config { width: 18, stem: 64, modules: [1, 4, 3], blocks: 4, head: 32, features: 2048, classes: 1000, image: 224 };
const SMALL: Config =
    Config { width: 4, stem: 8, modules: [1, 1, 1], blocks: 1, head: 4, features: 32, classes: 10, image: 64 };

pub(crate) fn write(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let c = if options.small { SMALL } else { W18 };
    let x = Map::images(b, options, c.image, 32)?;
    if x.size[0] % 32 != 0 {
        // Lower resolutions are scaled up by powers of two to meet the higher ones.
        return Err(ZooError::Size { what: "image", found: x.size[0], expected: "a multiple of 32".into() });
    }
    let x = x.conv_norm(b, "conv1", "bn1", Conv::new(c.stem, 3).stride(2), 1.0).relu(b, "/act1");
    let mut x = x.conv_norm(b, "conv2", "bn2", Conv::new(c.stem, 3).stride(2), 1.0).relu(b, "/act2");
    for i in 0..c.blocks {
        x = bottleneck(b, &format!("layer1.{i}"), &x, Conv::new(c.stem, 3), 4 * c.stem);
    }
    let mut maps = vec![conv(b, "transition1.0", &x, Conv::new(c.width, 3))];
    for (i, modules) in c.modules.into_iter().enumerate() {
        let lower = if i == 0 { &x } else { &maps[i] };
        let name = format!("transition{}.{}.0", i + 1, i + 1);
        maps.push(conv(b, &name, lower, Conv::new(c.width << (i + 1), 3).stride(2)));
        for m in 0..modules {
            maps = module(b, &format!("stage{}.{m}", i + 2), &maps, c.blocks);
        }
    }
    let mut y: Option<Map> = None;
    for (i, map) in maps.iter().enumerate() {
        let width = c.head << i;
        let widened = bottleneck(b, &format!("incre_modules.{i}.0"), map, Conv::new(width, 3), 4 * width);
        y = Some(match y {
            None => widened,
            Some(y) => {
                let lowered =
                    conv(b, &format!("downsamp_modules.{}", i - 1), &y, Conv::new(4 * width, 3).stride(2).bias());
                widened.add(b, "", &lowered)
            }
        });
    }
    if let Some(y) = y {
        conv(b, "final_layer", &y, Conv::new(c.features, 1).bias()).classify(b, "classifier", c.classes);
    }
    Ok(())
}

/// Convolution, batch norm, ReLU.
fn conv(b: &mut Builder, name: &str, x: &Map, conv: Conv) -> Map {
    x.conv_norm(b, &format!("{name}.0"), &format!("{name}.1"), conv, 1.0).relu(b, &node_name(&format!("{name}.2")))
}

/// Residual blocks on each resolution, then each resolution as the sum of all.
fn module(b: &mut Builder, name: &str, maps: &[Map], blocks: u64) -> Vec<Map> {
    let branch = |b: &mut Builder, i: usize| {
        let x = maps[i].clone();
        (0..blocks).fold(x, |x, k| basic_block(b, &format!("{name}.branches.{i}.{k}"), &x, Conv::new(x.channels, 3)))
    };
    let maps: Vec<Map> = (0..maps.len()).map(|i| branch(b, i)).collect();
    let mut fused = vec![];
    for to in 0..maps.len() {
        let parts: Vec<Map> =
            (0..maps.len()).map(|from| fit(b, &format!("{name}.fuse_layers.{to}.{from}"), &maps, from, to)).collect();
        let sum = parts[1..].iter().fold(parts[0].clone(), |sum, part| sum.add(b, &node_name(name), part));
        fused.push(sum.relu(b, &node_name(&format!("{name}.fuse_act"))));
    }
    fused
}

/// One resolution in another one's size and channels.
fn fit(b: &mut Builder, name: &str, maps: &[Map], from: usize, to: usize) -> Map {
    let (mut x, filters) = (maps[from].clone(), maps[to].channels);
    // The sum's parts give less each.
    let gain = 0.5;
    if from > to {
        let x = x.conv_norm(b, &format!("{name}.0"), &format!("{name}.1"), Conv::new(filters, 1), gain);
        return enlarge(b, &node_name(&format!("{name}.2")), &x, 1 << (from - to));
    }
    for step in from..to {
        let name = format!("{name}.{}", step - from);
        let last = step + 1 == to;
        let conv = Conv::new(if last { filters } else { x.channels }, 3).stride(2);
        x = x.conv_norm(b, &format!("{name}.0"), &format!("{name}.1"), conv, if last { gain } else { 1.0 });
        if !last {
            x = x.relu(b, &node_name(&format!("{name}.2")));
        }
    }
    x
}

/// Each pixel a square of them.
fn enlarge(b: &mut Builder, name: &str, x: &Map, factor: u64) -> Map {
    let scales = [1.0, 1.0, factor as f32, factor as f32].into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>();
    let scales = b.constant(format!("scales_{factor}"), neap_onnx::proto::DataType::Float, &[4], scales);
    let attrs = [
        Attr::Text("coordinate_transformation_mode", "asymmetric"),
        Attr::Text("mode", "nearest"),
        Attr::Text("nearest_mode", "floor"),
    ];
    let value = b.node(name, "Resize", &[&x.value, "", &scales], &attrs);
    Map { value, size: x.size.map(|s| s * factor), ..*x }
}
