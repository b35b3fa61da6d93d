//! EfficientNet-B0 (Tan and Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks", 2019), named as in
//! torchvision.

use crate::builder::Builder;
use crate::layers::{node_name, silu};
use crate::map::{Conv, Map, NORM, Norm};
use crate::{Options, ZooError};

/// A stage: expansion, kernel, stride, channels, blocks (table 1 of the paper).
type Stage = (u64, u64, u64, u64, u64);

const B0: [Stage; 7] = [
    (1, 3, 1, 16, 1),
    (6, 3, 2, 24, 2),
    (6, 5, 2, 40, 2),
    (6, 3, 2, 80, 3),
    (6, 5, 1, 112, 3),
    (6, 5, 2, 192, 4),
    (6, 3, 1, 320, 1),
];
const SMALL: [Stage; 3] = [(1, 3, 1, 8, 1), (3, 3, 2, 8, 2), (3, 5, 2, 16, 2)];

pub(crate) fn write(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let (stages, first, last, classes, image) =
        if options.small { (&SMALL[..], 8, 32, 10, 64) } else { (&B0[..], 32, 1280, 1000, 224) };
    let x = Map::images(b, options, image, 32)?;
    let mut x = layer(b, "features.0", &x, Conv::new(first, 3).stride(2));
    for (i, (expansion, kernel, stride, channels, blocks)) in stages.iter().enumerate() {
        for k in 0..*blocks {
            let stride = if k == 0 { *stride } else { 1 };
            let name = format!("features.{}.{k}", i + 1);
            x = block(b, &name, &x, (*expansion, *kernel, stride, *channels, 1));
        }
    }
    let x = layer(b, &format!("features.{}", stages.len() + 1), &x, Conv::new(last, 1));
    x.classify(b, "classifier.1", classes);
    Ok(())
}

/// Expand, filter each channel, weigh the channels, project; added to the input where shapes agree.
fn block(b: &mut Builder, name: &str, x: &Map, (expansion, kernel, stride, channels, _): Stage) -> Map {
    let wide = x.channels * expansion;
    let part = |i: u64| format!("{name}.block.{}", i + u64::from(expansion != 1));
    let mut y = x.clone();
    if expansion != 1 {
        y = layer(b, &format!("{name}.block.0"), x, Conv::new(wide, 1));
    }
    y = layer(b, &part(0), &y, Conv::new(wide, kernel).stride(stride).groups(wide));
    y = squeeze(b, &part(1), &y, (x.channels / 4).max(1));
    let residual = x.channels == channels && stride == 1;
    // The bottleneck is linear; a residual branch adds little.
    let norm = Norm { gain: if residual { 0.4 } else { 1.4 }, ..NORM };
    let (conv, norm_name) = (format!("{}.0", part(2)), format!("{}.1", part(2)));
    let y = y.conv(b, &conv, Conv::new(channels, 1)).norm(b, &norm_name, norm);
    if residual { y.add(b, &node_name(name), x) } else { y }
}

/// Convolution, batch norm, SiLU.
fn layer(b: &mut Builder, name: &str, x: &Map, conv: Conv) -> Map {
    let y = x.conv_norm(b, &format!("{name}.0"), &format!("{name}.1"), conv, 1.0);
    y.with(silu(b, &node_name(&format!("{name}.2")), &y.value))
}

/// Each channel times what the averages of all say of it (Hu et al. 2017).
fn squeeze(b: &mut Builder, name: &str, x: &Map, narrow: u64) -> Map {
    let at = node_name(name);
    let average = b.node(&at, "GlobalAveragePool", &[&x.value], &[]);
    let average = Map { value: average, size: [1, 1], ..*x };
    let y = average.conv(b, &format!("{name}.fc1"), Conv::new(narrow, 1).bias());
    let y = y.with(silu(b, &format!("{at}/activation"), &y.value));
    let y = y.conv(b, &format!("{name}.fc2"), Conv::new(x.channels, 1).bias());
    let gate = b.node(&format!("{at}/scale_activation"), "Sigmoid", &[&y.value], &[]);
    x.with(b.node(&at, "Mul", &[&gate, &x.value], &[]))
}
