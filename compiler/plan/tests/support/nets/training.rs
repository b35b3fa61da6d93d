//! Training steps: forward, backward, and an update for each weight as soon as its gradient is there.

use std::collections::HashMap;

use neap_plan::{Home, Op, Problem, Tensor, TensorId};

use super::{Kind, Map, Net, text, vision};

/// Adds the backward pass of all nodes from the loss at `x`.
fn backward(mut net: Net, x: Map) -> Problem {
    let loss = net.b.tensor(Tensor::new("loss", 4).align(64).output().home(Home::Writable));
    let seed = net.map(x.c, x.hw);
    net.b.op(Op::new("loss").inputs([x.t]).outputs([loss, seed.t]));
    let mut grads: HashMap<TensorId, Vec<Map>> = HashMap::from([(x.t, vec![seed])]);
    let nodes = std::mem::take(&mut net.nodes);
    for (i, node) in nodes.iter().enumerate().rev() {
        let Some(parts) = grads.remove(&node.to.t) else { continue };
        let mut g = parts[0];
        for (k, p) in parts[1..].iter().enumerate() {
            let sum = net.map(g.c, g.hw);
            let op = net.b.op(Op::new(format!("sum{i}.{k}")).inputs([g.t, p.t]).outputs([sum.t]));
            net.b.in_place(op, g.t, sum.t);
            net.b.in_place(op, p.t, sum.t);
            g = sum;
        }
        if node.kind == Kind::Add {
            for from in &node.from {
                grads.entry(from.t).or_default().push(g);
            }
            continue;
        }
        if node.kind == Kind::Conv && node.from.len() == 1 {
            let from = node.from[0];
            let weight = net.b.tensor(Tensor::new(format!("w{i}"), from.c * node.to.c * 4).align(64));
            let done = net.b.tensor(Tensor::new(format!("u{i}"), 4).align(64).output().home(Home::Writable));
            net.b.op(Op::new(format!("weight{i}")).inputs([from.t, g.t]).outputs([weight]));
            net.b.op(Op::new(format!("update{i}")).inputs([weight]).outputs([done]));
        }
        for (k, from) in node.from.iter().enumerate() {
            if from.t.index() == 0 {
                continue;
            }
            let to = net.map(from.c, from.hw);
            let mut reads = vec![g.t];
            match node.kind {
                Kind::Conv if node.from.len() > 1 => reads.push(node.from[1 - k.min(1)].t),
                Kind::Point | Kind::Pool => reads.push(node.to.t),
                _ => {}
            }
            let op = net.b.op(Op::new(format!("back{i}.{k}")).inputs(reads).outputs([to.t]));
            if node.kind == Kind::Point {
                net.b.in_place(op, g.t, to.t);
            }
            grads.entry(from.t).or_default().push(to);
        }
    }
    net.b.build().expect("a legal training step")
}

/// A chain of convolutions and activations; about 6 ops for each.
pub fn training_chain(layers: u64) -> Problem {
    let (mut net, mut x) = Net::new(3, 64);
    for i in 0..layers {
        let c = 16 + 8 * (i * 7 % 5);
        x = net.conv(x, c, 1);
        x = net.point(x);
    }
    backward(net, x)
}

pub fn training_resnet(blocks: &[u64]) -> Problem {
    let (mut net, x) = Net::new(3, 224);
    let x = vision::resnet_body(&mut net, x, blocks);
    backward(net, x)
}

pub fn training_transformer(layers: u64) -> Problem {
    let (mut net, x) = Net::new(1, 16);
    let x = text::body(&mut net, x, layers, 256, 4);
    backward(net, x)
}
