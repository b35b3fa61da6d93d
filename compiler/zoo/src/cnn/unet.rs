//! U-Net (Ronneberger et al., "U-Net: Convolutional Networks for Biomedical Image Segmentation", 2015), padded and with batch
//! norms as in the widely used PyTorch port (milesial/Pytorch-UNet, transposed convolutions, two classes).

use neap_onnx::proto::DataType;

use crate::builder::{Builder, Dim};
use crate::layers::node_name;
use crate::map::{Conv, Map, Pool, concat};
use crate::{Options, ZooError};

const CLASSES: u64 = 2;

pub(crate) fn write(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let (width, levels, image) = if options.small { (4, 2, 32) } else { (64, 4, 256) };
    let images = Map::images(b, options, image, 32)?;
    // Halved at each level, and doubled back to meet the map of the level above.
    if images.size[0] % (1 << levels) != 0 {
        let expected = format!("a multiple of {}", 1 << levels);
        return Err(ZooError::Size { what: "image", found: images.size[0], expected });
    }
    let mut x = double_conv(b, "inc", &images, width);
    let mut skips = vec![];
    for level in 1..=levels {
        skips.push(x.clone());
        let name = format!("down{level}.maxpool_conv");
        let pooled = x.max_pool(b, &format!("{}.0", node_name(&name)), Pool::new(2, 2).pad(0));
        x = double_conv(b, &format!("{name}.1"), &pooled, width << level);
    }
    for (i, skip) in skips.iter().rev().enumerate() {
        let name = format!("up{}", i + 1);
        let up = x.up_conv(b, &format!("{name}.up"), x.channels / 2, 2);
        let both = concat(b, &node_name(&name), &[skip.clone(), up]);
        x = double_conv(b, &format!("{name}.conv"), &both, skip.channels);
    }
    let out = x.conv(b, "outc.conv", Conv::new(CLASSES, 1).bias());
    let [height, width] = out.size.map(Dim::Fixed);
    b.output("output", &out.value, DataType::Float, &[out.batch, Dim::Fixed(CLASSES), height, width]);
    Ok(())
}

/// Twice: convolution, batch norm, ReLU.
fn double_conv(b: &mut Builder, name: &str, x: &Map, filters: u64) -> Map {
    let mut x = x.clone();
    for i in [0, 3] {
        let part = |k| format!("{name}.double_conv.{}", i + k);
        x = x.conv_norm(b, &part(0), &part(1), Conv::new(filters, 3), 1.0).relu(b, &node_name(&part(2)));
    }
    x
}
