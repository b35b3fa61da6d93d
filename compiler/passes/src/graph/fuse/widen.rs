//! Chains that widen 8-bit elements for a contraction: casts, zero points, scales.
//!
//! Computed where the contraction packs its operands, they cost a few operations an element; in memory, four times the bytes.

use std::collections::{HashMap, HashSet};

use neap_optable::{Attr, BinaryKind, Body, GraphOp, Node, ValueId};

/// The body with chains that several contractions share cloned for each: bytes are read again, and nothing wide is in memory.
pub(super) fn unshared(body: &Body) -> Body {
    let producers = body.producers();
    let uses = body.use_counts();
    let shared = |i: usize| uses[body.nodes[i].outputs[0].0 as usize] > 1;
    let mut new = Body { nodes: vec![], ..body.clone() };
    for (i, n) in body.nodes.iter().enumerate() {
        let mut n = n.clone();
        for operand in 0..contracted(body, i) {
            let Some(chain) = chain(body, &producers, i, operand, &|_| true).filter(|c| c.iter().any(|c| shared(*c)))
            else {
                continue;
            };
            let mut names = HashMap::new();
            for c in chain {
                let mut copy = body.nodes[c].clone();
                copy.inputs.iter_mut().for_each(|v| *v = *names.get(v).unwrap_or(v));
                let (old, own) = (copy.outputs[0], new.value(body.ty(copy.outputs[0]).clone()));
                copy.outputs[0] = own;
                names.insert(old, own);
                new.nodes.push(copy);
            }
            n.inputs[operand] = *names.get(&n.inputs[operand]).unwrap_or(&n.inputs[operand]);
        }
        new.nodes.push(n);
    }
    let mut live = crate::rewrite::live_nodes(&new).into_iter();
    new.nodes.retain(|_| live.next().unwrap_or(false));
    new
}

/// How many operands of a node may be widened.
fn contracted(body: &Body, i: usize) -> usize {
    let n = &body.nodes[i];
    let dtype = n.outputs.first().map(|o| body.ty(*o).dtype);
    let fits = matches!(n.op, GraphOp::Matmul | GraphOp::Conv) && dtype.is_some_and(|d| d.is_float() || d.size() == 4);
    // Both operands may be one.
    if fits && n.inputs[0] != n.inputs[1] { 2 } else { 0 }
}

/// The nodes that widen an operand of a contraction, in order, all of whose results but the bytes pass a test.
fn chain(
    body: &Body,
    producers: &[Option<usize>],
    anchor: usize,
    operand: usize,
    alone: &dyn Fn(ValueId) -> bool,
) -> Option<Vec<usize>> {
    let n = &body.nodes[anchor];
    let mut chain = Chain { body, producers, anchor: n, operand, alone, nodes: vec![], main: None };
    chain.follow(n.inputs[operand])?;
    chain.main.filter(|m| body.ty(*m).dtype.size() == 1)?;
    Some(chain.nodes)
}

/// For each node the contraction it widens an operand of, if it does.
pub(super) fn chains(body: &Body) -> Vec<Option<usize>> {
    let (producers, uses) = (body.producers(), body.use_counts());
    let results: HashSet<ValueId> = body.results.iter().copied().collect();
    let mut of = vec![None; body.nodes.len()];
    let alone = |v: ValueId| uses[v.0 as usize] == 1 && !results.contains(&v);
    for i in 0..body.nodes.len() {
        for operand in 0..contracted(body, i) {
            for node in chain(body, &producers, i, operand, &alone).into_iter().flatten() {
                of[node] = Some(i);
            }
        }
    }
    of
}

struct Chain<'a> {
    body: &'a Body,
    producers: &'a [Option<usize>],
    anchor: &'a Node,
    operand: usize,
    alone: &'a dyn Fn(ValueId) -> bool,
    nodes: Vec<usize>,
    /// The one value that is read element by element.
    main: Option<ValueId>,
}

impl Chain<'_> {
    /// Takes in what computes a value; `None` where the contraction could not compute it.
    fn follow(&mut self, v: ValueId) -> Option<()> {
        let producer = self.producers[v.0 as usize].map(|p| (p, &self.body.nodes[p]));
        // What made the bytes is no matter of the contraction's.
        let narrow = self.body.ty(v).dtype.size() == 1;
        match producer {
            Some((p, n)) if !narrow && self.scalar_work(n) && (self.alone)(v) => {
                n.inputs.iter().try_for_each(|o| self.follow(*o))?;
                self.nodes.push(p);
                Some(())
            }
            Some((_, n)) if n.op == GraphOp::Broadcast => self.held(n).then_some(()),
            // A constant of all elements is read as it is.
            Some((_, n)) if n.op == GraphOp::Constant && is_splat(n) => Some(()),
            // Cloned into their readers: no place to be read from.
            Some((_, n)) if matches!(n.op, GraphOp::Slice | GraphOp::Iota) => None,
            _ if self.main.is_none_or(|m| m == v) => {
                self.main = Some(v);
                Some(())
            }
            _ => None,
        }
    }

    fn scalar_work(&self, n: &Node) -> bool {
        let padded = self.anchor.op == GraphOp::Conv
            && self.operand == 0
            && self.anchor.attrs.get_ints("pads").iter().any(|p| *p != 0);
        let constant = |v: ValueId| {
            let source = |v: ValueId| self.producers[v.0 as usize].map(|p| &self.body.nodes[p]);
            match source(v) {
                Some(n) if n.op == GraphOp::Broadcast => source(n.inputs[0]).is_some_and(is_splat),
                other => other.is_some_and(is_splat),
            }
        };
        match n.op {
            GraphOp::Cast => true,
            // Around the image is what the work makes 0 of, so the zero point must be known.
            GraphOp::Binary if padded => {
                n.attrs.get_enum::<BinaryKind>("kind") == BinaryKind::Sub && constant(n.inputs[1])
            }
            GraphOp::Binary => {
                matches!(n.attrs.get_enum("kind"), BinaryKind::Sub | BinaryKind::Mul | BinaryKind::Add)
            }
            _ => false,
        }
    }

    /// Whether a broadcast value is the same all along the contracted dims.
    fn held(&self, n: &Node) -> bool {
        let (from, to) = (&self.body.ty(n.inputs[0]).dims, self.body.ty(n.outputs[0]).dims.len());
        let same = |dim: usize| (dim + from.len()).checked_sub(to).is_none_or(|d| from[d].as_const() == Some(1));
        match self.anchor.op {
            GraphOp::Conv => (0..to).all(|d| d == 0 && self.operand == 1 || same(d)),
            _ => {
                let transposed = self.anchor.attrs.get_bool(["transpose_lhs", "transpose_rhs"][self.operand]);
                same(to - if transposed == (self.operand == 0) { 2 } else { 1 })
            }
        }
    }
}

fn is_splat(n: &Node) -> bool {
    n.op == GraphOp::Constant
        && matches!(n.attrs.get("value"), Some(Attr::Elements { dtype, data, .. }) if data.len() as u64 == dtype.size())
}
