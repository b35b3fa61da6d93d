//! Groups operators that one kernel computes into `graph.fusion`.
//!
//! Vertical fusion: chains of elementwise operators; elementwise producers into reductions, softmax and norms; elementwise
//! consumers as epilogues of contractions, pooling, reductions, softmax and norms; what widens 8-bit operands into contractions. Broadcasts, slices, iotas and splat
//! constants are cloned into every group that reads them, so they cost no memory; so is what widens bytes that a group has made.
//!
//! Legality: one result a group, and that result's producer chain is read nowhere else, so no cycle can arise; an epilogue has
//! the iteration shape of its anchor's result; at most one anchor a group; at most `max-ops` operators and `max-inputs` operands.
//!
//! **Does not fire when** an intermediate has another reader (it must be in memory anyway) or shapes differ.
//!
//! ```mlir
//! %0 = graph.unary exp %x : tensor<4xf32> -> tensor<4xf32>
//! %1 = graph.unary neg %0 : tensor<4xf32> -> tensor<4xf32>   // both move into one graph.fusion
//! ```

use std::collections::{HashMap, HashSet};

use neap_optable::{Attr, Attrs, Body, DType, GraphOp, Node, ValueId};

mod narrow;
mod widen;

use crate::pass::{Changed, Cx, Func, GraphPass, PassError};
use crate::steps::StepKind;

/// The pass.
pub struct Fuse;

/// Options.
#[derive(clap::Args)]
pub struct Options {
    /// Most operators in a group (1 turns fusion off).
    #[arg(long, default_value_t = 64)]
    max_ops: usize,
    /// Most operands of a group.
    #[arg(long, default_value_t = 16)]
    max_inputs: usize,
}

impl GraphPass for Fuse {
    type Options = Options;
    const NAME: &'static str = "graph-fuse";
    const SUMMARY: &'static str = "group operators that one kernel computes";
    const STEPS: bool = true;

    fn run(cx: &mut Cx, func: &mut Func, options: &Options) -> Result<Changed, PassError> {
        let body = if options.max_ops > 1 { widen::unshared(&func.body) } else { func.body.clone() };
        let (mut groups, widening) = decide(&body, options);
        if groups.iter().all(|g| g.len() < 2) {
            return Ok(Changed::No);
        }
        let tails = narrow::cut(&body, &mut groups, &widening);
        let groups = taken(cx, &body, groups);
        func.body = apply(&body, &groups, &tails);
        Ok(Changed::Yes)
    }
}

/// The groups that may be fused, and the members of the others one by one.
fn taken(cx: &mut Cx, body: &Body, groups: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut out = vec![];
    for group in groups {
        let (kind, names) = (kind(body, &group), names(body, &group));
        if group.len() < 2 || cx.steps.take(StepKind::Fusion, Fuse::NAME, format!("fuse-{kind}"), &names) {
            out.push(group);
        } else {
            out.extend(group.into_iter().map(|m| vec![m]));
        }
    }
    out
}

/// What a group is called: its anchor's operator, or `elementwise`.
fn kind(body: &Body, members: &[usize]) -> &'static str {
    let anchor = |n: &&Node| matches!(class(body, n), Class::Anchor | Class::RowAnchor);
    members.iter().map(|i| &body.nodes[*i]).rfind(anchor).map_or("elementwise", |n| n.op.name())
}

/// The ONNX nodes of a group, joined by `+`.
fn names(body: &Body, members: &[usize]) -> String {
    let mut names: Vec<&str> = vec![];
    for n in members.iter().map(|i| &body.nodes[*i]) {
        if class(body, n) != Class::Cloned && !n.name.is_empty() && !names.contains(&n.name.as_str()) {
            names.push(&n.name);
        }
    }
    names.join("+")
}

/// What an operator can be in a group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Same iteration space as its result, computes on elements.
    Elementwise,
    /// Only an index map or a constant: cloned into its readers.
    Cloned,
    /// Elementwise producers may move in, elementwise consumers may follow.
    RowAnchor,
    /// Only elementwise consumers may follow.
    Anchor,
    /// Stays alone.
    Alone,
}

fn class(body: &Body, n: &Node) -> Class {
    match n.op {
        GraphOp::Unary | GraphOp::Binary | GraphOp::Compare | GraphOp::Select | GraphOp::Cast => Class::Elementwise,
        GraphOp::Broadcast | GraphOp::Iota => Class::Cloned,
        GraphOp::Slice => Class::Cloned,
        GraphOp::Constant => match n.attrs.get("value") {
            Some(Attr::Elements { dtype, data, .. }) if data.len() as u64 == dtype.size() => Class::Cloned,
            _ => Class::Alone,
        },
        GraphOp::Reduce | GraphOp::Softmax | GraphOp::LayerNorm => Class::RowAnchor,
        GraphOp::Matmul | GraphOp::Conv if is_tiled(body.ty(n.outputs[0]).dtype) => Class::Anchor,
        GraphOp::Pool => Class::Anchor,
        GraphOp::Matmul
        | GraphOp::Conv
        | GraphOp::ConvTranspose
        | GraphOp::Transpose
        | GraphOp::Reshape
        | GraphOp::Concat
        | GraphOp::Pad
        | GraphOp::Resize
        | GraphOp::ArgReduce
        | GraphOp::Cumsum
        | GraphOp::TopK
        | GraphOp::Gather
        | GraphOp::GatherElements
        | GraphOp::GatherNd
        | GraphOp::ScatterElements
        | GraphOp::ScatterNd
        | GraphOp::Lstm
        | GraphOp::Gru
        | GraphOp::Weight
        | GraphOp::Fusion
        | GraphOp::Yield => Class::Alone,
    }
}

/// Whether contractions of a type are computed in register tiles.
fn is_tiled(dtype: DType) -> bool {
    dtype.is_float() || matches!(dtype, DType::I32 | DType::U32)
}

/// Node indices of each group in topological order; every node that is not [`Class::Cloned`] is in one group. And for each node
/// the contraction that it widens an operand of.
fn decide(body: &Body, options: &Options) -> (Vec<Vec<usize>>, Vec<Option<usize>>) {
    let producers = body.producers();
    let uses = body.use_counts();
    let results: HashSet<ValueId> = body.results.iter().copied().collect();
    let widening = match options.max_ops {
        0 | 1 => vec![None; body.nodes.len()],
        _ => widen::chains(body),
    };
    let clusters = clusters(body, &uses, &results, &widening, options);
    let mut group_of: Vec<usize> = vec![usize::MAX; body.nodes.len()];
    let mut groups: Vec<Vec<usize>> = vec![];
    let mut anchored: Vec<bool> = vec![];
    for (i, n) in body.nodes.iter().enumerate() {
        let class_n = class(body, n);
        // What widens an operand goes with its contraction, whatever else could be fused with it.
        if class_n == Class::Cloned || widening[i].is_some() {
            continue;
        }
        let mut mine: Vec<usize> = (0..i).filter(|j| widening[*j] == Some(i)).collect();
        mine.push(i);
        let mut has_anchor = matches!(class_n, Class::RowAnchor | Class::Anchor);
        if matches!(class_n, Class::Elementwise | Class::RowAnchor) {
            let mut candidates: Vec<(bool, usize)> = n
                .inputs
                .iter()
                .filter_map(|&v| {
                    let p = producers[v.0 as usize]?;
                    let occurrences = n.inputs.iter().filter(|&&o| o == v).count() as u32;
                    let together = clusters[i].is_some() && clusters[i] == clusters[p];
                    let only_here = widening[p].is_none()
                        && (together || uses[v.0 as usize] == occurrences && !results.contains(&v));
                    let fits = match class(body, &body.nodes[p]) {
                        Class::Elementwise => true,
                        Class::Anchor | Class::RowAnchor => class_n == Class::Elementwise,
                        Class::Cloned | Class::Alone => false,
                    };
                    let g = group_of[p];
                    // An anchored group is extended only along its own iteration shape.
                    let same_space = !anchored.get(g).copied().unwrap_or(false)
                        || (class_n == Class::Elementwise && body.ty(v).dims == body.ty(n.outputs[0]).dims);
                    (only_here && fits && same_space).then_some((together, g))
                })
                .collect();
            // A cluster stays together. Then later operands first: of two anchored producers the later one is fused, so
            // that the earlier one's memory dies sooner.
            candidates.sort_by_key(|&(together, g)| std::cmp::Reverse((together, groups[g].last().copied())));
            candidates.dedup_by_key(|&mut (_, g)| g);
            for (together, g) in candidates {
                let mut joined: Vec<usize> = groups[g].iter().chain(&mine).copied().collect();
                joined.sort_unstable();
                let too_big =
                    || joined.len() > options.max_ops || operand_count(body, &joined, &producers) > options.max_inputs;
                if !together && ((has_anchor && anchored[g]) || too_big()) {
                    continue;
                }
                has_anchor |= anchored[g];
                groups[g].clear();
                mine = joined;
            }
        }
        for &m in &mine {
            group_of[m] = groups.len();
        }
        groups.push(mine);
        anchored.push(has_anchor);
    }
    groups.retain(|g| !g.is_empty());
    (groups, widening)
}

/// Regions that leave a value with several readers and come together again in one node (`x * sigmoid(x)`), found by growing
/// from the value along its readers until only the last member is read outside. For each node its region, if any.
fn clusters(
    body: &Body,
    uses: &[u32],
    results: &HashSet<ValueId>,
    widening: &[Option<usize>],
    options: &Options,
) -> Vec<Option<usize>> {
    let mut readers: HashMap<ValueId, Vec<usize>> = HashMap::new();
    for (i, n) in body.nodes.iter().enumerate() {
        for v in &n.inputs {
            let r = readers.entry(*v).or_default();
            if r.last() != Some(&i) {
                r.push(i);
            }
        }
    }
    let mut cluster: Vec<Option<usize>> = vec![None; body.nodes.len()];
    for (start, n) in body.nodes.iter().enumerate() {
        let fusable = matches!(class(body, n), Class::Elementwise | Class::Anchor | Class::RowAnchor);
        if !fusable || widening[start].is_some() || n.outputs.len() != 1 || uses[n.outputs[0].0 as usize] < 2 {
            continue;
        }
        let dims = &body.ty(n.outputs[0]).dims;
        let mut members = std::collections::BTreeSet::from([start]);
        let closed = loop {
            let outside = |m: usize| {
                readers.get(&body.nodes[m].outputs[0]).into_iter().flatten().copied().filter(|r| !members.contains(r))
            };
            let open: Vec<usize> = members
                .iter()
                .copied()
                .filter(|&m| results.contains(&body.nodes[m].outputs[0]) || outside(m).next().is_some())
                .collect();
            if members.len() > 1 && open.len() <= 1 && open.iter().all(|m| Some(m) == members.last()) {
                break true;
            }
            let Some(next) = open
                .iter()
                .filter(|&&m| Some(&m) != members.last() || members.len() == 1)
                .flat_map(|&m| outside(m))
                .min()
            else {
                break false;
            };
            let r = &body.nodes[next];
            let joins = class(body, r) == Class::Elementwise
                && &body.ty(r.outputs[0]).dims == dims
                && cluster[next].is_none()
                && widening[next].is_none()
                && members.len() < options.max_ops / 2;
            if !joins {
                break false;
            }
            members.insert(next);
        };
        if closed {
            let id = cluster[start].unwrap_or(start);
            for m in members {
                cluster[m] = Some(id);
            }
        }
    }
    cluster
}

fn operand_count(body: &Body, nodes: &[usize], producers: &[Option<usize>]) -> usize {
    let inside: HashSet<usize> = nodes.iter().copied().collect();
    let mut operands = HashSet::new();
    let mut stack: Vec<ValueId> = nodes.iter().flat_map(|&i| &body.nodes[i].inputs).copied().collect();
    while let Some(v) = stack.pop() {
        match producers[v.0 as usize] {
            Some(p) if inside.contains(&p) => {}
            Some(p) if class(body, &body.nodes[p]) == Class::Cloned => stack.extend(&body.nodes[p].inputs),
            _ => {
                operands.insert(v);
            }
        }
    }
    operands.len()
}

/// Rebuilds the body: a group of one anchor or one plain node without clonable operands stays as it is.
fn apply(old: &Body, groups: &[Vec<usize>], tails: &HashSet<usize>) -> Body {
    let producers = old.producers();
    let mut last_of: HashMap<usize, &Vec<usize>> = HashMap::new();
    for g in groups {
        last_of.insert(*g.last().expect("groups have members"), g);
    }
    // Values that are cloned into groups but also read outside any group must still be computed.
    let mut new =
        Body { types: old.types.clone(), args: old.args.clone(), arg_names: old.arg_names.clone(), ..Body::default() };
    for (i, n) in old.nodes.iter().enumerate() {
        if class(old, n) == Class::Cloned || tails.contains(&i) {
            new.nodes.push(n.clone());
            continue;
        }
        let Some(group) = last_of.get(&i) else { continue };
        let members = with_clones(old, group, &producers, tails);
        if members.len() == 1 || class(old, n) == Class::Alone {
            new.nodes.push(n.clone());
            continue;
        }
        new.nodes.push(fusion(old, &members, n));
    }
    new.results = old.results.clone();
    new.result_names = old.result_names.clone();
    let live = crate::rewrite::live_nodes(&new);
    let mut keep = live.iter();
    new.nodes.retain(|_| *keep.next().expect("one flag a node"));
    new
}

/// The group's nodes and the clonable nodes they read, directly or through other clonable ones, in topological order.
fn with_clones(body: &Body, group: &[usize], producers: &[Option<usize>], tails: &HashSet<usize>) -> Vec<usize> {
    let mut all: Vec<usize> = group.to_vec();
    let mut seen: HashSet<usize> = group.iter().copied().collect();
    // Contractions and pools read their operands through windows: nothing is cloned under them.
    let is_anchor = |i: &usize| class(body, &body.nodes[*i]) == Class::Anchor;
    let windowed: HashSet<ValueId> =
        group.iter().filter(|i| is_anchor(i)).flat_map(|&i| &body.nodes[i].inputs).copied().collect();
    let mut stack: Vec<usize> = group.iter().copied().filter(|i| !is_anchor(i)).collect();
    while let Some(i) = stack.pop() {
        for v in &body.nodes[i].inputs {
            let Some(p) = producers[v.0 as usize] else { continue };
            let cloned = class(body, &body.nodes[p]) == Class::Cloned || tails.contains(&p);
            if cloned && !windowed.contains(v) && seen.insert(p) {
                all.push(p);
                stack.push(p);
            }
        }
    }
    all.sort_unstable();
    all
}

/// One `graph.fusion` for the members, whose last node gives the result.
fn fusion(old: &Body, members: &[usize], last: &Node) -> Node {
    let mut inner = Body::default();
    let mut map: HashMap<ValueId, ValueId> = HashMap::new();
    let mut inputs = vec![];
    let defined: HashSet<ValueId> = members.iter().flat_map(|&i| &old.nodes[i].outputs).copied().collect();
    for &i in members {
        for &v in &old.nodes[i].inputs {
            if !defined.contains(&v) && !map.contains_key(&v) {
                map.insert(v, inner.arg(old.ty(v).clone()));
                inputs.push(v);
            }
        }
    }
    for &i in members {
        let n = &old.nodes[i];
        let ins: Vec<ValueId> = n.inputs.iter().map(|v| map[v]).collect();
        let types: Vec<_> = n.outputs.iter().map(|&o| old.ty(o).clone()).collect();
        let outs = inner.push(n.op, n.attrs.clone(), &ins, types, n.name.clone());
        map.extend(n.outputs.iter().copied().zip(outs));
    }
    inner.results = last.outputs.iter().map(|o| map[o]).collect();
    Node {
        op: GraphOp::Fusion,
        attrs: Attrs::new().str("kind", kind(old, members)),
        inputs,
        outputs: last.outputs.clone(),
        name: names(old, members),
        region: Some(Box::new(inner)),
    }
}
