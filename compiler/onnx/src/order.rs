//! Every value has one origin, every use has a value, and nodes come after what they read.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};
use std::sync::Arc;

use crate::{Attribute, Error, Graph, Node};

/// Checks a graph and its subgraphs and sorts their nodes. A list already in order stays as it is.
pub(crate) fn check_and_sort(graph: &mut Graph) -> Result<(), Error> {
    sort(graph, &HashSet::new())
}

fn sort(graph: &mut Graph, outer: &HashSet<String>) -> Result<(), Error> {
    let origins = origins(graph)?;
    // Subgraphs see the values of this graph as well as those around it.
    if graph.nodes.iter().any(|n| n.subgraphs().next().is_some()) {
        let mut seen = outer.clone();
        seen.extend(origins.keys().map(|s| s.to_string()));
        drop(origins);
        for node in &mut graph.nodes {
            for a in node.attributes.values_mut() {
                match a {
                    Attribute::Graph(g) => sort(Arc::make_mut(g), &seen)?,
                    Attribute::Graphs(gs) => gs.iter_mut().try_for_each(|g| sort(Arc::make_mut(g), &seen))?,
                    _ => {}
                }
            }
        }
    }
    let order = order(graph, outer)?;
    if !order.is_sorted() {
        let mut nodes: Vec<Option<Node>> = std::mem::take(&mut graph.nodes).into_iter().map(Some).collect();
        graph.nodes = order.into_iter().filter_map(|i| nodes[i].take()).collect();
    }
    Ok(())
}

/// Where a value comes from: a node's index, or nothing for inputs and initialisers.
fn origins(graph: &Graph) -> Result<HashMap<&str, Option<usize>>, Error> {
    let mut out: HashMap<&str, Option<usize>> = HashMap::new();
    let fixed = graph
        .inputs
        .iter()
        .map(|i| (i.name.as_str(), None))
        .chain(graph.initialisers.keys().map(|n| (n.as_str(), None)));
    let produced =
        graph.nodes.iter().enumerate().flat_map(|(i, n)| n.outputs.iter().map(move |o| (o.as_str(), Some(i))));
    for (name, by) in fixed.chain(produced).filter(|(n, _)| !n.is_empty()) {
        if let Some(first) = out.insert(name, by) {
            let say = |o: Option<usize>| o.map_or("an input or initialiser".into(), |i| place(&graph.nodes[i]));
            return Err(Error::Twice { value: name.into(), first: say(first), second: say(by) });
        }
    }
    Ok(out)
}

/// Kahn's algorithm, always taking the ready node that stands first in the file.
fn order(graph: &Graph, outer: &HashSet<String>) -> Result<Vec<usize>, Error> {
    let origins = origins(graph)?;
    let undefined = |place: String, name: &str| {
        Err(Error::Undefined { place, value: name.into(), hint: hint(name, origins.keys().copied()) })
    };
    let mut waits = vec![0usize; graph.nodes.len()];
    let mut feeds: Vec<Vec<usize>> = vec![vec![]; graph.nodes.len()];
    for (i, n) in graph.nodes.iter().enumerate() {
        let mut before = BTreeSet::new();
        for name in n.reads() {
            match origins.get(name) {
                Some(Some(by)) => drop(before.insert(*by)),
                Some(None) => {}
                None if outer.contains(name) => {}
                None => return undefined(place(n), name),
            }
        }
        waits[i] = before.len();
        before.into_iter().for_each(|b| feeds[b].push(i));
    }
    for o in &graph.outputs {
        if !origins.contains_key(o.name.as_str()) && !outer.contains(&o.name) {
            return undefined("the list of outputs".into(), &o.name);
        }
    }
    let mut ready: BinaryHeap<Reverse<usize>> = (0..waits.len()).filter(|&i| waits[i] == 0).map(Reverse).collect();
    let mut out = Vec::with_capacity(waits.len());
    while let Some(Reverse(i)) = ready.pop() {
        out.push(i);
        for &f in &feeds[i] {
            waits[f] -= 1;
            if waits[f] == 0 {
                ready.push(Reverse(f));
            }
        }
    }
    if out.len() == waits.len() { Ok(out) } else { Err(Error::Cycle(cycle(graph, &origins, &waits))) }
}

/// Follows unfinished nodes backwards until one repeats, and prints the loop.
fn cycle(graph: &Graph, origins: &HashMap<&str, Option<usize>>, waits: &[usize]) -> String {
    let mut at = waits.iter().position(|&w| w > 0).unwrap_or(0);
    let mut path = vec![];
    let mut seen = HashMap::new();
    while let std::collections::hash_map::Entry::Vacant(e) = seen.entry(at) {
        e.insert(path.len());
        path.push(at);
        let unfinished = |n: &str| origins.get(n).copied().flatten().filter(|&i| waits[i] > 0);
        // A node that waits has an unfinished producer.
        at = graph.nodes[at].reads().into_iter().find_map(unfinished).unwrap_or(at);
    }
    let start = seen.get(&at).copied().unwrap_or(0);
    let mut ring: Vec<usize> = path[start..].iter().rev().copied().collect();
    let first = ring.iter().enumerate().min_by_key(|(_, i)| **i).map_or(0, |(at, _)| at);
    ring.rotate_left(first);
    let mut names: Vec<&str> = ring.iter().map(|&i| graph.nodes[i].name.as_str()).collect();
    if names.len() > 8 {
        names.splice(4..names.len() - 3, ["..."]);
    }
    names.push(names[0]);
    names.join(" -> ")
}

/// A similar name, for typing errors.
fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near = known.filter(|k| k.eq_ignore_ascii_case(name) || distance_is_one(k, name)).min();
    near.map_or("; export the model again".into(), |k| format!("; is `{k}` meant?"))
}

/// Whether one edit leads from one name to the other.
fn distance_is_one(a: &str, b: &str) -> bool {
    let (a, b) = if a.len() <= b.len() { (a.as_bytes(), b.as_bytes()) } else { (b.as_bytes(), a.as_bytes()) };
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    match b.len() - a.len() {
        0 => a.len() > 1 && a[(same + 1).min(a.len())..] == b[(same + 1).min(b.len())..],
        1 => a[same..] == b[same + 1..],
        _ => false,
    }
}

fn place(n: &Node) -> String {
    format!("node `{}` ({})", n.name, n.op)
}
