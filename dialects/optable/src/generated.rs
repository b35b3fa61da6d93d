//! Generated from `dialects/mlir/td`; do not edit.

/// what a pooling window computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are ONNX's or numpy's")]
pub enum PoolKind {
    Max = 0,
    Average = 1,
    AverageIncludePad = 2,
}

impl PoolKind {
    /// All cases in order.
    pub const ALL: &'static [Self] = &[Self::Max, Self::Average, Self::AverageIncludePad];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Max => "max",
            Self::Average => "average",
            Self::AverageIncludePad => "average_include_pad",
        }
    }
}

impl From<PoolKind> for i64 {
    fn from(v: PoolKind) -> i64 {
        v as i64
    }
}

impl TryFrom<i64> for PoolKind {
    type Error = i64;
    fn try_from(v: i64) -> Result<Self, i64> {
        usize::try_from(v).ok().and_then(|i| Self::ALL.get(i).copied()).ok_or(v)
    }
}

/// elementwise function of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are ONNX's or numpy's")]
pub enum BinaryKind {
    Add = 0,
    Sub = 1,
    Mul = 2,
    Div = 3,
    Pow = 4,
    Max = 5,
    Min = 6,
    Mod = 7,
    Fmod = 8,
    And = 9,
    Or = 10,
    Xor = 11,
    Shl = 12,
    Shr = 13,
    Atan2 = 14,
}

impl BinaryKind {
    /// All cases in order.
    pub const ALL: &'static [Self] = &[
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::Pow,
        Self::Max,
        Self::Min,
        Self::Mod,
        Self::Fmod,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::Shl,
        Self::Shr,
        Self::Atan2,
    ];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
            Self::Div => "div",
            Self::Pow => "pow",
            Self::Max => "max",
            Self::Min => "min",
            Self::Mod => "mod",
            Self::Fmod => "fmod",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
            Self::Shl => "shl",
            Self::Shr => "shr",
            Self::Atan2 => "atan2",
        }
    }
}

impl From<BinaryKind> for i64 {
    fn from(v: BinaryKind) -> i64 {
        v as i64
    }
}

impl TryFrom<i64> for BinaryKind {
    type Error = i64;
    fn try_from(v: i64) -> Result<Self, i64> {
        usize::try_from(v).ok().and_then(|i| Self::ALL.get(i).copied()).ok_or(v)
    }
}

/// ordered comparison; a NaN compares unequal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are ONNX's or numpy's")]
pub enum CompareKind {
    Eq = 0,
    Ne = 1,
    Lt = 2,
    Le = 3,
    Gt = 4,
    Ge = 5,
}

impl CompareKind {
    /// All cases in order.
    pub const ALL: &'static [Self] = &[Self::Eq, Self::Ne, Self::Lt, Self::Le, Self::Gt, Self::Ge];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Lt => "lt",
            Self::Le => "le",
            Self::Gt => "gt",
            Self::Ge => "ge",
        }
    }
}

impl From<CompareKind> for i64 {
    fn from(v: CompareKind) -> i64 {
        v as i64
    }
}

impl TryFrom<i64> for CompareKind {
    type Error = i64;
    fn try_from(v: i64) -> Result<Self, i64> {
        usize::try_from(v).ok().and_then(|i| Self::ALL.get(i).copied()).ok_or(v)
    }
}

/// elementwise function of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are ONNX's or numpy's")]
pub enum UnaryKind {
    Abs = 0,
    Neg = 1,
    Sign = 2,
    Exp = 3,
    Log = 4,
    Sqrt = 5,
    Reciprocal = 6,
    Sin = 7,
    Cos = 8,
    Tan = 9,
    Tanh = 10,
    Erf = 11,
    Sigmoid = 12,
    Relu = 13,
    Floor = 14,
    Ceil = 15,
    Round = 16,
    Not = 17,
    Isnan = 18,
    Isinf = 19,
    Softplus = 20,
    Asin = 21,
    Acos = 22,
    Atan = 23,
    Sinh = 24,
    Cosh = 25,
    Asinh = 26,
    Acosh = 27,
    Atanh = 28,
}

impl UnaryKind {
    /// All cases in order.
    pub const ALL: &'static [Self] = &[
        Self::Abs,
        Self::Neg,
        Self::Sign,
        Self::Exp,
        Self::Log,
        Self::Sqrt,
        Self::Reciprocal,
        Self::Sin,
        Self::Cos,
        Self::Tan,
        Self::Tanh,
        Self::Erf,
        Self::Sigmoid,
        Self::Relu,
        Self::Floor,
        Self::Ceil,
        Self::Round,
        Self::Not,
        Self::Isnan,
        Self::Isinf,
        Self::Softplus,
        Self::Asin,
        Self::Acos,
        Self::Atan,
        Self::Sinh,
        Self::Cosh,
        Self::Asinh,
        Self::Acosh,
        Self::Atanh,
    ];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Abs => "abs",
            Self::Neg => "neg",
            Self::Sign => "sign",
            Self::Exp => "exp",
            Self::Log => "log",
            Self::Sqrt => "sqrt",
            Self::Reciprocal => "reciprocal",
            Self::Sin => "sin",
            Self::Cos => "cos",
            Self::Tan => "tan",
            Self::Tanh => "tanh",
            Self::Erf => "erf",
            Self::Sigmoid => "sigmoid",
            Self::Relu => "relu",
            Self::Floor => "floor",
            Self::Ceil => "ceil",
            Self::Round => "round",
            Self::Not => "not",
            Self::Isnan => "isnan",
            Self::Isinf => "isinf",
            Self::Softplus => "softplus",
            Self::Asin => "asin",
            Self::Acos => "acos",
            Self::Atan => "atan",
            Self::Sinh => "sinh",
            Self::Cosh => "cosh",
            Self::Asinh => "asinh",
            Self::Acosh => "acosh",
            Self::Atanh => "atanh",
        }
    }
}

impl From<UnaryKind> for i64 {
    fn from(v: UnaryKind) -> i64 {
        v as i64
    }
}

impl TryFrom<i64> for UnaryKind {
    type Error = i64;
    fn try_from(v: i64) -> Result<Self, i64> {
        usize::try_from(v).ok().and_then(|i| Self::ALL.get(i).copied()).ok_or(v)
    }
}

/// how an update meets what is there; updates apply in row-major order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are ONNX's or numpy's")]
pub enum ScatterKind {
    Assign = 0,
    Add = 1,
    Mul = 2,
    Max = 3,
    Min = 4,
}

impl ScatterKind {
    /// All cases in order.
    pub const ALL: &'static [Self] = &[Self::Assign, Self::Add, Self::Mul, Self::Max, Self::Min];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Assign => "assign",
            Self::Add => "add",
            Self::Mul => "mul",
            Self::Max => "max",
            Self::Min => "min",
        }
    }
}

impl From<ScatterKind> for i64 {
    fn from(v: ScatterKind) -> i64 {
        v as i64
    }
}

impl TryFrom<i64> for ScatterKind {
    type Error = i64;
    fn try_from(v: i64) -> Result<Self, i64> {
        usize::try_from(v).ok().and_then(|i| Self::ALL.get(i).copied()).ok_or(v)
    }
}

/// which extreme an arg-reduction finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are ONNX's or numpy's")]
pub enum ArgKind {
    Max = 0,
    Min = 1,
}

impl ArgKind {
    /// All cases in order.
    pub const ALL: &'static [Self] = &[Self::Max, Self::Min];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Max => "max",
            Self::Min => "min",
        }
    }
}

impl From<ArgKind> for i64 {
    fn from(v: ArgKind) -> i64 {
        v as i64
    }
}

impl TryFrom<i64> for ArgKind {
    type Error = i64;
    fn try_from(v: i64) -> Result<Self, i64> {
        usize::try_from(v).ok().and_then(|i| Self::ALL.get(i).copied()).ok_or(v)
    }
}

/// how a reduction combines elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are ONNX's or numpy's")]
pub enum ReduceKind {
    Sum = 0,
    Mean = 1,
    Max = 2,
    Min = 3,
    Prod = 4,
    Any = 5,
    All = 6,
}

impl ReduceKind {
    /// All cases in order.
    pub const ALL: &'static [Self] = &[Self::Sum, Self::Mean, Self::Max, Self::Min, Self::Prod, Self::Any, Self::All];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Max => "max",
            Self::Min => "min",
            Self::Prod => "prod",
            Self::Any => "any",
            Self::All => "all",
        }
    }
}

impl From<ReduceKind> for i64 {
    fn from(v: ReduceKind) -> i64 {
        v as i64
    }
}

impl TryFrom<i64> for ReduceKind {
    type Error = i64;
    fn try_from(v: i64) -> Result<Self, i64> {
        usize::try_from(v).ok().and_then(|i| Self::ALL.get(i).copied()).ok_or(v)
    }
}

/// what stands in the padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are ONNX's or numpy's")]
pub enum PadMode {
    Constant = 0,
    Reflect = 1,
    Edge = 2,
    Wrap = 3,
}

impl PadMode {
    /// All cases in order.
    pub const ALL: &'static [Self] = &[Self::Constant, Self::Reflect, Self::Edge, Self::Wrap];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Reflect => "reflect",
            Self::Edge => "edge",
            Self::Wrap => "wrap",
        }
    }
}

impl From<PadMode> for i64 {
    fn from(v: PadMode) -> i64 {
        v as i64
    }
}

impl TryFrom<i64> for PadMode {
    type Error = i64;
    fn try_from(v: i64) -> Result<Self, i64> {
        usize::try_from(v).ok().and_then(|i| Self::ALL.get(i).copied()).ok_or(v)
    }
}

/// interpolation of a resize.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are ONNX's or numpy's")]
pub enum ResizeMode {
    Nearest = 0,
    Linear = 1,
    Cubic = 2,
}

impl ResizeMode {
    /// All cases in order.
    pub const ALL: &'static [Self] = &[Self::Nearest, Self::Linear, Self::Cubic];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nearest => "nearest",
            Self::Linear => "linear",
            Self::Cubic => "cubic",
        }
    }
}

impl From<ResizeMode> for i64 {
    fn from(v: ResizeMode) -> i64 {
        v as i64
    }
}

impl TryFrom<i64> for ResizeMode {
    type Error = i64;
    fn try_from(v: i64) -> Result<Self, i64> {
        usize::try_from(v).ok().and_then(|i| Self::ALL.get(i).copied()).ok_or(v)
    }
}

/// ONNX coordinate_transformation_mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are ONNX's or numpy's")]
pub enum CoordinateMode {
    HalfPixel = 0,
    Asymmetric = 1,
    AlignCorners = 2,
    PytorchHalfPixel = 3,
    HalfPixelSymmetric = 4,
}

impl CoordinateMode {
    /// All cases in order.
    pub const ALL: &'static [Self] =
        &[Self::HalfPixel, Self::Asymmetric, Self::AlignCorners, Self::PytorchHalfPixel, Self::HalfPixelSymmetric];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HalfPixel => "half_pixel",
            Self::Asymmetric => "asymmetric",
            Self::AlignCorners => "align_corners",
            Self::PytorchHalfPixel => "pytorch_half_pixel",
            Self::HalfPixelSymmetric => "half_pixel_symmetric",
        }
    }
}

impl From<CoordinateMode> for i64 {
    fn from(v: CoordinateMode) -> i64 {
        v as i64
    }
}

impl TryFrom<i64> for CoordinateMode {
    type Error = i64;
    fn try_from(v: i64) -> Result<Self, i64> {
        usize::try_from(v).ok().and_then(|i| Self::ALL.get(i).copied()).ok_or(v)
    }
}

/// ONNX nearest_mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are ONNX's or numpy's")]
pub enum NearestMode {
    RoundPreferFloor = 0,
    RoundPreferCeil = 1,
    Floor = 2,
    Ceil = 3,
}

impl NearestMode {
    /// All cases in order.
    pub const ALL: &'static [Self] = &[Self::RoundPreferFloor, Self::RoundPreferCeil, Self::Floor, Self::Ceil];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RoundPreferFloor => "round_prefer_floor",
            Self::RoundPreferCeil => "round_prefer_ceil",
            Self::Floor => "floor",
            Self::Ceil => "ceil",
        }
    }
}

impl From<NearestMode> for i64 {
    fn from(v: NearestMode) -> i64 {
        v as i64
    }
}

impl TryFrom<i64> for NearestMode {
    type Error = i64;
    fn try_from(v: i64) -> Result<Self, i64> {
        usize::try_from(v).ok().and_then(|i| Self::ALL.get(i).copied()).ok_or(v)
    }
}

/// Operators of the graph dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GraphOp {
    /// i64 index of the extreme along one axis, the first or (select_last) the last of equals; the axis stays as size 1
    ArgReduce,
    /// combine two tensors of one type element by element
    Binary,
    /// repeat along dims of size 1 and along new leading dims (numpy rules) to the result's shape
    Broadcast,
    /// convert elements to the result's element type
    Cast,
    /// compare two tensors of one type element by element, giving i1
    Compare,
    /// join tensors along one axis
    Concat,
    /// a tensor of at most 64 elements, or a splat of any size, held inline
    Constant,
    /// convolution: input [N, C, spatial...], filter [O, C/groups, kernel...] -> [N, O, spatial...]
    Conv,
    /// gradient of a convolution: input [N, C, spatial...], filter [C, O/groups, kernel...] -> [N, O, spatial...]
    ConvTranspose,
    /// running sum along one axis; exclusive leaves out the element itself; reverse runs from the end
    Cumsum,
    /// operators that one kernel computes; the region's arguments are the operands, `graph.yield` gives the results
    Fusion,
    /// numpy.take: input[..., indices, ...] along one axis; an index out of range is clamped
    Gather,
    /// numpy.take_along_axis: result has the indices' shape
    GatherElements,
    /// each row of the last dim of indices addresses an element or slice of input, after batch_dims shared dims
    GatherNd,
    /// one direction: gates [T, B, 3H] in order z, r, h; recurrent [3H, H]; recurrent_bias [H] of gate h; h0 [B, H] -> all h [T, B, H], last h
    Gru,
    /// element i along axis is start + i * step, computed in the result's type, where start and step are 0-d tensors
    Iota,
    /// (x - mean) / sqrt(var + epsilon) over the dims from axis on; scale and bias are separate elementwise ops
    LayerNorm,
    /// one direction: gates [T, B, 4H] in order i, o, f, c; recurrent [4H, H]; h0, c0 [B, H] -> all h [T, B, H], last h, last c
    Lstm,
    /// [..., M, K] x [..., K, N] -> [..., M, N]; batch dims broadcast by numpy rules; both operands have rank >= 2
    Matmul,
    /// add low[i] elements before and high[i] after dim i (negative: crop); `value` is a 0-d tensor of the same type
    Pad,
    /// pooling over windows: [N, C, spatial...] -> [N, C, spatial...]; the result's shape settles ceil_mode
    Pool,
    /// reduce over sorted, distinct axes; with keep_dims they stay as size 1
    Reduce,
    /// same elements in row-major order, seen in the result's shape (also squeeze, unsqueeze, flatten)
    Reshape,
    /// sample at scaled positions (ONNX Resize without crop); scales has one entry a dim, 1.0 where a dim is kept
    Resize,
    /// copy of input with updates[i] written where indices[i] says along one axis
    ScatterElements,
    /// copy of input with slices of updates written where the rows of indices say
    ScatterNd,
    /// take each element from one tensor where the condition holds and from the other where not
    Select,
    /// element i along each dim is input element start + i * step; the result's shape gives the counts
    Slice,
    /// exp(x - max) / sum(exp(x - max)) along one axis, or its logarithm
    Softmax,
    /// the k largest (or smallest) along one axis, sorted, with their i64 indices; of equals the lower index comes first
    TopK,
    /// result dim i is input dim permutation[i]
    Transpose,
    /// apply a function to every element; `not`, `isnan`, `isinf` give i1 (`not` on i1 only)
    Unary,
    /// a larger tensor, held outside the IR under a key; hash is its content hash, or empty when seeded in tests
    Weight,
    /// ends a region of the graph dialect with its results
    Yield,
}

impl GraphOp {
    /// All operators in order of name.
    pub const ALL: &'static [Self] = &[
        Self::ArgReduce,
        Self::Binary,
        Self::Broadcast,
        Self::Cast,
        Self::Compare,
        Self::Concat,
        Self::Constant,
        Self::Conv,
        Self::ConvTranspose,
        Self::Cumsum,
        Self::Fusion,
        Self::Gather,
        Self::GatherElements,
        Self::GatherNd,
        Self::Gru,
        Self::Iota,
        Self::LayerNorm,
        Self::Lstm,
        Self::Matmul,
        Self::Pad,
        Self::Pool,
        Self::Reduce,
        Self::Reshape,
        Self::Resize,
        Self::ScatterElements,
        Self::ScatterNd,
        Self::Select,
        Self::Slice,
        Self::Softmax,
        Self::TopK,
        Self::Transpose,
        Self::Unary,
        Self::Weight,
        Self::Yield,
    ];

    /// Mnemonic without the dialect, as in `graph.<name>`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ArgReduce => "arg_reduce",
            Self::Binary => "binary",
            Self::Broadcast => "broadcast",
            Self::Cast => "cast",
            Self::Compare => "compare",
            Self::Concat => "concat",
            Self::Constant => "constant",
            Self::Conv => "conv",
            Self::ConvTranspose => "conv_transpose",
            Self::Cumsum => "cumsum",
            Self::Fusion => "fusion",
            Self::Gather => "gather",
            Self::GatherElements => "gather_elements",
            Self::GatherNd => "gather_nd",
            Self::Gru => "gru",
            Self::Iota => "iota",
            Self::LayerNorm => "layer_norm",
            Self::Lstm => "lstm",
            Self::Matmul => "matmul",
            Self::Pad => "pad",
            Self::Pool => "pool",
            Self::Reduce => "reduce",
            Self::Reshape => "reshape",
            Self::Resize => "resize",
            Self::ScatterElements => "scatter_elements",
            Self::ScatterNd => "scatter_nd",
            Self::Select => "select",
            Self::Slice => "slice",
            Self::Softmax => "softmax",
            Self::TopK => "top_k",
            Self::Transpose => "transpose",
            Self::Unary => "unary",
            Self::Weight => "weight",
            Self::Yield => "yield",
        }
    }
}
