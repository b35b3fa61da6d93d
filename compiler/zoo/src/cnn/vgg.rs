//! VGG-16 and VGG-19 without batch norms (Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image
//! Recognition", 2014; configurations D and E), named as in torchvision.

use neap_onnx::proto::DataType;

use crate::builder::{Attr, Builder, Dim};
use crate::layers::node_name;
use crate::map::{Conv, Map, Pool, gemm};
use crate::{Options, ZooError};

pub(crate) fn vgg16(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    write(b, options, [2, 2, 3, 3, 3])
}

pub(crate) fn vgg19(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    write(b, options, [2, 2, 4, 4, 4])
}

/// Convolutions before each of the five pools.
fn write(b: &mut Builder, options: &Options, convolutions: [u64; 5]) -> Result<(), ZooError> {
    // `side` is what the classifier sees of each map.
    let (scale, inner, side, classes) = if options.small { (16, 32, 1, 10) } else { (1, 4096, 7, 1000) };
    let unit = 32 * side;
    let mut x = Map::images(b, options, unit, unit)?;
    if x.size[0] % unit != 0 {
        return Err(ZooError::Size { what: "image", found: x.size[0], expected: format!("a multiple of {unit}") });
    }
    let mut index = 0;
    for (stage, count) in convolutions.into_iter().enumerate() {
        let filters = (64 << stage).min(512) / scale;
        for _ in 0..count {
            let name = format!("features.{index}");
            x = x.conv(b, &name, Conv::new(filters, 3).bias());
            x = x.relu(b, &node_name(&format!("features.{}", index + 1)));
            index += 2;
        }
        x = x.max_pool(b, &node_name(&format!("features.{index}")), Pool::new(2, 2).pad(0));
        index += 1;
    }
    let window = x.size[0] / side;
    let x = x.average_pool(b, "/avgpool", Pool::new(window, window).pad(0));
    let mut y = b.node("", "Flatten", &[&x.value], &[Attr::Int("axis", 1)]);
    let mut inputs = x.channels * side * side;
    for layer in ["classifier.0", "classifier.3"] {
        y = gemm(b, layer, &y, (inputs, inner), x.batch);
        y = b.node(&node_name(layer), "Relu", &[&y], &[]);
        inputs = inner;
    }
    let out = gemm(b, "classifier.6", &y, (inputs, classes), x.batch);
    b.output("output", &out, DataType::Float, &[x.batch, Dim::Fixed(classes)]);
    Ok(())
}
