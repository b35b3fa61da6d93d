//! neap's own JSON: problems in and out, plans out. The schema is in `docs/planner.md`.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::shorten;
use crate::build::ProblemError;
use crate::check::BoundCheck;
use crate::limits::Limits;
use crate::order::Simple;
use crate::problem::{Home, Op, OpId, Problem, Share, ShareId, ShareKind, Tensor, TensorId};
use crate::solution::Place;
use crate::solve::{PlanError, Planned, simple_arena};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProblemJson {
    #[serde(default = "one", skip_serializing_if = "is_one")]
    storage_align: Number,
    tensors: Vec<TensorJson>,
    ops: Vec<OpJson>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    shares: Vec<ShareJson>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    edges: Vec<(String, String)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TensorJson {
    name: String,
    size: Number,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    align: Number,
    #[serde(default, skip_serializing_if = "HomeJson::is_arena")]
    home: HomeJson,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    input: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    output: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pinned: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum HomeJson {
    #[default]
    Arena,
    ReadOnly,
    Writable,
}

impl HomeJson {
    fn is_arena(&self) -> bool {
        *self == HomeJson::Arena
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OpJson {
    name: String,
    #[serde(default)]
    inputs: Vec<String>,
    #[serde(default)]
    outputs: Vec<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    workspace: Number,
    #[serde(default, skip_serializing_if = "is_zero")]
    time: Number,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KindJson {
    View,
    InPlace,
    Into,
}

impl From<ShareKind> for KindJson {
    fn from(kind: ShareKind) -> Self {
        match kind {
            ShareKind::View => KindJson::View,
            ShareKind::InPlace => KindJson::InPlace,
            ShareKind::Into => KindJson::Into,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShareJson {
    kind: KindJson,
    op: String,
    inner: String,
    outer: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    offset: Number,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    required: bool,
}

fn one() -> Number {
    Number(1.into())
}

fn is_one(n: &Number) -> bool {
    n.0.as_u64() == Some(1)
}

fn is_zero(n: &Number) -> bool {
    n.0.as_u64() == Some(0)
}

/// Any number, so that one that will not do can be named with what it belongs to.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Number(serde_json::Number);

impl Default for Number {
    fn default() -> Self {
        Number(0.into())
    }
}

impl From<u64> for Number {
    fn from(n: u64) -> Self {
        Number(n.into())
    }
}

impl Number {
    /// A whole number from 0, or what of whom is at fault.
    fn natural(&self, what: &str, name: &str) -> Result<u64, ProblemError> {
        self.0.as_u64().ok_or_else(|| {
            let of = if name.is_empty() { String::new() } else { format!(" of '{}'", shorten(name)) };
            let found = shorten(&self.0.to_string());
            ProblemError::new(format!("{what}{of} is {found}; it must be a whole number from 0 to below 2^62"))
        })
    }
}

/// Reads a problem.
///
/// # Errors
/// One line: what is no JSON, no problem, or a problem that [`crate::ProblemBuilder::build`] refuses.
pub fn read(text: &str) -> Result<Problem, ProblemError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(ProblemError::new("no problem file of neap's: the file is empty"));
    }
    let front = &text[..text.len() - text.trim_start().len()];
    if !text[front.len()..].starts_with('{') {
        let error = ProblemError::new("no problem file of neap's: expected an object with 'tensors' and 'ops'");
        let column = 1 + front.rsplit('\n').next().unwrap_or_default().len();
        return Err(error.at(1 + front.matches('\n').count(), Some(column)));
    }
    let json: ProblemJson = serde_json::from_str(text).map_err(|e| {
        // What it says ends with the place, which is shown with the file's name.
        let (said, place) = (e.to_string(), format!(" at line {} column {}", e.line(), e.column()));
        let error = ProblemError::new(format!("no problem file of neap's: {}", said.trim_end_matches(&place)));
        if e.line() == 0 { error } else { error.at(e.line(), Some(e.column().max(1))) }
    })?;
    let mut b = Problem::builder();
    b.storage_align(json.storage_align.natural("'storage_align'", "")?);
    let mut tensors: HashMap<String, TensorId> = HashMap::with_capacity(json.tensors.len());
    for t in json.tensors {
        let tensor = Tensor {
            size: t.size.natural("size", &t.name)?,
            name: t.name.clone(),
            align: t.align.natural("alignment", &t.name)?,
            home: match t.home {
                HomeJson::Arena => Home::Arena,
                HomeJson::ReadOnly => Home::ReadOnly,
                HomeJson::Writable => Home::Writable,
            },
            input: t.input,
            output: t.output,
            pinned: t.pinned,
        };
        let id = b.tensor(tensor);
        if tensors.insert(t.name.clone(), id).is_some() {
            return Err(ProblemError::new(format!("two tensors are named '{}'", shorten(&t.name))));
        }
    }
    let tensor = |name: &str, wants: &str| {
        tensors.get(name).copied().ok_or_else(|| {
            ProblemError::new(format!("{wants} names tensor '{}', which is not in 'tensors'", shorten(name)))
        })
    };
    let mut ops: HashMap<String, OpId> = HashMap::with_capacity(json.ops.len());
    for o in json.ops {
        let wants = format!("op '{}'", shorten(&o.name));
        let ids = |names: &[String]| names.iter().map(|n| tensor(n, &wants)).collect::<Result<Vec<_>, _>>();
        let op = Op {
            inputs: ids(&o.inputs)?,
            outputs: ids(&o.outputs)?,
            workspace: o.workspace.natural("workspace", &o.name)?,
            time: o.time.natural("time", &o.name)?,
            name: o.name.clone(),
        };
        let id = b.op(op);
        if ops.insert(o.name.clone(), id).is_some() {
            return Err(ProblemError::new(format!("two ops are named '{}'", shorten(&o.name))));
        }
    }
    let op = |name: &str, wants: &str| {
        ops.get(name)
            .copied()
            .ok_or_else(|| ProblemError::new(format!("{wants} names op '{}', which is not in 'ops'", shorten(name))))
    };
    for s in json.shares {
        let share = Share {
            kind: match s.kind {
                KindJson::View => ShareKind::View,
                KindJson::InPlace => ShareKind::InPlace,
                KindJson::Into => ShareKind::Into,
            },
            op: op(&s.op, "a share")?,
            inner: tensor(&s.inner, "a share")?,
            outer: tensor(&s.outer, "a share")?,
            offset: s.offset.natural("offset in a share", &s.inner)?,
            required: s.required,
        };
        b.share(share);
    }
    for (before, after) in json.edges {
        b.edge(op(&before, "an edge")?, op(&after, "an edge")?);
    }
    b.build()
}

/// Names, each made unique by its id where it is not.
fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    names
        .enumerate()
        .map(|(i, n)| {
            let name = if n.is_empty() || seen.contains(n) { format!("{n}#{i}") } else { n.to_string() };
            seen.insert(name.clone());
            name
        })
        .collect()
}

/// Names of all tensors as the text formats show them.
pub fn tensor_names(problem: &Problem) -> Vec<String> {
    unique(problem.tensors().iter().map(|t| t.name.as_str()))
}

/// Names of all ops as the text formats show them.
pub fn op_names(problem: &Problem) -> Vec<String> {
    unique(problem.ops().iter().map(|o| o.name.as_str()))
}

/// Writes a problem.
pub fn write(problem: &Problem) -> String {
    let (tensors, ops) = (tensor_names(problem), op_names(problem));
    let json = ProblemJson {
        storage_align: problem.storage_align().into(),
        tensors: problem
            .tensors()
            .iter()
            .zip(&tensors)
            .map(|(t, name)| TensorJson {
                name: name.clone(),
                size: t.size.into(),
                align: t.align.into(),
                home: match t.home {
                    Home::Arena => HomeJson::Arena,
                    Home::ReadOnly => HomeJson::ReadOnly,
                    Home::Writable => HomeJson::Writable,
                },
                input: t.input,
                output: t.output,
                pinned: t.pinned,
            })
            .collect(),
        ops: problem
            .ops()
            .iter()
            .zip(&ops)
            .map(|(o, name)| OpJson {
                name: name.clone(),
                inputs: o.inputs.iter().map(|t| tensors[t.index()].clone()).collect(),
                outputs: o.outputs.iter().map(|t| tensors[t.index()].clone()).collect(),
                workspace: o.workspace.into(),
                time: o.time.into(),
            })
            .collect(),
        shares: problem
            .shares()
            .iter()
            .map(|s| ShareJson {
                kind: s.kind.into(),
                op: ops[s.op.index()].clone(),
                inner: tensors[s.inner.index()].clone(),
                outer: tensors[s.outer.index()].clone(),
                offset: s.offset.into(),
                required: s.required,
            })
            .collect(),
        edges: problem.edges().iter().map(|(a, b)| (ops[a.index()].clone(), ops[b.index()].clone())).collect(),
    };
    serde_json::to_string(&json).unwrap_or_default()
}

/// What `neap plan --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct PlanJson {
    /// Bytes alive at the worst step.
    pub peak_bytes: u64,
    /// Bytes of the arena.
    pub arena_bytes: u64,
    /// No plan has a smaller arena.
    pub lower_bound_bytes: u64,
    /// How far the checker verified the bound: `verified` or `taken on trust`.
    pub bound_check: &'static str,
    /// Excess over the bound as a fraction of it.
    pub gap: f64,
    /// Whether the plan is proven to be as good as any.
    pub optimal: bool,
    /// How it was found.
    pub method: String,
    /// Wall time of the solver.
    pub solve_ms: f64,
    /// Bytes alive at the worst step of the file's order.
    pub file_order_peak_bytes: u64,
    /// Bytes if nothing shared memory.
    pub no_reuse_bytes: u64,
    /// What the simple orders need, where there are ops to order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub simple_orders: Vec<SimpleOrder>,
    /// With a capacity, whether the arena fits: `true`, `false`, or `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fits: Option<Fits>,
    /// Ops in the order they run.
    pub order: Vec<String>,
    /// Byte offset in the arena of each tensor or buffer.
    pub offsets: serde_json::Map<String, serde_json::Value>,
    /// Byte offset in the arena of each op's workspace, by the op's name.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub workspaces: serde_json::Map<String, serde_json::Value>,
    /// Tensors that lie outside the arena, by name: in the memory `of` a tensor outside the arena, from `offset` on.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub outside: serde_json::Map<String, serde_json::Value>,
    /// The shares taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<TakenJson>,
}

/// A share as a plan takes it; as in the problem.
#[derive(Clone, Debug, Serialize)]
pub struct TakenJson {
    kind: KindJson,
    op: String,
    inner: String,
    outer: String,
    offset: u64,
}

/// A simple order's figures.
#[derive(Clone, Debug, Serialize)]
pub struct SimpleOrder {
    /// Its name.
    pub order: &'static str,
    /// Bytes alive at the worst step.
    pub peak_bytes: u64,
    /// Bytes of the arena.
    pub arena_bytes: u64,
}

/// The figures of all simple orders.
///
/// # Errors
/// As [`crate::solve`].
pub fn simple_orders(problem: &Problem, limits: &Limits) -> Result<Vec<SimpleOrder>, PlanError> {
    let figures = Simple::ALL.map(|rule| {
        let (peak_bytes, arena_bytes) = simple_arena(problem, rule, limits)?;
        Ok(SimpleOrder { order: rule.name(), peak_bytes, arena_bytes })
    });
    figures.into_iter().collect()
}

/// Whether an arena fits a capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fits {
    /// It does.
    True,
    /// No plan fits.
    False,
    /// This plan does not; another might.
    Unknown,
}

impl Fits {
    /// What a plan and a bound say of a capacity.
    pub fn of(arena: u64, lower_bound: u64, capacity: u64) -> Self {
        if arena <= capacity {
            Fits::True
        } else if lower_bound > capacity {
            Fits::False
        } else {
            Fits::Unknown
        }
    }
}

impl Serialize for Fits {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Fits::True => s.serialize_bool(true),
            Fits::False => s.serialize_bool(false),
            Fits::Unknown => s.serialize_str("unknown"),
        }
    }
}

/// The JSON of a plan, beside what the simple orders need.
pub fn plan(
    problem: &Problem,
    planned: &Planned,
    bound: BoundCheck,
    simple_orders: Vec<SimpleOrder>,
    solve_ms: f64,
    capacity: Option<u64>,
) -> PlanJson {
    let c = &planned.certificate;
    let (tensors, ops) = (tensor_names(problem), op_names(problem));
    let (mut offsets, mut outside) = (serde_json::Map::new(), serde_json::Map::new());
    for (name, place) in tensors.iter().zip(&planned.solution.places) {
        match place {
            Place::Arena(offset) => offsets.insert(name.clone(), (*offset).into()),
            Place::External { of, offset } => {
                outside.insert(name.clone(), serde_json::json!({"of": tensors[of.index()], "offset": offset}))
            }
        };
    }
    let worked = problem.op_ids().filter(|o| problem.op(*o).workspace > 0);
    let workspaces = worked.map(|o| (ops[o.index()].clone(), planned.solution.workspaces[o.index()].into())).collect();
    let taken = |id: &ShareId| {
        let s = &problem.shares()[id.index()];
        TakenJson {
            kind: s.kind.into(),
            op: ops[s.op.index()].clone(),
            inner: tensors[s.inner.index()].clone(),
            outer: tensors[s.outer.index()].clone(),
            offset: s.offset,
        }
    };
    PlanJson {
        peak_bytes: c.peak,
        arena_bytes: c.arena,
        lower_bound_bytes: c.lower_bound,
        bound_check: bound.label(),
        gap: if c.gap().is_finite() { c.gap() } else { 1.0 },
        optimal: c.optimal(),
        method: c.method.clone(),
        solve_ms,
        file_order_peak_bytes: planned.file_order_peak,
        no_reuse_bytes: planned.no_reuse,
        simple_orders,
        fits: capacity.map(|cap| Fits::of(c.arena, c.lower_bound, cap)),
        order: planned.solution.order.iter().map(|o| ops[o.index()].clone()).collect(),
        offsets,
        workspaces,
        outside,
        shares: planned.solution.taken.iter().map(taken).collect(),
    }
}

/// The JSON of a placement: the buffers of a table are alive in the order given, so order and peak are theirs.
pub fn placement(
    ids: &[String],
    blocks: &[crate::place::Block],
    placed: &crate::place::Placed,
    check: BoundCheck,
    solve_ms: f64,
    capacity: Option<u64>,
) -> PlanJson {
    let (arena, bound) = (placed.placement.height, placed.lower_bound);
    let load = crate::place::max_load(blocks);
    PlanJson {
        peak_bytes: load,
        arena_bytes: arena,
        lower_bound_bytes: bound,
        bound_check: check.label(),
        gap: if bound == 0 { 0.0 } else { (arena - bound) as f64 / bound as f64 },
        optimal: arena <= bound,
        method: placed.method.clone(),
        solve_ms,
        file_order_peak_bytes: load,
        simple_orders: Vec::new(),
        no_reuse_bytes: blocks.iter().map(crate::place::Block::extent).sum(),
        fits: capacity.map(|cap| Fits::of(arena, bound, cap)),
        order: Vec::new(),
        offsets: ids.iter().cloned().zip(placed.placement.offsets.iter().map(|o| (*o).into())).collect(),
        workspaces: serde_json::Map::new(),
        outside: serde_json::Map::new(),
        shares: Vec::new(),
    }
}
