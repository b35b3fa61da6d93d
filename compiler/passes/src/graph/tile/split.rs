//! A stretch of a body, written tile by tile.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use neap_optable::{Attrs, Body, GraphOp, Node, ValueId};

use super::emit::Emitter;
use super::needs::{Inside, Needs, Role, Stuck, needs};
use super::part::{Need, Part, size};

/// What to run tile by tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Consecutive nodes of the body.
    pub nodes: Range<usize>,
    /// The dim of the segment's results that is cut.
    pub axis: usize,
    /// Tiles at most; fewer where parts of equal size leave none for the last ones.
    pub tiles: u64,
}

/// A body with one segment tiled.
#[derive(Clone, Debug)]
pub struct Tiled {
    /// The new body; old values that stay keep their ids.
    pub body: Body,
    /// Tiles made.
    pub tiles: usize,
    /// What keeps tiles one after another: what makes the first value runs before what makes the second.
    pub order: Vec<(ValueId, ValueId)>,
    /// For each new node the old one it was written for; slices and concats come from the node that they were made for.
    pub origins: Vec<usize>,
    /// For each tile what became of the old values that it computes.
    pub copies: Vec<BTreeMap<ValueId, ValueId>>,
}

/// Runs a segment tile by tile: every tile computes a part of the segment's results from the parts of its inputs that it
/// needs, computing anew what two tiles both need; results are concatenated. Nodes that are needed whole by a tile run once,
/// before the tiles.
///
/// # Errors
/// Why the segment cannot be tiled: in one line, with the node that stands in the way.
pub fn split(body: &Body, segment: &Segment) -> Result<Tiled, String> {
    let range = segment.nodes.clone();
    if range.end > body.nodes.len() || range.is_empty() {
        return Err(format!("nodes {range:?} of {} are no segment", body.nodes.len()));
    }
    let plan = Plan::new(body, segment)?;
    let mut new = body.clone();
    new.nodes.truncate(range.start);
    let mut origins: Vec<usize> = (0..range.start).collect();
    origins.extend(&plan.whole);
    new.nodes.extend(plan.whole.iter().map(|&i| body.nodes[i].clone()));
    let nodes: Vec<&Node> = plan.tiled.iter().map(|&i| &body.nodes[i]).collect();
    let mut pieces: Vec<Vec<ValueId>> = vec![vec![]; plan.outputs.len()];
    let (mut order, mut copies) = (vec![], vec![]);
    let mut ends: Vec<ValueId> = vec![];
    for (t, (parts, needs)) in plan.tiles.iter().enumerate() {
        let first = new.nodes.len();
        let mut e = Emitter::new(&body.types, &mut new, format!("#{t}"));
        e.nodes(&nodes, &plan.tiled, needs);
        for (piece, (o, part)) in pieces.iter_mut().zip(plan.outputs.iter().zip(parts)) {
            let at = plan.producers[o];
            piece.push(e.fetch(*o, Need::Part(*part), at, &body.nodes[at].name));
        }
        origins.append(&mut e.origins);
        copies.push(e.held.iter().map(|(old, held)| (*old, held.value)).collect());
        let (starts, stops) = borders(&new, first);
        order.extend(ends.iter().flat_map(|a| starts.iter().map(|b| (*a, *b))));
        ends = stops;
    }
    for ((o, piece), (_, axis)) in plan.outputs.iter().zip(&pieces).zip(&plan.axes) {
        let at = plan.producers[o];
        let name = body.nodes[at].name.clone();
        origins.push(at);
        new.nodes.push(Node {
            op: GraphOp::Concat,
            attrs: Attrs::new().int("axis", *axis as i64),
            inputs: piece.clone(),
            outputs: vec![*o],
            name,
            region: None,
        });
    }
    origins.extend(range.end..body.nodes.len());
    new.nodes.extend_from_slice(&body.nodes[range.end..]);
    Ok(Tiled { body: new, tiles: plan.tiles.len(), order, origins, copies })
}

/// The values made from `first` on that need none made there, and those that none made there needs. Slices and reshapes,
/// which may be views, are looked through.
fn borders(body: &Body, first: usize) -> (Vec<ValueId>, Vec<ValueId>) {
    let moves = |n: &Node| matches!(n.op, GraphOp::Slice | GraphOp::Reshape);
    let mut origin: BTreeMap<ValueId, bool> = BTreeMap::new();
    let (mut starts, mut read) = (vec![], BTreeSet::new());
    for n in &body.nodes[first..] {
        let inner = n.inputs.iter().any(|v| origin.get(v).copied().unwrap_or(false));
        if !moves(n) {
            if !inner {
                starts.push(n.outputs[0]);
            }
            read.extend(n.inputs.iter().copied());
        } else if let Some(source) = n.inputs.first() {
            read.insert(*source);
        }
        origin.extend(n.outputs.iter().map(|o| (*o, inner || !moves(n))));
    }
    let ends = body.nodes[first..].iter().filter(|n| !n.outputs.iter().any(|o| read.contains(o)));
    let stops = ends.filter(|n| !moves(n)).map(|n| n.outputs[0]).collect();
    (starts, stops)
}

/// What is decided before anything is written.
struct Plan {
    /// Nodes computed once, before the tiles.
    whole: BTreeSet<usize>,
    /// The other nodes, in order.
    tiled: Vec<usize>,
    /// Values that are read outside and assembled from the tiles.
    outputs: Vec<ValueId>,
    /// The dim each output is cut along.
    axes: BTreeMap<ValueId, usize>,
    /// The node of each output.
    producers: BTreeMap<ValueId, usize>,
    /// For each tile the part of each output and what is computed.
    tiles: Vec<(Vec<Part>, Needs)>,
}

impl Plan {
    fn new(body: &Body, segment: &Segment) -> Result<Plan, String> {
        let range = &segment.nodes;
        let inner = |i: &usize| !matches!(body.nodes[*i].op, GraphOp::Weight | GraphOp::Constant);
        let mut producers = BTreeMap::new();
        for i in range.clone() {
            producers.extend(body.nodes[i].outputs.iter().map(|o| (*o, i)));
        }
        let mut used: BTreeSet<ValueId> = body.results.iter().copied().collect();
        used.extend(body.nodes[range.end..].iter().flat_map(|n| &n.inputs));
        let mut whole: BTreeSet<usize> = range.clone().filter(|i| !inner(i)).collect();
        let mut why = String::from("it computes nothing");
        // Every round that does not succeed finds another node that must run whole.
        loop {
            let tiled: Vec<usize> = range.clone().filter(|i| !whole.contains(i)).collect();
            let outputs: Vec<ValueId> =
                tiled.iter().flat_map(|&i| &body.nodes[i].outputs).copied().filter(|o| used.contains(o)).collect();
            if outputs.is_empty() {
                return Err(why);
            }
            let nodes: Vec<&Node> = tiled.iter().map(|&i| &body.nodes[i]).collect();
            match tiles(body, segment, &nodes, &outputs) {
                Ok((axes, tiles)) => {
                    let needed = |i: usize| tiles.iter().any(|(_, n)| n.roles[i] == Role::Whole);
                    match (0..nodes.len()).rev().find(|i| needed(*i)) {
                        Some(i) => {
                            why = format!("node '{}' is needed whole by every tile", nodes[i].name);
                            run_whole(body, &producers, &mut whole, tiled[i]);
                        }
                        None => return Ok(Plan { whole, tiled, outputs, axes, producers, tiles }),
                    }
                }
                Err(s) => {
                    why = format!("node '{}': {}", nodes[s.node].name, s.why);
                    run_whole(body, &producers, &mut whole, tiled[s.node]);
                }
            }
        }
    }
}

/// Marks a node and all that it needs of the segment.
fn run_whole(body: &Body, producers: &BTreeMap<ValueId, usize>, whole: &mut BTreeSet<usize>, node: usize) {
    let mut stack = vec![node];
    while let Some(i) = stack.pop() {
        if whole.insert(i) {
            stack.extend(body.nodes[i].inputs.iter().filter_map(|v| producers.get(v)));
        }
    }
}

type Tiles = (BTreeMap<ValueId, usize>, Vec<(Vec<Part>, Needs)>);

/// The parts of the outputs and the needs of all tiles.
fn tiles(body: &Body, segment: &Segment, nodes: &[&Node], outputs: &[ValueId]) -> Result<Tiles, Stuck> {
    let position = |v: &ValueId| nodes.iter().position(|n| n.outputs.contains(v)).unwrap_or(0);
    let fail = |v: &ValueId, why: String| Stuck { node: position(v), why };
    let read: BTreeSet<ValueId> = nodes.iter().flat_map(|n| &n.inputs).copied().collect();
    let last: Vec<ValueId> = outputs.iter().copied().filter(|o| !read.contains(o)).collect();
    // The results that nobody reads inside are cut along the axis asked for; those read inside as their readers need them.
    let mut wanted = BTreeMap::new();
    for o in &last {
        let n = size(body.ty(*o), segment.axis).map_err(|e| fail(o, e))?;
        wanted.insert(*o, Need::Part(Part { dim: segment.axis, begin: 0, end: n.min(1) }));
    }
    let seen = needs(nodes, &body.types, wanted, Inside::Graph)?;
    let mut axes = BTreeMap::new();
    for o in outputs {
        axes.insert(
            *o,
            match seen.of.get(o) {
                Some(Need::Part(p)) => p.dim,
                Some(Need::Whole) => return Err(fail(o, "it is needed whole by every tile".into())),
                None => segment.axis,
            },
        );
    }
    let Some(main) = last.last().or(outputs.last()) else { return Ok((axes, vec![])) };
    let total = size(body.ty(*main), axes[main]).map_err(|e| fail(main, e))?;
    let step = total.div_ceil(segment.tiles.max(1)).max(1);
    let count = total.div_ceil(step);
    if count < 2 {
        return Err(fail(main, format!("dim {} of {} is not worth two tiles", axes[main], body.ty(*main))));
    }
    let mut out = vec![];
    for t in 0..count {
        let mut parts = vec![];
        for o in outputs {
            let n = size(body.ty(*o), axes[o]).map_err(|e| fail(o, e))?;
            // The same share of every output, by whole elements.
            let at = |t: u64| u64::try_from((u128::from((t * step).min(total)) * u128::from(n)).div_ceil(total.into()));
            let (begin, end) = (at(t).unwrap_or(n), at(t + 1).unwrap_or(n));
            if begin >= end {
                return Err(fail(
                    o,
                    format!("{} has too few elements along dim {} for {count} tiles", body.ty(*o), axes[o]),
                ));
            }
            parts.push(Part { dim: axes[o], begin, end });
        }
        let wanted = outputs.iter().copied().zip(parts.iter().map(|p| Need::Part(*p))).collect();
        out.push((parts, needs(nodes, &body.types, wanted, Inside::Graph)?));
    }
    Ok((axes, out))
}
