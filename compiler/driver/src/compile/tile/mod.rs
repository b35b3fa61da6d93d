//! Depth-first segments: tiles segments of a graph where that lowers the arena within a budget of recomputation.
//!
//! [`search`] decides by estimates; what it proposes is then posed and planned as it would be compiled, and kept only as far as
//! the arena really gets smaller.

mod build;
mod estimate;
mod search;

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use indicatif::ProgressBar;
use neap_optable::{Body, GraphOp, ValueId};
use neap_plan::report::human;
use serde::Serialize;

use crate::compile::memory::settle;
use crate::compile::pose::Work;
use crate::compile::units::{self, Unit, WeightStore};
use crate::compile::{Compiler, Graph, Timing};
use crate::failure::Failure;
use build::{Built, Decision, build};
use estimate::Fact;
use search::{Choice, Search};

/// What was tiled.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Tiling {
    /// Operations computed more than once, as a share of the model's.
    pub recompute: f64,
    /// Arena without tiling, where tiling was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untiled_arena_bytes: Option<u64>,
    /// Segments that run tile by tile.
    pub segments: Vec<Segment>,
    /// What makes the first value runs before what makes the second.
    #[serde(skip)]
    pub order: Vec<(ValueId, ValueId)>,
}

/// A segment that runs tile by tile.
#[derive(Clone, Debug, Serialize)]
pub struct Segment {
    /// Its first node.
    pub from: String,
    /// Its last node.
    pub to: String,
    /// Nodes in it, before tiling.
    pub nodes: usize,
    /// The dim of its results that is cut.
    pub axis: usize,
    /// How many tiles.
    pub tiles: usize,
}

impl Tiling {
    /// For people: what runs tile by tile, one segment a line.
    pub fn table(&self) -> String {
        let Some(untiled) = self.untiled_arena_bytes else { return String::new() };
        let untiled = human(untiled);
        if self.segments.is_empty() {
            return format!("untiled {untiled}; no segment run tile by tile would lower it within the limit\n");
        }
        let anew = self.recompute * 100.0;
        let mut text = format!("untiled {untiled}; {anew:.2} % of the operations are computed anew\n");
        for s in &self.segments {
            // Of joined nodes the first is name enough.
            let short = |name: &str| name.split('+').next().unwrap_or_default().to_string();
            let (from, to) = (short(&s.from), short(&s.to));
            text.push_str(&format!("  {} tiles along dim {}: {from} to {to}, {} nodes\n", s.tiles, s.axis, s.nodes));
        }
        text
    }
}

impl Compiler {
    /// Tiles segments of an optimised graph so that the arena becomes small, recomputing at most `limit` of all operations.
    ///
    /// # Errors
    /// As compiling; a segment that cannot be tiled is no error.
    pub fn tile(&self, graph: Graph, limit: f64, timing: &mut Timing) -> Result<Graph, Failure> {
        timing.phase("tile", || self.tiled(graph, limit))
    }

    fn tiled(&self, graph: Graph, limit: f64) -> Result<Graph, Failure> {
        let graph = Graph { body: units::legalise(&graph.body), ..graph };
        let mut store = WeightStore::new(&graph.weights);
        let mut units = units::units(&graph.body, &mut store, &self.target)?;
        // Observed values would lie outside the arena and leave nothing to save.
        let plain = Compiler { target: self.target.clone(), observe: false, ..self.clone() };
        let (posed, planned) = settle(&graph, &mut units, &store, &plain)?;
        let before = planned.certificate.arena;
        let order: Vec<Work> = planned.solution.order.iter().map(|o| posed.work[o.index()]).collect();
        let base = reordered(&graph.body, &units, &order);
        let facts = facts(&base, &units);
        let bar = if self.progress { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        let late = || self.tile_until.is_some_and(|until| Instant::now() >= until);
        let go_on = |peak: u64| {
            bar.set_message(format!("tiling: {} of {}", human(peak), human(before)));
            bar.tick();
            !late()
        };
        let search = Search::new(&base, &facts, limit, &go_on).map_err(Failure::new)?;
        let mut arena = |built: &Built| -> Result<u64, Failure> {
            let graph = self::graph(&graph, built, Tiling::default());
            let mut units = units::units(&graph.body, &mut store, &self.target)?;
            Ok(settle(&graph, &mut units, &store, &plain)?.1.certificate.arena)
        };
        let chosen = choose(&search, before, &mut arena, &late)?;
        bar.finish_and_clear();
        let Some((choice, built)) = chosen else {
            let tiling = Tiling { untiled_arena_bytes: Some(before), ..Tiling::default() };
            return Ok(Graph { tiling, ..graph });
        };
        let tiling = Tiling {
            recompute: choice.recompute,
            untiled_arena_bytes: Some(before),
            segments: choice.decisions.iter().zip(&built.tiles).map(|(d, t)| segment(&base, d, *t)).collect(),
            order: vec![],
        };
        Ok(self::graph(&graph, &built, tiling))
    }
}

/// The greedy path's best choice by the arena that it really needs, without what does not lower it.
fn choose(
    search: &Search<'_>,
    before: u64,
    arena: &mut impl FnMut(&Built) -> Result<u64, Failure>,
    late: &dyn Fn() -> bool,
) -> Result<Option<(Choice, Built)>, Failure> {
    let mut best: Option<(u64, Choice, Built)> = None;
    let path = search.run();
    // Estimates may promise what no plan keeps: the last few choices are tried.
    for choice in path.into_iter().skip(1).rev().take(3) {
        let Ok(built) = build(search.base, &choice.decisions) else { continue };
        let found = arena(&built)?;
        tracing::debug!(?choice.decisions, estimate = choice.peak, arena = found, "tiling");
        // Of equal ones the one with fewer decisions.
        if found < before && best.as_ref().is_none_or(|b| found <= b.0) {
            best = Some((found, choice, built));
        }
    }
    let Some((mut least, mut choice, mut built)) = best else { return Ok(None) };
    // Tiles that the arena does not need only cost time.
    let mut at = 0;
    while at < choice.decisions.len() && !late() {
        let d = &choice.decisions[at];
        let fewer = (d.tiles > 2).then(|| Decision { tiles: d.tiles / 2, ..d.clone() });
        let mut next = at + 1;
        for instead in [None, fewer] {
            let mut decisions = choice.decisions.clone();
            decisions.splice(at..at + 1, instead.clone());
            let Some(other) = search.judge(decisions) else { continue };
            if other.peak > choice.peak.max(least) {
                continue;
            }
            let Ok(b) = build(search.base, &other.decisions) else { continue };
            let found = arena(&b)?;
            if found <= least {
                (least, choice, built) = (found, other, b);
                next = at;
                break;
            }
        }
        at = next;
    }
    Ok(Some((choice, built)))
}

fn graph(old: &Graph, built: &Built, tiling: Tiling) -> Graph {
    let tiling = Tiling { order: built.order.clone(), ..tiling };
    Graph {
        name: old.name.clone(),
        body: built.body.clone(),
        weights: old.weights.clone(),
        tiling,
        applied: old.applied.clone(),
    }
}

fn segment(base: &Body, d: &Decision, tiles: usize) -> Segment {
    let computes = |i: &usize| units::computes(base.nodes[*i].op);
    let nodes: Vec<usize> = (d.from..d.to).filter(computes).collect();
    let name = |i: Option<&usize>| i.map(|i| base.nodes[*i].name.clone()).unwrap_or_default();
    Segment { from: name(nodes.first()), to: name(nodes.last()), nodes: nodes.len(), axis: d.axis, tiles }
}

/// The body in the order of a plan: constants first, then each node when the plan runs it, views where they are read first.
fn reordered(body: &Body, units: &[Unit], order: &[Work]) -> Body {
    let producers = body.producers();
    let by_output: HashMap<ValueId, usize> =
        body.nodes.iter().enumerate().flat_map(|(i, n)| n.outputs.iter().map(move |o| (*o, i))).collect();
    let mut out: Vec<usize> =
        (0..body.nodes.len()).filter(|i| matches!(body.nodes[*i].op, GraphOp::Weight | GraphOp::Constant)).collect();
    let mut done: HashSet<usize> = out.iter().copied().collect();
    let wanted = order.iter().filter_map(|w| match w {
        Work::All(u) | Work::Stage(u, _) => units[*u].outputs.first().and_then(|o| by_output.get(o)).copied(),
        Work::Nothing => None,
    });
    // What is read comes first, whatever the plan says of it: a concatenation that is copied in parts has all of them before.
    for node in wanted.chain(0..body.nodes.len()) {
        let mut stack = vec![node];
        while let Some(&i) = stack.last() {
            let missing: Vec<usize> = body.nodes[i]
                .inputs
                .iter()
                .filter_map(|v| producers[v.0 as usize])
                .filter(|p| !done.contains(p))
                .collect();
            if missing.is_empty() {
                stack.pop();
                if done.insert(i) {
                    out.push(i);
                }
            } else {
                stack.extend(missing);
            }
        }
    }
    let mut new = body.clone();
    new.nodes = out.into_iter().map(|i| body.nodes[i].clone()).collect();
    new
}

fn facts(base: &Body, units: &[Unit]) -> Vec<Fact> {
    let by_output: HashMap<ValueId, &Unit> = units.iter().filter_map(|u| Some((*u.outputs.first()?, u))).collect();
    base.nodes
        .iter()
        .map(|n| {
            let Some(u) = n.outputs.first().and_then(|o| by_output.get(o)) else { return Fact::default() };
            Fact {
                in_place: u.scheduled.in_place.clone(),
                shared: u.scheduled.shared.iter().sum(),
                scratch: u.scratch(),
                bytes: base.ty(n.outputs[0]).bytes().unwrap_or(0),
                concat: n.op == GraphOp::Concat,
            }
        })
        .collect()
}
