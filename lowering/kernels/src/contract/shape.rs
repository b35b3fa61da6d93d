//! The normal form of a contraction: which iterators are rows, columns and batch, and affine offsets of every access.

use neap_optable::{DType, Dim};

use crate::affine::{Affine, Space};
use crate::ir::{Access, BufferId, Combine, Effect, Index, IterKind, Kernel, OpId, Role, Scalar, ScalarOp};
use crate::scalar;

/// Steps of a contraction that repay storing its results one by one.
const FEW: u64 = 16;

/// An offset or index: constant + sum of stride times axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Flat {
    /// The part without axes.
    pub constant: Dim,
    /// A stride an axis.
    pub strides: Vec<Dim>,
}

/// An index that a read checks: outside `0..size` the read gives the operand's `outside`.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// The index.
    pub index: Flat,
    /// Its bound.
    pub size: Dim,
}

/// A factor of the contraction.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// Where it lies.
    pub buffer: BufferId,
    /// Element offset.
    pub flat: Flat,
    /// Checks.
    pub guards: Vec<Guard>,
    /// What a read outside gives, before the prologue.
    pub outside: f64,
    /// Element type in memory.
    pub dtype: DType,
    /// What makes the factor of an element, the last of its operations; empty where the element is the factor.
    pub prologue: Body,
}

/// A value that a [`Body`] reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Read {
    /// What the body is about: the contraction's result, or an operand's element.
    Main,
    /// An element.
    At(BufferId, Flat),
}

/// Scalar work on one element.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// Its reads, numbered as in [`ScalarOp::Read`].
    pub reads: Vec<Read>,
    /// Its operations.
    pub ops: Vec<ScalarOp>,
    /// Element type of each operation.
    pub dtypes: Vec<DType>,
}

/// What happens to a result before it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Epilogue {
    /// What is computed.
    pub body: Body,
    /// Stores: buffer, offset, and the value (`None`: the accumulator).
    pub stores: Vec<(BufferId, Flat, Option<usize>)>,
}

/// A contraction. Axes are the kernel's iterators, merged where every access allows; an axis is in exactly one class.
/// The *panel* operand varies along the columns, which are vectorised; the *row* operand is broadcast.
#[derive(Clone, Debug, PartialEq)]
pub struct Contraction {
    /// Type of the factors and the accumulator.
    pub dtype: DType,
    /// Extent of each axis.
    pub extents: Vec<Dim>,
    /// Axes that both or neither side of a tile depend on, outermost first.
    pub batch: Vec<usize>,
    /// Axis of the rows, if more than one.
    pub row: Option<usize>,
    /// Axes of the columns, outermost first.
    pub cols: Vec<usize>,
    /// Axes that are contracted, outermost first.
    pub k: Vec<usize>,
    /// Broadcast operand: never guarded, independent of the columns.
    pub rows_operand: Operand,
    /// Vectorised operand: independent of the rows.
    pub panel_operand: Operand,
    /// What follows.
    pub epilogue: Epilogue,
}

impl Flat {
    fn of(a: &Affine, iters: usize) -> Option<Flat> {
        // An iterator inside a division or remainder has no stride.
        let affine = (0..iters).all(|i| !a.opaque_in(i));
        affine.then(|| Flat { constant: a.constant.clone(), strides: (0..iters).map(|i| a.coefficient(i)).collect() })
    }

    /// Whether an axis matters.
    pub fn uses(&self, axis: usize) -> bool {
        self.strides[axis].as_i64() != Some(0)
    }

    /// The one stride that a run of axes amounts to, if it does.
    pub fn run(&self, axes: &[usize], extents: &[Dim]) -> Option<Dim> {
        let (last, front) = axes.split_last()?;
        let stride = &self.strides[*last];
        let mut expected = stride.mul(&extents[*last]);
        for a in front.iter().rev() {
            if self.strides[*a] != expected {
                return None;
            }
            expected = expected.mul(&extents[*a]);
        }
        Some(stride.clone())
    }
}

impl Operand {
    /// The factor that an operation of the first nest gives: an element that varies along the contracted axes, and perhaps
    /// scalar work on it with values that do not.
    fn new(space: &Space, kernel: &Kernel, factor: OpId, iters: usize) -> Option<Operand> {
        let nest = &kernel.nests[0];
        let flat = |r: &Access| Flat::of(&space.offset(r, &kernel.buffers[r.buffer.0]), iters);
        let contracted = |i: &Index| {
            let f = Flat::of(&space.affine(i), iters);
            f.is_none_or(|f| (kernel.outer.len()..iters).any(|axis| f.uses(axis)))
        };
        let (prologue, main) = Body::of(&nest.ops, factor, |read| {
            let r = &nest.reads[read];
            let kind = match r.index.iter().any(contracted) {
                true => Read::Main,
                false if r.outside.is_none() => Read::At(r.buffer, flat(r)?),
                false => return None,
            };
            Some((kind, kernel.buffers[r.buffer.0].dtype))
        })?;
        let read = &nest.reads[main];
        let buffer = &kernel.buffers[read.buffer.0];
        let (mut guards, mut outside) = (vec![], 0.0);
        if let Some(value) = read.outside {
            outside = match value {
                Scalar::Float(v) => v,
                Scalar::Int(v) => v as f64,
            };
            for (index, size) in read.index.iter().zip(&buffer.dims) {
                let index = space.affine(index);
                if !space.inside(&index, size) {
                    guards.push(Guard { index: Flat::of(&index, iters)?, size: size.clone() });
                }
            }
        }
        let flat = flat(read)?;
        Some(Operand { buffer: read.buffer, flat, guards, outside, dtype: buffer.dtype, prologue })
    }

    /// Whether an axis matters.
    pub fn uses(&self, axis: usize) -> bool {
        self.flat.uses(axis) || self.guarded(axis) || self.prologue.flats().any(|f| f.uses(axis))
    }

    /// Whether a check depends on an axis.
    pub fn guarded(&self, axis: usize) -> bool {
        self.guards.iter().any(|g| g.index.uses(axis))
    }
}

impl Contraction {
    /// Recognises the canonical contraction form of [`Kernel`].
    pub fn of(kernel: &Kernel) -> Option<Contraction> {
        let (main, rest) = kernel.nests.split_first()?;
        let parallel = kernel.outer.iter().all(|i| i.kind == IterKind::Parallel);
        let reduces = !main.iters.is_empty() && main.iters.iter().all(|i| i.kind == IterKind::Reduction);
        let [Effect::Reduce { to, combine: Combine::Fma, value, second: Some(second) }] = main.effects.as_slice()
        else {
            return None;
        };
        if !parallel || !reduces || rest.len() > 1 {
            return None;
        }
        let types = scalar::dtypes(main, &kernel.buffers);
        let dtype = kernel.buffers[to.buffer.0].dtype;
        let computed = dtype.is_float() || matches!(dtype, DType::I32 | DType::U32);
        if !computed || types[value.0] != dtype || types[second.0] != dtype {
            return None;
        }

        let space = Space::new(&kernel.outer, &main.iters);
        let iters = space.extents.len();
        let (a, b) = (Operand::new(&space, kernel, *value, iters)?, Operand::new(&space, kernel, *second, iters)?);
        let epilogue = match rest.first() {
            None => {
                let flat = Flat::of(&space.offset(to, &kernel.buffers[to.buffer.0]), iters)?;
                Epilogue { body: Body::default(), stores: vec![(to.buffer, flat, None)] }
            }
            Some(_) => epilogue(kernel, &space, to)?,
        };
        if epilogue.stores.iter().any(|s| kernel.buffers[s.0.0].role != Role::Out) {
            return None;
        }

        let unit = |i: &usize| space.extents[*i].as_const() != Some(1);
        let outer: Vec<usize> = (0..kernel.outer.len()).filter(unit).collect();
        let k: Vec<usize> = (kernel.outer.len()..iters).filter(unit).collect();
        let innermost = *outer.last()?;
        let (panel, rows) = match (a.uses(innermost), b.uses(innermost)) {
            (true, false) => (a, b),
            (false, true) => (b, a),
            _ => return None,
        };
        let run = |axes: &[usize], mine: &Operand, other: &Operand| {
            let start = axes.iter().rposition(|i| !mine.uses(*i) || other.uses(*i)).map_or(0, |p| p + 1);
            (axes[..start].to_vec(), axes[start..].to_vec())
        };
        let (outer, cols) = run(&outer, &panel, &rows);
        let (batch, row) = run(&outer, &rows, &panel);
        let mut c = Contraction {
            dtype,
            extents: space.extents,
            batch,
            row: None,
            cols,
            k,
            rows_operand: rows,
            panel_operand: panel,
            epilogue,
        };
        if !c.rows_operand.guards.is_empty() {
            return None;
        }
        let mut row = c.merge(row);
        c.row = row.pop();
        c.batch.append(&mut row);
        c.batch = c.merge(c.batch.clone());
        c.cols = c.merge(c.cols.clone());
        c.k = c.merge(c.k.clone());
        // Elements stored one by one cost about as much as a few steps.
        let long = c.count(&c.k).as_const().is_none_or(|k| k >= FEW);
        (long || c.epilogue.stores.iter().all(|s| c.dense(&s.1))).then_some(c)
    }

    /// Whether neighbouring columns are neighbouring elements.
    pub fn dense(&self, f: &Flat) -> bool {
        f.run(&self.cols, &self.extents).is_some_and(|s| s.as_i64() == Some(1))
    }

    /// Product of the extents of axes.
    pub fn count(&self, axes: &[usize]) -> Dim {
        axes.iter().fold(Dim::constant(1), |p, a| p.mul(&self.extents[*a]))
    }

    /// Number of rows.
    pub fn rows(&self) -> Dim {
        self.row.map_or(Dim::constant(1), |r| self.extents[r].clone())
    }

    /// Merges neighbouring axes wherever all accesses see them as one; gives the axes left, the outer of a pair going away.
    fn merge(&mut self, axes: Vec<usize>) -> Vec<usize> {
        let mut out: Vec<usize> = vec![];
        for a in axes {
            match out.last() {
                Some(&outer) if self.mergeable(outer, a) => {
                    self.extents[a] = self.extents[outer].mul(&self.extents[a]);
                    *out.last_mut().expect("it was just seen") = a;
                }
                _ => out.push(a),
            }
        }
        out
    }

    fn mergeable(&self, outer: usize, inner: usize) -> bool {
        let operands = [&self.rows_operand, &self.panel_operand];
        let bodies = [&self.rows_operand.prologue, &self.panel_operand.prologue, &self.epilogue.body];
        let reads = bodies.into_iter().flat_map(Body::flats);
        let stores = self.epilogue.stores.iter().map(|s| &s.1);
        let mut flats = operands.iter().map(|o| &o.flat).chain(reads).chain(stores);
        operands.iter().all(|o| !o.guarded(outer) && !o.guarded(inner))
            && flats.all(|f| f.strides[outer] == f.strides[inner].mul(&self.extents[inner]))
    }
}

fn epilogue(kernel: &Kernel, space: &Space, from: &Access) -> Option<Epilogue> {
    let nest = &kernel.nests[1];
    let iters = space.extents.len();
    let temporary = kernel.buffers[from.buffer.0].role == Role::Temp && kernel.buffers[from.buffer.0].dims.is_empty();
    if !temporary || !nest.iters.is_empty() {
        return None;
    }
    let flat = |a: &Access| Flat::of(&space.offset(a, &kernel.buffers[a.buffer.0]), iters);
    let mut reads = vec![];
    for r in &nest.reads {
        reads.push(match r.buffer == from.buffer {
            true => Read::Main,
            false if r.outside.is_none() => Read::At(r.buffer, flat(r)?),
            false => return None,
        });
    }
    let plain = |op: &ScalarOp| !matches!(op, ScalarOp::Load(..) | ScalarOp::Iter(_));
    if !nest.ops.iter().all(plain) {
        return None;
    }
    let mut stores = vec![];
    for e in &nest.effects {
        match e {
            Effect::Store { to, value, when: None } => stores.push((to.buffer, flat(to)?, Some(value.0))),
            _ => return None,
        }
    }
    let body = Body { reads, ops: nest.ops.clone(), dtypes: scalar::dtypes(nest, &kernel.buffers) };
    Some(Epilogue { body, stores })
}
