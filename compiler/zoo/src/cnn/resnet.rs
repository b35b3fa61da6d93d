//! ResNet-50 (He et al., "Deep Residual Learning for Image Recognition", 2015), with the stride in the 3x3 convolution as
//! torchvision has it ("v1.5").

use crate::builder::Builder;
use crate::layers::node_name;
use crate::map::{Conv, Map, Pool};
use crate::{Options, ZooError};

/// A residual branch adds little, so that activations do not double from block to block.
const BRANCH_GAIN: f32 = 0.4;

pub(crate) fn write(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let (blocks, width, classes, image) =
        if options.small { ([1, 1, 2, 1], 8, 10, 64) } else { ([3, 4, 6, 3], 64, 1000, 224) };
    let x = Map::images(b, options, image, 32)?;
    let x = x.conv_norm(b, "conv1", "bn1", Conv::new(width, 7).stride(2), 1.0).relu(b, "/relu");
    let mut x = x.max_pool(b, "/maxpool", Pool::new(3, 2));
    for (stage, count) in blocks.into_iter().enumerate() {
        for i in 0..count {
            let stride = if stage > 0 && i == 0 { 2 } else { 1 };
            x = bottleneck(b, &format!("layer{}.{i}", stage + 1), &x, width << stage, stride);
        }
    }
    x.classify(b, "fc", classes);
    Ok(())
}

/// 1x1, 3x3, 1x1 to four times the width, added to the input.
fn bottleneck(b: &mut Builder, name: &str, x: &Map, width: u64, stride: u64) -> Map {
    let layer = |b: &mut Builder, x: &Map, i: u32, c: Conv, gain| {
        x.conv_norm(b, &format!("{name}.conv{i}"), &format!("{name}.bn{i}"), c, gain)
    };
    let at = node_name(name);
    let y = layer(b, x, 1, Conv::new(width, 1), 1.0).relu(b, &format!("{at}/relu"));
    let y = layer(b, &y, 2, Conv::new(width, 3).stride(stride), 1.0).relu(b, &format!("{at}/relu_1"));
    let y = layer(b, &y, 3, Conv::new(4 * width, 1), BRANCH_GAIN);
    let skipped = if x.channels == y.channels && stride == 1 {
        x.clone()
    } else {
        let (conv_name, norm_name) = (format!("{name}.downsample.0"), format!("{name}.downsample.1"));
        // No ReLU follows the projection: 0.7 undoes the factor 2 in the filter's variance.
        x.conv_norm(b, &conv_name, &norm_name, Conv::new(4 * width, 1).stride(stride), 0.7)
    };
    y.add(b, &at, &skipped).relu(b, &format!("{at}/relu_2"))
}
