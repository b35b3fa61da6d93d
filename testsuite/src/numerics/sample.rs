//! One operator with data, and the dice that make up shapes and elements.

use neap_optable::{Attr, Attrs, BinaryKind, DType, GraphOp, Tensor, TensorType, infer};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// One operator on given operands.
#[derive(Clone, Debug)]
pub struct Sample {
    /// For reports.
    pub name: String,
    /// Operator.
    pub op: GraphOp,
    /// Attributes.
    pub attrs: Attrs,
    /// Operands.
    pub inputs: Vec<Tensor>,
    /// Operands that are weights of the model, so that schedules may lay them out anew.
    pub constant: Vec<bool>,
    /// Result types.
    pub types: Vec<TensorType>,
}

impl Sample {
    /// A sample whose result types follow from its operands.
    pub fn new(op: GraphOp, attrs: Attrs, inputs: Vec<Tensor>) -> Self {
        let ins: Vec<TensorType> = inputs.iter().map(Tensor::ty).collect();
        let types = infer(op, &attrs, &ins).unwrap_or_else(|e| panic!("the generator made an illegal op: {e}"));
        Sample::typed(op, attrs, inputs, types)
    }

    /// A sample whose result types are given.
    pub fn typed(op: GraphOp, attrs: Attrs, inputs: Vec<Tensor>, types: Vec<TensorType>) -> Self {
        let mut name = op.name().to_string();
        for (n, a) in attrs.iter() {
            let value = match a {
                Attr::Int(v) => v.to_string(),
                Attr::Bool(v) => v.to_string(),
                Attr::Ints(v) => format!("{v:?}"),
                other => format!("{other:?}"),
            };
            name.push_str(&format!(" {n}={value}"));
        }
        let list = |t: &[TensorType]| t.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let ins: Vec<TensorType> = inputs.iter().map(Tensor::ty).collect();
        name.push_str(&format!(" ({}) -> {}", list(&ins), list(&types)));
        Sample { name, op, attrs, constant: vec![false; inputs.len()], inputs, types }
    }

    /// The same in another float type where it is f32.
    pub fn retyped(mut self, to: DType) -> Self {
        let eval = |op, attrs: &Attrs, ins: &[&Tensor], ty| {
            let found = neap_reference::eval(op, attrs, ins, &[ty]).unwrap_or_else(|e| panic!("{e}"));
            found.into_iter().next().expect("one result")
        };
        for x in self.inputs.iter_mut().filter(|t| t.dtype == DType::F32) {
            let ty = TensorType::fixed(to, &x.dims);
            *x = eval(GraphOp::Cast, &Attrs::new(), &[x], ty.clone());
            if to == DType::F64 {
                // More digits than f32 has.
                let count = x.len();
                let factor = Tensor::new(&x.dims, &vec![1.000_000_001_234_567f64; count]);
                x.clone_from(&eval(GraphOp::Binary, &Attrs::new().int("kind", BinaryKind::Mul), &[x, &factor], ty));
            }
        }
        self.types.iter_mut().filter(|t| t.dtype == DType::F32).for_each(|t| t.dtype = to);
        let constant = std::mem::take(&mut self.constant);
        let mut out = Sample::typed(self.op, self.attrs, self.inputs, self.types);
        out.constant = constant;
        out
    }

    /// The same with one operand as a weight.
    pub fn with_weight(mut self, operand: usize) -> Self {
        self.constant[operand] = true;
        self.name.push_str(&format!(", operand {operand} constant"));
        self
    }
}

/// Sizes around vector widths of 4, 8, 16, 32 and 64 lanes, and around reductions of 256 elements.
const SIZES: &[u64] =
    &[1, 1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 24, 31, 32, 33, 47, 63, 64, 65, 100, 129, 255, 256, 257, 300];

/// Which elements to make up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Floats in [-3, 3), integers in [-20, 20).
    Plain,
    /// One in eight is NaN, an infinity or a zero of either sign: nothing whose sums overflow in one order only.
    Special,
    /// One in four is NaN, an infinity, a zero of either sign, subnormal, huge or tiny; integers take all values.
    Wild,
}

/// Seeded randomness.
#[derive(Clone, Debug)]
pub struct Dice(ChaCha8Rng);

impl Dice {
    /// The same for the same text.
    pub fn new(seed: &str) -> Self {
        // FNV-1a: any stable hash will do.
        let hash = seed.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        Dice(ChaCha8Rng::seed_from_u64(hash))
    }

    /// A number in [0, n).
    pub fn below(&mut self, n: u64) -> u64 {
        self.0.random_range(0..n)
    }

    /// A number in [from, to).
    pub fn between(&mut self, from: i64, to: i64) -> i64 {
        self.0.random_range(from..to)
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of a list.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }

    /// One size that is worth testing.
    pub fn size(&mut self) -> u64 {
        self.pick(SIZES)
    }

    /// One size of at most `most`.
    pub fn size_up_to(&mut self, most: u64) -> u64 {
        let fitting = SIZES.partition_point(|&s| s <= most);
        SIZES[self.below(fitting.max(1) as u64) as usize]
    }

    /// A shape of at most a few thousand elements; now and then an empty one.
    pub fn dims(&mut self, rank: usize) -> Vec<u64> {
        let mut left = 4000;
        let mut dims: Vec<u64> = (0..rank).map(|_| 1).collect();
        let mut axes: Vec<usize> = (0..rank).collect();
        while !axes.is_empty() {
            let axis = axes.swap_remove(self.below(axes.len() as u64) as usize);
            dims[axis] = self.size_up_to(left);
            left /= dims[axis];
        }
        if rank > 0 && self.once_in(12) {
            dims[self.below(rank as u64) as usize] = 0;
        }
        dims
    }

    /// A tensor.
    pub fn tensor(&mut self, dtype: DType, dims: &[u64], style: Style) -> Tensor {
        let count = dims.iter().product::<u64>();
        let mut data = Vec::with_capacity((count * dtype.size()) as usize);
        for _ in 0..count {
            match dtype {
                DType::F32 => data.extend_from_slice(&self.float(style).to_le_bytes()),
                DType::F64 => data.extend_from_slice(&self.double(style).to_le_bytes()),
                // Every pattern of bits is a number worth meeting.
                DType::F16 | DType::BF16 if style == Style::Wild && self.once_in(3) => {
                    data.extend_from_slice(&self.0.random::<u16>().to_le_bytes());
                }
                DType::F16 => data.extend_from_slice(&half::f16::from_f32(self.float(style)).to_le_bytes()),
                DType::BF16 => data.extend_from_slice(&half::bf16::from_f32(self.float(style)).to_le_bytes()),
                DType::Bool => data.push(self.below(2) as u8),
                _ => {
                    let bits = 8 * dtype.size() as u32;
                    let v = self.int(style, bits, dtype.is_unsigned());
                    data.extend_from_slice(&v.to_le_bytes()[..dtype.size() as usize]);
                }
            }
        }
        Tensor { dtype, dims: dims.to_vec(), data: data.into() }
    }

    /// Floats in [-3, 3) in most places, [`Style::Plain`].
    pub fn floats(&mut self, dims: &[u64]) -> Tensor {
        self.tensor(DType::F32, dims, Style::Plain)
    }

    /// Indices into `n` elements as i32 or i64: mostly inside, also negative ones, now and then out of range.
    pub fn indices(&mut self, dims: &[u64], n: u64) -> Tensor {
        let n = n as i64;
        let count = dims.iter().product::<u64>();
        let v: Vec<i64> = (0..count)
            .map(|_| if self.once_in(6) { self.between(-n - 3, n + 3) } else { self.between(-n, n.max(1 - n)) })
            .collect();
        if self.once_in(2) {
            Tensor::new(dims, &v)
        } else {
            Tensor::new(dims, &v.into_iter().map(|i| i as i32).collect::<Vec<_>>())
        }
    }

    fn float(&mut self, style: Style) -> f32 {
        let plain = match style {
            Style::Plain => true,
            Style::Special => !self.once_in(8),
            Style::Wild => !self.once_in(4),
        };
        if plain {
            return self.0.random_range(-3.0f32..3.0);
        }
        let sign = self.pick(&[1.0f32, -1.0]);
        let magnitude = match self.below(if style == Style::Special { 3 } else { 8 }) {
            0 => f32::NAN,
            1 => f32::INFINITY,
            2 => 0.0,
            3 => f32::from_bits(self.below(1 << 23) as u32),
            4 => f32::MAX / self.0.random_range(1.0f32..4.0),
            5 => f32::MIN_POSITIVE * self.0.random_range(1.0f32..4.0),
            6 => self.0.random_range(0.0f32..100.0),
            _ => self.0.random_range(0.0f32..2.0).exp2().exp2(),
        };
        sign * magnitude
    }

    fn double(&mut self, style: Style) -> f64 {
        if style == Style::Wild && self.once_in(8) {
            return f64::from_bits(self.0.random::<u64>());
        }
        f64::from(self.float(style)) * self.0.random_range(1.0..1.000_001)
    }

    fn int(&mut self, style: Style, bits: u32, unsigned: bool) -> i64 {
        if style != Style::Wild {
            return if unsigned { self.between(0, 20) } else { self.between(-20, 20) };
        }
        let least = if bits == 64 { i64::MIN } else { -(1 << (bits - 1)) };
        match self.below(6) {
            0 => 0,
            1 => self.pick(&[1, -1]),
            2 => self.pick(&[least, least.wrapping_add(1), !least, 2, i64::from(bits), i64::from(bits) - 1]),
            3 => self.between(-20, 20),
            _ => self.0.random::<i64>(),
        }
    }
}
