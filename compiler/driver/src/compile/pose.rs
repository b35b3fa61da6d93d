//! The units as a memory problem.
//!
//! A concatenation whose parts are ranges of the whole is one op, and its parts may be written straight into the whole. Any
//! other is several: one that opens the whole, one a part that copies it in, and one that closes it, before which nobody
//! reads it. The copies may run in any order, so a part can die before the next one is made. Opening earlier than
//! the ops at which the parts' ways divide could never help and is ruled out, so that the graph can still be cut there.

use std::collections::{HashMap, HashSet};

use neap_optable::{Body, ValueId};
use neap_plan::{Home, Op, OpId, Problem, ProblemBuilder, Tensor, TensorId};
use neap_runtime::program::Place;

use crate::compile::ancestry::latest_common;
use crate::compile::eager::eager;
use crate::compile::moves::{Moves, Part};
use crate::compile::units::{Root, Unit, WeightStore, roots};
use crate::compile::{Compiler, Graph};
use crate::failure::Failure;

/// Alignment of every buffer in the arena that is not a part of another, bytes.
pub const ALIGN: u64 = 64;

/// Which ways of sharing memory the planner may choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// Results in the place of operands that nobody reads later.
    pub in_place: bool,
    /// Parts of a concatenation written straight into the whole.
    pub parts: bool,
    /// Ranges read straight out of the whole.
    pub views: bool,
}

impl Default for Sharing {
    /// All of them.
    fn default() -> Self {
        Sharing { in_place: true, parts: true, views: true }
    }
}

impl Sharing {
    /// Whether the moving that these say can be spared may be.
    fn of(self, moves: &Moves) -> bool {
        match moves {
            Moves::No => true,
            Moves::Range(_) => self.views,
            Moves::Parts(_) => self.parts,
        }
    }
}

/// The units as a memory problem.
#[derive(Debug)]
pub struct Posed {
    /// The problem; ops are in the model's order.
    pub problem: Problem,
    /// What each op does.
    pub work: Vec<Work>,
    /// Tensor of each unit result.
    pub tensors: HashMap<ValueId, TensorId>,
    /// Tensors outside the arena.
    pub external: HashMap<TensorId, Place>,
    /// What taking each share means, by its position.
    pub shares: Vec<Meaning>,
}

/// What an op of the problem does of a unit, by the unit's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// All of its stages.
    All(usize),
    /// One of its stages.
    Stage(usize, usize),
    /// Nothing: it only marks a time.
    Nothing,
}

/// What a share that was taken means for a unit, by the unit's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// This in-place pair of its kernel holds.
    InPlace(usize, (usize, usize)),
    /// This part lies in the whole already.
    Part(usize, usize),
    /// The result lies in the operand already.
    Whole(usize),
}

/// Poses the memory problem of some units.
pub fn pose(graph: &Graph, units: &[Unit], store: &WeightStore<'_>, compiler: &Compiler) -> Result<Posed, Failure> {
    let body = &graph.body;
    let outputs = output_places(body, &roots(body)?, units, compiler.observe)?;
    let mut builder = Problem::builder();
    builder.storage_align(ALIGN);
    let mut poser = Poser {
        body,
        units,
        sharing: compiler.sharing,
        hold: compiler.hold_outputs,
        outputs,
        builder,
        preds: vec![],
        work: vec![],
        tensors: HashMap::new(),
        maker: HashMap::new(),
        ready: HashMap::new(),
        given: HashMap::new(),
        outside: HashSet::new(),
        external: HashMap::new(),
        shares: vec![],
    };
    for u in units {
        poser.results(u)?;
    }
    let offsets = store.offsets();
    for i in 0..units.len() {
        poser.unit(i, store, &offsets)?;
    }
    poser.one_after_another(&graph.tiling.order);
    let Poser { builder, work, tensors, external, shares, .. } = poser;
    let problem = builder.build().map_err(|e| Failure::new(format!("memory plan: {e}")))?;
    eager(Posed { problem, work, tensors, external, shares })
}

struct Poser<'a> {
    body: &'a Body,
    units: &'a [Unit],
    sharing: Sharing,
    /// Whether outputs are held in the arena.
    hold: bool,
    outputs: HashMap<ValueId, Place>,
    builder: ProblemBuilder,
    /// Direct predecessors of each op.
    preds: Vec<Vec<usize>>,
    work: Vec<Work>,
    tensors: HashMap<ValueId, TensorId>,
    /// The op that makes each tensor.
    maker: HashMap<TensorId, OpId>,
    /// The op after which each value can be read.
    ready: HashMap<ValueId, OpId>,
    /// Tensors of the model's inputs and weights, as far as a result may lie in them.
    given: HashMap<Root, TensorId>,
    /// Results that may lie in the model's inputs or weights.
    outside: HashSet<ValueId>,
    external: HashMap<TensorId, Place>,
    shares: Vec<Meaning>,
}

impl Poser<'_> {
    fn results(&mut self, u: &Unit) -> Result<(), Failure> {
        for (i, &v) in u.outputs.iter().enumerate() {
            let ty = self.body.ty(v);
            let bytes =
                ty.bytes().ok_or_else(|| Failure::new(format!("node '{}': a result has no fixed size", u.name)))?;
            let name = if i == 0 { u.name.clone() } else { format!("{}:{i}", u.name) };
            // Buffers start at the storage alignment; parts of others where their elements may.
            let mut t = Tensor::new(name, bytes.max(1)).align(ty.dtype.size());
            let output = self.outputs.get(&v).copied();
            if output.is_some() {
                t = t.output();
            }
            let place = output.filter(|_| !self.hold);
            if place.is_some() {
                t = t.home(Home::Writable);
            }
            let t = self.builder.tensor(t);
            if let Some(place) = place {
                self.external.insert(t, place);
            }
            self.tensors.insert(v, t);
        }
        Ok(())
    }

    fn unit(&mut self, i: usize, store: &WeightStore<'_>, offsets: &[u64]) -> Result<(), Failure> {
        let u = &self.units[i];
        if let Moves::Parts(parts) = &u.moves
            && parts.iter().any(|p| p.offset.is_none())
        {
            self.copied_in(i, parts);
            return Ok(());
        }
        let mut read: Vec<TensorId> = u.inputs.iter().filter_map(|r| self.tensor(r)).collect();
        let mut moves = if self.sharing.of(&u.moves) { &u.moves } else { &Moves::No };
        // What is held in the arena cannot lie in the caller's inputs or the weights.
        let given = |r: &Root| match r {
            Root::Value(v) => self.outside.contains(v),
            Root::Input(_) | Root::Weight(_) => true,
        };
        if self.hold && self.outputs.contains_key(&u.outputs[0]) && u.inputs.first().is_some_and(given) {
            moves = match moves {
                Moves::Range(_) => &Moves::No,
                other => other,
            };
        }
        if let Moves::Range(_) = moves
            && self.tensor(&u.inputs[0]).is_none()
        {
            read.push(self.given(&u.inputs[0], store, offsets)?);
        }
        let workspace: u64 = u.scheduled.shared.iter().map(|b| b.next_multiple_of(ALIGN)).sum();
        let op = Op::new(u.name.clone()).outputs(u.outputs.iter().map(|v| self.tensors[v]));
        let after = u.inputs.iter().filter_map(|r| self.ready_after(r)).collect();
        let op = self.op(op.inputs(read).workspace(workspace + u.scratch()).time(u.flops), after, Work::All(i));
        for v in &u.outputs {
            self.ready.insert(*v, op);
        }
        match moves {
            Moves::No => self.in_place(i, op),
            Moves::Range(offset) => {
                if let Some(from) = self.tensor(&u.inputs[0]) {
                    self.builder.out_of_whole(op, self.tensors[&u.outputs[0]], from, *offset);
                    self.shares.push(Meaning::Whole(i));
                    let outside = match &u.inputs[0] {
                        Root::Value(v) => self.outside.contains(v),
                        _ => true,
                    };
                    self.outside.extend(outside.then_some(u.outputs[0]));
                }
            }
            Moves::Parts(parts) => {
                for (p, part) in parts.iter().enumerate() {
                    let (Root::Value(v), Some(at), Some(stage)) = (&u.inputs[p], part.offset, part.stage) else {
                        continue;
                    };
                    // A value is written to one place, and what lies in memory of the caller's stays there.
                    if u.inputs[..p].contains(&u.inputs[p]) || self.outside.contains(v) {
                        continue;
                    }
                    self.builder.into_whole(op, self.tensors[v], self.tensors[&u.outputs[0]], at);
                    self.shares.push(Meaning::Part(i, stage));
                }
            }
        }
        Ok(())
    }

    /// The pairs of a unit's operands and results that may share memory.
    fn in_place(&mut self, i: usize, op: OpId) {
        let u = &self.units[i];
        if !self.sharing.in_place {
            return;
        }
        for &(a, b) in &u.scheduled.in_place {
            let (Some(Root::Value(input)), Some(output)) = (u.inputs.get(a), u.outputs.get(b)) else { continue };
            // Another operand position that reads the same bytes must be in the pair's set too.
            let mut readers = u.inputs.iter().enumerate().filter(|(_, r)| **r == Root::Value(*input));
            let all_safe = readers.all(|(p, _)| u.scheduled.in_place.contains(&(p, b)));
            if all_safe && self.body.ty(*input).bytes() >= self.body.ty(*output).bytes() {
                self.builder.in_place(op, self.tensors[input], self.tensors[output]);
                self.shares.push(Meaning::InPlace(i, (a, b)));
            }
        }
    }

    /// Keeps tiles in order: the first value of each pair is there before the second is made.
    fn one_after_another(&mut self, order: &[(ValueId, ValueId)]) {
        for (a, b) in order {
            let made = self.tensors.get(b).and_then(|t| self.maker.get(t));
            if let (Some(before), Some(after)) = (self.ready.get(a), made) {
                self.builder.edge(*before, *after);
            }
        }
    }

    /// A concatenation whose parts are not ranges of the whole.
    fn copied_in(&mut self, i: usize, parts: &[Part]) {
        let u = &self.units[i];
        let whole = self.tensors[&u.outputs[0]];
        let ways: Vec<usize> = u.inputs.iter().filter_map(|r| self.ready_after(r)).map(OpId::index).collect();
        let after = latest_common(&self.preds, &ways).into_iter().map(|o| OpId(o as u32)).collect();
        let open = self.op(Op::new(format!("open {}", u.name)).outputs([whole]), after, Work::Nothing);
        let mut last = vec![open];
        for (p, part) in parts.iter().enumerate() {
            let Some(stage) = part.stage else { continue };
            let op = Op::new(format!("copy {p} into {}", u.name))
                .inputs(self.tensor(&u.inputs[p]).into_iter().chain([whole]));
            let after = self.ready_after(&u.inputs[p]).into_iter().chain([open]).collect();
            last.push(self.op(op, after, Work::Stage(i, stage)));
        }
        let close = self.op(Op::new(format!("close {}", u.name)).inputs([whole]), last, Work::Nothing);
        self.ready.insert(u.outputs[0], close);
    }

    /// Adds an op that runs after others, the makers of what it reads among them.
    fn op(&mut self, op: Op, after: Vec<OpId>, work: Work) -> OpId {
        let makers: Vec<OpId> = op.inputs.iter().filter_map(|t| self.maker.get(t).copied()).collect();
        let made = op.outputs.clone();
        let id = self.builder.op(op);
        self.maker.extend(made.into_iter().map(|t| (t, id)));
        for before in after.iter().filter(|o| !makers.contains(o)) {
            self.builder.edge(*before, id);
        }
        self.preds.push(after.into_iter().map(OpId::index).collect());
        self.work.push(work);
        id
    }

    fn tensor(&self, r: &Root) -> Option<TensorId> {
        match r {
            Root::Value(v) => self.tensors.get(v).copied(),
            _ => self.given.get(r).copied(),
        }
    }

    fn ready_after(&self, r: &Root) -> Option<OpId> {
        match r {
            Root::Value(v) => self.ready.get(v).copied(),
            _ => None,
        }
    }

    /// The tensor of a model input or a weight block.
    fn given(&mut self, r: &Root, store: &WeightStore<'_>, offsets: &[u64]) -> Result<TensorId, Failure> {
        let (name, bytes, place) = match r {
            Root::Input(i) => {
                let at = *i as usize;
                let name = self.body.arg_names.get(at).cloned().unwrap_or_else(|| format!("input {i}"));
                let bytes = self.body.ty(self.body.args[at]).bytes();
                let bytes = bytes.ok_or_else(|| Failure::new(format!("input '{name}' has no fixed size")))?;
                (name, bytes, Place::Input(*i, 0))
            }
            Root::Weight(b) => (format!("weight {b}"), store.blocks[*b].len() as u64, Place::Weight(offsets[*b])),
            Root::Value(_) => return Err(Failure::new("bug: a unit reads a value that no unit makes")),
        };
        let t = self.builder.tensor(Tensor::new(name, bytes).home(Home::ReadOnly).input());
        self.external.insert(t, place);
        self.given.insert(r.clone(), t);
        Ok(t)
    }
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
