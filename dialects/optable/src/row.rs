//! What the ODS definition of an operator says, as constants.

/// One operator.
#[derive(Debug, PartialEq)]
pub struct OpRow {
    /// Mnemonic without the dialect.
    pub name: &'static str,
    /// The td file that defines it, without extension.
    pub family: &'static str,
    /// What it computes, in one line.
    pub summary: &'static str,
    /// Operands in order.
    pub operands: &'static [ValueRow],
    /// Results in order.
    pub results: &'static [ValueRow],
    /// Attributes sorted by name.
    pub attrs: &'static [AttrRow],
    /// Regions.
    pub regions: usize,
    /// Whether it has no effect but its results.
    pub pure: bool,
    /// Whether it ends a block.
    pub terminator: bool,
}

/// An operand or result, or a run of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueRow {
    /// Name.
    pub name: &'static str,
    /// Whether it stands for any number of values.
    pub variadic: bool,
    /// Whether it may be absent.
    pub optional: bool,
}

/// An attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttrRow {
    /// Name.
    pub name: &'static str,
    /// Which [`crate::Attr`] it is.
    pub kind: AttrKind,
    /// Whether it may be absent.
    pub optional: bool,
}

/// Kinds of attributes; all but `Other` have a plain form in [`crate::Attr`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttrKind {
    /// `Attr::Int`
    Int,
    /// `Attr::Float`
    Float,
    /// `Attr::Bool`
    Bool,
    /// `Attr::Str`
    Str,
    /// `Attr::Ints`
    Ints,
    /// `Attr::Floats`
    Floats,
    /// `Attr::Elements`
    Elements,
    /// `Attr::Int` holding the number of a case.
    Enum {
        /// Name of the enumeration.
        name: &'static str,
        /// Keywords; the position is the number.
        cases: &'static [&'static str],
    },
    /// Only in MLIR: the ODS name of the kind.
    Other(&'static str),
}

impl OpRow {
    /// The attribute `name`, if the operator has one.
    pub fn attr(&self, name: &str) -> Option<&'static AttrRow> {
        self.attrs.iter().find(|a| a.name == name)
    }
}
