//! The state of an import: abstract values, and the body that grows when something must happen at run time.

use std::collections::{HashMap, HashSet};

use neap_optable::{Attr, Attrs, Body, DType, Dim, GraphOp, Tensor, TensorType, ValueId, Weights, check, infer};

use super::error::{Refusal, Res, invalid, unsupported};
use super::fold;
use super::ops::Dequantised;

/// Most elements of a constant that is not a splat and stays inline; larger ones are weights.
const INLINE: usize = 64;

/// Handle of an abstract value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Val(u32);

/// What is known about a value's elements while importing.
#[derive(Clone, Debug)]
pub(super) enum Known {
    /// Nothing: it is computed at run time.
    No,
    /// All of them.
    Tensor(Tensor),
    /// Integers as size expressions over open dims.
    Ints(Vec<Dim>),
    /// The known tensor of another value with its last two dims swapped. Matrix products read it as it is, so that weights
    /// stay in the model's file and are stored once; others force the swap.
    Swapped(Val),
}

struct Slot {
    ty: TensorType,
    known: Known,
    /// Where it is in the body, once it is there.
    id: Option<ValueId>,
    /// A known value that is a repetition of this one, so that the smaller one is stored.
    repeats: Option<Val>,
    /// Name for the weight it may become.
    stem: String,
}

/// The import at hand.
pub(super) struct Cx {
    /// The graph so far.
    pub body: Body,
    /// The weights so far.
    pub weights: Weights,
    slots: Vec<Slot>,
    /// Name of the ONNX node being converted.
    pub node: String,
    /// Inline constants by type and bytes.
    inline: HashMap<(TensorType, Vec<u8>), ValueId>,
    /// Values of 8 bits that ONNX declares with 4.
    narrow: HashSet<Val>,
    /// Floats that were dequantised.
    dequantised: HashMap<Val, Dequantised>,
}

impl Cx {
    pub fn new() -> Self {
        Cx {
            body: Body::default(),
            weights: Weights::default(),
            slots: vec![],
            node: String::new(),
            inline: HashMap::new(),
            narrow: HashSet::new(),
            dequantised: HashMap::new(),
        }
    }

    /// What a value was dequantised from, if it was.
    pub fn dequantised(&self, v: Val) -> Option<Dequantised> {
        self.dequantised.get(&v).copied()
    }

    /// Says what a value was dequantised from.
    pub fn set_dequantised(&mut self, v: Val, from: Dequantised) {
        self.dequantised.insert(v, from);
    }

    /// Notes that ONNX declares a value with 4 bits.
    pub fn narrow(&mut self, v: Val) {
        self.narrow.insert(v);
    }

    /// Whether ONNX declares a constant with 4 bits; it has 8 here.
    pub fn four_bits(&self, v: Val) -> bool {
        self.narrow.contains(&v)
    }

    fn slot(&self, v: Val) -> &Slot {
        &self.slots[v.0 as usize]
    }

    fn add(&mut self, ty: TensorType, known: Known, id: Option<ValueId>) -> Val {
        self.slots.push(Slot { ty, known, id, repeats: None, stem: self.node.clone() });
        Val(self.slots.len() as u32 - 1)
    }

    /// A model input.
    pub fn argument(&mut self, name: &str, ty: TensorType) -> Val {
        let id = self.body.arg(ty.clone());
        self.body.arg_names.push(name.into());
        self.add(ty, Known::No, Some(id))
    }

    /// A known tensor.
    pub fn constant(&mut self, t: Tensor) -> Val {
        self.add(t.ty(), Known::Tensor(t), None)
    }

    /// A known tensor with a name for the weight it may become.
    pub fn named_constant(&mut self, t: Tensor, stem: &str) -> Val {
        let v = self.constant(t);
        self.slots[v.0 as usize].stem = stem.into();
        v
    }

    /// Known integers, constants or size expressions.
    pub fn ints(&mut self, dtype: DType, dims: &[u64], values: Vec<Dim>) -> Val {
        let ty = TensorType::fixed(dtype, dims);
        match fold::tensor_of(dtype, dims, &values) {
            Some(t) => self.constant(t),
            None => self.add(ty, Known::Ints(values), None),
        }
    }

    pub fn ty(&self, v: Val) -> &TensorType {
        &self.slot(v).ty
    }

    pub fn dtype(&self, v: Val) -> DType {
        self.slot(v).ty.dtype
    }

    pub fn dims(&self, v: Val) -> Vec<Dim> {
        self.slot(v).ty.dims.clone()
    }

    pub fn rank(&self, v: Val) -> usize {
        self.slot(v).ty.rank()
    }

    pub fn known(&self, v: Val) -> &Known {
        &self.slot(v).known
    }

    /// The elements, if all are known as numbers.
    pub fn tensor(&self, v: Val) -> Option<&Tensor> {
        match self.known(v) {
            Known::Tensor(t) => Some(t),
            _ => None,
        }
    }

    /// The elements as size expressions, if they are known integers.
    pub fn dim_values(&self, v: Val, what: &str) -> Res<Vec<Dim>> {
        match self.known(v) {
            Known::Ints(d) => Ok(d.clone()),
            Known::Tensor(t) => match t.to_i64() {
                Some(ints) => Ok(ints.into_iter().map(Dim::constant).collect()),
                None => invalid(format!("{what} is {}, expected integers", t.ty())),
            },
            Known::No | Known::Swapped(_) => unsupported(format!(
                "{what} depends on run-time data, so the result's shape does; export the model with fixed shapes"
            )),
        }
    }

    /// The elements as integers, all of which must be known.
    pub fn int_values(&self, v: Val, what: &str) -> Res<Vec<i64>> {
        let dims = self.dim_values(v, what)?;
        dims.iter().map(|d| self.number(d)).collect()
    }

    /// The elements as floats, all of which must be known.
    pub fn float_values(&self, v: Val, what: &str) -> Res<Vec<f64>> {
        match self.tensor(v) {
            Some(t) => {
                fold::floats(t).ok_or_else(|| Refusal::Invalid(format!("{what} is {}, expected floats", t.ty())))
            }
            None => unsupported(format!("{what} depends on run-time data; export the model with a constant there")),
        }
    }

    /// A size as a number.
    pub fn number(&self, d: &Dim) -> Res<i64> {
        d.as_i64().ok_or_else(|| open(std::slice::from_ref(d)))
    }

    /// A known matrix (or stack of them) with its last two dims swapped.
    pub fn swapped(&mut self, of: Val) -> Val {
        let mut ty = self.ty(of).clone();
        let rank = ty.rank();
        ty.dims.swap(rank - 2, rank - 1);
        self.add(ty, Known::Swapped(of), None)
    }

    /// What a value is a swap of.
    pub fn swap_of(&self, v: Val) -> Option<Val> {
        match self.known(v) {
            Known::Swapped(of) => Some(*of),
            _ => None,
        }
    }

    /// Computes a swap.
    fn force(&mut self, v: Val) -> Res<()> {
        let Known::Swapped(of) = *self.known(v) else { return Ok(()) };
        let rank = self.rank(v) as i64;
        let mut order: Vec<i64> = (0..rank).collect();
        order.swap(rank as usize - 2, rank as usize - 1);
        let source = self.tensor(of).ok_or(Refusal::Poisoned)?;
        let attrs = Attrs::new().ints("permutation", order);
        let out = neap_reference::eval(GraphOp::Transpose, &attrs, &[source], &[self.ty(v).clone()])
            .map_err(|e| Refusal::Invalid(e.to_string()))?;
        if let Some(t) = out.into_iter().next() {
            self.slots[v.0 as usize].known = Known::Tensor(t);
        }
        Ok(())
    }

    /// Adds an op with the given result types, or evaluates it now where its operands are known.
    pub fn op(&mut self, op: GraphOp, attrs: Attrs, ins: &[Val], outs: Vec<TensorType>) -> Res<Vec<Val>> {
        ins.iter().try_for_each(|v| self.force(*v))?;
        let types: Vec<TensorType> = ins.iter().map(|v| self.ty(*v).clone()).collect();
        check(op, &attrs, &types, &outs, None).map_err(plain)?;
        let known: Vec<&Known> = ins.iter().map(|v| self.known(*v)).collect();
        if let Some(values) = fold::fold(op, &attrs, &known, &types, &outs) {
            let vals: Vec<Val> = outs.into_iter().zip(values).map(|(ty, k)| self.add(ty, k, None)).collect();
            if let (GraphOp::Broadcast, Some(&from)) = (op, ins.first()) {
                self.slots[vals[0].0 as usize].repeats = Some(self.slot(from).repeats.unwrap_or(from));
            }
            return Ok(vals);
        }
        if let Some(t) =
            outs.iter().find(|t| t.static_dims().is_some() && t.bytes().is_none_or(|b| i64::try_from(b).is_err()))
        {
            return invalid(format!("its result {t} has more than 2^63 bytes"));
        }
        let ids = ins.iter().map(|v| self.materialise(*v)).collect::<Res<Vec<_>>>()?;
        let ids = self.body.push(op, attrs, &ids, outs.clone(), self.node.clone());
        Ok(outs.into_iter().zip(ids).map(|(ty, id)| self.add(ty, Known::No, Some(id))).collect())
    }

    /// [`Cx::op`] with one result of a given type.
    pub fn op1(&mut self, op: GraphOp, attrs: Attrs, ins: &[Val], out: TensorType) -> Res<Val> {
        Ok(self.op(op, attrs, ins, vec![out])?[0])
    }

    /// [`Cx::op`] with the result types that follow from the operands.
    pub fn infer(&mut self, op: GraphOp, attrs: Attrs, ins: &[Val]) -> Res<Vec<Val>> {
        let types: Vec<TensorType> = ins.iter().map(|v| self.ty(*v).clone()).collect();
        let outs = infer(op, &attrs, &types).map_err(plain)?;
        self.op(op, attrs, ins, outs)
    }

    /// [`Cx::infer`] with one result.
    pub fn infer1(&mut self, op: GraphOp, attrs: Attrs, ins: &[Val]) -> Res<Val> {
        Ok(self.infer(op, attrs, ins)?[0])
    }

    /// A value that counts as computed at run time, so that nothing is made of it while importing.
    pub fn at_run_time(&mut self, v: Val) -> Res<Val> {
        let (id, ty) = (self.materialise(v)?, self.ty(v).clone());
        Ok(self.add(ty, Known::No, Some(id)))
    }

    /// Makes a value exist at run time.
    pub fn materialise(&mut self, v: Val) -> Res<ValueId> {
        if let Some(id) = self.slot(v).id {
            return Ok(id);
        }
        self.force(v)?;
        let id = match (self.slot(v).repeats, self.known(v).clone()) {
            (Some(from), _) => {
                let ty = self.ty(v).clone();
                let from = self.materialise(from)?;
                self.body.push(GraphOp::Broadcast, Attrs::new(), &[from], [ty], self.node.clone())[0]
            }
            (None, Known::Tensor(t)) => self.store(t, &self.slot(v).stem.clone())?,
            (None, Known::Ints(d)) => return Err(open(&d)),
            (None, Known::No | Known::Swapped(_)) => return Err(Refusal::Poisoned),
        };
        self.slots[v.0 as usize].id = Some(id);
        Ok(id)
    }

    fn store(&mut self, t: Tensor, stem: &str) -> Res<ValueId> {
        let ty = t.ty();
        let size = t.dtype.size() as usize;
        let splat = t.len() > 1 && t.data.chunks_exact(size).all(|e| e == &t.data[..size]);
        if !splat && t.len() > INLINE {
            let hash = blake3::hash(&t.data).to_hex()[..32].to_string();
            let key = self.weights.insert_fresh(stem, t);
            let attrs = Attrs::new().str("key", key).str("hash", hash);
            return Ok(self.body.push(GraphOp::Weight, attrs, &[], [ty], self.node.clone())[0]);
        }
        let data = if splat { t.data[..size].to_vec() } else { t.data.to_vec() };
        if let Some(id) = self.inline.get(&(ty.clone(), data.clone())) {
            return Ok(*id);
        }
        let value = Attr::Elements { dtype: t.dtype, dims: t.dims, data: data.clone(), splat };
        let attrs = Attrs::new().with("value", value);
        let id = self.body.push(GraphOp::Constant, attrs, &[], [ty.clone()], self.node.clone())[0];
        self.inline.insert((ty, data), id);
        Ok(id)
    }
}

/// These sizes must be known.
pub(super) fn open(dims: &[Dim]) -> Refusal {
    let mut names: Vec<String> = dims.iter().flat_map(Dim::symbols).map(|s| s.to_string()).collect();
    names.sort();
    names.dedup();
    Refusal::Open(names)
}

/// Users know ONNX's operators, which the error names anyway.
fn plain(e: String) -> Refusal {
    match e.strip_prefix("graph.").and_then(|e| e.split_once(": ")) {
        Some((_, rest)) => Refusal::Invalid(rest.into()),
        None => Refusal::Invalid(e),
    }
}
