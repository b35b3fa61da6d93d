//! The op cases as data, for this crate's tests and for the tests of what compiles the same ops.
//!
//! A case is a paragraph of a text file: op and attributes, then operands (`in`) and results (`out`), each a type and its
//! elements in row-major order. Files are part of the crate, so text that does not parse is a bug and panics.

use neap_optable::*;

use crate::values::{Values, load, store};

/// One op on given operands, with the results it must have.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name of its file, without extension.
    pub file: &'static str,
    /// First line of its paragraph.
    pub line: usize,
    /// Operator.
    pub op: GraphOp,
    /// Attributes.
    pub attrs: Attrs,
    /// Operands.
    pub inputs: Vec<Tensor>,
    /// Expected results.
    pub outputs: Vec<Tensor>,
}

impl Case {
    /// `contract.txt:12 matmul`, with the attributes as they stand in the file.
    pub fn name(&self) -> String {
        format!("{}.txt:{} {}", self.file, self.line, self.op.name())
    }

    /// Types of the results.
    pub fn types(&self) -> Vec<TensorType> {
        self.outputs.iter().map(Tensor::ty).collect()
    }
}

/// The files, by name.
pub const FILES: &[(&str, &str)] = &[
    ("contract", include_str!("tests/contract.txt")),
    ("elementwise", include_str!("tests/elementwise.txt")),
    ("index", include_str!("tests/index.txt")),
    ("recurrent", include_str!("tests/recurrent.txt")),
    ("reduce", include_str!("tests/reduce.txt")),
    ("resize", include_str!("tests/resize.txt")),
    ("shape", include_str!("tests/shape.txt")),
];

/// Every case of every file.
pub fn all() -> Vec<Case> {
    FILES.iter().flat_map(|(file, text)| parse(file, text)).collect()
}

/// Equal integers; floats within a few units in the last place of their type (expected values are sums in f32), or both NaN.
pub fn close(found: &Tensor, expected: &Tensor) -> bool {
    let tolerance = match found.dtype {
        DType::F64 => 1e-14,
        DType::F32 => 4e-6,
        _ => 1e-3,
    };
    let near = |(x, y): (&f64, &f64)| {
        x == y || x.is_nan() && y.is_nan() || (x - y).abs() <= tolerance * Ord::max(1, y.abs().ceil() as i64) as f64
    };
    found.ty() == expected.ty()
        && match (load(found), load(expected)) {
            (Values::Float(x), Values::Float(y)) => x.iter().zip(&y).all(near),
            (x, y) => x == y,
        }
}

fn parse(file: &'static str, text: &str) -> Vec<Case> {
    let mut out = vec![];
    let mut line = 1;
    for paragraph in text.split("\n\n") {
        let skipped = paragraph.len() - paragraph.trim_start().len();
        let first = line + paragraph[..skipped].matches('\n').count();
        line += paragraph.matches('\n').count() + 2;
        if !paragraph.trim().is_empty() && !paragraph.trim_start().starts_with('#') {
            out.push(case(file, first, paragraph.trim()));
        }
    }
    out
}

fn case(file: &'static str, line: usize, text: &str) -> Case {
    let mut lines = text.lines();
    let mut words = lines.next().expect("a paragraph has lines").split_whitespace();
    let name = words.next().expect("a line has words");
    let op = GraphOp::from_name(name).unwrap_or_else(|| panic!("{file}:{line}: no op {name}"));
    let mut attrs = Attrs::new();
    for word in words {
        let (name, value) = word.split_once('=').unwrap_or_else(|| panic!("{file}:{line}: {word}"));
        let row = op.row().attr(name).unwrap_or_else(|| panic!("{file}:{line}: no attribute {name}"));
        attrs = attrs.with(row.name, attribute(op, name, value));
    }
    let mut case = Case { file, line, op, attrs, inputs: vec![], outputs: vec![] };
    for l in lines {
        match l.split_once(' ') {
            Some(("in", t)) => case.inputs.push(tensor(t)),
            Some(("out", t)) => case.outputs.push(tensor(t)),
            _ => panic!("{file}:{line}: {l}"),
        }
    }
    case
}

/// `f32[2,3] 1 2 3 4 5 6`
fn tensor(text: &str) -> Tensor {
    let (ty, rest) = text.split_once(']').unwrap_or_else(|| panic!("{text}"));
    let (dtype, dims) = ty.split_once('[').unwrap_or_else(|| panic!("{text}"));
    let all = [
        DType::F32,
        DType::F64,
        DType::F16,
        DType::BF16,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::Bool,
    ];
    let dtype = all.into_iter().find(|d| d.to_string() == dtype).unwrap_or_else(|| panic!("{text}"));
    let dims: Vec<u64> = dims.split(',').filter(|d| !d.is_empty()).map(number).collect();
    let words = rest.split_whitespace();
    let values = if dtype.is_float() {
        Values::Float(words.map(number).collect())
    } else {
        Values::Int(words.map(number).collect())
    };
    let t = store(dtype, &dims, &values);
    assert_eq!(t.len() as u64, dims.iter().product::<u64>(), "{text}");
    t
}

fn number<T: std::str::FromStr>(word: &str) -> T {
    word.parse().unwrap_or_else(|_| panic!("{word} is no number here"))
}

/// The case number of a keyword in the enumeration of an attribute.
fn keyword(op: GraphOp, attr: &str, word: &str) -> i64 {
    let at = |names: Vec<&str>| names.iter().position(|n| *n == word).unwrap_or_else(|| panic!("{word}")) as i64;
    macro_rules! names {
        ($e:ident) => {
            at($e::ALL.iter().map(|k| k.name()).collect())
        };
    }
    match (op, attr) {
        (GraphOp::Unary, _) => names!(UnaryKind),
        (GraphOp::Binary, _) => names!(BinaryKind),
        (GraphOp::Compare, _) => names!(CompareKind),
        (GraphOp::Pool, _) => names!(PoolKind),
        (GraphOp::Reduce, _) => names!(ReduceKind),
        (GraphOp::ArgReduce, _) => names!(ArgKind),
        (GraphOp::ScatterElements | GraphOp::ScatterNd, _) => names!(ScatterKind),
        (GraphOp::Pad, _) => names!(PadMode),
        (_, "mode") => names!(ResizeMode),
        (_, "coordinates") => names!(CoordinateMode),
        _ => names!(NearestMode),
    }
}

fn attribute(op: GraphOp, name: &str, text: &str) -> Attr {
    let list = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    let items = |t: &str| t.split(',').filter(|w| !w.is_empty()).map(String::from).collect::<Vec<_>>();
    match (name, list) {
        ("scales", Some(t)) => Attr::Floats(items(t).iter().map(|w| number(w)).collect()),
        (_, Some(t)) => Attr::Ints(items(t).iter().map(|w| number(w)).collect()),
        ("epsilon" | "cubic_a", _) => Attr::Float(number(text)),
        _ if text == "true" || text == "false" => Attr::Bool(text == "true"),
        _ => Attr::Int(text.parse().unwrap_or_else(|_| keyword(op, name, text))),
    }
}
