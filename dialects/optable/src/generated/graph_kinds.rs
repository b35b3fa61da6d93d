//! Generated from `dialects/mlir/td` by neap-gen; do not edit.

/// what a pooling window computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum PoolKind {
    Max = 0,
    Average = 1,
    AverageIncludePad = 2,
}

impl PoolKind {
    /// All cases in order.
    pub const ALL: &'static [Self] = &[Self::Max, Self::Average, Self::AverageIncludePad];

    /// The keywords in the assembly, in order.
    pub const NAMES: &'static [&'static str] = &["max", "average", "average_include_pad"];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The case with this keyword.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|n| *n == name).map(|i| Self::ALL[i])
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

/// how an update meets what is there; updates apply in row-major order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are the documentation")]
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

    /// The keywords in the assembly, in order.
    pub const NAMES: &'static [&'static str] = &["assign", "add", "mul", "max", "min"];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The case with this keyword.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|n| *n == name).map(|i| Self::ALL[i])
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

/// elementwise function of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are the documentation")]
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

    /// The keywords in the assembly, in order.
    pub const NAMES: &'static [&'static str] = &[
        "abs",
        "neg",
        "sign",
        "exp",
        "log",
        "sqrt",
        "reciprocal",
        "sin",
        "cos",
        "tan",
        "tanh",
        "erf",
        "sigmoid",
        "relu",
        "floor",
        "ceil",
        "round",
        "not",
        "isnan",
        "isinf",
        "softplus",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "asinh",
        "acosh",
        "atanh",
    ];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The case with this keyword.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|n| *n == name).map(|i| Self::ALL[i])
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

/// elementwise function of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are the documentation")]
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

    /// The keywords in the assembly, in order.
    pub const NAMES: &'static [&'static str] =
        &["add", "sub", "mul", "div", "pow", "max", "min", "mod", "fmod", "and", "or", "xor", "shl", "shr", "atan2"];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The case with this keyword.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|n| *n == name).map(|i| Self::ALL[i])
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
#[allow(missing_docs, reason = "the names are the documentation")]
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

    /// The keywords in the assembly, in order.
    pub const NAMES: &'static [&'static str] = &["eq", "ne", "lt", "le", "gt", "ge"];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The case with this keyword.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|n| *n == name).map(|i| Self::ALL[i])
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

/// how a reduction combines elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are the documentation")]
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

    /// The keywords in the assembly, in order.
    pub const NAMES: &'static [&'static str] = &["sum", "mean", "max", "min", "prod", "any", "all"];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The case with this keyword.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|n| *n == name).map(|i| Self::ALL[i])
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

/// which extreme an arg-reduction finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum ArgKind {
    Max = 0,
    Min = 1,
}

impl ArgKind {
    /// All cases in order.
    pub const ALL: &'static [Self] = &[Self::Max, Self::Min];

    /// The keywords in the assembly, in order.
    pub const NAMES: &'static [&'static str] = &["max", "min"];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The case with this keyword.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|n| *n == name).map(|i| Self::ALL[i])
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

/// what stands in the padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum PadMode {
    Constant = 0,
    Reflect = 1,
    Edge = 2,
    Wrap = 3,
}

impl PadMode {
    /// All cases in order.
    pub const ALL: &'static [Self] = &[Self::Constant, Self::Reflect, Self::Edge, Self::Wrap];

    /// The keywords in the assembly, in order.
    pub const NAMES: &'static [&'static str] = &["constant", "reflect", "edge", "wrap"];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The case with this keyword.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|n| *n == name).map(|i| Self::ALL[i])
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
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum ResizeMode {
    Nearest = 0,
    Linear = 1,
    Cubic = 2,
}

impl ResizeMode {
    /// All cases in order.
    pub const ALL: &'static [Self] = &[Self::Nearest, Self::Linear, Self::Cubic];

    /// The keywords in the assembly, in order.
    pub const NAMES: &'static [&'static str] = &["nearest", "linear", "cubic"];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The case with this keyword.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|n| *n == name).map(|i| Self::ALL[i])
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
#[allow(missing_docs, reason = "the names are the documentation")]
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

    /// The keywords in the assembly, in order.
    pub const NAMES: &'static [&'static str] =
        &["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The case with this keyword.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|n| *n == name).map(|i| Self::ALL[i])
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
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum NearestMode {
    RoundPreferFloor = 0,
    RoundPreferCeil = 1,
    Floor = 2,
    Ceil = 3,
}

impl NearestMode {
    /// All cases in order.
    pub const ALL: &'static [Self] = &[Self::RoundPreferFloor, Self::RoundPreferCeil, Self::Floor, Self::Ceil];

    /// The keywords in the assembly, in order.
    pub const NAMES: &'static [&'static str] = &["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The case with this keyword.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|n| *n == name).map(|i| Self::ALL[i])
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
