//! Convolutional networks drawn by hand.

use neap_plan::Problem;

use super::{Map, Net};

pub fn resnet_body(net: &mut Net, x: Map, blocks: &[u64]) -> Map {
    let mut x = net.conv(x, 64, 2);
    x = net.pool(x, 2);
    for (stage, count) in blocks.iter().enumerate() {
        let width = 64 << stage;
        for i in 0..*count {
            let stride = if i == 0 && stage > 0 { 2 } else { 1 };
            let skip = if i == 0 { net.conv(x, width * 4, stride) } else { x };
            let a = net.conv(x, width, 1);
            let b = net.conv(a, width, stride);
            let c = net.conv(b, width * 4, 1);
            let sum = net.add(&[c, skip]);
            x = net.point(sum);
        }
    }
    x
}

pub fn resnet(blocks: &[u64], hw: u64) -> Problem {
    let (mut net, x) = Net::new(3, hw);
    let x = resnet_body(&mut net, x, blocks);
    net.finish(x)
}

/// Each layer reads the concatenation of all before it in its block.
pub fn densenet(blocks: &[u64], growth: u64) -> Problem {
    let (mut net, x) = Net::new(3, 224);
    let x = net.conv(x, 64, 2);
    let mut x = net.pool(x, 2);
    for (stage, count) in blocks.iter().enumerate() {
        let mut parts = vec![x];
        for _ in 0..*count {
            let whole = if parts.len() > 1 { net.concat(&parts) } else { parts[0] };
            let norm = net.conv(whole, whole.c, 1);
            let narrow = net.conv(norm, 4 * growth, 1);
            parts.push(net.conv(narrow, growth, 1));
        }
        x = net.concat(&parts);
        if stage + 1 < blocks.len() {
            let half = net.conv(x, x.c / 2, 1);
            x = net.pool(half, 2);
        }
    }
    net.finish(x)
}

fn branch(net: &mut Net, x: Map, widths: &[u64], stride: u64) -> Map {
    let mut x = x;
    for (i, c) in widths.iter().enumerate() {
        x = net.conv(x, *c, if i + 1 == widths.len() { stride } else { 1 });
    }
    x
}

pub fn inception() -> Problem {
    let (mut net, x) = Net::new(3, 299);
    let mut x = branch(&mut net, x, &[32], 2);
    x = branch(&mut net, x, &[32, 64], 1);
    x = net.pool(x, 2);
    x = branch(&mut net, x, &[80, 192], 1);
    x = net.pool(x, 2);
    for pool in [32, 64, 64] {
        let a = branch(&mut net, x, &[64], 1);
        let b = branch(&mut net, x, &[48, 64], 1);
        let c = branch(&mut net, x, &[64, 96, 96], 1);
        let p = net.pool(x, 1);
        let d = branch(&mut net, p, &[pool], 1);
        x = net.concat(&[a, b, c, d]);
    }
    let a = branch(&mut net, x, &[384], 2);
    let b = branch(&mut net, x, &[64, 96, 96], 2);
    let p = net.pool(x, 2);
    x = net.concat(&[a, b, p]);
    for w in [128, 160, 160, 192] {
        let a = branch(&mut net, x, &[192], 1);
        let b = branch(&mut net, x, &[w, w, 192], 1);
        let c = branch(&mut net, x, &[w, w, w, w, 192], 1);
        let p = net.pool(x, 1);
        let d = branch(&mut net, p, &[192], 1);
        x = net.concat(&[a, b, c, d]);
    }
    let a = branch(&mut net, x, &[192, 320], 2);
    let b = branch(&mut net, x, &[192, 192, 192, 192], 2);
    let p = net.pool(x, 2);
    x = net.concat(&[a, b, p]);
    for _ in 0..2 {
        let a = branch(&mut net, x, &[320], 1);
        let b = branch(&mut net, x, &[384], 1);
        let (b1, b2) = (net.conv(b, 384, 1), net.conv(b, 384, 1));
        let bb = net.concat(&[b1, b2]);
        let c = branch(&mut net, x, &[448, 384], 1);
        let (c1, c2) = (net.conv(c, 384, 1), net.conv(c, 384, 1));
        let cc = net.concat(&[c1, c2]);
        let p = net.pool(x, 1);
        let d = branch(&mut net, p, &[192], 1);
        x = net.concat(&[a, bb, cc, d]);
    }
    net.finish(x)
}

pub fn unet(width: u64, hw: u64, depth: u64) -> Problem {
    let (mut net, mut x) = Net::new(3, hw);
    let mut skips = Vec::new();
    for d in 0..depth {
        x = branch(&mut net, x, &[width << d, width << d], 1);
        skips.push(x);
        x = net.pool(x, 2);
    }
    x = branch(&mut net, x, &[width << depth, width << depth], 1);
    for d in (0..depth).rev() {
        let up = net.scale(x, 2);
        let up = net.conv(up, width << d, 1);
        let both = net.concat(&[skips[d as usize], up]);
        x = branch(&mut net, both, &[width << d, width << d], 1);
    }
    net.finish(x)
}

/// Four resolutions side by side, each fused with all others at the end of each module.
pub fn hrnet(width: u64) -> Problem {
    let (mut net, x) = Net::new(3, 224);
    let x = branch(&mut net, x, &[64], 2);
    let x = branch(&mut net, x, &[64], 2);
    let mut lanes = vec![net.conv(x, width, 1)];
    for (stage, modules) in [1, 4, 3].into_iter().enumerate() {
        let last = lanes[stage];
        lanes.push(net.conv(last, width << (stage + 1), 2));
        for _ in 0..modules {
            for x in &mut lanes {
                for _ in 0..4 {
                    let a = net.conv(*x, x.c, 1);
                    let b = net.conv(a, x.c, 1);
                    *x = net.add(&[b, *x]);
                }
            }
            let mut next = Vec::new();
            for i in 0..lanes.len() {
                let mut parts = vec![lanes[i]];
                for (j, from) in lanes.iter().enumerate() {
                    if j < i {
                        let mut y = *from;
                        for k in j..i {
                            y = net.conv(y, width << (k + 1), 2);
                        }
                        parts.push(y);
                    } else if j > i {
                        let y = net.conv(*from, width << i, 1);
                        parts.push(net.scale(y, 1 << (j - i)));
                    }
                }
                next.push(net.add(&parts));
            }
            lanes = next;
        }
    }
    let mut parts = vec![lanes[0]];
    for (j, from) in lanes.iter().enumerate().skip(1) {
        parts.push(net.scale(*from, 1 << j));
    }
    let x = net.concat(&parts);
    net.finish(x)
}
