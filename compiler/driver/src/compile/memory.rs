//! Order and places of the units' results, through the planner.

use std::collections::{HashMap, HashSet};

use neap_optable::ValueId;
use neap_plan::{Limits, Planned};
use neap_runtime::program::Place;
use serde::Serialize;

use crate::compile::fit::tighten;
use crate::compile::moves::Moves;
use crate::compile::pose::{Meaning, Posed, Work, pose};
use crate::compile::units::{Unit, WeightStore};
use crate::compile::{Compiler, Graph};
use crate::failure::Failure;

/// What the plan says, in bytes, for one thread.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MemoryFigures {
    /// Planned arena: intermediates and scratch.
    pub arena_bytes: u64,
    /// No arena can be smaller.
    pub lower_bound_bytes: u64,
    /// Arena if units ran in the model's own order.
    pub file_order_peak_bytes: u64,
    /// Arena if no two tensors shared memory.
    pub no_reuse_bytes: u64,
    /// How the order was found.
    pub method: String,
}

/// Where everything lies, and what runs when.
#[derive(Debug)]
pub struct Plan {
    /// Place of each unit result.
    pub places: HashMap<ValueId, Place>,
    /// What to run, in order.
    pub steps: Vec<Step>,
    /// Arena bytes.
    pub arena_bytes: u64,
    /// For reports.
    pub figures: MemoryFigures,
}

/// Some stages of a unit, run one after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Position of the unit.
    pub unit: usize,
    /// Its stages.
    pub stages: Vec<usize>,
    /// Arena offset of the bytes that live between its stages.
    pub shared: u64,
    /// Ranges of the result that were written before: start and bytes.
    pub kept: Vec<(u64, u64)>,
}

/// How often units at the peak are given less scratch, at most.
const ROUNDS: usize = 2;

/// The memory problem of some units and its plan. Gives units at the peak less scratch as long as that lowers the arena.
pub fn settle(
    graph: &Graph,
    units: &mut [Unit],
    store: &WeightStore<'_>,
    compiler: &Compiler,
) -> Result<(Posed, Planned), Failure> {
    let solved = |units: &[Unit]| -> Result<(Posed, Planned), Failure> {
        let posed = pose(graph, units, store, compiler)?;
        let planned = neap_plan::solve(&posed.problem, &Limits::default());
        Ok((posed, planned.map_err(|e| Failure::new(format!("memory plan: {e}")))?))
    };
    let mut best = solved(units)?;
    for _ in 0..ROUNDS {
        let old = tighten(units, &best.0, &best.1, &compiler.target);
        if old.is_empty() {
            break;
        }
        let next = solved(units)?;
        if next.1.certificate.arena >= best.1.certificate.arena {
            for (u, scheduled) in old {
                units[u].scheduled = scheduled;
            }
            break;
        }
        best = next;
    }
    Ok(best)
}

/// Plans memory. Leaves in `units` those that still have something to run, in the order in which they first do, and in
/// each only the in-place pairs that the plan takes.
pub fn plan(
    graph: &Graph,
    units: &mut Vec<Unit>,
    store: &WeightStore<'_>,
    compiler: &Compiler,
) -> Result<Plan, Failure> {
    let (posed, planned) = settle(graph, units, store, compiler)?;
    let (solution, certificate) = (&planned.solution, &planned.certificate);
    neap_plan::check(&posed.problem, solution, certificate)
        .map_err(|e| Failure::new(format!("bug: the memory planner made a wrong plan ({e}); please report it")))?;

    let taken: HashSet<Meaning> = solution.taken.iter().map(|s| posed.shares[s.index()]).collect();
    for (i, u) in units.iter_mut().enumerate() {
        u.scheduled.in_place.retain(|p| taken.contains(&Meaning::InPlace(i, *p)));
    }
    let places = places(&posed, solution);
    let steps = steps(&posed, solution, &taken, units);
    let figures = MemoryFigures {
        arena_bytes: certificate.arena,
        lower_bound_bytes: certificate.lower_bound,
        file_order_peak_bytes: planned.file_order_peak,
        no_reuse_bytes: planned.no_reuse,
        method: certificate.method.clone(),
    };
    Ok(Plan { places, steps, arena_bytes: certificate.arena, figures })
}

fn places(posed: &Posed, solution: &neap_plan::Solution) -> HashMap<ValueId, Place> {
    let place = |p: neap_plan::Place| match p {
        neap_plan::Place::Arena(offset) => Place::Arena(offset),
        neap_plan::Place::External { of, offset } => posed.external[&of].at(offset),
    };
    posed.tensors.iter().map(|(v, t)| (*v, place(solution.places[t.index()]))).collect()
}

/// What is left to run when nothing that lies in place already is moved.
fn steps(posed: &Posed, solution: &neap_plan::Solution, taken: &HashSet<Meaning>, units: &mut Vec<Unit>) -> Vec<Step> {
    let mut steps: Vec<Step> = vec![];
    let mut begun = vec![false; units.len()];
    for op in &solution.order {
        let (unit, stages) = match posed.work[op.index()] {
            Work::All(u) if taken.contains(&Meaning::Whole(u)) => continue,
            Work::All(u) => (u, 0..units[u].scheduled.stages.len()),
            Work::Stage(u, s) => (u, s..s + 1),
            Work::Nothing => continue,
        };
        let lies = |stage: usize| taken.contains(&Meaning::Part(unit, stage));
        let stages: Vec<usize> = stages.filter(|s| !lies(*s)).collect();
        if stages.is_empty() {
            continue;
        }
        let mut kept = vec![];
        if let Moves::Parts(parts) = &units[unit].moves {
            match posed.work[op.index()] {
                Work::Stage(..) if begun[unit] => kept.push((0, parts.iter().map(|p| p.bytes).sum())),
                Work::Stage(..) => {}
                _ => kept.extend(
                    parts.iter().filter(|p| p.stage.is_some_and(lies)).filter_map(|p| Some((p.offset?, p.bytes))),
                ),
            }
        }
        begun[unit] = true;
        steps.push(Step { unit, stages, shared: solution.workspaces[op.index()], kept });
    }
    let mut slots: Vec<Option<Unit>> = units.drain(..).map(Some).collect();
    let mut at: HashMap<usize, usize> = HashMap::new();
    for s in &mut steps {
        if let Some(unit) = slots[s.unit].take() {
            at.insert(s.unit, units.len());
            units.push(unit);
        }
        s.unit = at[&s.unit];
    }
    steps
}
