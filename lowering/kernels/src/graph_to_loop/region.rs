//! The state of lowering one region: its values, where they are, the nests made so far.

use std::collections::{HashMap, HashSet};
use std::hash::Hasher;

use neap_optable::{Attr, Body, DType, Dim, GraphOp, Node, TensorType, ValueId};
use xxhash_rust::xxh3::Xxh3;

use super::layout::{Layout, Slot};
use super::nest::NestBuilder;
use super::{Unlowerable, inline};
use crate::affine::Space;
use crate::ir::{Access, Buffer, BufferId, Effect, Index, Iter, IterKind, Kernel, Nest, OpId, Role, Scalar, ScalarOp};

/// Where a value can be read.
#[derive(Clone, Debug)]
pub(super) enum Home {
    /// In a buffer of the value's own shape.
    Whole(BufferId),
    /// In a temporary over the free dims of a layout.
    Row(BufferId),
}

/// See the module.
pub(super) struct Lowering<'a> {
    node: &'a Node,
    types: &'a [TensorType],
    nodes: Vec<&'a Node>,
    results: Vec<ValueId>,
    producers: HashMap<ValueId, &'a Node>,
    used: HashMap<ValueId, u32>,
    pub(super) buffers: Vec<Buffer>,
    inputs: usize,
    pub(super) outer: Option<Vec<Iter>>,
    pub(super) nests: Vec<Nest>,
    pub(super) homes: HashMap<ValueId, Home>,
    pub(super) layouts: HashMap<ValueId, Layout>,
    stored: HashSet<usize>,
}

impl<'a> Lowering<'a> {
    pub(super) fn new(node: &'a Node, body: &'a Body) -> Result<Self, Unlowerable> {
        let (types, nodes, args, results): (&[_], Vec<&Node>, &[_], &[_]) = match &node.region {
            Some(r) => (&r.types, r.nodes.iter().collect(), &r.args, &r.results),
            None => (&body.types, vec![node], &node.inputs, &node.outputs),
        };
        let mut cx = Lowering {
            node,
            types,
            producers: nodes.iter().flat_map(|n| n.outputs.iter().map(|o| (*o, *n))).collect(),
            used: HashMap::new(),
            nodes,
            results: results.to_vec(),
            buffers: vec![],
            inputs: args.len(),
            outer: None,
            nests: vec![],
            homes: HashMap::new(),
            layouts: HashMap::new(),
            stored: HashSet::new(),
        };
        for v in cx.nodes.iter().flat_map(|n| &n.inputs) {
            *cx.used.entry(*v).or_default() += 1;
        }
        for (role, values) in [(Role::In, args), (Role::Out, results)] {
            for v in values {
                let ty = cx.ty(*v).clone();
                let id = cx.buffer(ty.dtype, ty.dims, role);
                if role == Role::In {
                    cx.homes.entry(*v).or_insert(Home::Whole(id));
                }
            }
        }
        Ok(cx)
    }

    /// An error about a node.
    pub(super) fn refuse(&self, node: &Node, why: impl Into<String>) -> Unlowerable {
        Unlowerable { op: node.op.name(), node: node.name.clone(), why: why.into() }
    }

    /// An error about the whole.
    pub(super) fn refuse_all(&self, why: impl Into<String>) -> Unlowerable {
        self.refuse(self.node, why)
    }

    pub(super) fn region_nodes(&self) -> Vec<&'a Node> {
        self.nodes.clone()
    }

    pub(super) fn ty(&self, v: ValueId) -> &'a TensorType {
        &self.types[v.0 as usize]
    }

    pub(super) fn producer(&self, v: ValueId) -> Option<&'a Node> {
        self.producers.get(&v).copied()
    }

    pub(super) fn use_count(&self, v: ValueId) -> u32 {
        self.used.get(&v).copied().unwrap_or(0)
    }

    pub(super) fn buffer(&mut self, dtype: DType, dims: Vec<Dim>, role: Role) -> BufferId {
        self.buffers.push(Buffer { dtype, dims, role });
        BufferId(self.buffers.len() - 1)
    }

    /// A temporary; its sizes must be known, since its bytes are part of the schedule.
    pub(super) fn temp(&mut self, dtype: DType, dims: Vec<Dim>) -> Result<BufferId, Unlowerable> {
        if let Some(d) = dims.iter().find(|d| !d.is_const()) {
            return Err(self.refuse_all(format!("needs a temporary of symbolic size {d}; give the size with --dim")));
        }
        Ok(self.buffer(dtype, dims, Role::Temp))
    }

    /// The outer iterators so far.
    pub(super) fn outer(&self) -> &[Iter] {
        self.outer.as_deref().unwrap_or(&[])
    }

    /// Fixes the outer iterators, or checks that they are those already fixed.
    pub(super) fn set_outer(&mut self, node: &Node, outer: Vec<Iter>) -> Result<(), Unlowerable> {
        match &self.outer {
            None => self.outer = Some(outer),
            Some(o) if *o == outer => {}
            Some(_) => return Err(self.refuse(node, "iterates over other rows than an earlier member of its fusion")),
        }
        Ok(())
    }

    /// Positions of a value among the results.
    fn result_positions(&self, v: ValueId) -> Vec<usize> {
        (0..self.results.len()).filter(|i| self.results[*i] == v).collect()
    }

    fn out_buffer(&self, position: usize) -> BufferId {
        BufferId(self.inputs + position)
    }

    /// The output buffer of a value that is a result and nothing else; it then counts as stored.
    pub(super) fn take_output(&mut self, v: ValueId) -> Option<BufferId> {
        match (self.result_positions(v).as_slice(), self.used.get(&v)) {
            ([p], None | Some(0)) => {
                self.stored.insert(*p);
                Some(self.out_buffer(*p))
            }
            _ => None,
        }
    }

    /// The one integer that all elements of a value are, if the region says so.
    pub(super) fn splat(&self, v: ValueId) -> Option<i64> {
        let n = self.producer(v)?;
        match (n.op, n.attrs.get("value")) {
            (GraphOp::Broadcast | GraphOp::Reshape | GraphOp::Cast, _) => self.splat(n.inputs[0]),
            (GraphOp::Constant, Some(Attr::Elements { dtype, data, .. })) if data.len() as u64 == dtype.size() => {
                match inline::scalar(*dtype, data) {
                    Scalar::Int(v) => Some(v),
                    Scalar::Float(_) => None,
                }
            }
            _ => None,
        }
    }

    /// As [`Self::take_output`] for ops that cannot be followed by others.
    pub(super) fn only_output(&mut self, node: &Node, which: usize) -> Result<BufferId, Unlowerable> {
        match self.take_output(node.outputs[which]) {
            Some(b) => Ok(b),
            None => Err(self.refuse(node, "its result must be a result of the fusion and nothing else")),
        }
    }

    /// Where a value with this layout is to be stored: its output buffer, or a new temporary that becomes its home.
    /// Free dims are addressed by `free`, in order.
    pub(super) fn place(&mut self, v: ValueId, layout: &Layout, free: &[Index]) -> Result<Access, Unlowerable> {
        self.layouts.insert(v, layout.clone());
        if let Some(buffer) = self.take_output(v) {
            return Ok(Access { buffer, index: layout.index(free), outside: None });
        }
        let ty = self.ty(v);
        let dims = layout.free_dims(&ty.dims);
        let buffer = self.temp(ty.dtype, dims)?;
        self.homes.insert(v, Home::Row(buffer));
        Ok(Access { buffer, index: free.to_vec(), outside: None })
    }

    /// A nest under the outer iterators with the given ones of its own.
    pub(super) fn nest(&self, iters: Vec<Iter>) -> NestBuilder {
        NestBuilder::new(self.outer(), iters)
    }

    /// Stores what is left to store and names the kernel.
    pub(super) fn finish(mut self) -> Result<Kernel, Unlowerable> {
        let left: Vec<usize> = (0..self.results.len()).filter(|i| !self.stored.contains(i)).collect();
        let mut groups: Vec<(Layout, Vec<Dim>, Vec<usize>)> = vec![];
        for p in left {
            let v = self.results[p];
            let layout = match &self.outer {
                None => Layout::free(self.ty(v).rank()),
                Some(_) => self.layout_of(v).ok_or_else(|| {
                    self.refuse_all(format!("result {p} does not follow the rows of the fusion; compute it outside"))
                })?,
            };
            if let Some(i) =
                (0..self.outer().len()).find(|i| !layout.fixes(*i) && self.outer()[*i].extent.as_const() != Some(1))
            {
                return Err(
                    self.refuse_all(format!("result {p} does not depend on outer iterator {i}; compute it outside"))
                );
            }
            let dims = self.ty(v).dims.clone();
            match groups.iter_mut().find(|(l, d, _)| *l == layout && *d == dims) {
                Some(g) => g.2.push(p),
                None => groups.push((layout, dims, vec![p])),
            }
        }
        for (layout, dims, positions) in groups {
            let (iters, free) = layout.own_iters(&dims, self.outer().len());
            let index = layout.index(&free);
            let mut nest = self.nest(iters);
            for p in positions {
                let v = self.results[p];
                let value = nest.value(&mut self, v, &index)?;
                let to = Access { buffer: self.out_buffer(p), index: index.clone(), outside: None };
                nest.effect(Effect::Store { to, value, when: None });
            }
            self.nests.push(nest.build());
        }
        Ok(self.named())
    }

    fn named(self) -> Kernel {
        let mut kernel = Kernel {
            name: String::new(),
            sizes: vec![],
            buffers: self.buffers,
            outer: self.outer.unwrap_or_default(),
            nests: self.nests,
        };
        kernel.sizes = kernel.symbols();
        let mut ops: Vec<&str> = vec![];
        for n in
            self.nodes.iter().filter(|n| !matches!(n.op, GraphOp::Constant | GraphOp::Reshape | GraphOp::Broadcast))
        {
            if !ops.contains(&n.op.name()) && ops.len() < 4 {
                ops.push(n.op.name());
            }
        }
        if ops.is_empty() {
            ops.push("copy");
        }
        let mut hash = Xxh3::new();
        hash.write(format!("{kernel:?}").as_bytes());
        kernel.name = format!("{}_{:016x}", ops.join("_"), hash.finish());
        kernel
    }

    /// Simplifies with what is known of the outer iterators.
    pub(super) fn space(&self) -> Space {
        Space::new(self.outer(), &[])
    }

    /// A nest without iterators of its own, with one value computed from others by `f`, stored at `to`.
    pub(super) fn point_nest(&mut self, to: Access, f: impl FnOnce(&mut NestBuilder) -> OpId) {
        let mut nest = self.nest(vec![]);
        let value = f(&mut nest);
        nest.effect(Effect::Store { to, value, when: None });
        self.nests.push(nest.build());
    }

    /// Whether computing a value at an index costs more than reading it.
    pub(super) fn is_computed(&self, v: ValueId) -> bool {
        let mut v = v;
        while !self.homes.contains_key(&v) {
            match self.producer(v) {
                Some(n)
                    if matches!(n.op, GraphOp::Broadcast | GraphOp::Reshape | GraphOp::Transpose | GraphOp::Slice) =>
                {
                    v = n.inputs[0];
                }
                Some(n) => return n.op != GraphOp::Constant,
                None => return false,
            }
        }
        false
    }

    /// An op's buffer that holds all of a value, for reads at computed indices.
    pub(super) fn whole(&self, node: &Node, v: ValueId) -> Result<BufferId, Unlowerable> {
        match self.homes.get(&v) {
            Some(Home::Whole(b)) => Ok(*b),
            _ => Err(self.refuse(
                node,
                "reads at computed places from a value that the same fusion computes; keep its producer outside",
            )),
        }
    }

    /// A value computed inside the region becomes a temporary (or output) over the row, so that later nests need not repeat it:
    /// returns where `nest` has to store it, if it is worth it.
    pub(super) fn keep(&mut self, v: ValueId, layout: &Layout, free: &[Index]) -> Result<Option<Access>, Unlowerable> {
        if !self.is_computed(v) {
            return Ok(None);
        }
        let positions = self.result_positions(v);
        if let [p] = positions.as_slice()
            && self.stored.insert(*p)
        {
            let buffer = self.out_buffer(*p);
            self.homes.insert(v, Home::Whole(buffer));
            return Ok(Some(Access { buffer, index: layout.index(free), outside: None }));
        }
        if layout.0.iter().zip(&self.ty(v).dims).any(|(s, d)| matches!(s, Slot::Free) && !d.is_const()) {
            return Ok(None);
        }
        let buffer = self.temp(self.ty(v).dtype, layout.free_dims(&self.ty(v).dims))?;
        self.homes.insert(v, Home::Row(buffer));
        self.layouts.insert(v, layout.clone());
        Ok(Some(Access { buffer, index: free.to_vec(), outside: None }))
    }
}

/// A parallel iterator.
pub(super) fn parallel(extent: &Dim) -> Iter {
    Iter { extent: extent.clone(), kind: IterKind::Parallel }
}

/// A reduction iterator.
pub(super) fn reduction(extent: &Dim) -> Iter {
    Iter { extent: extent.clone(), kind: IterKind::Reduction }
}

/// A sequential iterator.
pub(super) fn sequential(extent: &Dim) -> Iter {
    Iter { extent: extent.clone(), kind: IterKind::Sequential }
}

impl Kernel {
    /// Symbols of all extents, shapes and sizes, sorted.
    fn symbols(&self) -> Vec<String> {
        let mut out: Vec<String> = vec![];
        let mut add = |d: &Dim| out.extend(d.symbols().iter().map(|s| s.to_string()));
        self.buffers.iter().flat_map(|b| &b.dims).for_each(&mut add);
        self.outer.iter().chain(self.nests.iter().flat_map(|n| &n.iters)).for_each(|i| add(&i.extent));
        for op in self.nests.iter().flat_map(|n| &n.ops) {
            if let ScalarOp::Size(d) = op {
                add(d);
            }
        }
        out.sort();
        out.dedup();
        out
    }
}
