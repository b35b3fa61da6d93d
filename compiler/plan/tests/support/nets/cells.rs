//! Searched networks: stacks of cells, each reading the two before it.

use neap_plan::Problem;

use super::{Map, Net};

/// Both inputs of a cell brought to its width and size.
fn inputs(net: &mut Net, before: Map, last: Map, c: u64) -> (Map, Map) {
    let stride = before.hw / last.hw;
    (net.conv(before, c, stride), net.conv(last, c, 1))
}

type Cell = fn(&mut Net, Map, Map, u64, u64) -> Map;

fn stack(cells: u64, width: u64, normal: Cell, reduce: Cell) -> Problem {
    let (mut net, x) = Net::new(3, 224);
    let x = net.conv(x, 32, 2);
    let (mut before, mut last) = (x, x);
    let mut c = width / 4;
    for _ in 0..2 {
        let next = reduce(&mut net, before, last, c, 2);
        (before, last, c) = (last, next, c * 2);
    }
    for stage in 0..3 {
        for _ in 0..cells {
            let next = normal(&mut net, before, last, c, 1);
            (before, last) = (last, next);
        }
        if stage < 2 {
            c *= 2;
            let next = reduce(&mut net, before, last, c, 2);
            (before, last) = (last, next);
        }
    }
    net.finish(last)
}

fn twice(net: &mut Net, x: Map, c: u64, stride: u64) -> Map {
    let x = net.separable(x, c, stride);
    net.separable(x, c, 1)
}

/// NASNet-A (Zoph et al., CVPR 2018).
pub fn nasnet(cells: u64) -> Problem {
    fn normal(net: &mut Net, before: Map, last: Map, c: u64, _: u64) -> Map {
        let (p, h) = inputs(net, before, last, c);
        let (a, b) = (twice(net, h, c, 1), twice(net, p, c, 1));
        let b0 = net.add(&[a, b]);
        let (a, b) = (twice(net, p, c, 1), twice(net, p, c, 1));
        let b1 = net.add(&[a, b]);
        let a = net.pool(h, 1);
        let b2 = net.add(&[a, p]);
        let (a, b) = (net.pool(p, 1), net.pool(p, 1));
        let b3 = net.add(&[a, b]);
        let a = twice(net, h, c, 1);
        let b4 = net.add(&[a, h]);
        net.concat(&[p, b0, b1, b2, b3, b4])
    }
    fn reduce(net: &mut Net, before: Map, last: Map, c: u64, s: u64) -> Map {
        let (p, h) = inputs(net, before, last, c);
        let (a, b) = (twice(net, h, c, s), twice(net, p, c, s));
        let b0 = net.add(&[a, b]);
        let (a, b) = (net.pool(h, s), twice(net, p, c, s));
        let b1 = net.add(&[a, b]);
        let (a, b) = (net.pool(h, s), twice(net, p, c, s));
        let b2 = net.add(&[a, b]);
        let a = net.pool(b0, 1);
        let b3 = net.add(&[a, b1]);
        let (a, b) = (twice(net, b0, c, 1), net.pool(h, s));
        let b4 = net.add(&[a, b]);
        net.concat(&[b1, b2, b3, b4])
    }
    stack(cells, 168, normal, reduce)
}

/// AmoebaNet-A (Real et al., AAAI 2019).
pub fn amoebanet(cells: u64) -> Problem {
    fn normal(net: &mut Net, before: Map, last: Map, c: u64, _: u64) -> Map {
        let (p, h) = inputs(net, before, last, c);
        let (a, b) = (net.pool(h, 1), twice(net, p, c, 1));
        let b2 = net.add(&[a, b]);
        let a = net.pool(p, 1);
        let b3 = net.add(&[a, h]);
        let (a, b) = (twice(net, b2, c, 1), net.pool(b3, 1));
        let b4 = net.add(&[a, b]);
        let a = twice(net, p, c, 1);
        let b5 = net.add(&[a, b2]);
        let (a, b) = (net.conv(h, c, 1), twice(net, b3, c, 1));
        let b6 = net.add(&[a, b]);
        net.concat(&[b4, b5, b6])
    }
    fn reduce(net: &mut Net, before: Map, last: Map, c: u64, s: u64) -> Map {
        let (p, h) = inputs(net, before, last, c);
        let (a, b) = (net.pool(p, s), twice(net, h, c, s));
        let b2 = net.add(&[a, b]);
        let (a, b) = (net.pool(h, s), twice(net, p, c, s));
        let b3 = net.add(&[a, b]);
        let (a, b) = (net.pool(h, s), net.conv(b2, c, 1));
        let b4 = net.add(&[a, b]);
        let (a, b) = (twice(net, h, c, s), net.pool(b3, 1));
        let b5 = net.add(&[a, b]);
        net.concat(&[b4, b5])
    }
    stack(cells, 190, normal, reduce)
}

/// PNASNet-5 (Liu et al., ECCV 2018).
pub fn pnasnet(cells: u64) -> Problem {
    fn cell(net: &mut Net, before: Map, last: Map, c: u64, s: u64) -> Map {
        let (p, h) = inputs(net, before, last, c);
        let (a, b) = (twice(net, p, c, s), net.pool(p, s));
        let b0 = net.add(&[a, b]);
        let (a, b) = (twice(net, h, c, s), net.pool(h, s));
        let b1 = net.add(&[a, b]);
        let (a, b) = (twice(net, h, c, s), twice(net, h, c, s));
        let b2 = net.add(&[a, b]);
        let (a, b) = (twice(net, b2, c, 1), net.pool(h, s));
        let b3 = net.add(&[a, b]);
        let (a, b) = (twice(net, p, c, s), net.conv(h, c, s));
        let b4 = net.add(&[a, b]);
        net.concat(&[b0, b1, b2, b3, b4])
    }
    stack(cells, 216, cell, cell)
}

/// DARTS V2 (Liu, Simonyan, Yang, ICLR 2019).
pub fn darts(cells: u64) -> Problem {
    fn normal(net: &mut Net, before: Map, last: Map, c: u64, _: u64) -> Map {
        let (p, h) = inputs(net, before, last, c);
        let (a, b) = (twice(net, p, c, 1), twice(net, h, c, 1));
        let n2 = net.add(&[a, b]);
        let (a, b) = (twice(net, p, c, 1), twice(net, h, c, 1));
        let n3 = net.add(&[a, b]);
        let a = twice(net, h, c, 1);
        let n4 = net.add(&[a, p]);
        let b = net.separable(n2, c, 1);
        let n5 = net.add(&[p, b]);
        net.concat(&[n2, n3, n4, n5])
    }
    fn reduce(net: &mut Net, before: Map, last: Map, c: u64, s: u64) -> Map {
        let (p, h) = inputs(net, before, last, c);
        let (a, b) = (net.pool(p, s), net.pool(h, s));
        let n2 = net.add(&[a, b]);
        let b = net.pool(h, s);
        let n3 = net.add(&[n2, b]);
        let a = net.pool(p, s);
        let n4 = net.add(&[a, n2]);
        let b = net.pool(h, s);
        let n5 = net.add(&[n2, b]);
        net.concat(&[n2, n3, n4, n5])
    }
    stack(cells / 3, 192, normal, reduce)
}

/// Three irregular cells of small maps, in the manner of SwiftNet (Zhang et al., 2019).
pub fn swiftnet() -> Problem {
    let (mut net, x) = Net::new(3, 128);
    let mut x = net.conv(x, 16, 2);
    for (n, c) in [(21u64, 16u64), (19, 24), (22, 32)] {
        let mut nodes = vec![net.conv(x, c, 2)];
        let mut used = vec![false; n as usize];
        let mut d = super::super::random::Dice::new(n * 1000 + c);
        for i in 1..n {
            let mut from = vec![(i - 1 - d.below(i.min(3))) as usize];
            while from.len() < 3 && d.chance(45) {
                let f = d.below(i) as usize;
                if !from.contains(&f) {
                    from.push(f);
                }
            }
            from.iter().for_each(|f| used[*f] = true);
            let maps: Vec<Map> = from.iter().map(|f| nodes[*f]).collect();
            let y = if maps.len() > 1 { net.concat(&maps) } else { maps[0] };
            let width = c / 2 + d.below(3) * c / 2;
            nodes.push(net.conv(y, width, 1));
        }
        let ends: Vec<Map> = (0..n as usize).filter(|i| !used[*i]).map(|i| nodes[i]).collect();
        x = if ends.len() > 1 { net.concat(&ends) } else { ends[0] };
    }
    net.finish(x)
}
