//! Networks of well-known shapes, written straight as memory problems, one op for each fused kernel.

#![allow(dead_code, reason = "each test and bench uses a part of it")]

mod cells;
mod randwire;
mod text;
mod training;
mod vision;

pub use cells::{amoebanet, darts, nasnet, pnasnet, swiftnet};
pub use randwire::{Wiring, randwire};
pub use text::{moe, transformer};
pub use training::{training_chain, training_resnet, training_transformer};
pub use vision::{densenet, hrnet, inception, resnet, unet};

use neap_plan::{Home, Op, Problem, ProblemBuilder, Tensor, TensorId};

/// A feature map: channels, height = width, 4 bytes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Map {
    pub t: TensorId,
    pub c: u64,
    pub hw: u64,
}

/// What an op is, for its gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Has weights; its gradient reads the input.
    Conv,
    /// One output for one input, in place; its gradient reads the output.
    Point,
    /// Adds maps in place; its gradient is that of the sum.
    Add,
    Concat,
    Pool,
}

pub struct Node {
    pub kind: Kind,
    pub from: Vec<Map>,
    pub to: Map,
}

pub struct Net {
    pub b: ProblemBuilder,
    pub nodes: Vec<Node>,
    count: u64,
}

impl Net {
    /// A network with its input in the caller's memory.
    pub fn new(c: u64, hw: u64) -> (Net, Map) {
        let mut b = Problem::builder();
        b.storage_align(64);
        let t = b.tensor(Tensor::new("input", c * hw * hw * 4).align(64).input().home(Home::ReadOnly));
        (Net { b, nodes: Vec::new(), count: 0 }, Map { t, c, hw })
    }

    pub fn map(&mut self, c: u64, hw: u64) -> Map {
        self.count += 1;
        let t = self.b.tensor(Tensor::new(format!("t{}", self.count), c * hw * hw * 4).align(64));
        Map { t, c, hw }
    }

    fn node(&mut self, kind: Kind, from: &[Map], c: u64, hw: u64) -> Map {
        let to = self.map(c, hw);
        let name = format!("{kind:?}{}", self.count);
        let op = self.b.op(Op::new(name).inputs(from.iter().map(|m| m.t)).outputs([to.t]));
        match kind {
            Kind::Point | Kind::Add => {
                for m in from {
                    // The network's input is not ours to overwrite.
                    if m.t.index() > 0 && (m.c, m.hw) == (c, hw) {
                        self.b.in_place(op, m.t, to.t);
                    }
                }
            }
            Kind::Concat => {
                let mut offset = 0;
                for m in from {
                    self.b.into_whole(op, m.t, to.t, offset);
                    offset += m.c * m.hw * m.hw * 4;
                }
            }
            Kind::Conv | Kind::Pool => {}
        }
        self.nodes.push(Node { kind, from: from.to_vec(), to });
        to
    }

    pub fn conv(&mut self, x: Map, c: u64, stride: u64) -> Map {
        self.node(Kind::Conv, &[x], c, x.hw.div_ceil(stride))
    }

    /// Depthwise, then pointwise.
    pub fn separable(&mut self, x: Map, c: u64, stride: u64) -> Map {
        let d = self.conv(x, x.c, stride);
        self.conv(d, c, 1)
    }

    pub fn pool(&mut self, x: Map, stride: u64) -> Map {
        self.node(Kind::Pool, &[x], x.c, x.hw.div_ceil(stride))
    }

    pub fn scale(&mut self, x: Map, times: u64) -> Map {
        self.node(Kind::Pool, &[x], x.c, x.hw * times)
    }

    pub fn point(&mut self, x: Map) -> Map {
        self.node(Kind::Point, &[x], x.c, x.hw)
    }

    pub fn add(&mut self, maps: &[Map]) -> Map {
        self.node(Kind::Add, maps, maps[0].c, maps[0].hw)
    }

    pub fn concat(&mut self, maps: &[Map]) -> Map {
        self.node(Kind::Concat, maps, maps.iter().map(|m| m.c).sum(), maps[0].hw)
    }

    /// Pools to one value a class in the caller's memory.
    pub fn finish(mut self, x: Map) -> Problem {
        let t = self.b.tensor(Tensor::new("output", 4000).align(64).output().home(Home::Writable));
        self.b.op(Op::new("head").inputs([x.t]).outputs([t]));
        self.b.build().expect("a legal network")
    }
}

/// All networks at their usual sizes, by name.
pub fn all() -> Vec<(String, Problem)> {
    let mut all: Vec<(String, Problem)> = vec![
        ("resnet-50".into(), resnet(&[3, 4, 6, 3], 224)),
        ("densenet-121".into(), densenet(&[6, 12, 24, 16], 32)),
        ("inception-v3".into(), inception()),
        ("unet".into(), unet(64, 256, 4)),
        ("hrnet".into(), hrnet(32)),
        ("nasnet-a".into(), nasnet(6)),
        ("amoebanet".into(), amoebanet(6)),
        ("pnasnet".into(), pnasnet(4)),
        ("darts".into(), darts(14)),
        ("swiftnet".into(), swiftnet()),
        ("transformer 2".into(), transformer(2, 128, 768, 12)),
        ("transformer 96".into(), transformer(96, 128, 768, 12)),
        ("moe 6x8".into(), moe(6, 8)),
        ("training chain 200".into(), training_chain(34)),
        ("training resnet".into(), training_resnet(&[3, 4, 6, 3])),
        ("training transformer 6".into(), training_transformer(6)),
    ];
    for (wiring, name) in [(Wiring::Er(0.2), "er"), (Wiring::Ba(5), "ba"), (Wiring::Ws(4, 0.75), "ws")] {
        for seed in 0..3 {
            all.push((format!("randwire {name} {seed}"), randwire(wiring, 32, 3, seed)));
        }
    }
    all
}
