//! SqueezeNet 1.0 (Iandola et al., "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters", 2016), named as in torchvision.

use neap_onnx::proto::DataType;

use crate::builder::{Attr, Builder, Dim};
use crate::layers::node_name;
use crate::map::{Conv, Map, Pool, concat};
use crate::{Options, ZooError};

/// Squeeze and expansion of each fire module; 0 stands for a pool.
const MODULES: [(u64, u64); 10] =
    [(16, 64), (16, 64), (32, 128), (0, 0), (32, 128), (48, 192), (48, 192), (64, 256), (0, 0), (64, 256)];

pub(crate) fn write(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let (scale, classes, image) = if options.small { (8, 10, 64) } else { (1, 1000, 224) };
    let x = Map::images(b, options, image, 32)?;
    let x = x.conv(b, "features.0", Conv::new(96 / scale, 7).stride(2).pad(0).bias()).relu(b, "/features/features.1");
    let mut x = x.max_pool(b, "/features/features.2", HALVE);
    for (i, (squeeze, expand)) in MODULES.into_iter().enumerate() {
        let name = format!("features.{}", i + 3);
        x = match squeeze {
            0 => x.max_pool(b, &node_name(&name), HALVE),
            _ => fire(b, &name, &x, squeeze / scale, expand / scale),
        };
    }
    let x = x.conv(b, "classifier.1", Conv::new(classes, 1).bias()).relu(b, "/classifier/classifier.2");
    let pooled = b.node("/classifier/classifier.3", "GlobalAveragePool", &[&x.value], &[]);
    let flat = b.node("", "Flatten", &[&pooled], &[Attr::Int("axis", 1)]);
    b.output("output", &flat, DataType::Float, &[x.batch, Dim::Fixed(classes)]);
    Ok(())
}

const HALVE: Pool = Pool::new(3, 2).pad(0).ceil();

/// A 1x1 convolution, and a 1x1 and a 3x3 on its result side by side.
fn fire(b: &mut Builder, name: &str, x: &Map, squeeze: u64, expand: u64) -> Map {
    let layer = |b: &mut Builder, part: &str, x: &Map, conv: Conv| {
        let y = x.conv(b, &format!("{name}.{part}"), conv.bias());
        y.relu(b, &node_name(&format!("{name}.{part}_activation")))
    };
    let narrow = layer(b, "squeeze", x, Conv::new(squeeze, 1));
    let parts = [1, 3].map(|k| layer(b, &format!("expand{k}x{k}"), &narrow, Conv::new(expand, k)));
    concat(b, &node_name(name), &parts)
}
