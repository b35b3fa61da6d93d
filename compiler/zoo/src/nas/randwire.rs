//! Randomly wired networks in the small regime: C = 78, three stages of 32 nodes (Xie et al., "Exploring Randomly Wired Neural
//! Networks for Image Recognition", 2019, table 1).

use super::wiring::{Generator, wire};
use crate::builder::Builder;
use crate::layers::node_name;
use crate::map::{Conv, Map, NORM, Norm};
use crate::weights::{Fill, Random};
use crate::{Options, ZooError};

pub(crate) fn erdos_renyi(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    write(b, options, Generator::ErdosRenyi)
}

pub(crate) fn barabasi_albert(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    write(b, options, Generator::BarabasiAlbert)
}

pub(crate) fn watts_strogatz(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    write(b, options, Generator::WattsStrogatz)
}

fn write(b: &mut Builder, options: &Options, generator: Generator) -> Result<(), ZooError> {
    let (width, nodes, last, classes, image) =
        if options.small { (8, 10, 32, 10, 64) } else { (78, 32, 1280, 1000, 224) };
    let x = Map::images(b, options, image, 32)?;
    let x = x.conv_norm(b, "conv1", "bn1", Conv::new(width / 2, 3).stride(2), 1.0).relu(b, "");
    let mut x = x.conv_norm(b, "conv2", "bn2", Conv::new(width, 3).stride(2), 1.0);
    let mut random = Random::new(options.seed);
    for stage in 0..3 {
        let reads = wire(generator, nodes, &mut random);
        x = stage_of(b, &format!("conv{}", stage + 3), &x, &reads, width << stage);
    }
    let x = x.relu(b, "/conv6").conv_norm(b, "conv6", "bn6", Conv::new(last, 1), 1.0).relu(b, "/relu6");
    x.classify(b, "fc", classes);
    Ok(())
}

/// Nodes that read no other halve the stage's input; the result is the average of those that no other reads.
fn stage_of(b: &mut Builder, name: &str, x: &Map, reads: &[Vec<usize>], filters: u64) -> Map {
    let mut made: Vec<Map> = vec![];
    for (i, from) in reads.iter().enumerate() {
        let name = format!("{name}.nodes.{i}");
        let (sum, stride) = match from[..] {
            [] => (x.clone(), 2),
            _ => (weighted(b, &name, from, &made), 1),
        };
        made.push(triplet(b, &name, &sum, filters, stride));
    }
    let at = node_name(name);
    let is_read = |i: &usize| reads.iter().any(|r| r.contains(i));
    let mut ends = (0..made.len()).filter(|i| !is_read(i)).map(|i| made[i].clone());
    let count = ends.clone().count();
    let sum = ends.next().map(|first| ends.fold(first, |sum, end| sum.add(b, &at, &end))).unwrap_or(x.clone());
    let count = b.float(count as f32);
    sum.with(b.node(&at, "Div", &[&sum.value, &count], &[]))
}

/// The sum of the read maps, each times the sigmoid of its trained weight, which exporters compute ahead.
fn weighted(b: &mut Builder, name: &str, from: &[usize], made: &[Map]) -> Map {
    let at = node_name(name);
    // Branches count for less the more there are.
    let share = 1.0 / (from.len() as f32).sqrt();
    let mut parts = from.iter().enumerate().map(|(i, source)| {
        let weight = b.parameter(&format!("{name}.agg_weight.{i}"), &[], Fill::Range(0.8 * share, 1.2 * share));
        let source = &made[*source];
        source.with(b.node(&at, "Mul", &[&source.value, &weight], &[]))
    });
    let parts: Vec<Map> = parts.by_ref().collect();
    parts[1..].iter().fold(parts[0].clone(), |sum, part| sum.add(b, &at, part))
}

/// ReLU, 3x3 separable convolution, batch norm.
fn triplet(b: &mut Builder, name: &str, x: &Map, filters: u64, stride: u64) -> Map {
    let x = x.relu(b, &node_name(name));
    let x = x.conv(b, &format!("{name}.conv.depthwise"), Conv::new(x.channels, 3).stride(stride).groups(x.channels));
    let x = x.conv(b, &format!("{name}.conv.pointwise"), Conv::new(filters, 1));
    // No ReLU follows the depthwise convolution, which 0.7 would make good; averaging the ends takes some more.
    x.norm(b, &format!("{name}.bn"), Norm { gain: 0.8, ..NORM })
}
