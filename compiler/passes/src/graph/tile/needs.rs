//! From what is wanted of some values back to what every node of a stretch computes.

use std::collections::BTreeMap;

use neap_optable::{Body, GraphOp, Node, TensorType, ValueId};

use super::part::{Need, Part};
use super::rules::{Cut, cut};

/// How one node takes part in a tile.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Role {
    /// Nothing of it is needed.
    Idle,
    /// All of it is computed.
    Whole,
    /// A part of it is computed.
    Cut(Cut),
}

/// What a tile computes.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs {
    /// What is needed of each value.
    pub(super) of: BTreeMap<ValueId, Need>,
    /// One a node.
    pub(super) roles: Vec<Role>,
}

/// A node that cannot be computed part by part, by position, and why.
#[derive(Clone, Debug)]
pub(super) struct Stuck {
    pub(super) node: usize,
    pub(super) why: String,
}

/// Goes backwards over `nodes` (in topological order, values typed by `types`) from what is wanted.
pub(super) fn needs(
    nodes: &[&Node],
    types: &[TensorType],
    wanted: BTreeMap<ValueId, Need>,
    inside: Inside,
) -> Result<Needs, Stuck> {
    let mut of = wanted;
    let mut roles = vec![Role::Idle; nodes.len()];
    for (i, n) in nodes.iter().enumerate().rev() {
        let found: Vec<Need> = n.outputs.iter().filter_map(|o| of.get(o)).copied().collect();
        let Some(need) = found.into_iter().reduce(Need::with) else { continue };
        let role = match need {
            Need::Whole => Role::Whole,
            Need::Part(part) => match node(n, types, part) {
                Ok(cut) => Role::Cut(cut),
                // Inside a kernel these cost nothing, whole or not.
                Err(_) if inside == Inside::Kernel && matches!(n.op, GraphOp::Iota | GraphOp::Constant) => Role::Whole,
                Err(why) => return Err(Stuck { node: i, why }),
            },
        };
        for (k, v) in n.inputs.iter().enumerate() {
            let need = match &role {
                Role::Cut(c) => c.needs[k],
                Role::Whole | Role::Idle => Need::Whole,
            };
            of.entry(*v).and_modify(|old| *old = old.with(need)).or_insert(need);
        }
        roles[i] = role;
    }
    Ok(Needs { of, roles })
}

/// Whether the nodes are kernels or lie inside one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// Nodes of a graph.
    Graph,
    /// Nodes of a fusion's region.
    Kernel,
}

fn node(n: &Node, types: &[TensorType], part: Part) -> Result<Cut, String> {
    let of = |ids: &[ValueId]| ids.iter().map(|v| types[v.0 as usize].clone()).collect::<Vec<_>>();
    let Some(region) = n.region.as_deref() else {
        return cut(n.op, &n.attrs, &of(&n.inputs), &of(&n.outputs), part);
    };
    let found = self::region(region, part)?;
    let needs = region.args.iter().map(|a| found.of.get(a).copied().unwrap_or(Need::Whole));
    Ok(Cut::new(&n.attrs, part, needs.collect::<Vec<_>>()))
}

/// What a fusion's region needs for a part of its results.
pub(super) fn region(region: &Body, part: Part) -> Result<Needs, String> {
    let nodes: Vec<&Node> = region.nodes.iter().collect();
    let wanted = region.results.iter().map(|r| (*r, Need::Part(part))).collect();
    needs(&nodes, &region.types, wanted, Inside::Kernel)
        .map_err(|s| format!("graph.{} in it: {}", region.nodes[s.node].op.name(), s.why))
}
