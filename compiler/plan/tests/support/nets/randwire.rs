//! Randomly wired networks (Xie, Kirillov, Girshick, He, ICCV 2019): undirected random graphs, directed by node number.

use neap_plan::Problem;

use super::super::random::Dice;
use super::{Map, Net};

#[derive(Clone, Copy, Debug)]
pub enum Wiring {
    /// Erdős–Rényi: each edge with this probability.
    Er(f64),
    /// Barabási–Albert: each new node joins so many older ones, by degree.
    Ba(usize),
    /// Watts–Strogatz: a ring where each node knows so many neighbours, each edge rewired with this probability.
    Ws(usize, f64),
}

fn edges(wiring: Wiring, n: usize, d: &mut Dice) -> Vec<Vec<bool>> {
    let mut e = vec![vec![false; n]; n];
    let chance = |d: &mut Dice, p: f64| (d.bits() >> 11) as f64 / (1u64 << 53) as f64 <= p;
    match wiring {
        Wiring::Er(p) => {
            for j in 0..n {
                for i in 0..j {
                    let yes = chance(d, p);
                    (e[i][j], e[j][i]) = (yes, yes);
                }
            }
        }
        Wiring::Ba(m) => {
            let mut ends: Vec<usize> = (0..m).collect();
            for j in m..n {
                let mut chosen = Vec::new();
                while chosen.len() < m {
                    let i = ends[d.below(ends.len() as u64) as usize];
                    if !chosen.contains(&i) {
                        chosen.push(i);
                    }
                }
                for i in chosen {
                    (e[i][j], e[j][i]) = (true, true);
                    ends.extend([i, j]);
                }
            }
        }
        Wiring::Ws(k, p) => {
            for i in 0..n {
                for step in 1..=k / 2 {
                    let j = (i + step) % n;
                    (e[i][j], e[j][i]) = (true, true);
                }
            }
            for step in 1..=k / 2 {
                for i in 0..n {
                    let j = (i + step) % n;
                    if e[i][j] && chance(d, p) {
                        let to = d.below(n as u64) as usize;
                        if to != i && !e[i][to] {
                            (e[i][j], e[j][i]) = (false, false);
                            (e[i][to], e[to][i]) = (true, true);
                        }
                    }
                }
            }
        }
    }
    e
}

fn stage(net: &mut Net, x: Map, wiring: Wiring, n: usize, c: u64, d: &mut Dice) -> Map {
    let e = edges(wiring, n, d);
    let mut made: Vec<Map> = Vec::new();
    for j in 0..n {
        let from: Vec<Map> = (0..j).filter(|i| e[*i][j]).map(|i| made[i]).collect();
        made.push(match from.len() {
            0 => net.separable(x, c, 2),
            1 => net.separable(from[0], c, 1),
            _ => {
                let sum = net.add(&from);
                net.separable(sum, c, 1)
            }
        });
    }
    let ends: Vec<Map> = (0..n).filter(|i| (i + 1..n).all(|j| !e[*i][j])).map(|i| made[i]).collect();
    if ends.len() > 1 { net.add(&ends) } else { ends[0] }
}

pub fn randwire(wiring: Wiring, nodes: usize, stages: u32, seed: u64) -> Problem {
    let mut d = Dice::new(seed);
    let (mut net, x) = Net::new(3, 224);
    let x = net.conv(x, 39, 2);
    let mut x = net.conv(x, 78, 2);
    for s in 0..stages {
        x = stage(&mut net, x, wiring, nodes, 78 << s, &mut d);
    }
    net.finish(x)
}
