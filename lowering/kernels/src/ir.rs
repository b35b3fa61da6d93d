//! The loop level as plain data: kernels, nests, access maps and scalar bodies.

use neap_optable::{ArgKind, BinaryKind, CompareKind, DType, Dim, UnaryKind};

/// How the iterations of one iterator may be ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IterKind {
    /// Any order, also at once.
    Parallel,
    /// Folded by the nest's reductions, in the order that docs/architecture.md, "Numbers", fixes.
    Reduction,
    /// One after another: later iterations see what earlier ones stored.
    Sequential,
}

/// One iterator: 0 up to its extent.
#[derive(Clone, Debug, PartialEq)]
pub struct Iter {
    /// Iteration count.
    pub extent: Dim,
    /// Ordering.
    pub kind: IterKind,
}

/// Index expression over iterators; the kernel's outer iterators come first, then the nest's own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Index {
    /// A constant or run-time size.
    Size(Dim),
    /// The iterator at this position.
    Iter(usize),
    /// Sum.
    Add(Box<Index>, Box<Index>),
    /// Product with a size.
    Mul(Box<Index>, Dim),
    /// Floor division by a positive size.
    FloorDiv(Box<Index>, Dim),
    /// Remainder by a positive size, at least 0.
    Mod(Box<Index>, Dim),
}

/// A constant element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// Of a float type.
    Float(f64),
    /// Of an integer type or bool.
    Int(i64),
}

/// Index of a buffer in [`Kernel::buffers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub usize);

/// What a buffer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Read only; the kernel's arguments first, in order.
    In,
    /// Written; after the inputs, in order.
    Out,
    /// Private to one iteration of the outer iterators; lives in registers or the thread's scratch.
    Temp,
}

/// A dense row-major tensor that the kernel touches.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Element type.
    pub dtype: DType,
    /// Shape.
    pub dims: Vec<Dim>,
    /// What for.
    pub role: Role,
}

/// A place in a buffer as a function of the iterators.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// Which buffer.
    pub buffer: BufferId,
    /// One expression a buffer dim.
    pub index: Vec<Index>,
    /// What a read gives where an index is outside the buffer (padding); `None`: always inside.
    pub outside: Option<Scalar>,
}

/// Index of a scalar operation in [`Nest::ops`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OpId(pub usize);

/// One scalar operation; operands come earlier in the list.
#[derive(Clone, Debug, PartialEq)]
pub enum ScalarOp {
    /// Element read through [`Nest::reads`].
    Read(usize),
    /// Element at computed indices (i64), one a dim, each inside the buffer.
    Load(BufferId, Vec<OpId>),
    /// A constant.
    Const(DType, Scalar),
    /// An iterator's value as i64 (numbered as in [`Index::Iter`]).
    Iter(usize),
    /// A run-time size as i64.
    Size(Dim),
    /// As `graph.unary`.
    Unary(UnaryKind, OpId),
    /// As `graph.binary`.
    Binary(BinaryKind, OpId, OpId),
    /// As `graph.compare`; gives bool.
    Compare(CompareKind, OpId, OpId),
    /// condition, then, else
    Select(OpId, OpId, OpId),
    /// As `graph.cast`.
    Cast(DType, OpId),
    /// a * b + c, rounded once.
    Fma(OpId, OpId, OpId),
}

impl ScalarOp {
    /// The same operation on other operands.
    pub fn renumbered(&self, mut at: impl FnMut(OpId) -> OpId) -> ScalarOp {
        match self {
            ScalarOp::Read(_) | ScalarOp::Const(..) | ScalarOp::Iter(_) | ScalarOp::Size(_) => self.clone(),
            ScalarOp::Load(b, i) => ScalarOp::Load(*b, i.iter().map(|i| at(*i)).collect()),
            ScalarOp::Unary(k, a) => ScalarOp::Unary(*k, at(*a)),
            ScalarOp::Binary(k, a, b) => ScalarOp::Binary(*k, at(*a), at(*b)),
            ScalarOp::Compare(k, a, b) => ScalarOp::Compare(*k, at(*a), at(*b)),
            ScalarOp::Select(c, a, b) => ScalarOp::Select(at(*c), at(*a), at(*b)),
            ScalarOp::Cast(d, a) => ScalarOp::Cast(*d, at(*a)),
            ScalarOp::Fma(a, b, c) => ScalarOp::Fma(at(*a), at(*b), at(*c)),
        }
    }
}

/// How a reduction combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// acc + value
    Sum,
    /// acc * value
    Prod,
    /// NaN-propagating maximum
    Max,
    /// NaN-propagating minimum
    Min,
    /// fma(value, second value, acc): a contraction
    Fma,
    /// acc or value
    Any,
    /// acc and value
    All,
    /// index (along the one reduction iterator) of the extreme; flag: the last of equals instead of the first
    Arg(ArgKind, bool),
}

/// What an iteration does with its values.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the variants' comments say what the fields are")]
pub enum Effect {
    /// Stores a value; with a predicate only where it holds.
    Store { to: Access, value: OpId, when: Option<OpId> },
    /// Stores at computed indices.
    StoreAt { to: BufferId, index: Vec<OpId>, value: OpId, when: Option<OpId> },
    /// Folds over the reduction iterators, f16 and bf16 in f32, rounded once when stored; `to` uses only the others. `second` is the other factor of `Combine::Fma`.
    Reduce { to: Access, combine: Combine, value: OpId, second: Option<OpId> },
}

/// A loop nest.
#[derive(Clone, Debug, PartialEq)]
pub struct Nest {
    /// Its own iterators, outermost first.
    pub iters: Vec<Iter>,
    /// Reads by access map.
    pub reads: Vec<Access>,
    /// Scalar body.
    pub ops: Vec<ScalarOp>,
    /// Results.
    pub effects: Vec<Effect>,
}

/// What one kernel call computes.
///
/// Two shapes occur. *Without outer iterators and temporaries* the nests run one after another, each over its whole space.
/// *With outer iterators* all nests run for each outer iteration, passing values on in temporaries.
///
/// Canonical forms (what `graph_to_loop` makes and schedules match):
/// - map: no outer iterators, one nest of parallel iterators, one for each result dim that is not constantly 1;
/// - contraction: the outer iterators are all result dims in order (matmul: `[batch..., m, n]`, kept even where 1; conv:
///   `[image, group, channel in group, spatial...]`, with the group only where there are several); nest 0 has only reduction
///   iterators (matmul `[k]`, conv `[channel, kernel...]`) and one `Reduce` by `Fma` of the left (input) by the right (filter)
///   operand; operands are plain reads unless producers are fused. Its `to` is the output, or, with an epilogue, a temporary of
///   no dims which nest 1, without iterators, reads and stores to the outputs at the outer index;
/// - row: the outer iterators are the dims not reduced, the nests fold and map the rest;
/// - recurrence: parallel batch, then sequential time.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Symbol; equal kernels get equal names.
    pub name: String,
    /// Run-time sizes in the order of the `dims` argument (symbols of the extents and shapes).
    pub sizes: Vec<String>,
    /// Buffers: inputs, outputs, then temporaries.
    pub buffers: Vec<Buffer>,
    /// Outer iterators around all nests: parallel ones, then sequential ones.
    pub outer: Vec<Iter>,
    /// Nests in order.
    pub nests: Vec<Nest>,
}
