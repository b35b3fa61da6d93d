//! Generated from `dialects/mlir/td` by neap-gen; do not edit.

/// where a buffer lies at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum PlaceKind {
    Input = 0,
    Output = 1,
    Weight = 2,
    Arena = 3,
}

impl PlaceKind {
    /// All cases in order.
    pub const ALL: &'static [Self] = &[Self::Input, Self::Output, Self::Weight, Self::Arena];

    /// The keywords in the assembly, in order.
    pub const NAMES: &'static [&'static str] = &["input", "output", "weight", "arena"];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The case with this keyword.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|n| *n == name).map(|i| Self::ALL[i])
    }
}

impl From<PlaceKind> for i64 {
    fn from(v: PlaceKind) -> i64 {
        v as i64
    }
}

impl TryFrom<i64> for PlaceKind {
    type Error = i64;
    fn try_from(v: i64) -> Result<Self, i64> {
        usize::try_from(v).ok().and_then(|i| Self::ALL.get(i).copied()).ok_or(v)
    }
}
