//! Units: what one kernel computes, with its operands traced to where they lie.

use std::collections::HashMap;

use bytes::Bytes;
use neap_kernels::schedule::Schedule;
use neap_kernels::scheduled::{Facts, Packing, Scheduled};
use neap_optable::{Attr, Body, GraphOp, Node, Tensor, TensorType, ValueId, Weights};
use neap_runtime::artefact::weight_offsets;
use neap_spec::CpuTarget;

use crate::compile::moves::Moves;
use crate::compile::pose::ALIGN;
use crate::failure::Failure;

/// What holds a value's bytes, once views are traced back.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// A model input by position.
    Input(u32),
    /// A block of the weight section.
    Weight(usize),
    /// The result of a unit.
    Value(ValueId),
}

/// One kernel call.
#[derive(Debug)]
pub struct Unit {
    /// ONNX nodes, joined by `+`.
    pub name: String,
    /// The kernel and how it is lowered.
    pub scheduled: Scheduled<Schedule>,
    /// Operands, in the kernel's order.
    pub inputs: Vec<Root>,
    /// Results, in the kernel's order.
    pub outputs: Vec<ValueId>,
    /// Floating-point operations.
    pub flops: u64,
    /// What of its work is only moving elements.
    pub moves: Moves,
}

impl Unit {
    /// Scratch bytes of one thread, the most of its stages, rounded up to the arena's alignment.
    pub fn scratch(&self) -> u64 {
        scratch(&self.scheduled)
    }
}

/// As [`Unit::scratch`], of any schedule.
pub fn scratch(scheduled: &Scheduled<Schedule>) -> u64 {
    scheduled.stages.iter().map(|s| s.scratch.next_multiple_of(ALIGN)).max().unwrap_or(0)
}

/// Blocks of the weight section, equal ones shared.
#[derive(Debug)]
pub struct WeightStore<'a> {
    weights: &'a Weights,
    /// Blocks in order.
    pub blocks: Vec<Bytes>,
    by_content: HashMap<[u8; 32], usize>,
    by_key: HashMap<(String, Option<Packing>), usize>,
}

impl<'a> WeightStore<'a> {
    /// A store with nothing in it.
    pub fn new(weights: &'a Weights) -> Self {
        WeightStore { weights, blocks: vec![], by_content: HashMap::new(), by_key: HashMap::new() }
    }

    /// Byte offset of each block in the weight section.
    pub fn offsets(&self) -> Vec<u64> {
        weight_offsets(self.blocks.iter().map(|b| b.len() as u64)).0
    }

    fn block(&mut self, data: Bytes) -> usize {
        let hash = *blake3::hash(&data).as_bytes();
        *self.by_content.entry(hash).or_insert_with(|| {
            self.blocks.push(data);
            self.blocks.len() - 1
        })
    }

    fn value(&self, source: &Source) -> Result<Tensor, Failure> {
        match source {
            Source::Weight(k) => {
                let no_data = || Failure::new(format!("weight '{k}' has no data; give it with --weights"));
                self.weights.get(k).cloned().ok_or_else(no_data)
            }
            Source::Constant(t) => Ok(t.clone()),
        }
    }

    /// The block of a constant or weight, in another layout where the schedule asks for one.
    fn constant(&mut self, source: &Source, packing: Option<&Packing>) -> Result<usize, Failure> {
        let key = (source.key(), packing.cloned());
        if let Some(&b) = self.by_key.get(&key) {
            return Ok(b);
        }
        let t = self.value(source)?;
        let t = packing.map(|p| p.apply(&t)).unwrap_or(t);
        let block = self.block(t.data);
        self.by_key.insert(key, block);
        Ok(block)
    }
}

/// Where a compile-time tensor comes from.
#[derive(Clone, Debug)]
enum Source {
    Weight(String),
    Constant(Tensor),
}

impl Source {
    fn key(&self) -> String {
        match self {
            Source::Weight(k) => format!("w:{k}"),
            Source::Constant(t) => format!("c:{}:{:?}", blake3::hash(&t.data).to_hex(), t.dtype),
        }
    }
}

/// A value traced through views.
#[derive(Clone, Debug)]
enum Traced {
    Input(u32),
    Constant(Source),
    Value(ValueId),
}

/// Follows reshapes back to what holds the bytes.
fn trace(body: &Body) -> Result<Vec<Option<Traced>>, Failure> {
    let mut out: Vec<Option<Traced>> = vec![None; body.types.len()];
    for (i, a) in body.args.iter().enumerate() {
        out[a.0 as usize] = Some(Traced::Input(i as u32));
    }
    for n in &body.nodes {
        match n.op {
            GraphOp::Reshape => out[n.outputs[0].0 as usize] = out[n.inputs[0].0 as usize].clone(),
            GraphOp::Weight => {
                out[n.outputs[0].0 as usize] = Some(Traced::Constant(Source::Weight(n.attrs.get_str("key").into())));
            }
            GraphOp::Constant => {
                out[n.outputs[0].0 as usize] = Some(Traced::Constant(Source::Constant(constant(body, n)?)));
            }
            _ => {
                for &o in &n.outputs {
                    out[o.0 as usize] = Some(Traced::Value(o));
                }
            }
        }
    }
    Ok(out)
}

/// The root of each value that is a unit's result or a model input; constants have none here.
pub fn roots(body: &Body) -> Result<Vec<Option<Root>>, Failure> {
    Ok(trace(body)?
        .into_iter()
        .map(|t| match t? {
            Traced::Input(i) => Some(Root::Input(i)),
            Traced::Value(v) => Some(Root::Value(v)),
            Traced::Constant(_) => None,
        })
        .collect())
}

fn constant(body: &Body, n: &Node) -> Result<Tensor, Failure> {
    let Some(Attr::Elements { dtype, dims, data, splat }) = n.attrs.get("value") else {
        return Err(Failure::new(format!("node '{}': graph.constant without elements", n.name)));
    };
    let data = if *splat { repeated(data, body.ty(n.outputs[0]), &n.name)? } else { data.clone() };
    Ok(Tensor { dtype: *dtype, dims: dims.clone(), data: data.into() })
}

/// A splat written out.
fn repeated(element: &[u8], ty: &TensorType, name: &str) -> Result<Vec<u8>, Failure> {
    let too_large = || Failure::new(format!("node '{name}': a constant of {ty} does not fit in memory"));
    let count = ty.elements().and_then(|n| usize::try_from(n).ok()).ok_or_else(too_large)?;
    let bytes = count.checked_mul(element.len()).ok_or_else(too_large)?;
    let mut out = vec![];
    out.try_reserve_exact(bytes).map_err(|_| too_large())?;
    for _ in 0..count {
        out.extend_from_slice(element);
    }
    Ok(out)
}

/// Takes fusions apart that no kernel can compute as a whole (`graph-fuse` groups by rules of its own).
pub fn legalise(body: &Body) -> Body {
    let mut out = body.clone();
    out.nodes.clear();
    for n in &body.nodes {
        let Some(region) = n.region.as_deref() else {
            out.nodes.push(n.clone());
            continue;
        };
        let Err(why) = neap_kernels::graph_to_loop::lower(n, body) else {
            out.nodes.push(n.clone());
            continue;
        };
        tracing::debug!(node = n.name, %why, "fusion taken apart");
        let mut map: HashMap<ValueId, ValueId> = region.args.iter().copied().zip(n.inputs.iter().copied()).collect();
        map.extend(region.results.iter().copied().zip(n.outputs.iter().copied()));
        for m in &region.nodes {
            let mut m = m.clone();
            for o in &mut m.outputs {
                *o = *map.entry(*o).or_insert_with(|| out.value(region.ty(*o).clone()));
            }
            for i in &mut m.inputs {
                *i = map[i];
            }
            out.nodes.push(m);
        }
    }
    out
}

/// Whether an op needs a kernel: views and constants do not.
pub fn computes(op: GraphOp) -> bool {
    !matches!(op, GraphOp::Reshape | GraphOp::Weight | GraphOp::Constant | GraphOp::Yield)
}

/// What a node's kernel depends on, so that equal nodes (the tiles of a segment) are lowered once.
fn signature(n: &Node, body: &Body, facts: &Facts) -> String {
    let types = |ids: &[ValueId]| ids.iter().map(|&v| body.ty(v).to_string()).collect::<Vec<_>>().join(",");
    let (ins, outs) = (types(&n.inputs), types(&n.outputs));
    // An operand that is there twice is read once.
    let same: Vec<Option<usize>> = n.inputs.iter().map(|v| n.inputs.iter().position(|w| w == v)).collect();
    format!("{:?} {:?} {ins} {outs} {same:?} {:?} {:?}", n.op, n.attrs, n.region, facts.constant_inputs)
}

/// Lowers and schedules every node that computes something.
pub fn units(body: &Body, store: &mut WeightStore<'_>, target: &CpuTarget) -> Result<Vec<Unit>, Failure> {
    let traced = trace(body)?;
    let mut units = vec![];
    let mut known: HashMap<String, Scheduled<Schedule>> = HashMap::new();
    for n in &body.nodes {
        if !computes(n.op) {
            continue;
        }
        let of = |v: &ValueId| traced[v.0 as usize].clone().expect("a verified body defines its values");
        let operands: Vec<Traced> = n.inputs.iter().map(of).collect();
        let facts = Facts { constant_inputs: operands.iter().map(|t| matches!(t, Traced::Constant(_))).collect() };
        let key = signature(n, body, &facts);
        let scheduled = match known.get(&key) {
            Some(s) => s.clone(),
            None => {
                let kernel = neap_kernels::graph_to_loop::lower(n, body)
                    .map_err(|e| Failure::new(format!("node '{}': {e}", n.name)))?;
                known.entry(key).or_insert(neap_kernels::schedule::schedule(&kernel, &facts, target)).clone()
            }
        };
        let mut inputs = vec![];
        for (i, t) in operands.iter().enumerate() {
            let packing = scheduled.packed.get(i).and_then(Option::as_ref);
            inputs.push(match t {
                Traced::Input(i) => Root::Input(*i),
                Traced::Value(v) => Root::Value(*v),
                Traced::Constant(s) => Root::Weight(store.constant(s, packing)?),
            });
        }
        let types = |ids: &[ValueId]| ids.iter().map(|&v| body.ty(v).clone()).collect::<Vec<_>>();
        let flops = match &n.region {
            Some(r) => r.flops(),
            None => neap_optable::flops(n.op, &n.attrs, &types(&n.inputs), &types(&n.outputs)),
        };
        let flops = flops.as_const().unwrap_or(0);
        let value = |i: usize| match operands.get(i)? {
            Traced::Constant(s) => store.value(s).ok(),
            _ => None,
        };
        let moves = Moves::of(n, body, scheduled.stages.len(), value);
        units.push(Unit { name: n.name.clone(), scheduled, inputs, outputs: n.outputs.clone(), flops, moves });
    }
    Ok(units)
}
