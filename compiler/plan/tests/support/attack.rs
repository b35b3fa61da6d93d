//! One thing made wrong in a plan at a time.

use neap_plan::{
    BoundCheck, Certificate, OpId, Place, Planned, Problem, ShareId, ShareKind, Solution, TensorId, Violation,
};
use neap_plan::{Witness, check};

use super::random::Dice;
use super::replay::replay;

/// A plan in the making of something wrong.
pub struct Attack<'p> {
    pub problem: &'p Problem,
    pub solution: Solution,
    pub certificate: Certificate,
    pub dice: Dice,
}

impl<'p> Attack<'p> {
    pub fn new(problem: &'p Problem, planned: &Planned, seed: u64) -> Self {
        let (solution, certificate) = (planned.solution.clone(), planned.certificate.clone());
        Attack { problem, solution, certificate, dice: Dice::new(seed) }
    }

    pub fn check(&self) -> Result<BoundCheck, Violation> {
        check(self.problem, &self.solution, &self.certificate)
    }

    /// The refusal, which must come and must name these; `why` is for the message.
    pub fn refused(&self, names: &[&str], why: &str) -> Violation {
        let Err(e) = self.check() else {
            panic!("{why} is accepted\n{}{:?}\n{:?}", super::show(self.problem), self.solution, self.certificate)
        };
        let line = e.to_string();
        assert!(!line.contains('\n'), "{line}");
        for n in names {
            assert!(line.contains(&format!("'{n}'")), "{why}: no '{n}' in: {line}\n{}", super::show(self.problem));
        }
        e
    }

    pub fn name(&self, t: TensorId) -> &'p str {
        &self.problem.tensor(t).name
    }

    pub fn step(&self, o: OpId) -> usize {
        self.solution.order.iter().position(|x| *x == o).unwrap()
    }

    /// Half-open steps; what is kept lives past the last.
    pub fn life(&self, t: TensorId) -> (usize, usize) {
        let tensor = self.problem.tensor(t);
        let birth = self.problem.producer(t).map_or(0, |o| self.step(o));
        let last = self.problem.consumers(t).iter().map(|c| self.step(*c)).max().unwrap_or(birth);
        let end = self.solution.order.len() + 1;
        (if tensor.pinned { 0 } else { birth }, if tensor.pinned || tensor.output { end } else { last + 1 })
    }

    /// Tensors in the arena that hold bytes.
    pub fn placed(&self) -> Vec<TensorId> {
        let here = |t: &TensorId| {
            matches!(self.solution.places[t.index()], Place::Arena(_)) && self.problem.tensor(*t).size > 0
        };
        self.problem.tensor_ids().filter(here).collect()
    }

    /// Tensors that any shares, taken or not, may bring together.
    pub fn related(&self, a: TensorId, b: TensorId) -> bool {
        let mut seen = vec![a];
        let mut i = 0;
        while i < seen.len() {
            for s in self.problem.shares() {
                for (x, y) in [(s.inner, s.outer), (s.outer, s.inner)] {
                    if x == seen[i] && !seen.contains(&y) {
                        seen.push(y);
                    }
                }
            }
            i += 1;
        }
        seen.contains(&b)
    }

    /// The arena's size again, and no bound, so that these figures are not what is refused.
    pub fn settle(&mut self) {
        let tensors = self.problem.tensors().iter().zip(&self.solution.places).filter_map(|(t, p)| match p {
            Place::Arena(at) => at.checked_add(t.size),
            Place::External { .. } => None,
        });
        let work = self.problem.ops().iter().zip(&self.solution.workspaces).filter(|x| x.0.workspace > 0);
        let end = tensors.chain(work.map(|(o, at)| at + o.workspace)).max().unwrap_or(0);
        self.certificate.arena = self.problem.padded(end);
        self.certificate.lower_bound = 0;
        self.certificate.witness = Witness::None;
    }

    /// Puts a tensor over another. The refusal names both, or two others that this move drags over each other.
    pub fn collide(mut self, moved: TensorId, onto: TensorId, why: &str) {
        self.solution.places[moved.index()] = self.solution.places[onto.index()];
        self.settle();
        // What nobody reads is held for a moment all the same, but a run does not miss it.
        let missed = |t| !self.problem.consumers(t).is_empty() || self.problem.tensor(t).output;
        if missed(moved) && missed(onto) {
            let lost = replay(self.problem, &self.solution).is_err();
            assert!(lost, "{why}: the replay finds nothing\n{}{:?}", super::show(self.problem), self.solution);
        }
        match self.refused(&[], why) {
            Violation::Clash { first, second, .. } => {
                let names = [self.name(moved), self.name(onto)];
                assert!(names.contains(&first.as_str()) || names.contains(&second.as_str()), "{why}: {first} {second}");
            }
            Violation::ShareApart { .. } | Violation::Misaligned { .. } => {}
            other => panic!("{why}: {other}"),
        }
    }

    /// Changes one thing at random, whatever it is, as long as no list was cut short.
    pub fn disturb(&mut self) {
        let whole = self.solution.order.len() == self.problem.ops().len()
            && self.solution.places.len() == self.problem.tensors().len()
            && self.solution.workspaces.len() == self.problem.ops().len();
        if !whole {
            return;
        }
        let (tensors, ops) = (self.problem.tensors().len() as u64, self.problem.ops().len() as u64);
        let d = &mut self.dice;
        let (t, o) = (d.below(tensors) as usize, d.below(ops) as usize);
        match d.below(12) {
            0 => self.solution.order.swap(o, d.below(ops) as usize),
            1 => self.solution.order[o] = OpId(d.below(ops + 1) as u32),
            2 => drop(self.solution.order.pop()),
            3 => self.solution.places[t] = Place::Arena(d.below(24)),
            4 => self.solution.places[t] = self.solution.places[d.below(tensors) as usize],
            5 => {
                let of = TensorId(d.below(tensors + 1) as u32);
                self.solution.places[t] = Place::External { of, offset: d.below(4) };
            }
            6 => self.solution.workspaces[o] = d.below(24),
            7 => self.solution.taken.retain(|_| !d.chance(50)),
            8 => {
                let all = self.problem.shares().len() as u64;
                let id = ShareId(d.below(all + 1) as u32);
                if let Err(at) = self.solution.taken.binary_search(&id) {
                    self.solution.taken.insert(at, id);
                }
            }
            9 => {
                let shares = self.problem.shares();
                if let Some(s) = shares.get(d.below(shares.len().max(1) as u64) as usize) {
                    let by = if s.kind == ShareKind::InPlace { 0 } else { s.offset };
                    self.solution.places[s.inner.index()] = match self.solution.places[s.outer.index()] {
                        Place::Arena(at) => Place::Arena(at + by),
                        Place::External { of, offset } => Place::External { of, offset: offset + by },
                    };
                }
            }
            10 => drop(self.solution.places.pop()),
            _ => drop(self.solution.workspaces.pop()),
        }
    }

    /// Writes into the certificate what the checker itself finds, as far as it says so.
    pub fn believe(&mut self) {
        self.settle();
        for _ in 0..2 {
            match self.check() {
                Err(Violation::Peak { found, .. }) => self.certificate.peak = found,
                Err(Violation::Arena { found, .. }) => self.certificate.arena = found,
                _ => return,
            }
        }
    }
}
