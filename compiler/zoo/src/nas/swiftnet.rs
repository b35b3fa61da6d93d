//! A network like SwiftNet (Cheng et al., "SwiftNet: Using Graph Propagation as Meta-knowledge to Search Highly Representative
//! Neural Architectures", 2019), as SERENITY schedules it (Ahn et al., "Ordering Chaos: Memory-Aware Scheduling of Irregularly
//! Wired Neural Networks for Edge Devices", 2020): three cells A, B and C of 21, 19 and 22 nodes, irregularly wired, whose
//! branches meet in concatenations; 249.7 thousand weights and 57.4 M multiply-adds to tell whether a person is seen.
//!
//! The authors' wiring is not published. Here it is drawn with a fixed seed: nodes are pointwise convolutions over all they
//! read, or depthwise ones.

use super::wiring::{Generator, wire};
use crate::builder::Builder;
use crate::layers::node_name;
use crate::map::{Conv, Map, Pool, concat};
use crate::weights::Random;
use crate::{Options, ZooError};

/// Name, nodes, channels of a pointwise node.
const CELLS: [(&str, usize, u64); 3] = [("A", 21, 26), ("B", 19, 42), ("C", 22, 60)];
const SMALL: [(&str, usize, u64); 3] = [("A", 7, 4), ("B", 6, 4), ("C", 8, 8)];

/// Of the wiring, whatever the seed of the weights.
const WIRING: u64 = 2020;

pub(crate) fn write(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let (cells, stem, image) = if options.small { (SMALL, 8, 64) } else { (CELLS, 24, 128) };
    let x = Map::images(b, options, image, 32)?;
    let mut x = conv(b, "stem", &x, Conv::new(stem, 3).stride(2));
    let mut random = Random::new(WIRING);
    for (name, nodes, width) in cells {
        x = x.max_pool(b, &format!("/pool{name}"), Pool::new(3, 2));
        x = cell(b, &format!("cell{name}"), &x, &wire(Generator::WattsStrogatz, nodes, &mut random), width);
    }
    x.classify(b, "classifier", 2);
    Ok(())
}

/// The nodes that no other reads, concatenated.
fn cell(b: &mut Builder, name: &str, x: &Map, reads: &[Vec<usize>], width: u64) -> Map {
    let mut made: Vec<Map> = vec![];
    for (i, from) in reads.iter().enumerate() {
        let name = format!("{name}.node{i}");
        let sources: Vec<Map> = from.iter().map(|s| made[*s].clone()).collect();
        made.push(match &sources[..] {
            [] => conv(b, &name, x, Conv::new(width, 1)),
            [one] => conv(b, &name, one, Conv::new(one.channels, 3).groups(one.channels)),
            many => {
                let all = concat(b, &node_name(&name), many);
                conv(b, &name, &all, Conv::new(width, 1))
            }
        });
    }
    let ends: Vec<Map> =
        (0..made.len()).filter(|i| !reads.iter().any(|r| r.contains(i))).map(|i| made[i].clone()).collect();
    concat(b, &node_name(name), &ends)
}

/// Convolution, batch norm, ReLU. The gain makes up for what narrow maps lose in ReLUs.
fn conv(b: &mut Builder, name: &str, x: &Map, conv: Conv) -> Map {
    x.conv_norm(b, &format!("{name}.conv"), &format!("{name}.bn"), conv, 1.3).relu(b, &node_name(name))
}
