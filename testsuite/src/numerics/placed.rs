//! Moves that a plan spares: concatenations written in place, slices read in place, parts copied in one by one.
//!
//! Each graph runs on every back end over poisoned memory, with all ways of sharing memory, with each left out, and with
//! none, and with the outputs held in the arena; all must give the same bits and what the reference gives. Rows also say how many launches are left and how many
//! bytes the arena has.

use libtest_mimic::Trial;
use neap_driver::compile::Sharing;
use neap_optable::{Attrs, BinaryKind, DType, GraphOp, ReduceKind, Tensor, TensorType, UnaryKind, ValueId};
use neap_reference::eval_body;

use super::maker::Maker;
use super::{back_ends, run};

/// Random graphs.
const COUNT: usize = 20;
/// No fusion, so that launches can be counted.
const PIPELINE: &str = "graph-copy-outputs";

struct Row {
    name: &'static str,
    make: fn(&mut Maker),
    launches: usize,
    arena: u64,
}

const ROWS: &[Row] = &[
    Row { name: "parts are written into their whole", make: parts, launches: 3, arena: 256 },
    Row { name: "parts start where their elements may", make: odd_parts, launches: 4, arena: 64 },
    Row { name: "a part that is there twice is copied once", make: twice, launches: 3, arena: 256 },
    Row { name: "an input is copied into the whole", make: input_part, launches: 3, arena: 256 },
    Row { name: "a part is read after the whole is made", make: part_read_later, launches: 4, arena: 256 },
    Row { name: "wholes within wholes", make: nested, launches: 4, arena: 384 },
    Row { name: "one part, two wholes", make: two_wholes, launches: 5, arena: 256 },
    Row { name: "parts of columns are copied in one by one", make: columns, launches: 10, arena: 1280 },
    Row { name: "an output is written part by part", make: output_parts, launches: 2, arena: 0 },
    Row { name: "slices are read out of their whole", make: slices, launches: 4, arena: 256 },
    Row { name: "slices are read out of an input", make: slices_of_input, launches: 2, arena: 0 },
    Row { name: "a slice of a slice of a weight", make: slice_of_weight, launches: 1, arena: 0 },
    Row { name: "a whole is overwritten while a slice of it lives", make: overwritten, launches: 4, arena: 256 },
    Row { name: "neighbours are gathered by known indices", make: gathered, launches: 3, arena: 256 },
    Row { name: "others are gathered by a kernel", make: gathered_apart, launches: 4, arena: 384 },
    Row { name: "a slice becomes a part", make: slice_into_whole, launches: 4, arena: 256 },
    Row { name: "columns are sliced by a kernel", make: column_slices, launches: 5, arena: 384 },
];

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut out = vec![];
    for row in ROWS {
        out.push(Trial::test(format!("numerics placed {}", row.name), || {
            let mut m = Maker::new(row.name);
            (row.make)(&mut m);
            check(&m)?;
            Ok(counts(&m, row)?)
        }));
    }
    for i in 0..COUNT {
        out.push(Trial::test(format!("numerics placed random {i}"), move || {
            let mut m = Maker::new(&format!("placed {i}"));
            random(&mut m);
            Ok(check(&m)?)
        }));
    }
    out
}

/// Every way of sharing memory left out by turns.
pub fn sharings() -> Vec<Sharing> {
    let all = Sharing::default();
    vec![
        all,
        Sharing { in_place: false, ..all },
        Sharing { parts: false, ..all },
        Sharing { views: false, ..all },
        Sharing { in_place: false, parts: false, views: false },
    ]
}

fn check(m: &Maker) -> Result<(), String> {
    let expected = eval_body(&m.body, &m.weights, &m.inputs, &mut |_, _| {}).map_err(|e| e.to_string())?;
    let mut first: Option<Vec<Tensor>> = None;
    for b in back_ends::all() {
        let held = sharings().into_iter().map(|s| (s, false)).chain([(Sharing::default(), true)]);
        for (sharing, hold) in held {
            let at = |e| format!("{} with {sharing:?}, outputs held: {hold}: {e}\n{:#?}", b.name, m.body);
            let compiler = run::compiler(&b.target, sharing, hold);
            let found = run::run_with(&m.body, &m.weights, &m.inputs, &compiler, PIPELINE).map_err(at)?;
            let first = first.get_or_insert_with(|| found.clone());
            run::same_bits(&found, first).map_err(|e| at(format!("not the bits of the first: {e}")))?;
            run::near_all(&found, &expected, 1e-5).map_err(at)?;
        }
    }
    Ok(())
}

fn counts(m: &Maker, row: &Row) -> Result<(), String> {
    for b in back_ends::all() {
        let program =
            run::compiled(&m.body, &m.weights, &run::compiler(&b.target, Sharing::default(), false), PIPELINE)?.program;
        let found = (program.launches.len(), program.arena_bytes);
        if found != (row.launches, row.arena) {
            let names: Vec<&str> = program.launches.iter().map(|l| l.nodes.as_str()).collect();
            let expected = (row.launches, row.arena);
            return Err(format!("(launches, arena bytes) are {found:?}, expected {expected:?}: {names:?}"));
        }
    }
    Ok(())
}

fn concat(m: &mut Maker, axis: i64, parts: &[ValueId]) -> ValueId {
    m.op(GraphOp::Concat, Attrs::new().int("axis", axis), parts)
}

fn slice(m: &mut Maker, x: ValueId, starts: &[i64], dims: &[u64]) -> ValueId {
    let attrs = Attrs::new().ints("starts", starts.to_vec()).ints("steps", vec![1; starts.len()]);
    m.typed(GraphOp::Slice, attrs, &[x], dims)
}

/// A result that is too small to lie where `x` lies.
fn sum(m: &mut Maker, x: ValueId) {
    let attrs = Attrs::new().int("kind", ReduceKind::Sum).ints("axes", vec![0]).flag("keep_dims", false);
    let y = m.op(GraphOp::Reduce, attrs, &[x]);
    m.result(y);
}

fn tanh(m: &mut Maker, x: ValueId) -> ValueId {
    m.unary(UnaryKind::Tanh, x)
}

fn parts(m: &mut Maker) {
    let x = m.input(&[2, 16]);
    let (a, b) = (tanh(m, x), m.unary(UnaryKind::Relu, x));
    let w = concat(m, 0, &[a, b]);
    sum(m, w);
}

fn odd_parts(m: &mut Maker) {
    let (x, y, z) = (m.input(&[1, 3]), m.input(&[1, 5]), m.input(&[1, 7]));
    let (a, b, c) = (tanh(m, x), tanh(m, y), tanh(m, z));
    let w = concat(m, 1, &[a, b, c]);
    let attrs = Attrs::new().int("kind", ReduceKind::Sum).ints("axes", vec![1]).flag("keep_dims", false);
    let s = m.op(GraphOp::Reduce, attrs, &[w]);
    m.result(s);
}

fn twice(m: &mut Maker) {
    let x = m.input(&[2, 16]);
    let a = tanh(m, x);
    let w = concat(m, 0, &[a, a]);
    sum(m, w);
}

fn input_part(m: &mut Maker) {
    let x = m.input(&[2, 16]);
    let a = tanh(m, x);
    let w = concat(m, 0, &[x, a]);
    sum(m, w);
}

fn part_read_later(m: &mut Maker) {
    let x = m.input(&[2, 16]);
    let (a, b) = (tanh(m, x), m.unary(UnaryKind::Relu, x));
    let w = concat(m, 0, &[a, b]);
    sum(m, w);
    sum(m, a);
}

fn nested(m: &mut Maker) {
    let x = m.input(&[2, 16]);
    let (a, b, c) = (tanh(m, x), m.unary(UnaryKind::Relu, x), m.unary(UnaryKind::Sin, x));
    let v = concat(m, 0, &[a, b]);
    let w = concat(m, 0, &[c, v]);
    sum(m, w);
}

/// The wholes overlap in one part; the other is copied.
fn two_wholes(m: &mut Maker) {
    let (x, y) = (m.input(&[2, 16]), m.input(&[1, 16]));
    let (a, b) = (tanh(m, x), tanh(m, y));
    let v = concat(m, 0, &[a, b]);
    let w = concat(m, 0, &[b, a]);
    sum(m, v);
    sum(m, w);
}

/// At the peak the whole and one part are there, not all parts.
fn columns(m: &mut Maker) {
    let x = m.input(&[2, 32]);
    let mut made = vec![];
    for kind in [UnaryKind::Tanh, UnaryKind::Relu, UnaryKind::Sin] {
        // Slices of columns are copies, which leave room for the next.
        let y = m.unary(kind, x);
        made.push(slice(m, y, &[0, 0], &[2, 31]));
    }
    let w = concat(m, 1, &made);
    sum(m, w);
}

fn output_parts(m: &mut Maker) {
    let x = m.input(&[2, 16]);
    let (a, b) = (tanh(m, x), m.unary(UnaryKind::Relu, x));
    let w = concat(m, 0, &[a, b]);
    m.result(w);
}

fn slices(m: &mut Maker) {
    let x = m.input(&[4, 16]);
    let y = tanh(m, x);
    for start in 0..3 {
        let s = slice(m, y, &[start, 0], &[2, 16]);
        sum(m, s);
    }
}

fn slices_of_input(m: &mut Maker) {
    let x = m.input(&[1, 4, 15]);
    for start in [1, 2] {
        let s = slice(m, x, &[0, start, 0], &[1, 1, 15]);
        let y = tanh(m, s);
        m.result(y);
    }
}

fn slice_of_weight(m: &mut Maker) {
    let w = m.weight(&[4, 6]);
    let row = slice(m, w, &[2, 0], &[1, 6]);
    let s = slice(m, row, &[0, 1], &[1, 3]);
    let y = tanh(m, s);
    m.result(y);
}

/// The slice is copied, into the memory of the result.
fn overwritten(m: &mut Maker) {
    let x = m.input(&[4, 16]);
    let y = tanh(m, x);
    let s = slice(m, y, &[1, 0], &[1, 16]);
    let z = m.unary(UnaryKind::Sin, y);
    let t = slice(m, z, &[2, 0], &[1, 16]);
    let u = m.binary(BinaryKind::Max, s, t);
    m.result(u);
}

fn gathered(m: &mut Maker) {
    let x = m.input(&[4, 16]);
    let y = tanh(m, x);
    let index = indices(m, &[1, 2]);
    let g = m.op(GraphOp::Gather, Attrs::new().int("axis", 0), &[y, index]);
    sum(m, g);
    sum(m, y);
}

fn gathered_apart(m: &mut Maker) {
    let x = m.input(&[4, 16]);
    let y = tanh(m, x);
    let index = indices(m, &[2, 1]);
    let g = m.op(GraphOp::Gather, Attrs::new().int("axis", 0), &[y, index]);
    sum(m, g);
    sum(m, y);
}

fn indices(m: &mut Maker, values: &[i64]) -> ValueId {
    let data: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let t = Tensor { dtype: DType::I64, dims: vec![values.len() as u64], data: data.into() };
    let ty: TensorType = t.ty();
    let key = m.weights.insert_fresh("index", t);
    m.body.push(GraphOp::Weight, Attrs::new().str("key", key).str("hash", ""), &[], [ty], "index")[0]
}

fn slice_into_whole(m: &mut Maker) {
    let (x, z) = (m.input(&[3, 16]), m.input(&[1, 16]));
    let (y, b) = (tanh(m, x), tanh(m, z));
    let a = slice(m, y, &[0, 0], &[2, 16]);
    let w = concat(m, 0, &[b, a]);
    sum(m, w);
    sum(m, y);
}

fn column_slices(m: &mut Maker) {
    let x = m.input(&[4, 16]);
    let y = tanh(m, x);
    for start in [0, 8] {
        let s = slice(m, y, &[0, start], &[4, 8]);
        sum(m, s);
    }
}

/// Slices, concatenations and elementwise work at random, some along rows and some along columns.
fn random(m: &mut Maker) {
    let lead = m.dice.pick(&[1, 1, 2]);
    let row = m.dice.pick(&[1, 3, 16, 17]);
    let mut pool = vec![m.input(&[lead, 4, row]), m.weight(&[lead, 3, row])];
    for _ in 0..14 {
        let x = m.dice.pick(&pool);
        let (dims, kind) = (m.dims(x), m.dice.below(6));
        let y = match kind {
            0 | 1 => {
                let more = m.dice.below(3);
                let parts: Vec<ValueId> = std::iter::once(x).chain((0..more).map(|_| m.dice.pick(&pool))).collect();
                let rows: u64 = parts.iter().map(|p| m.dims(*p)[1]).sum();
                if rows > 40 { tanh(m, x) } else { concat(m, 1, &parts) }
            }
            2 | 3 if dims[1] > 1 => {
                let from = m.dice.below(dims[1]);
                let rows = 1 + m.dice.below(dims[1] - from);
                slice(m, x, &[0, from as i64, 0], &[lead, rows, row])
            }
            4 => {
                let like: Vec<ValueId> = pool.iter().copied().filter(|v| m.dims(*v) == dims).collect();
                let y = m.dice.pick(&like);
                m.binary(BinaryKind::Max, x, y)
            }
            _ => tanh(m, x),
        };
        pool.push(y);
    }
    for _ in 0..2 {
        let r = m.dice.pick(&pool[4..]);
        m.result(r);
    }
    m.result(pool[pool.len() - 1]);
}
