//! Order and places of the units' results, through the planner.

use std::collections::{HashMap, HashSet};

use neap_optable::{Body, ValueId};
use neap_plan::{Home, Limits, Op, Problem, Tensor, TensorId};
use neap_runtime::program::Place;
use serde::Serialize;

use crate::compile::units::{Root, Unit, roots};
use crate::failure::Failure;

/// Alignment of every buffer in the arena, bytes.
pub const ALIGN: u64 = 64;

/// What the plan says, in bytes; scratch is not in it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MemoryFigures {
    /// Planned arena.
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

/// Where everything lies.
#[derive(Debug)]
pub struct Plan {
    /// Place of each unit result.
    pub places: HashMap<ValueId, Place>,
    /// Arena offset of each unit's bytes that live between its stages.
    pub shared: Vec<u64>,
    /// Arena bytes.
    pub arena_bytes: u64,
    /// For reports.
    pub figures: MemoryFigures,
}

/// The units as a memory problem.
#[derive(Debug)]
pub struct Posed {
    /// The problem; ops are units in the model's order.
    pub problem: Problem,
    /// Tensor of each unit result.
    tensors: HashMap<ValueId, TensorId>,
    /// Results that lie in the caller's buffers.
    outputs: HashMap<ValueId, Place>,
    /// Share by position to (unit, in-place pair).
    shares: HashMap<usize, (usize, (usize, usize))>,
}

/// Poses the memory problem of some units.
pub fn pose(body: &Body, units: &[Unit], observe: bool) -> Result<Posed, Failure> {
    let roots = roots(body)?;
    let outputs = output_places(body, &roots, units, observe)?;
    let mut builder = Problem::builder();
    builder.storage_align(ALIGN);
    let mut tensors: HashMap<ValueId, TensorId> = HashMap::new();
    for u in units.iter() {
        for (i, &v) in u.outputs.iter().enumerate() {
            let bytes = body
                .ty(v)
                .bytes()
                .ok_or_else(|| Failure::new(format!("node '{}': a result has no fixed size", u.name)))?;
            let mut t =
                Tensor::new(if i == 0 { u.name.clone() } else { format!("{}:{i}", u.name) }, bytes.max(1)).align(ALIGN);
            if outputs.contains_key(&v) {
                t = t.home(Home::Writable).output();
            }
            tensors.insert(v, builder.tensor(t));
        }
    }
    let mut shares = HashMap::new();
    for (i, u) in units.iter().enumerate() {
        let read: Vec<TensorId> = u
            .inputs
            .iter()
            .filter_map(|r| match r {
                Root::Value(v) => Some(tensors[v]),
                _ => None,
            })
            .collect();
        let workspace: u64 = u.scheduled.shared.iter().map(|b| b.next_multiple_of(ALIGN)).sum();
        let op = builder.op(Op::new(u.name.clone())
            .inputs(read)
            .outputs(u.outputs.iter().map(|v| tensors[v]))
            .workspace(workspace)
            .time(u.flops));
        for &(a, b) in &u.scheduled.in_place {
            let (Some(Root::Value(input)), Some(output)) = (u.inputs.get(a), u.outputs.get(b)) else { continue };
            // Another operand position that reads the same bytes must be in the pair's set too.
            let readers = u.inputs.iter().enumerate().filter(|(_, r)| **r == Root::Value(*input));
            let all_safe = readers.into_iter().all(|(p, _)| u.scheduled.in_place.contains(&(p, b)));
            if all_safe && body.ty(*input).bytes() >= body.ty(*output).bytes() {
                let share = builder.in_place(op, tensors[input], tensors[output]);
                shares.insert(share.index(), (i, (a, b)));
            }
        }
    }
    let problem = builder.build().map_err(|e| Failure::new(format!("memory plan: {e}")))?;
    Ok(Posed { problem, tensors, outputs, shares })
}

/// Plans memory; reorders `units` and leaves in each only the in-place pairs that the plan takes.
pub fn plan(body: &Body, units: &mut Vec<Unit>, observe: bool) -> Result<Plan, Failure> {
    let Posed { problem, tensors, outputs, shares } = pose(body, units, observe)?;
    let planned =
        neap_plan::solve(&problem, &Limits::default()).map_err(|e| Failure::new(format!("memory plan: {e}")))?;
    let (solution, certificate) = (&planned.solution, &planned.certificate);
    neap_plan::check(&problem, solution, certificate)
        .map_err(|e| Failure::new(format!("bug: the memory planner made a wrong plan ({e}); please report it")))?;

    let taken: HashSet<(usize, (usize, usize))> =
        solution.taken.iter().filter_map(|s| shares.get(&s.index())).copied().collect();
    for (i, u) in units.iter_mut().enumerate() {
        u.scheduled.in_place.retain(|p| taken.contains(&(i, *p)));
    }
    let external: HashMap<TensorId, Place> = outputs.iter().map(|(v, p)| (tensors[v], *p)).collect();
    let places = tensors.iter().map(|(v, t)| {
        let place = match solution.places[t.index()] {
            neap_plan::Place::Arena(offset) => Place::Arena(offset),
            neap_plan::Place::External { of, offset } => match external[&of] {
                Place::Output(i, base) => Place::Output(i, base + offset),
                other => other,
            },
        };
        (*v, place)
    });
    let places = places.collect();
    let order: Vec<usize> = solution.order.iter().map(|o| o.index()).collect();
    let shared = order.iter().map(|&o| solution.workspaces[o]).collect();
    let mut slots: Vec<Option<Unit>> = units.drain(..).map(Some).collect();
    units.extend(order.iter().filter_map(|&o| slots[o].take()));
    let figures = MemoryFigures {
        arena_bytes: certificate.arena,
        lower_bound_bytes: certificate.lower_bound,
        file_order_peak_bytes: planned.file_order_peak,
        no_reuse_bytes: planned.no_reuse,
        method: certificate.method.clone(),
    };
    Ok(Plan { places, shared, arena_bytes: certificate.arena, figures })
}

/// The caller's buffer for each unit result that is a model output.
fn output_places(
    body: &Body,
    roots: &[Option<Root>],
    units: &[Unit],
    observe: bool,
) -> Result<HashMap<ValueId, Place>, Failure> {
    let mut out = HashMap::new();
    for (i, r) in body.results.iter().enumerate() {
        match &roots[r.0 as usize] {
            Some(Root::Value(v)) => {
                out.entry(*v).or_insert(Place::Output(i as u32, 0));
            }
            _ => {
                return Err(Failure::new(
                    "bug: a model output is not computed by a kernel; graph-copy-outputs must run last",
                ));
            }
        }
    }
    if observe {
        let mut next = body.results.len() as u32;
        for v in units.iter().flat_map(|u| &u.outputs) {
            out.entry(*v).or_insert_with(|| {
                next += 1;
                Place::Output(next - 1, 0)
            });
        }
    }
    Ok(out)
}
