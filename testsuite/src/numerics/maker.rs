//! Random graphs in the making.

use neap_optable::{
    Attr, Attrs, BinaryKind, Body, DType, GraphOp, Tensor, TensorType, UnaryKind, ValueId, Weights, infer,
};

use super::sample::{Dice, Style};

/// A graph in the making.
pub struct Maker {
    /// What makes it up.
    pub dice: Dice,
    /// The graph.
    pub body: Body,
    /// Its weights.
    pub weights: Weights,
    /// Its inputs.
    pub inputs: Vec<Tensor>,
}

/// Functions that keep values small and hide no error of an earlier step behind a jump.
const TAME: &[UnaryKind] = &[
    UnaryKind::Relu,
    UnaryKind::Tanh,
    UnaryKind::Sigmoid,
    UnaryKind::Erf,
    UnaryKind::Neg,
    UnaryKind::Abs,
    UnaryKind::Sin,
    UnaryKind::Softplus,
];

impl Maker {
    /// Nothing yet.
    pub fn new(seed: &str) -> Self {
        Maker { dice: Dice::new(seed), body: Body::default(), weights: Weights::default(), inputs: vec![] }
    }

    /// A new input.
    pub fn input(&mut self, dims: &[u64]) -> ValueId {
        let t = self.dice.tensor(DType::F32, dims, Style::Plain);
        let v = self.body.arg(t.ty());
        self.body.arg_names.push(format!("in{}", self.inputs.len()));
        self.inputs.push(t);
        v
    }

    /// A new weight.
    pub fn weight(&mut self, dims: &[u64]) -> ValueId {
        let t = self.dice.tensor(DType::F32, dims, Style::Plain);
        let ty = t.ty();
        let key = self.weights.insert_fresh("w", t);
        self.body.push(GraphOp::Weight, Attrs::new().str("key", key).str("hash", ""), &[], [ty], "w")[0]
    }

    /// The shape of a value.
    pub fn dims(&self, v: ValueId) -> Vec<u64> {
        self.body.ty(v).static_dims().unwrap_or_default()
    }

    /// An op whose result type follows.
    pub fn op(&mut self, op: GraphOp, attrs: Attrs, inputs: &[ValueId]) -> ValueId {
        let types: Vec<TensorType> = inputs.iter().map(|v| self.body.ty(*v).clone()).collect();
        let out = infer(op, &attrs, &types).unwrap_or_else(|e| panic!("the generator made an illegal op: {e}"));
        let name = format!("n{}", self.body.nodes.len());
        self.body.push(op, attrs, inputs, out, name)[0]
    }

    /// An op with a result of a shape of its own.
    pub fn typed(&mut self, op: GraphOp, attrs: Attrs, inputs: &[ValueId], dims: &[u64]) -> ValueId {
        let ty = TensorType::fixed(self.body.ty(inputs[0]).dtype, dims);
        let name = format!("n{}", self.body.nodes.len());
        self.body.push(op, attrs, inputs, [ty], name)[0]
    }

    /// An elementwise function.
    pub fn unary(&mut self, kind: UnaryKind, x: ValueId) -> ValueId {
        self.op(GraphOp::Unary, Attrs::new().int("kind", kind), &[x])
    }

    /// An elementwise function of two.
    pub fn binary(&mut self, kind: BinaryKind, x: ValueId, y: ValueId) -> ValueId {
        self.op(GraphOp::Binary, Attrs::new().int("kind", kind), &[x, y])
    }

    /// A value spread to a shape.
    pub fn broadcast(&mut self, x: ValueId, dims: &[u64]) -> ValueId {
        if self.dims(x) == dims { x } else { self.typed(GraphOp::Broadcast, Attrs::new(), &[x], dims) }
    }

    /// A new operand that broadcasts to `dims`, as input or weight.
    pub fn operand(&mut self, dims: &[u64]) -> ValueId {
        let new = self.dice.below(dims.len() as u64) as usize;
        let from: Vec<u64> = dims[new..].iter().map(|&d| if self.dice.once_in(3) { 1 } else { d }).collect();
        let v = if self.dice.once_in(2) { self.input(&from) } else { self.weight(&from) };
        self.broadcast(v, dims)
    }

    /// Some function of [`TAME`].
    pub fn tame(&mut self, x: ValueId) -> ValueId {
        let kind = self.dice.pick(TAME);
        self.unary(kind, x)
    }

    /// x * sigmoid(x)
    pub fn silu(&mut self, x: ValueId) -> ValueId {
        let s = self.unary(UnaryKind::Sigmoid, x);
        self.binary(BinaryKind::Mul, x, s)
    }

    /// A few elementwise steps after `x`, some with new operands.
    pub fn chain(&mut self, mut x: ValueId, steps: u64) -> ValueId {
        let dims = self.dims(x);
        for _ in 0..steps {
            x = match self.dice.below(5) {
                0 => self.silu(x),
                1 | 2 => {
                    let kind = self.dice.pick(&[BinaryKind::Add, BinaryKind::Sub, BinaryKind::Mul, BinaryKind::Max]);
                    let y = self.operand(&dims);
                    if self.dice.once_in(2) { self.binary(kind, x, y) } else { self.binary(kind, y, x) }
                }
                _ => self.tame(x),
            };
        }
        x
    }

    /// The same graph on the same numbers with another float type instead of f32.
    pub fn retype(&mut self, to: DType) {
        let cast = |t: &Tensor| {
            let ty = TensorType::fixed(to, &t.dims);
            let found = neap_reference::eval(GraphOp::Cast, &Attrs::new(), &[t], &[ty]);
            found.unwrap_or_else(|e| panic!("{e}")).remove(0)
        };
        let float = |t: DType| t == DType::F32;
        self.inputs.iter_mut().filter(|t| float(t.dtype)).for_each(|t| *t = cast(t));
        self.body.types.iter_mut().filter(|t| float(t.dtype)).for_each(|t| t.dtype = to);
        let mut weights = Weights::default();
        for node in &mut self.body.nodes {
            if node.op == GraphOp::Weight {
                let key = node.attrs.get_str("key").to_owned();
                let t = self.weights.get(&key).expect("the maker's own");
                let key = weights.insert_fresh("w", if float(t.dtype) { cast(t) } else { t.clone() });
                node.attrs = Attrs::new().str("key", key).str("hash", "");
            }
            if let Some(Attr::Elements { dtype, dims, data, splat }) = node.attrs.get("value").cloned()
                && float(dtype)
            {
                let count = data.len() as u64 / dtype.size();
                let t = cast(&Tensor { dtype, dims: vec![count], data: data.into() });
                let value = Attr::Elements { dtype: to, dims, data: t.data.to_vec(), splat };
                node.attrs = Attrs::new().with("value", value);
            }
        }
        self.weights = weights;
    }

    /// Gives a value back.
    pub fn result(&mut self, v: ValueId) {
        self.body.results.push(v);
        self.body.result_names.push(format!("out{}", self.body.result_names.len()));
    }
}
