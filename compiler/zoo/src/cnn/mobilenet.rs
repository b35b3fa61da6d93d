//! MobileNetV2 (Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks", 2018), named as in torchvision.

use crate::builder::Builder;
use crate::layers::node_name;
use crate::map::{Conv, Map};
use crate::{Options, ZooError};

/// Expansion, channels, blocks, first stride: table 2 of the paper.
const STAGES: [(u64, u64, u64, u64); 7] =
    [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)];
const SMALL: [(u64, u64, u64, u64); 4] = [(1, 8, 1, 1), (3, 8, 2, 2), (3, 16, 2, 2), (3, 24, 1, 1)];

pub(crate) fn write(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let (stages, first, last, classes, image) =
        if options.small { (&SMALL[..], 8, 64, 10, 64) } else { (&STAGES[..], 32, 1280, 1000, 224) };
    let x = Map::images(b, options, image, 32)?;
    let mut x = conv_relu6(b, "features.0", &x, Conv::new(first, 3).stride(2));
    let mut index = 1;
    for (expansion, channels, blocks, first_stride) in stages {
        for i in 0..*blocks {
            let stride = if i == 0 { *first_stride } else { 1 };
            x = block(b, &format!("features.{index}"), &x, *expansion, *channels, stride);
            index += 1;
        }
    }
    let x = conv_relu6(b, &format!("features.{index}"), &x, Conv::new(last, 1));
    x.classify(b, "classifier.1", classes);
    Ok(())
}

/// Expand, filter each channel, project; added to the input where shapes agree.
fn block(b: &mut Builder, name: &str, x: &Map, expansion: u64, channels: u64, stride: u64) -> Map {
    let wide = x.channels * expansion;
    let mut y = x.clone();
    let mut part = 0;
    if expansion != 1 {
        y = conv_relu6(b, &format!("{name}.conv.0"), &y, Conv::new(wide, 1));
        part += 1;
    }
    let depthwise = Conv::new(wide, 3).stride(stride).groups(wide);
    y = conv_relu6(b, &format!("{name}.conv.{part}"), &y, depthwise);
    let (conv_name, norm_name) = (format!("{name}.conv.{}", part + 1), format!("{name}.conv.{}", part + 2));
    let residual = x.channels == channels && stride == 1;
    // The bottleneck is linear; a residual branch adds little.
    let gain = if residual { 0.4 } else { 0.7 };
    y = y.conv_norm(b, &conv_name, &norm_name, Conv::new(channels, 1), gain);
    if residual {
        y = x.add(b, &node_name(name), &y);
    }
    y
}

fn conv_relu6(b: &mut Builder, name: &str, x: &Map, conv: Conv) -> Map {
    let y = x.conv_norm(b, &format!("{name}.0"), &format!("{name}.1"), conv, 1.0);
    let (zero, six) = (b.float(0.0), b.float(6.0));
    y.with(b.node(&node_name(&format!("{name}.2")), "Clip", &[&y.value, &zero, &six], &[]))
}
