//! Writes the nodes of one tile.

use std::collections::HashMap;

use neap_optable::{Attrs, Body, GraphOp, Node, TensorType, ValueId};

use super::needs::{Needs, Role, region};
use super::part::{Need, Part};

/// A value of a tile: its id in the new body and the part of the old value that it is; all of it where there is none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) value: ValueId,
    pub(super) part: Option<Part>,
}

/// A tile being written.
pub(super) struct Emitter<'a> {
    /// Types of the old values.
    pub(super) types: &'a [TensorType],
    /// Where it is written.
    pub(super) out: &'a mut Body,
    /// What the tile holds so far, by old value; all others are there whole.
    pub(super) held: HashMap<ValueId, Held>,
    /// Slices made so far.
    slices: HashMap<(ValueId, Part), ValueId>,
    /// For each node written the old node it was written for.
    pub(super) origins: Vec<usize>,
    /// Added to the names of nodes.
    suffix: String,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(types: &'a [TensorType], out: &'a mut Body, suffix: String) -> Self {
        Emitter { types, out, held: HashMap::new(), slices: HashMap::new(), origins: vec![], suffix }
    }

    /// Appends every node that has something to do; `at` are the nodes' old positions.
    pub(super) fn nodes(&mut self, nodes: &[&Node], at: &[usize], needs: &Needs) {
        for ((n, at), role) in nodes.iter().zip(at).zip(&needs.roles) {
            match role {
                Role::Idle => {}
                Role::Whole => self.push(n, *at, &vec![Need::Whole; n.inputs.len()], n.attrs.clone(), None),
                Role::Cut(c) => self.push(n, *at, &c.needs, c.attrs.clone(), Some(c.computed)),
            }
        }
    }

    fn push(&mut self, n: &Node, at: usize, needs: &[Need], attrs: Attrs, part: Option<Part>) {
        let mut inputs = vec![];
        let mut region_parts = vec![];
        for (k, (v, need)) in n.inputs.iter().zip(needs).enumerate() {
            let inner = n.region.as_deref().is_some_and(|r| moves_inside(r, k));
            match self.held.get(v) {
                // The kernel reads out of the larger part itself.
                Some(h) if inner && h.part.is_some() && *need != Need::Whole => {
                    inputs.push(h.value);
                    region_parts.push(h.part);
                }
                _ => {
                    inputs.push(self.fetch(*v, *need, at, &n.name));
                    region_parts.push(match need {
                        Need::Part(p) => Some(*p),
                        Need::Whole => None,
                    });
                }
            }
        }
        let of = |ty: &TensorType| part.map_or_else(|| ty.clone(), |p| p.of(ty));
        let types: Vec<TensorType> = n.outputs.iter().map(|o| of(&self.types[o.0 as usize])).collect();
        let name = if n.name.is_empty() { String::new() } else { format!("{}{}", n.name, self.suffix) };
        let out = self.out.push(n.op, attrs, &inputs, types, name);
        self.origins.push(at);
        if let (Some(r), Some(last)) = (n.region.as_deref(), self.out.nodes.last_mut()) {
            last.region = Some(Box::new(part.map_or_else(|| r.clone(), |p| cut_region(r, p, &region_parts))));
        }
        for (o, value) in n.outputs.iter().zip(out) {
            self.held.insert(*o, Held { value, part });
        }
    }

    /// What is needed of an old value, as a value of the new body; a slice made for it comes from node `at`.
    pub(super) fn fetch(&mut self, v: ValueId, need: Need, at: usize, name: &str) -> ValueId {
        let held = self.held.get(&v).copied().unwrap_or(Held { value: v, part: None });
        let Need::Part(want) = need else { return held.value };
        let ty = &self.types[v.0 as usize];
        let from = held.part.map_or(0, |p| p.begin);
        let have = held.part.map_or_else(|| ty.clone(), |p| p.of(ty));
        if have == want.of(ty) {
            return held.value;
        }
        if let Some(s) = self.slices.get(&(v, want)) {
            return *s;
        }
        let mut starts = vec![0; ty.rank()];
        starts[want.dim] = (want.begin - from) as i64;
        let attrs = Attrs::new().ints("starts", starts).ints("steps", vec![1; ty.rank()]);
        let name = if name.is_empty() { String::new() } else { format!("{name}{}", self.suffix) };
        let out = self.out.push(GraphOp::Slice, attrs, &[held.value], [want.of(ty)], name)[0];
        self.origins.push(at);
        self.slices.insert((v, want), out);
        out
    }
}

/// Whether an argument of a region is read at single places alone, so that a slice of it costs its kernel nothing.
fn moves_inside(region: &Body, arg: usize) -> bool {
    let v = region.args[arg];
    let mut from_it = vec![v];
    for n in &region.nodes {
        if n.inputs.iter().any(|i| from_it.contains(i)) {
            from_it.extend(&n.outputs);
        }
    }
    // A contraction that widens its operands reads them at many places.
    let contracted =
        |n: &Node| matches!(n.op, GraphOp::Matmul | GraphOp::Conv) && n.inputs.iter().any(|i| from_it.contains(i));
    let mut readers = region.nodes.iter().filter(|n| n.inputs.contains(&v));
    readers.all(|n| neap_optable::is_elementwise(n.op))
        && !region.nodes.iter().any(contracted)
        && !region.results.contains(&v)
}

/// The region for a part of its results, its arguments being these parts of the old ones.
fn cut_region(old: &Body, part: Part, args: &[Option<Part>]) -> Body {
    let mut new = Body::default();
    let values: Vec<Held> = old
        .args
        .iter()
        .zip(args)
        .map(|(a, p)| {
            let ty = old.ty(*a);
            Held { value: new.arg(p.map_or_else(|| ty.clone(), |p| p.of(ty))), part: *p }
        })
        .collect();
    // The node was cut by the same rules before.
    let Ok(needs) = region(old, part) else { unreachable!("a region that was cut once is cut again") };
    let nodes: Vec<&Node> = old.nodes.iter().collect();
    let mut inner = Emitter::new(&old.types, &mut new, String::new());
    inner.held.extend(old.args.iter().copied().zip(values));
    inner.nodes(&nodes, &vec![0; nodes.len()], &needs);
    let results = old.results.iter().map(|r| inner.fetch(*r, Need::Part(part), 0, "")).collect();
    new.results = results;
    new
}
