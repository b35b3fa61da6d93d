//! Generated from `dialects/mlir/td` by neap-gen; do not edit.

/// what a buffer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum BufferRole {
    In = 0,
    Out = 1,
    Temp = 2,
}

impl BufferRole {
    /// All cases in order.
    pub const ALL: &'static [Self] = &[Self::In, Self::Out, Self::Temp];

    /// The keywords in the assembly, in order.
    pub const NAMES: &'static [&'static str] = &["in", "out", "temp"];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The case with this keyword.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|n| *n == name).map(|i| Self::ALL[i])
    }
}

impl From<BufferRole> for i64 {
    fn from(v: BufferRole) -> i64 {
        v as i64
    }
}

impl TryFrom<i64> for BufferRole {
    type Error = i64;
    fn try_from(v: i64) -> Result<Self, i64> {
        usize::try_from(v).ok().and_then(|i| Self::ALL.get(i).copied()).ok_or(v)
    }
}

/// how a reduction folds values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum CombineKind {
    Sum = 0,
    Prod = 1,
    Max = 2,
    Min = 3,
    Fma = 4,
    Any = 5,
    All = 6,
    ArgMax = 7,
    ArgMin = 8,
    ArgMaxLast = 9,
    ArgMinLast = 10,
}

impl CombineKind {
    /// All cases in order.
    pub const ALL: &'static [Self] = &[
        Self::Sum,
        Self::Prod,
        Self::Max,
        Self::Min,
        Self::Fma,
        Self::Any,
        Self::All,
        Self::ArgMax,
        Self::ArgMin,
        Self::ArgMaxLast,
        Self::ArgMinLast,
    ];

    /// The keywords in the assembly, in order.
    pub const NAMES: &'static [&'static str] =
        &["sum", "prod", "max", "min", "fma", "any", "all", "arg_max", "arg_min", "arg_max_last", "arg_min_last"];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The case with this keyword.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|n| *n == name).map(|i| Self::ALL[i])
    }
}

impl From<CombineKind> for i64 {
    fn from(v: CombineKind) -> i64 {
        v as i64
    }
}

impl TryFrom<i64> for CombineKind {
    type Error = i64;
    fn try_from(v: i64) -> Result<Self, i64> {
        usize::try_from(v).ok().and_then(|i| Self::ALL.get(i).copied()).ok_or(v)
    }
}
