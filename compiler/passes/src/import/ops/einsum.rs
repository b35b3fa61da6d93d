//! Einsum, as transposes, products and sums.

use neap_optable::{BinaryKind as B, CompareKind as C, DType, Dim, ReduceKind as R};

use crate::import::cx::{Cx, Val};
use crate::import::error::{Res, invalid};
use crate::import::op::Op;
use crate::import::table::{Entry, since};

pub(super) const OPS: &[Entry] = &[since("Einsum", 12, einsum)];

/// A dim's label: a letter, or a place counted from the end of the ellipsis.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Label {
    Ellipsis(usize),
    Letter(char),
}

/// A value with one label a dim.
#[derive(Clone)]
struct Term {
    v: Val,
    labels: Vec<Label>,
}

fn einsum(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let equation: String = op.text("equation", "")?.chars().filter(|c| !c.is_whitespace()).collect();
    let (left, right) = match equation.split_once("->") {
        Some((l, r)) => (l, Some(r)),
        None => (equation.as_str(), None),
    };
    let parts: Vec<&str> = left.split(',').collect();
    let ins = op.all()?;
    if parts.len() != ins.len() {
        return invalid(format!("equation `{equation}` has {} terms for {} operands", parts.len(), ins.len()));
    }
    let (mut terms, mut written) = (vec![], vec![]);
    let mut ellipsis = 0;
    for (text, &v) in parts.iter().zip(&ins) {
        let letters = text.replace("...", "").chars().count();
        let extra = cx.rank(v).checked_sub(letters).filter(|e| *e == 0 || text.contains("..."));
        let Some(extra) = extra else {
            return invalid(format!("term `{text}` of equation `{equation}` does not fit {}", cx.ty(v)));
        };
        ellipsis = ellipsis.max(extra);
        let labels = labels(text, extra)?;
        written.extend_from_slice(&labels);
        terms.push(diagonal(cx, Term { v, labels })?);
    }
    let out = match right {
        Some(text) => labels(text, ellipsis)?,
        None => implied(&written, ellipsis),
    };
    if let Some(l) = out.iter().find(|l| matches!(l, Label::Letter(_)) && !terms.iter().any(|t| t.labels.contains(l))) {
        return invalid(format!("equation `{equation}` has {l:?} in the result only"));
    }
    let mut rest = terms.into_iter();
    let Some(mut acc) = rest.next() else { return invalid("it has no operands") };
    let mut rest: Vec<Term> = rest.collect();
    while !rest.is_empty() {
        let next = rest.remove(0);
        let needed = |l: &Label| out.contains(l) || rest.iter().any(|t| t.labels.contains(l));
        acc = contract(cx, acc, next, &needed)?;
    }
    let acc = sum_out(cx, acc, &|l| out.contains(l))?;
    Ok(vec![aligned(cx, &acc, &out)?])
}

/// The labels of a term whose ellipsis stands for `extra` dims.
fn labels(text: &str, extra: usize) -> Res<Vec<Label>> {
    let letters = |s: &str| -> Res<Vec<Label>> {
        match s.chars().find(|c| !c.is_ascii_alphabetic()) {
            Some(c) => invalid(format!("an equation may not contain `{c}`")),
            None => Ok(s.chars().map(Label::Letter).collect()),
        }
    };
    let Some((before, after)) = text.split_once("...") else { return letters(text) };
    let mut out = letters(before)?;
    out.extend((0..extra).rev().map(Label::Ellipsis));
    out.extend(letters(after)?);
    Ok(out)
}

/// Without an arrow: the ellipsis, then the letters that occur once, in order of the alphabet.
fn implied(all: &[Label], ellipsis: usize) -> Vec<Label> {
    let mut once: Vec<Label> = all
        .iter()
        .copied()
        .filter(|l| matches!(l, Label::Letter(_)) && all.iter().filter(|o| *o == l).count() == 1)
        .collect();
    once.sort();
    (0..ellipsis).rev().map(Label::Ellipsis).chain(once).collect()
}

/// Where a label occurs twice, the elements whose indices agree.
fn diagonal(cx: &mut Cx, mut t: Term) -> Res<Term> {
    while let Some((i, j)) = (0..t.labels.len())
        .flat_map(|i| (i + 1..t.labels.len()).map(move |j| (i, j)))
        .find(|&(i, j)| t.labels[i] == t.labels[j])
    {
        let dims = cx.dims(t.v);
        let along = |cx: &mut Cx, at: usize| {
            let mut d = vec![Dim::constant(1); dims.len()];
            d[at] = dims[at].clone();
            cx.iota(DType::I64, d, at)
        };
        let (a, b) = (along(cx, i)?, along(cx, j)?);
        let same = cx.compare(C::Eq, a, b)?;
        let zero = cx.scalar(cx.dtype(t.v), 0.0);
        let kept = cx.select(same, t.v, zero)?;
        t.v = cx.reduce(R::Sum, kept, &[j], false)?;
        t.labels.remove(j);
    }
    Ok(t)
}

/// Sums over the dims nobody needs.
fn sum_out(cx: &mut Cx, t: Term, needed: &dyn Fn(&Label) -> bool) -> Res<Term> {
    let over: Vec<usize> = (0..t.labels.len()).filter(|&i| !needed(&t.labels[i])).collect();
    let v = cx.reduce(R::Sum, t.v, &over, false)?;
    Ok(Term { v, labels: t.labels.into_iter().filter(|l| needed(l)).collect() })
}

/// The dims in the order of `order`, of size 1 where the term lacks a label.
fn aligned(cx: &mut Cx, t: &Term, order: &[Label]) -> Res<Val> {
    let present: Vec<usize> = order.iter().filter_map(|l| t.labels.iter().position(|m| m == l)).collect();
    let v = cx.transpose(t.v, &present)?;
    let mut dims = cx.dims(v).into_iter();
    let spread = order
        .iter()
        .map(|l| if t.labels.contains(l) { dims.next().unwrap_or(Dim::constant(1)) } else { Dim::constant(1) })
        .collect();
    cx.reshape(v, spread)
}

/// The product of two terms, summed over the labels that only they have.
fn contract(cx: &mut Cx, a: Term, b: Term, needed: &dyn Fn(&Label) -> bool) -> Res<Term> {
    let a = sum_out(cx, a, &|l| needed(l) || b.labels.contains(l))?;
    let b = sum_out(cx, b, &|l| needed(l) || a.labels.contains(l))?;
    let shared = |l: &&Label| b.labels.contains(l);
    let batch: Vec<Label> = a.labels.iter().filter(shared).filter(|l| needed(l)).copied().collect();
    let summed: Vec<Label> = a.labels.iter().filter(shared).filter(|l| !needed(l)).copied().collect();
    let rows: Vec<Label> = a.labels.iter().filter(|l| !b.labels.contains(l)).copied().collect();
    let columns: Vec<Label> = b.labels.iter().filter(|l| !a.labels.contains(l)).copied().collect();
    let labels = [batch.as_slice(), &rows, &columns].concat();
    let product = |d: &[Dim]| d.iter().fold(Dim::constant(1), |x, y| x.mul(y));
    if summed.is_empty() {
        let (x, y) = (aligned(cx, &a, &labels)?, aligned(cx, &b, &labels)?);
        return Ok(Term { v: cx.binary(B::Mul, x, y)?, labels });
    }
    let (n, r) = (batch.len(), rows.len());
    let x = aligned(cx, &a, &[batch.as_slice(), &rows, &summed].concat())?;
    let y = aligned(cx, &b, &[batch.as_slice(), &summed, &columns].concat())?;
    let (xd, yd) = (cx.dims(x), cx.dims(y));
    if xd[n + r..] != yd[n..n + summed.len()] {
        return invalid(format!("{} and {} differ in a dim that is summed over", cx.ty(a.v), cx.ty(b.v)));
    }
    let flat = |head: &[Dim], first: &[Dim], second: &[Dim]| {
        let mut d = head.to_vec();
        d.extend([product(first), product(second)]);
        d
    };
    let x = cx.reshape(x, flat(&xd[..n], &xd[n..n + r], &xd[n + r..]))?;
    let y = cx.reshape(y, flat(&yd[..n], &yd[n..n + summed.len()], &yd[n + summed.len()..]))?;
    let out = cx.matmul(x, y, false, false)?;
    let mut dims = cx.dims(out)[..n].to_vec();
    dims.extend_from_slice(&xd[n..n + r]);
    dims.extend_from_slice(&yd[n + summed.len()..]);
    Ok(Term { v: cx.reshape(out, dims)?, labels })
}
