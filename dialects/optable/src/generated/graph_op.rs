//! Generated from `dialects/mlir/td` by neap-gen; do not edit.

use crate::{
    ArgKind, AttrKind, AttrRow, BinaryKind, CompareKind, CoordinateMode, NearestMode, OpRow, PadMode, PoolKind,
    ReduceKind, ResizeMode, ScatterKind, UnaryKind, ValueRow,
};

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
        name: "arg_reduce",
        family: "reduce",
        summary: "i64 index of the extreme along one axis, the first or (select_last) the last of equals; the axis stays as size 1",
        operands: &[one("input")],
        results: &[one("result")],
        attrs: &[
            attr("axis", AttrKind::Int),
            attr("kind", AttrKind::Enum { name: "ArgKind", cases: ArgKind::NAMES }),
            attr("select_last", AttrKind::Bool),
        ],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "binary",
        family: "elementwise",
        summary: "combine two tensors of one type element by element",
        operands: &[one("lhs"), one("rhs")],
        results: &[one("result")],
        attrs: &[attr("kind", AttrKind::Enum { name: "BinaryKind", cases: BinaryKind::NAMES })],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "broadcast",
        family: "shape",
        summary: "repeat along dims of size 1 and along new leading dims (numpy rules) to the result's shape",
        operands: &[one("input")],
        results: &[one("result")],
        attrs: &[],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "cast",
        family: "elementwise",
        summary: "convert elements to the result's element type",
        operands: &[one("input")],
        results: &[one("result")],
        attrs: &[],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "compare",
        family: "elementwise",
        summary: "compare two tensors of one type element by element, giving i1",
        operands: &[one("lhs"), one("rhs")],
        results: &[one("result")],
        attrs: &[attr("kind", AttrKind::Enum { name: "CompareKind", cases: CompareKind::NAMES })],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "concat",
        family: "shape",
        summary: "join tensors along one axis",
        operands: &[many("inputs")],
        results: &[one("result")],
        attrs: &[attr("axis", AttrKind::Int)],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "constant",
        family: "structure",
        summary: "a tensor of at most 64 elements, or a splat of any size, held inline",
        operands: &[],
        results: &[one("result")],
        attrs: &[attr("value", AttrKind::Elements)],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "conv",
        family: "contract",
        summary: "convolution: input [N, C, spatial...], filter [O, C/groups, kernel...] -> [N, O, spatial...]",
        operands: &[one("input"), one("filter")],
        results: &[one("result")],
        attrs: &[
            attr("dilations", AttrKind::Ints),
            attr("groups", AttrKind::Int),
            attr("pads", AttrKind::Ints),
            attr("strides", AttrKind::Ints),
        ],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "conv_transpose",
        family: "contract",
        summary: "gradient of a convolution: input [N, C, spatial...], filter [C, O/groups, kernel...] -> [N, O, spatial...]",
        operands: &[one("input"), one("filter")],
        results: &[one("result")],
        attrs: &[
            attr("dilations", AttrKind::Ints),
            attr("groups", AttrKind::Int),
            attr("pads", AttrKind::Ints),
            attr("strides", AttrKind::Ints),
        ],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "cumsum",
        family: "reduce",
        summary: "running sum along one axis; exclusive leaves out the element itself; reverse runs from the end",
        operands: &[one("input")],
        results: &[one("result")],
        attrs: &[attr("axis", AttrKind::Int), attr("exclusive", AttrKind::Bool), attr("reverse", AttrKind::Bool)],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "fusion",
        family: "structure",
        summary: "operators that one kernel computes; the region's arguments are the operands, `graph.yield` gives the results",
        operands: &[many("inputs")],
        results: &[many("results")],
        attrs: &[attr("kind", AttrKind::Str)],
        regions: 1,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "gather",
        family: "index",
        summary: "numpy.take: input[..., indices, ...] along one axis; an index out of range is clamped",
        operands: &[one("input"), one("indices")],
        results: &[one("result")],
        attrs: &[attr("axis", AttrKind::Int)],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "gather_elements",
        family: "index",
        summary: "numpy.take_along_axis: result has the indices' shape",
        operands: &[one("input"), one("indices")],
        results: &[one("result")],
        attrs: &[attr("axis", AttrKind::Int)],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "gather_nd",
        family: "index",
        summary: "each row of the last dim of indices addresses an element or slice of input, after batch_dims shared dims",
        operands: &[one("input"), one("indices")],
        results: &[one("result")],
        attrs: &[attr("batch_dims", AttrKind::Int)],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "gru",
        family: "recurrent",
        summary: "one direction: gates [T, B, 3H] in order z, r, h; recurrent [3H, H]; recurrent_bias [H] of gate h; h0 [B, H] -> all h [T, B, H], last h",
        operands: &[one("gates"), one("recurrent"), one("recurrent_bias"), one("h0")],
        results: &[one("all"), one("h")],
        attrs: &[attr("linear_before_reset", AttrKind::Bool), attr("reverse", AttrKind::Bool)],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "iota",
        family: "index",
        summary: "element i along axis is start + i * step, computed in the result's type, where start and step are 0-d tensors",
        operands: &[one("start"), one("step")],
        results: &[one("result")],
        attrs: &[attr("axis", AttrKind::Int)],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "layer_norm",
        family: "reduce",
        summary: "(x - mean) / sqrt(var + epsilon) over the dims from axis on; scale and bias are separate elementwise ops",
        operands: &[one("input")],
        results: &[one("result")],
        attrs: &[attr("axis", AttrKind::Int), attr("epsilon", AttrKind::Float), attr("rms", AttrKind::Bool)],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "lstm",
        family: "recurrent",
        summary: "one direction: gates [T, B, 4H] in order i, o, f, c; recurrent [4H, H]; h0, c0 [B, H] -> all h [T, B, H], last h, last c",
        operands: &[one("gates"), one("recurrent"), one("h0"), one("c0")],
        results: &[one("all"), one("h"), one("c")],
        attrs: &[attr("reverse", AttrKind::Bool)],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "matmul",
        family: "contract",
        summary: "[..., M, K] x [..., K, N] -> [..., M, N]; batch dims broadcast by numpy rules; both operands have rank >= 2",
        operands: &[one("lhs"), one("rhs")],
        results: &[one("result")],
        attrs: &[attr("transpose_lhs", AttrKind::Bool), attr("transpose_rhs", AttrKind::Bool)],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "pad",
        family: "shape",
        summary: "add low[i] elements before and high[i] after dim i (negative: crop); `value` is a 0-d tensor of the same type",
        operands: &[one("input"), one("value")],
        results: &[one("result")],
        attrs: &[
            attr("high", AttrKind::Ints),
            attr("low", AttrKind::Ints),
            attr("mode", AttrKind::Enum { name: "PadMode", cases: PadMode::NAMES }),
        ],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "pool",
        family: "contract",
        summary: "pooling over windows: [N, C, spatial...] -> [N, C, spatial...]; the result's shape settles ceil_mode",
        operands: &[one("input")],
        results: &[one("result")],
        attrs: &[
            attr("dilations", AttrKind::Ints),
            attr("kernel", AttrKind::Ints),
            attr("kind", AttrKind::Enum { name: "PoolKind", cases: PoolKind::NAMES }),
            attr("pads", AttrKind::Ints),
            attr("strides", AttrKind::Ints),
        ],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "reduce",
        family: "reduce",
        summary: "reduce over sorted, distinct axes; with keep_dims they stay as size 1",
        operands: &[one("input")],
        results: &[one("result")],
        attrs: &[
            attr("axes", AttrKind::Ints),
            attr("keep_dims", AttrKind::Bool),
            attr("kind", AttrKind::Enum { name: "ReduceKind", cases: ReduceKind::NAMES }),
        ],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "reshape",
        family: "shape",
        summary: "same elements in row-major order, seen in the result's shape (also squeeze, unsqueeze, flatten)",
        operands: &[one("input")],
        results: &[one("result")],
        attrs: &[],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "resize",
        family: "shape",
        summary: "sample at scaled positions (ONNX Resize without crop); scales has one entry a dim, 1.0 where a dim is kept",
        operands: &[one("input")],
        results: &[one("result")],
        attrs: &[
            attr("coordinates", AttrKind::Enum { name: "CoordinateMode", cases: CoordinateMode::NAMES }),
            attr("cubic_a", AttrKind::Float),
            attr("mode", AttrKind::Enum { name: "ResizeMode", cases: ResizeMode::NAMES }),
            attr("nearest", AttrKind::Enum { name: "NearestMode", cases: NearestMode::NAMES }),
            attr("scales", AttrKind::Floats),
        ],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "scatter_elements",
        family: "index",
        summary: "copy of input with updates[i] written where indices[i] says along one axis",
        operands: &[one("input"), one("indices"), one("updates")],
        results: &[one("result")],
        attrs: &[
            attr("axis", AttrKind::Int),
            attr("kind", AttrKind::Enum { name: "ScatterKind", cases: ScatterKind::NAMES }),
        ],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "scatter_nd",
        family: "index",
        summary: "copy of input with slices of updates written where the rows of indices say",
        operands: &[one("input"), one("indices"), one("updates")],
        results: &[one("result")],
        attrs: &[attr("kind", AttrKind::Enum { name: "ScatterKind", cases: ScatterKind::NAMES })],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "select",
        family: "elementwise",
        summary: "take each element from one tensor where the condition holds and from the other where not",
        operands: &[one("condition"), one("on_true"), one("on_false")],
        results: &[one("result")],
        attrs: &[],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "slice",
        family: "shape",
        summary: "element i along each dim is input element start + i * step; the result's shape gives the counts",
        operands: &[one("input")],
        results: &[one("result")],
        attrs: &[attr("starts", AttrKind::Ints), attr("steps", AttrKind::Ints)],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "softmax",
        family: "reduce",
        summary: "exp(x - max) / sum(exp(x - max)) along one axis, or its logarithm",
        operands: &[one("input")],
        results: &[one("result")],
        attrs: &[attr("axis", AttrKind::Int), attr("log", AttrKind::Bool)],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "top_k",
        family: "reduce",
        summary: "the k largest (or smallest) along one axis, sorted, with their i64 indices; of equals the lower index comes first",
        operands: &[one("input")],
        results: &[one("values"), one("indices")],
        attrs: &[attr("axis", AttrKind::Int), attr("largest", AttrKind::Bool)],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "transpose",
        family: "shape",
        summary: "result dim i is input dim permutation[i]",
        operands: &[one("input")],
        results: &[one("result")],
        attrs: &[attr("permutation", AttrKind::Ints)],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "unary",
        family: "elementwise",
        summary: "apply a function to every element; `not`, `isnan`, `isinf` give i1 (`not` on i1 only)",
        operands: &[one("input")],
        results: &[one("result")],
        attrs: &[attr("kind", AttrKind::Enum { name: "UnaryKind", cases: UnaryKind::NAMES })],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "weight",
        family: "structure",
        summary: "a larger tensor, held outside the IR under a key; hash is its content hash, or empty when seeded in tests",
        operands: &[],
        results: &[one("result")],
        attrs: &[attr("hash", AttrKind::Str), attr("key", AttrKind::Str)],
        regions: 0,
        pure: true,
        terminator: false,
    },
    OpRow {
        name: "yield",
        family: "structure",
        summary: "ends a region of the graph dialect with its results",
        operands: &[many("values")],
        results: &[],
        attrs: &[],
        regions: 0,
        pure: true,
        terminator: true,
    },
];
