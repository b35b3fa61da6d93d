//! Inception-v3 (Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", 2015), named as in torchvision,
//! without the auxiliary head, which only trains.

use crate::builder::Builder;
use crate::layers::node_name;
use crate::map::{Conv, Map, NORM, Norm, Pool, concat};
use crate::{Options, ZooError};

/// Divides the widths of the small configuration.
type Scale = u64;

pub(crate) fn write(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let (s, classes, image) = if options.small { (8, 10, 75) } else { (1, 1000, 299) };
    let x = Map::images(b, options, image, 75)?;
    let x = basic(b, "Conv2d_1a_3x3", &x, Conv::new(32 / s, 3).stride(2).pad(0));
    let x = basic(b, "Conv2d_2a_3x3", &x, Conv::new(32 / s, 3).pad(0));
    let x = basic(b, "Conv2d_2b_3x3", &x, Conv::new(64 / s, 3));
    let x = x.max_pool(b, "/maxpool1", HALVE);
    let x = basic(b, "Conv2d_3b_1x1", &x, Conv::new(80 / s, 1));
    let x = basic(b, "Conv2d_4a_3x3", &x, Conv::new(192 / s, 3).pad(0));
    let mut x = x.max_pool(b, "/maxpool2", HALVE);
    for (name, pooled) in [("Mixed_5b", 32), ("Mixed_5c", 64), ("Mixed_5d", 64)] {
        x = a(b, name, &x, pooled, s);
    }
    x = reduce_b(b, "Mixed_6a", &x, s);
    for (name, width) in [("Mixed_6b", 128), ("Mixed_6c", 160), ("Mixed_6d", 160), ("Mixed_6e", 192)] {
        x = c(b, name, &x, width, s);
    }
    x = reduce_d(b, "Mixed_7a", &x, s);
    for name in ["Mixed_7b", "Mixed_7c"] {
        x = e(b, name, &x, s);
    }
    x.classify(b, "fc", classes);
    Ok(())
}

/// 3x3 with stride 2, not padded.
const HALVE: Pool = Pool::new(3, 2).pad(0);

/// Convolution, batch norm, ReLU.
fn basic(b: &mut Builder, name: &str, x: &Map, conv: Conv) -> Map {
    let y = x.conv(b, &format!("{name}.conv"), conv).norm(b, &format!("{name}.bn"), Norm { epsilon: 1e-3, ..NORM });
    y.relu(b, &node_name(name))
}

/// One after another.
fn chain(b: &mut Builder, block: &str, x: &Map, layers: &[(&str, Conv)]) -> Map {
    layers.iter().fold(x.clone(), |x, (name, conv)| basic(b, &format!("{block}.{name}"), &x, *conv))
}

/// The branch of an average and a 1x1 convolution.
fn pooled(b: &mut Builder, block: &str, x: &Map, filters: u64) -> Map {
    let y = x.average_pool(b, &node_name(block), Pool::new(3, 1));
    basic(b, &format!("{block}.branch_pool"), &y, Conv::new(filters, 1))
}

fn a(b: &mut Builder, name: &str, x: &Map, pool: u64, s: Scale) -> Map {
    let conv = |filters, kernel| Conv::new(filters / s, kernel);
    let parts = [
        chain(b, name, x, &[("branch1x1", conv(64, 1))]),
        chain(b, name, x, &[("branch5x5_1", conv(48, 1)), ("branch5x5_2", conv(64, 5))]),
        chain(
            b,
            name,
            x,
            &[("branch3x3dbl_1", conv(64, 1)), ("branch3x3dbl_2", conv(96, 3)), ("branch3x3dbl_3", conv(96, 3))],
        ),
        pooled(b, name, x, pool / s),
    ];
    concat(b, &node_name(name), &parts)
}

fn reduce_b(b: &mut Builder, name: &str, x: &Map, s: Scale) -> Map {
    let halving = |filters| Conv::new(filters / s, 3).stride(2).pad(0);
    let double = [
        ("branch3x3dbl_1", Conv::new(64 / s, 1)),
        ("branch3x3dbl_2", Conv::new(96 / s, 3)),
        ("branch3x3dbl_3", halving(96)),
    ];
    let parts = [
        chain(b, name, x, &[("branch3x3", halving(384))]),
        chain(b, name, x, &double),
        x.max_pool(b, &node_name(name), HALVE),
    ];
    concat(b, &node_name(name), &parts)
}

/// 7x7 convolutions taken apart into 1x7 and 7x1.
fn c(b: &mut Builder, name: &str, x: &Map, width: u64, s: Scale) -> Map {
    let (width, out) = (width / s, 192 / s);
    let (row, column) = (|filters| Conv::tall(filters, [1, 7]), |filters| Conv::tall(filters, [7, 1]));
    let single = [("branch7x7_1", Conv::new(width, 1)), ("branch7x7_2", row(width)), ("branch7x7_3", column(out))];
    let double = [
        ("branch7x7dbl_1", Conv::new(width, 1)),
        ("branch7x7dbl_2", column(width)),
        ("branch7x7dbl_3", row(width)),
        ("branch7x7dbl_4", column(width)),
        ("branch7x7dbl_5", row(out)),
    ];
    let parts = [
        chain(b, name, x, &[("branch1x1", Conv::new(out, 1))]),
        chain(b, name, x, &single),
        chain(b, name, x, &double),
        pooled(b, name, x, out),
    ];
    concat(b, &node_name(name), &parts)
}

fn reduce_d(b: &mut Builder, name: &str, x: &Map, s: Scale) -> Map {
    let (out, halving) = (192 / s, |filters: u64| Conv::new(filters / s, 3).stride(2).pad(0));
    let seven = [
        ("branch7x7x3_1", Conv::new(out, 1)),
        ("branch7x7x3_2", Conv::tall(out, [1, 7])),
        ("branch7x7x3_3", Conv::tall(out, [7, 1])),
        ("branch7x7x3_4", halving(192)),
    ];
    let parts = [
        chain(b, name, x, &[("branch3x3_1", Conv::new(out, 1)), ("branch3x3_2", halving(320))]),
        chain(b, name, x, &seven),
        x.max_pool(b, &node_name(name), HALVE),
    ];
    concat(b, &node_name(name), &parts)
}

/// 3x3 convolutions taken apart side by side into 1x3 and 3x1.
fn e(b: &mut Builder, name: &str, x: &Map, s: Scale) -> Map {
    let split = |b: &mut Builder, branch: &str, x: &Map| {
        let [one, other] = [("a", [1, 3]), ("b", [3, 1])]
            .map(|(side, kernel)| basic(b, &format!("{name}.{branch}{side}"), x, Conv::tall(384 / s, kernel)));
        concat(b, &node_name(name), &[one, other])
    };
    let direct = chain(b, name, x, &[("branch1x1", Conv::new(320 / s, 1))]);
    let y = chain(b, name, x, &[("branch3x3_1", Conv::new(384 / s, 1))]);
    let single = split(b, "branch3x3_2", &y);
    let y = chain(b, name, x, &[("branch3x3dbl_1", Conv::new(448 / s, 1)), ("branch3x3dbl_2", Conv::new(384 / s, 3))]);
    let double = split(b, "branch3x3dbl_3", &y);
    let parts = [direct, single, double, pooled(b, name, x, 192 / s)];
    concat(b, &node_name(name), &parts)
}
