//! The segments of a graph, equal ones known as one, with the best order known for each.

use std::collections::HashMap;

use super::Simple;
use super::decide::Both;
use super::local::{Places, local};
use super::model::Model;
use super::segment::segments;
use super::state::{State, profile};
use crate::problem::{OpId, Problem};

/// One segment.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Its ops in the order of the file, by which its shape numbers them.
    pub(crate) ops: Vec<u32>,
    /// Bytes alive all along that its shape does not know of.
    pub(crate) base: u64,
    /// Index of its shape; none for a single op.
    pub(crate) shape: Option<usize>,
    /// Peak, where no shape says it.
    pub(crate) alone: u64,
}

/// What equal segments have in common.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) both: Both,
    /// Best order known.
    pub(crate) order: Vec<u32>,
    /// Its peak, without the bases.
    pub(crate) peak: u64,
    /// No order is below this.
    pub(crate) bound: u64,
    /// The largest base of its parts.
    pub(crate) base: u64,
    /// States looked at.
    pub(crate) states: u64,
    /// What found the order.
    pub(crate) method: &'static str,
    /// For each op the least bytes alive while it runs in any order known.
    pub(crate) seen: Vec<u64>,
}

/// All segments in their order.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) parts: Vec<Part>,
    pub(crate) shapes: Vec<Shape>,
}

impl Parts {
    /// Cuts the graph and tries the `simple` orders in each segment: every order passes the cuts, so they can be compared
    /// segment by segment.
    pub(crate) fn new(problem: &Problem, model: &Model, simple: &[(Simple, Vec<OpId>)]) -> Self {
        let file: Vec<u32> = problem.file_order().iter().map(|o| o.0).collect();
        let places = Places::new(model, &file);
        let mut state = State::new(model);
        let mut known: HashMap<Model, usize> = HashMap::new();
        let mut out = Parts { parts: Vec::new(), shapes: Vec::new() };
        let mut first: Vec<usize> = Vec::new();
        let mut from = 0;
        for segment in segments(model, &file) {
            let ops = segment.ops;
            let start = state.memory;
            let alone = profile(&mut state, &ops).into_iter().max().unwrap_or(0);
            let mut part = Part { ops, base: 0, shape: None, alone };
            if part.ops.len() > 1 {
                let model = local(model, &places, from, &part.ops);
                part.base = start - State::new(&model).memory;
                let shape = match known.get(&model) {
                    Some(s) => *s,
                    None => {
                        known.insert(model.clone(), out.shapes.len());
                        first.push(out.parts.len());
                        out.shapes.push(Shape::new(model));
                        out.shapes.len() - 1
                    }
                };
                let s = &mut out.shapes[shape];
                s.base = s.base.max(part.base);
                part.shape = Some(shape);
            }
            from += part.ops.len();
            out.parts.push(part);
        }
        for (rule, order) in simple {
            out.offer_simple(*rule, order, &places, &first);
        }
        out
    }

    fn offer_simple(&mut self, rule: Simple, order: &[OpId], places: &Places, first: &[usize]) {
        let mut starts = Vec::with_capacity(self.parts.len());
        let mut from = 0;
        for part in &self.parts {
            starts.push(from);
            from += part.ops.len();
        }
        for (shape, part) in self.shapes.iter_mut().zip(first) {
            let from = starts[*part];
            // Ops are numbered by their places in the file's order.
            let ops = &order[from..from + shape.both.forward.len()];
            let order = ops.iter().map(|o| places.of[o.index()] - from as u32).collect();
            shape.offer(order, rule.name());
        }
    }

    /// What no order can be below as far as the segments know.
    pub(crate) fn bound(&self) -> u64 {
        let of = |p: &Part| p.shape.map_or(p.alone, |s| self.shapes[s].bound + p.base);
        self.parts.iter().map(of).max().unwrap_or(0)
    }

    /// The whole order.
    pub(crate) fn order(&self) -> Vec<u32> {
        let mut out = Vec::new();
        for p in &self.parts {
            match p.shape {
                Some(s) => out.extend(self.shapes[s].order.iter().map(|o| p.ops[*o as usize])),
                None => out.extend(&p.ops),
            }
        }
        out
    }
}

impl Shape {
    fn new(model: Model) -> Self {
        Shape {
            seen: vec![u64::MAX; model.len()],
            both: Both::new(model),
            order: Vec::new(),
            peak: u64::MAX,
            bound: 0,
            base: 0,
            states: 0,
            method: "",
        }
    }

    /// Takes an order if it is better; says whether it did.
    pub(crate) fn offer(&mut self, order: Vec<u32>, method: &'static str) -> bool {
        let loads = profile(&mut State::new(&self.both.forward), &order);
        for (o, load) in order.iter().zip(&loads) {
            let seen = &mut self.seen[*o as usize];
            *seen = (*seen).min(*load);
        }
        let peak = loads.into_iter().max().unwrap_or(0);
        let better = peak < self.peak;
        if better {
            (self.order, self.peak, self.method) = (order, peak, method);
        }
        better
    }
}
