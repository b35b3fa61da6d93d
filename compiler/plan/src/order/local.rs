//! A stretch of an order as a model of its own: a segment, or a window of an order to be improved.

use super::model::{Model, Swap};

/// Where an order puts each op, and from where to where each atom is alive under it.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// Place of each op.
    pub(crate) of: Vec<u32>,
    /// Place of the first maker of each atom; none if it is there already.
    first: Vec<Option<u32>>,
    /// Place of the last user of each atom; past the end if it is kept.
    last: Vec<u32>,
}

impl Places {
    /// The places of an order of all ops.
    pub(crate) fn new(model: &Model, order: &[u32]) -> Self {
        let mut of = vec![0; order.len()];
        order.iter().enumerate().for_each(|(i, o)| of[*o as usize] = i as u32);
        let atoms = model.bytes.len();
        let mut places = Places { of, first: vec![None; atoms], last: vec![0; atoms] };
        (0..atoms as u32).for_each(|a| places.renew_atom(model, a));
        places
    }

    /// Notes that ops now stand elsewhere, among themselves.
    pub(crate) fn renew(&mut self, model: &Model, from: usize, ops: &[u32]) {
        for (i, o) in ops.iter().enumerate() {
            self.of[*o as usize] = (from + i) as u32;
        }
        for a in ops.iter().flat_map(|o| &model.uses[*o as usize]) {
            self.renew_atom(model, *a);
        }
    }

    fn renew_atom(&mut self, model: &Model, a: u32) {
        let a = a as usize;
        let place = |o: &u32| self.of[*o as usize];
        self.first[a] = if model.initial[a] { None } else { model.makers[a].iter().map(place).min() };
        self.last[a] = if model.kept[a] { u32::MAX } else { model.users[a].iter().map(place).max().unwrap_or(0) };
    }
}

/// The model of some ops that stand together in an order. Ops and atoms are numbered in the order they are met, so that
/// stretches of the same shape and sizes are equal.
pub(crate) fn local(model: &Model, places: &Places, from: usize, ops: &[u32]) -> Model {
    let to = (from + ops.len()) as u32;
    let from = from as u32;
    let inside = |o: &u32| (from..to).contains(&places.of[*o as usize]);
    // The ops may be listed in another order than they stand in.
    let mut number = vec![0; ops.len()];
    for (i, o) in ops.iter().enumerate() {
        number[(places.of[*o as usize] - from) as usize] = i as u32;
    }
    let renumber = |list: &[u32]| -> Vec<u32> {
        let mut list: Vec<u32> =
            list.iter().filter(|o| inside(o)).map(|o| number[(places.of[*o as usize] - from) as usize]).collect();
        list.sort_unstable();
        list
    };
    let mut out = Model { reversed: model.reversed, ..Model::default() };
    let mut known: std::collections::HashMap<u32, u32> = std::collections::HashMap::new();
    for o in ops {
        let o = *o as usize;
        out.preds.push(renumber(&model.preds[o]));
        out.succs.push(renumber(&model.succs[o]));
        out.workspace.push(model.workspace[o]);
        let mut atom = |a: &u32| {
            *known.entry(*a).or_insert_with(|| {
                let i = *a as usize;
                out.bytes.push(model.bytes[i]);
                out.fragile.push(model.fragile[i]);
                out.initial.push(places.first[i].is_none_or(|f| f < from));
                out.kept.push(places.last[i] >= to);
                out.bytes.len() as u32 - 1
            })
        };
        let uses = model.uses[o].iter().map(&mut atom).collect();
        let makes = model.makes[o].iter().map(&mut atom).collect();
        let swaps: Vec<Swap> = model.swaps[o]
            .iter()
            .map(|s| {
                let first = model.swaps[o].iter().position(|x| x.output == s.output).unwrap_or(0);
                Swap { old: atom(&s.old), output: first as u32, saved: s.saved }
            })
            .collect();
        out.uses.push(uses);
        out.makes.push(makes);
        out.swaps.push(swaps);
    }
    out.link();
    out
}
