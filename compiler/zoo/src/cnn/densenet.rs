//! DenseNet-121 (Huang et al., "Densely Connected Convolutional Networks", 2016), named as in torchvision.

use crate::builder::Builder;
use crate::layers::node_name;
use crate::map::{Conv, Map, NORM, Pool, concat};
use crate::{Options, ZooError};

/// A bottleneck's width in growth rates.
const BOTTLENECK: u64 = 4;

pub(crate) fn write(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let (blocks, growth, classes, image) =
        if options.small { (&[2, 3][..], 4, 10, 64) } else { (&[6, 12, 24, 16][..], 32, 1000, 224) };
    let x = Map::images(b, options, image, 32)?;
    let x = x.conv_norm(b, "features.conv0", "features.norm0", Conv::new(2 * growth, 7).stride(2), 1.0);
    let x = x.relu(b, "/features/relu0");
    let mut x = x.max_pool(b, "/features/pool0", Pool::new(3, 2));
    for (i, layers) in blocks.iter().enumerate() {
        x = block(b, &format!("features.denseblock{}", i + 1), &x, *layers, growth);
        if i + 1 < blocks.len() {
            let name = format!("features.transition{}", i + 1);
            let y = norm_relu(b, &format!("{name}.norm"), &format!("{name}.relu"), &x);
            let y = y.conv(b, &format!("{name}.conv"), Conv::new(x.channels / 2, 1));
            x = y.average_pool(b, &node_name(&format!("{name}.pool")), Pool::new(2, 2).pad(0));
        }
    }
    let x = x.norm(b, "features.norm5", NORM).relu(b, "");
    x.classify(b, "classifier", classes);
    Ok(())
}

/// Each layer reads all maps before it and adds one of `growth` channels.
fn block(b: &mut Builder, name: &str, x: &Map, layers: u64, growth: u64) -> Map {
    let mut maps = vec![x.clone()];
    for i in 1..=layers {
        let name = format!("{name}.denselayer{i}");
        let part = |what: &str| format!("{name}.{what}");
        let all = concat(b, &node_name(&name), &maps);
        let y = norm_relu(b, &part("norm1"), &part("relu1"), &all);
        let y = y.conv_norm(b, &part("conv1"), &part("norm2"), Conv::new(BOTTLENECK * growth, 1), 1.0);
        let y = y.relu(b, &node_name(&part("relu2")));
        maps.push(y.conv(b, &part("conv2"), Conv::new(growth, 3)));
    }
    concat(b, &node_name(name), &maps)
}

fn norm_relu(b: &mut Builder, norm: &str, relu: &str, x: &Map) -> Map {
    x.norm(b, norm, NORM).relu(b, &node_name(relu))
}
