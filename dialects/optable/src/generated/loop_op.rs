//! Generated from `dialects/mlir/td` by neap-gen; do not edit.

use crate::{AttrKind, AttrRow, BinaryKind, BufferRole, CombineKind, CompareKind, OpRow, UnaryKind, ValueRow};

/// Operators of the loop dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LoopOp {
    /// a function of two numbers, as graph.binary; where arith or math mean the same, they are used instead
    Binary,
    /// a dense row-major tensor that the kernel reads, writes, or keeps private to one outer iteration
    Buffer,
    /// a conversion, as graph.cast: float to integer truncates and saturates, NaN gives 0
    Cast,
    /// a comparison, as graph.compare; where arith means the same, it is used instead
    Compare,
    /// a constant of an unsigned type, which arith.constant refuses
    Constant,
    /// value of an iterator, numbered with the kernel's outer ones first
    Iter,
    /// what one kernel call computes: buffers, then nests that run in order for each iteration of the outer iterators
    Kernel,
    /// element at computed indices, one a dim, each inside the buffer
    Load,
    /// scalar code run for each point of an iteration space
    Nest,
    /// fold a value over the nest's reduction iterators into the element a map of the other iterators addresses
    Reduce,
    /// a run-time size: a map without dims and with one result
    Size,
    /// store a value where a map says, with a predicate only where it holds
    Store,
    /// store a value at computed indices, one a dim
    StoreAt,
    /// a function of one number, as graph.unary; where arith or math mean the same, they are used instead
    Unary,
}

impl LoopOp {
    /// All operators in order of name.
    pub const ALL: &'static [Self] = &[
        Self::Binary,
        Self::Buffer,
        Self::Cast,
        Self::Compare,
        Self::Constant,
        Self::Iter,
        Self::Kernel,
        Self::Load,
        Self::Nest,
        Self::Reduce,
        Self::Size,
        Self::Store,
        Self::StoreAt,
        Self::Unary,
    ];

    /// Mnemonic without the dialect, as in `loop.<name>`.
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

const fn maybe(name: &'static str) -> ValueRow {
    ValueRow { name, variadic: false, optional: true }
}

const fn attr(name: &'static str, kind: AttrKind) -> AttrRow {
    AttrRow { name, kind, optional: false }
}

const fn optional(name: &'static str, kind: AttrKind) -> AttrRow {
    AttrRow { name, kind, optional: true }
}

const ROWS: &[OpRow] = &[
    OpRow {
        name: "binary",
        family: "scalar",
        summary: "a function of two numbers, as graph.binary; where arith or math mean the same, they are used instead",
        operands: &[one("lhs"), one("rhs")],
        results: &[one("result")],
        attrs: &[attr("kind", AttrKind::Enum { name: "BinaryKind", cases: BinaryKind::NAMES })],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "buffer",
        family: "structure",
        summary: "a dense row-major tensor that the kernel reads, writes, or keeps private to one outer iteration",
        operands: &[],
        results: &[one("buffer")],
        attrs: &[
            attr("role", AttrKind::Enum { name: "BufferRole", cases: BufferRole::NAMES }),
            attr("shape", AttrKind::Other("AffineMapAttr")),
        ],
        regions: 0,
        pure: false,
        terminator: false,
    },
    OpRow {
        name: "cast",
        family: "scalar",
        summary: "a conversion, as graph.cast: float to integer truncates and saturates, NaN gives 0",
        operands: &[one("input")],
        results: &[one("result")],
        attrs: &[],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "compare",
        family: "scalar",
        summary: "a comparison, as graph.compare; where arith means the same, it is used instead",
        operands: &[one("lhs"), one("rhs")],
        results: &[one("result")],
        attrs: &[attr("kind", AttrKind::Enum { name: "CompareKind", cases: CompareKind::NAMES })],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "constant",
        family: "scalar",
        summary: "a constant of an unsigned type, which arith.constant refuses",
        operands: &[],
        results: &[one("result")],
        attrs: &[attr("value", AttrKind::Int)],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "iter",
        family: "scalar",
        summary: "value of an iterator, numbered with the kernel's outer ones first",
        operands: &[],
        results: &[one("result")],
        attrs: &[attr("position", AttrKind::Int)],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "kernel",
        family: "structure",
        summary: "what one kernel call computes: buffers, then nests that run in order for each iteration of the outer iterators",
        operands: &[],
        results: &[],
        attrs: &[
            attr("extents", AttrKind::Other("AffineMapAttr")),
            attr("iterators", AttrKind::Other("StrArrayAttr")),
            optional("schedule", AttrKind::Other("DictionaryAttr")),
            attr("sizes", AttrKind::Int),
            attr("sym_name", AttrKind::Other("SymbolNameAttr")),
            attr("symbols", AttrKind::Other("ArrayAttr")),
        ],
        regions: 1,
        pure: false,
        terminator: false,
    },
    OpRow {
        name: "load",
        family: "scalar",
        summary: "element at computed indices, one a dim, each inside the buffer",
        operands: &[one("buffer"), many("indices")],
        results: &[one("result")],
        attrs: &[],
        regions: 0,
        pure: false,
        terminator: false,
    },
    OpRow {
        name: "nest",
        family: "structure",
        summary: "scalar code run for each point of an iteration space",
        operands: &[many("reads")],
        results: &[],
        attrs: &[
            attr("extents", AttrKind::Other("AffineMapAttr")),
            attr("iterators", AttrKind::Other("StrArrayAttr")),
            attr("maps", AttrKind::Other("AffineMapArrayAttr")),
            attr("outside", AttrKind::Other("ArrayAttr")),
        ],
        regions: 1,
        pure: false,
        terminator: false,
    },
    OpRow {
        name: "reduce",
        family: "effect",
        summary: "fold a value over the nest's reduction iterators into the element a map of the other iterators addresses",
        operands: &[one("value"), maybe("second"), one("to")],
        results: &[],
        attrs: &[
            attr("kind", AttrKind::Enum { name: "CombineKind", cases: CombineKind::NAMES }),
            attr("map", AttrKind::Other("AffineMapAttr")),
        ],
        regions: 0,
        pure: false,
        terminator: false,
    },
    OpRow {
        name: "size",
        family: "scalar",
        summary: "a run-time size: a map without dims and with one result",
        operands: &[],
        results: &[one("result")],
        attrs: &[attr("map", AttrKind::Other("AffineMapAttr"))],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "store",
        family: "effect",
        summary: "store a value where a map says, with a predicate only where it holds",
        operands: &[one("value"), one("to"), maybe("when")],
        results: &[],
        attrs: &[attr("map", AttrKind::Other("AffineMapAttr"))],
        regions: 0,
        pure: false,
        terminator: false,
    },
    OpRow {
        name: "store_at",
        family: "effect",
        summary: "store a value at computed indices, one a dim",
        operands: &[one("value"), one("to"), many("indices"), maybe("when")],
        results: &[],
        attrs: &[],
        regions: 0,
        pure: false,
        terminator: false,
    },
    OpRow {
        name: "unary",
        family: "scalar",
        summary: "a function of one number, as graph.unary; where arith or math mean the same, they are used instead",
        operands: &[one("input")],
        results: &[one("result")],
        attrs: &[attr("kind", AttrKind::Enum { name: "UnaryKind", cases: UnaryKind::NAMES })],
        regions: 0,
        pure: true,
        terminator: false,
    },
];
