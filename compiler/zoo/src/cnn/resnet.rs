//! ResNet-18 and ResNet-50 (He et al., "Deep Residual Learning for Image Recognition", 2015), the latter with the stride in the
//! 3x3 convolution ("v1.5"), and ResNeXt-50 32x4d (Xie et al., "Aggregated Residual Transformations for Deep Neural Networks",
//! 2016), named as in torchvision.

use crate::builder::Builder;
use crate::layers::node_name;
use crate::map::{Conv, Map, Pool};
use crate::{Options, ZooError};

/// A residual branch adds little, so that activations do not double from block to block.
const BRANCH_GAIN: f32 = 0.4;

pub(crate) fn resnet18(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let blocks = if options.small { [1, 1, 2, 1] } else { [2, 2, 2, 2] };
    write(b, options, blocks, &|b, name, x, width, stride| basic_block(b, name, x, Conv::new(width, 3).stride(stride)))
}

pub(crate) fn resnet50(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let blocks = if options.small { [1, 1, 2, 1] } else { [3, 4, 6, 3] };
    write(b, options, blocks, &|b, name, x, width, stride| {
        bottleneck(b, name, x, Conv::new(width, 3).stride(stride), 4 * width)
    })
}

pub(crate) fn resnext50(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let (blocks, groups) = if options.small { ([1, 1, 2, 1], 4) } else { ([3, 4, 6, 3], 32) };
    write(b, options, blocks, &move |b, name, x, width, stride| {
        bottleneck(b, name, x, Conv::new(2 * width, 3).stride(stride).groups(groups), 4 * width)
    })
}

/// Adds a block of this width and stride.
type Block = dyn Fn(&mut Builder, &str, &Map, u64, u64) -> Map;

fn write(b: &mut Builder, options: &Options, blocks: [u64; 4], block: &Block) -> Result<(), ZooError> {
    let (width, classes, image) = if options.small { (8, 10, 64) } else { (64, 1000, 224) };
    let x = Map::images(b, options, image, 32)?;
    let x = x.conv_norm(b, "conv1", "bn1", Conv::new(width, 7).stride(2), 1.0).relu(b, "/relu");
    let mut x = x.max_pool(b, "/maxpool", Pool::new(3, 2));
    for (stage, count) in blocks.into_iter().enumerate() {
        for i in 0..count {
            let stride = if stage > 0 && i == 0 { 2 } else { 1 };
            x = block(b, &format!("layer{}.{i}", stage + 1), &x, width << stage, stride);
        }
    }
    x.classify(b, "fc", classes);
    Ok(())
}

/// 1x1, `middle`, 1x1 to `filters`, added to the input.
pub(super) fn bottleneck(b: &mut Builder, name: &str, x: &Map, middle: Conv, filters: u64) -> Map {
    let at = node_name(name);
    let y = layer(b, name, x, 1, Conv::new(middle.filters(), 1), 1.0).relu(b, &format!("{at}/relu"));
    let y = layer(b, name, &y, 2, middle, 1.0).relu(b, &format!("{at}/relu_1"));
    let y = layer(b, name, &y, 3, Conv::new(filters, 1), BRANCH_GAIN);
    let skipped = shortcut(b, name, x, &y);
    y.add(b, &at, &skipped).relu(b, &format!("{at}/relu_2"))
}

/// `first`, 3x3, added to the input.
pub(super) fn basic_block(b: &mut Builder, name: &str, x: &Map, first: Conv) -> Map {
    let at = node_name(name);
    let y = layer(b, name, x, 1, first, 1.0).relu(b, &format!("{at}/relu"));
    let y = layer(b, name, &y, 2, Conv::new(first.filters(), 3), BRANCH_GAIN);
    let skipped = shortcut(b, name, x, &y);
    y.add(b, &at, &skipped).relu(b, &format!("{at}/relu_1"))
}

/// A block's convolution and norm of this number.
fn layer(b: &mut Builder, name: &str, x: &Map, i: u32, c: Conv, gain: f32) -> Map {
    x.conv_norm(b, &format!("{name}.conv{i}"), &format!("{name}.bn{i}"), c, gain)
}

/// A block's input, projected where the branch's shape differs.
fn shortcut(b: &mut Builder, name: &str, x: &Map, branch: &Map) -> Map {
    if x.channels == branch.channels && x.size == branch.size {
        return x.clone();
    }
    let stride = if x.size == branch.size { 1 } else { 2 };
    let (conv, norm) = (format!("{name}.downsample.0"), format!("{name}.downsample.1"));
    // No ReLU follows the projection: 0.7 undoes the factor 2 in the filter's variance.
    x.conv_norm(b, &conv, &norm, Conv::new(branch.channels, 1).stride(stride), 0.7)
}
