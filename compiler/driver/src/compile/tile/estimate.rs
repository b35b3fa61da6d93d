//! Live bytes of a tiled body in its own order: quick, and near what the planner finds.
//!
//! Counted as the planner may choose: results in place of what dies, parts of a concatenation in the whole, ranges in what they
//! are taken from; copies into a whole happen as soon as the part is there.

use neap_optable::{Body, GraphOp, Node, ValueId};

use super::build::Built;
use crate::compile::moves::{in_ranges, one_run};

/// What is known of a node of the base body.
#[derive(Clone, Debug, Default)]
pub struct Fact {
    /// (operand, result) pairs that may share memory.
    pub in_place: Vec<(usize, usize)>,
    /// Bytes that live between its stages.
    pub shared: u64,
    /// Bytes of a thread's own while it runs.
    pub scratch: u64,
    /// Bytes of its first result.
    pub bytes: u64,
    /// Whether it is a concatenation.
    pub concat: bool,
}

/// What a tiled body is thought to need.
#[derive(Clone, Debug, Default)]
pub struct Estimate {
    /// The most bytes alive while any copy of each base node runs.
    pub live: Vec<u64>,
    /// Bytes moved by slices and concatenations.
    pub moved: u64,
    /// Bytes of weights read, counting every reader.
    pub weights: u64,
    /// Kernels run.
    pub launches: u64,
}

/// Follows a body from node to node.
pub fn estimate(built: &Built, facts: &[Fact]) -> Estimate {
    // Where parts of the model's own concatenations lie is the planner's choice; the better of two extremes is near it.
    let homes = Homes::new(built, facts, |_| false);
    let early = live(built, facts, &homes);
    let late = if facts.iter().any(|f| f.concat) {
        live(built, facts, &Homes::new(built, facts, |n| facts[built.origins[n]].concat))
    } else {
        early.clone()
    };
    let most = |live: &[u64]| live.iter().copied().max();
    let live = if most(&late) < most(&early) { late } else { early };
    let mut out = Estimate { live, ..Estimate::default() };
    let constant = constants(&built.body);
    let bytes = |v: &ValueId| built.body.ty(*v).bytes().unwrap_or(0);
    for n in &built.body.nodes {
        if matches!(n.op, GraphOp::Weight | GraphOp::Constant) || is_view(&built.body, n) {
            continue;
        }
        out.weights += n.inputs.iter().filter(|v| constant[v.0 as usize]).map(bytes).sum::<u64>();
        let home = |v: &ValueId| homes.of[v.0 as usize];
        match n.op {
            GraphOp::Concat => {
                let apart = n.inputs.iter().filter(|v| home(v) != home(&n.outputs[0]) || home(v).is_none());
                // Into memory of the caller's, whole ranges go straight too.
                let moved = apart.filter(|_| !contiguous(&built.body, n) || home(&n.outputs[0]).is_some());
                let (count, sum) = moved.fold((0, 0), |(c, b), v| (c + 1, b + bytes(v)));
                out.launches += count;
                out.moved += sum;
            }
            GraphOp::Slice => {
                out.moved += bytes(&n.outputs[0]);
                out.launches += 1;
            }
            _ => out.launches += 1,
        }
    }
    out
}

/// Values that are weights, perhaps reshaped.
fn constants(body: &Body) -> Vec<bool> {
    let mut out = vec![false; body.types.len()];
    for n in &body.nodes {
        out[n.outputs[0].0 as usize] = match n.op {
            GraphOp::Weight => true,
            GraphOp::Reshape => out[n.inputs[0].0 as usize],
            _ => false,
        };
    }
    out
}

fn live(built: &Built, facts: &[Fact], homes: &Homes) -> Vec<u64> {
    let body = &built.body;
    let mut alive = 0;
    let mut freed = vec![false; homes.bytes.len()];
    let mut profile = vec![0; facts.len()];
    let mut dying: Vec<Vec<usize>> = vec![vec![]; body.nodes.len()];
    let mut born: Vec<Vec<usize>> = vec![vec![]; body.nodes.len()];
    for (h, (first, last)) in homes.lives.iter().enumerate() {
        if *first <= *last {
            born[*first].push(h);
            dying[*last].push(h);
        }
    }
    for (i, n) in body.nodes.iter().enumerate() {
        let fact = &facts[built.origins[i]];
        let copy = is_move(n);
        for &h in &born[i] {
            alive += homes.bytes[h];
        }
        if !copy {
            for &(a, b) in &fact.in_place {
                let (Some(from), Some(to)) = (home(homes, n.inputs.get(a)), home(homes, n.outputs.get(b))) else {
                    continue;
                };
                let fits = homes.lives[from].1 == i && homes.lives[to].0 == i && homes.bytes[from] == homes.bytes[to];
                if fits && from != to && !freed[from] {
                    freed[from] = true;
                    alive -= homes.bytes[from];
                }
            }
        }
        let own = n.outputs.first().map_or(0, |o| body.ty(*o).bytes().unwrap_or(0));
        let share = |whole: u64| {
            if fact.bytes == 0 { whole } else { (u128::from(whole) * u128::from(own) / u128::from(fact.bytes)) as u64 }
        };
        let workspace = if copy { 0 } else { share(fact.shared).min(fact.shared) + fact.scratch };
        let at = &mut profile[built.origins[i]];
        *at = (*at).max(alive + workspace);
        for &h in &dying[i] {
            if !freed[h] {
                alive -= homes.bytes[h];
            }
        }
    }
    profile
}

fn home(homes: &Homes, v: Option<&ValueId>) -> Option<usize> {
    v.and_then(|v| homes.of[v.0 as usize])
}

/// Buffers, and which of them each value lies in.
struct Homes {
    of: Vec<Option<usize>>,
    bytes: Vec<u64>,
    /// First and last node at which each is alive.
    lives: Vec<(usize, usize)>,
}

impl Homes {
    /// `late` says of which concatenations by position all parts but the last are copied when the last one is there.
    fn new(built: &Built, facts: &[Fact], late: impl Fn(usize) -> bool) -> Homes {
        let body = &built.body;
        let mut h = Homes { of: vec![None; body.types.len()], bytes: vec![], lives: vec![] };
        let producers = body.producers();
        // Where a value goes: into the whole that it is a part of.
        let mut whole: Vec<Option<ValueId>> = vec![None; body.types.len()];
        let mut copied: Vec<Vec<ValueId>> = vec![vec![]; body.types.len()];
        let mut kept: Vec<(ValueId, usize)> = vec![];
        for (i, n) in body.nodes.iter().enumerate().filter(|(_, n)| n.op == GraphOp::Concat) {
            let joined = contiguous(body, n);
            let last = n.inputs.iter().filter_map(|v| producers[v.0 as usize]).max();
            for v in &n.inputs {
                if late(i) && producers[v.0 as usize] != last {
                    kept.push((*v, i));
                    continue;
                }
                let computed = producers[v.0 as usize].is_some_and(|p| !is_view(body, &body.nodes[p]));
                if joined && computed && whole[v.0 as usize].is_none() {
                    whole[v.0 as usize] = Some(n.outputs[0]);
                } else {
                    copied[v.0 as usize].push(n.outputs[0]);
                }
            }
        }
        // What a part takes the place of lies in the whole too.
        let uses = body.use_counts();
        for (i, n) in body.nodes.iter().enumerate().rev().filter(|(_, n)| !is_move(n)) {
            for &(a, b) in &facts[built.origins[i]].in_place {
                let (Some(v), Some(o)) = (n.inputs.get(a), n.outputs.get(b)) else { continue };
                let at = v.0 as usize;
                let alone = uses[at] == 1 && whole[at].is_none() && body.ty(*v).bytes() == body.ty(*o).bytes();
                let computed = producers[at].is_some_and(|p| !is_view(body, &body.nodes[p]));
                if whole[o.0 as usize].is_some() && alone && computed {
                    whole[at] = Some(*o);
                    break;
                }
            }
        }
        // Results lie in the caller's memory, which costs nothing here; so do the parts of those that are concatenations.
        let mut outside = vec![false; body.types.len()];
        for r in &body.results {
            outside[r.0 as usize] = true;
        }
        for n in body.nodes.iter().rev() {
            if n.op == GraphOp::Reshape && outside[n.outputs[0].0 as usize] {
                outside[n.inputs[0].0 as usize] = true;
            }
        }
        for (i, n) in body.nodes.iter().enumerate() {
            if matches!(n.op, GraphOp::Weight | GraphOp::Constant) {
                continue;
            }
            for v in &n.inputs {
                if n.op != GraphOp::Concat {
                    h.touch(h.of[v.0 as usize], i);
                }
            }
            for o in &n.outputs {
                let at =
                    if is_view(body, n) { h.of[n.inputs[0].0 as usize] } else { h.make(body, &outside, &whole, *o) };
                h.of[o.0 as usize] = at;
                h.touch(at, i);
                for w in &copied[o.0 as usize] {
                    let at = h.make(body, &outside, &whole, *w);
                    h.touch(at, i);
                }
            }
        }
        for (v, reader) in kept {
            h.touch(h.of[v.0 as usize], reader);
        }
        h
    }

    /// The buffer of a value that is about to be written, or of the outermost whole it goes into.
    fn make(&mut self, body: &Body, outside: &[bool], whole: &[Option<ValueId>], v: ValueId) -> Option<usize> {
        let mut top = v;
        while let Some(w) = whole[top.0 as usize] {
            top = w;
        }
        if outside[top.0 as usize] {
            return None;
        }
        if self.of[top.0 as usize].is_none() {
            self.bytes.push(body.ty(top).bytes().unwrap_or(0).next_multiple_of(64));
            self.lives.push((usize::MAX, 0));
            self.of[top.0 as usize] = Some(self.bytes.len() - 1);
        }
        self.of[top.0 as usize]
    }

    fn touch(&mut self, home: Option<usize>, step: usize) {
        if let Some(h) = home {
            let (first, last) = &mut self.lives[h];
            *first = (*first).min(step);
            *last = (*last).max(step);
        }
    }
}

/// Slices and concatenations, which stand for other nodes' facts where tiling made them.
fn is_move(n: &Node) -> bool {
    matches!(n.op, GraphOp::Slice | GraphOp::Concat)
}

/// Whether a result lies in the operand: reshapes, and slices that are one range of bytes.
fn is_view(body: &Body, n: &Node) -> bool {
    let steps = || n.attrs.get_ints("steps").iter().all(|s| *s == 1);
    let run = || one_run(body.ty(n.inputs[0]), body.ty(n.outputs[0]));
    n.op == GraphOp::Reshape || n.op == GraphOp::Slice && steps() && run()
}

fn contiguous(body: &Body, n: &Node) -> bool {
    in_ranges(body.ty(n.outputs[0]), n.attrs.get_int("axis") as usize)
}
