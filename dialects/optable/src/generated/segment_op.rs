//! Generated from `dialects/mlir/td` by neap-gen; do not edit.

use crate::{AttrKind, AttrRow, OpRow, PlaceKind, ValueRow};

/// Operators of the segment dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SegmentOp {
    /// one call of a compiled stage over its parallel range, split over threads
    Launch,
    /// a whole compiled model but its code and weights
    Program,
    /// an input or output of the model by position, with its name, element type and shape
    Tensor,
    /// bytes of an input or output (by position), of the weight section or of the arena, from an offset on
    View,
}

impl SegmentOp {
    /// All operators in order of name.
    pub const ALL: &'static [Self] = &[Self::Launch, Self::Program, Self::Tensor, Self::View];

    /// Mnemonic without the dialect, as in `segment.<name>`.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The operator with this mnemonic.
    pub fn from_name(name: &str) -> Option<Self> {
        ROWS.binary_search_by(|r| r.name.cmp(name)).ok().map(|i| Self::ALL[i])
    }

    /// What the ODS definition says of it.
    pub const fn row(self) -> &'static OpRow {
        &ROWS[self as usize]
    }
}

const fn one(name: &'static str) -> ValueRow {
    ValueRow { name, variadic: false, optional: false }
}

const fn many(name: &'static str) -> ValueRow {
    ValueRow { name, variadic: true, optional: false }
}

const fn attr(name: &'static str, kind: AttrKind) -> AttrRow {
    AttrRow { name, kind, optional: false }
}

const ROWS: &[OpRow] = &[
    OpRow {
        name: "launch",
        family: "host",
        summary: "one call of a compiled stage over its parallel range, split over threads",
        operands: &[many("reads"), many("writes")],
        results: &[],
        attrs: &[
            attr("entry", AttrKind::Int),
            attr("extent", AttrKind::Int),
            attr("flops", AttrKind::Int),
            attr("grain", AttrKind::Int),
            attr("kernel", AttrKind::Str),
            attr("nodes", AttrKind::Str),
            attr("order", AttrKind::Ints),
            attr("scratch", AttrKind::Int),
            attr("sizes", AttrKind::Ints),
        ],
        regions: 0,
        pure: false,
        terminator: false,
    },
    OpRow {
        name: "program",
        family: "host",
        summary: "a whole compiled model but its code and weights",
        operands: &[],
        results: &[],
        attrs: &[
            attr("arena", AttrKind::Int),
            attr("sym_name", AttrKind::Other("SymbolNameAttr")),
            attr("target", AttrKind::Other("DictionaryAttr")),
        ],
        regions: 1,
        pure: false,
        terminator: false,
    },
    OpRow {
        name: "tensor",
        family: "host",
        summary: "an input or output of the model by position, with its name, element type and shape",
        operands: &[],
        results: &[],
        attrs: &[
            attr("kind", AttrKind::Enum { name: "PlaceKind", cases: PlaceKind::NAMES }),
            attr("name", AttrKind::Str),
            attr("position", AttrKind::Int),
            attr("type", AttrKind::Other("TypeAttr")),
        ],
        regions: 0,
        pure: false,
        terminator: false,
    },
    OpRow {
        name: "view",
        family: "host",
        summary: "bytes of an input or output (by position), of the weight section or of the arena, from an offset on",
        operands: &[],
        results: &[one("bytes")],
        attrs: &[
            attr("kind", AttrKind::Enum { name: "PlaceKind", cases: PlaceKind::NAMES }),
            attr("offset", AttrKind::Int),
            attr("position", AttrKind::Int),
        ],
        regions: 0,
        pure: true,
        terminator: false,
    },
];
