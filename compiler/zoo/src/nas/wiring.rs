//! Random graphs, made acyclic by leading every edge from the lower to the higher number (Xie et al. 2019, section 3.2).

use crate::weights::Random;

/// A classical generator of random graphs, with the parameters of the paper's best networks.
#[derive(Clone, Copy)]
pub(super) enum Generator {
    /// Erdős and Rényi: every pair with probability 0.2.
    ErdosRenyi,
    /// Barabási and Albert: each node brings 5 edges, to nodes in proportion to their degree.
    BarabasiAlbert,
    /// Watts and Strogatz: a ring of 4 neighbours, each edge rewired with probability 0.75.
    WattsStrogatz,
}

const PAIR: f64 = 0.2;
const BROUGHT: usize = 5;
const NEIGHBOURS: usize = 4;
const REWIRED: f64 = 0.75;

/// For each node the nodes that it reads, in order. Nodes that read none are the graph's inputs; every graph is connected.
pub(super) fn wire(generator: Generator, nodes: usize, random: &mut Random) -> Vec<Vec<usize>> {
    loop {
        let edges = match generator {
            Generator::ErdosRenyi => erdos_renyi(nodes, random),
            Generator::BarabasiAlbert => barabasi_albert(nodes, random),
            Generator::WattsStrogatz => watts_strogatz(nodes, random),
        };
        if connected(nodes, &edges) {
            let mut reads = vec![vec![]; nodes];
            for (a, b) in edges {
                reads[a.max(b)].push(a.min(b));
            }
            for list in &mut reads {
                list.sort_unstable();
            }
            return reads;
        }
    }
}

type Edges = Vec<(usize, usize)>;

fn erdos_renyi(nodes: usize, random: &mut Random) -> Edges {
    let pairs = (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| (a, b)));
    pairs.filter(|_| random.unit() < PAIR).collect()
}

fn barabasi_albert(nodes: usize, random: &mut Random) -> Edges {
    let mut edges: Edges = vec![];
    for new in BROUGHT..nodes {
        let mut chosen: Vec<usize> = vec![];
        while chosen.len() < BROUGHT {
            // The first newcomer meets nodes without edges and takes them all; then an end of a random edge is a node in
            // proportion to its degree.
            let candidate = match edges.get(random.below(2 * edges.len().max(1)) / 2) {
                Some((a, b)) if new > BROUGHT => [*a, *b][random.below(2)],
                _ => chosen.len(),
            };
            if candidate != new && !chosen.contains(&candidate) {
                chosen.push(candidate);
            }
        }
        edges.extend(chosen.into_iter().map(|old| (old, new)));
    }
    edges
}

fn watts_strogatz(nodes: usize, random: &mut Random) -> Edges {
    let mut edges: Edges =
        (1..=NEIGHBOURS / 2).flat_map(|step| (0..nodes).map(move |a| (a, (a + step) % nodes))).collect();
    for i in 0..edges.len() {
        let a = edges[i].0;
        if random.unit() < REWIRED {
            let b = random.below(nodes);
            if a != b && !edges.contains(&(a, b)) && !edges.contains(&(b, a)) {
                edges[i].1 = b;
            }
        }
    }
    edges
}

fn connected(nodes: usize, edges: &Edges) -> bool {
    let mut reached = vec![false; nodes];
    let mut waiting = vec![0];
    while let Some(node) = waiting.pop() {
        if !std::mem::replace(&mut reached[node], true) {
            let next = edges.iter().filter_map(|(a, b)| if *a == node { Some(*b) } else { (*b == node).then_some(*a) });
            waiting.extend(next);
        }
    }
    reached.into_iter().all(|r| r)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_have_the_edges_of_their_kind() {
        for seed in 0..50 {
            let mut random = Random::new(seed);
            let edges = |g, r: &mut Random| wire(g, 32, r).iter().map(Vec::len).sum::<usize>();
            assert_eq!(edges(Generator::BarabasiAlbert, &mut random), 5 * (32 - 5));
            assert_eq!(edges(Generator::WattsStrogatz, &mut random), 32 * 2);
            // 496 pairs: 99 on average, 9 a standard deviation.
            assert!((54..=144).contains(&edges(Generator::ErdosRenyi, &mut random)));
        }
    }

    #[test]
    fn nodes_read_earlier_ones_once() {
        for g in [Generator::ErdosRenyi, Generator::BarabasiAlbert, Generator::WattsStrogatz] {
            for (node, reads) in wire(g, 20, &mut Random::new(1)).iter().enumerate() {
                assert!(reads.windows(2).all(|w| w[0] < w[1]) && reads.iter().all(|r| *r < node));
            }
        }
    }
}
