//! Runs a plan byte by byte: every tensor's bytes are labels, ops read and write them, and whatever is read, kept or
//! promised must still be there. It shares nothing with the library but the problem.

use std::collections::HashMap;

use neap_plan::{OpId, Place, Problem, ShareKind, Solution, TensorId};

/// What a byte of memory holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Label {
    /// Byte of a value: equal for tensors that views and parts make equal.
    Value(u32),
    /// Scratch of an op.
    Scratch(u32),
    /// Kept free for this value of a pinned tensor until it is made.
    Reserved(u32),
}

/// A place of one byte: the arena, or a tensor's memory outside it.
type Address = (Option<TensorId>, u64);

/// Runs the plan; the error says what was lost.
pub fn replay(p: &Problem, s: &Solution) -> Result<(), String> {
    order(p, &s.order)?;
    if s.places.len() != p.tensors().len() || s.workspaces.len() != p.ops().len() {
        return Err("lists of the wrong length".into());
    }
    if s.taken.iter().any(|t| t.index() >= p.shares().len()) {
        return Err("an unknown share".into());
    }
    let labels = Labels::new(p);
    let address = |t: usize, byte: u64| -> Address {
        match s.places[t] {
            Place::Arena(at) => (None, at + byte),
            Place::External { of, offset } => (Some(of), offset + byte),
        }
    };
    let mut memory: HashMap<Address, Label> = HashMap::new();
    let bytes = |t: usize| 0..p.tensors()[t].size;
    let given = |t: &usize| p.tensors()[*t].input;
    for t in (0..p.tensors().len()).filter(given).chain((0..p.tensors().len()).filter(|t| !given(t))) {
        if given(&t) {
            memory.extend(bytes(t).map(|b| (address(t, b), labels.of(t, b))));
        } else if p.tensors()[t].pinned {
            for b in bytes(t) {
                memory.entry(address(t, b)).or_insert(Label::Reserved(labels.value(t, b)));
            }
        }
    }
    let intact = |memory: &HashMap<Address, Label>, t: usize, skip: &dyn Fn(u64) -> bool, when: &str| match bytes(t)
        .find(|b| !skip(*b) && memory.get(&address(t, *b)) != Some(&labels.of(t, *b)))
    {
        Some(b) => Err(format!("byte {b} of tensor '{}' is lost {when}", p.tensors()[t].name)),
        None => Ok(()),
    };
    let never = |_: u64| false;
    for o in &s.order {
        let op = p.op(*o);
        let when = format!("at op '{}'", op.name);
        let taken: Vec<_> = s.taken.iter().map(|t| p.share(*t)).filter(|x| x.op == *o).collect();
        for t in &op.inputs {
            intact(&memory, t.index(), &never, &format!("when {when} reads it"))?;
        }
        for t in &op.outputs {
            let i = t.index();
            let free = |b: u64| [Label::Reserved(labels.value(i, b)), labels.of(i, b)];
            let stolen = |b: &u64| memory.get(&address(i, *b)).is_none_or(|l| !free(*b).contains(l));
            if p.tensor(*t).pinned && !p.tensor(*t).input && bytes(i).any(|b| stolen(&b)) {
                return Err(format!("the place of pinned '{}' was used before {when}", p.tensor(*t).name));
            }
        }
        let scratch = s.workspaces[o.index()]..s.workspaces[o.index()] + op.workspace;
        for b in scratch.clone() {
            memory.insert((None, b), Label::Scratch(o.0));
        }
        for t in &op.outputs {
            for b in bytes(t.index()) {
                // What a taken view or part already holds is not written.
                let there = taken.iter().any(|x| match x.kind {
                    ShareKind::View => x.inner == *t,
                    ShareKind::Into => x.outer == *t && (x.offset..x.offset + p.tensor(x.inner).size).contains(&b),
                    ShareKind::InPlace => false,
                });
                if !there {
                    memory.insert(address(t.index(), b), labels.of(t.index(), b));
                }
            }
        }
        if scratch.clone().any(|b| memory.get(&(None, b)) != Some(&Label::Scratch(o.0))) {
            return Err(format!("the workspace is overwritten {when}"));
        }
        for t in &op.inputs {
            // Bytes that an output takes in place may change while the op runs.
            let replaced = |b: u64| {
                taken.iter().any(|x| {
                    let inside = b < p.tensor(x.inner).size;
                    let here = inside && address(x.inner.index(), b) == address(t.index(), b);
                    x.kind == ShareKind::InPlace && x.outer == *t && here
                })
            };
            intact(&memory, t.index(), &replaced, &format!("while it is read {when}"))?;
        }
        for t in &op.outputs {
            intact(&memory, t.index(), &never, &format!("right {when}"))?;
        }
    }
    for (t, tensor) in p.tensors().iter().enumerate() {
        if tensor.output || tensor.pinned {
            intact(&memory, t, &never, "at the end")?;
        }
    }
    Ok(())
}

fn order(p: &Problem, order: &[OpId]) -> Result<(), String> {
    let mut done = vec![false; p.ops().len()];
    let before = p.predecessors();
    for o in order {
        if o.index() >= done.len() || done[o.index()] || before[o.index()].iter().any(|b| !done[b.index()]) {
            return Err(format!("op {} is out of order", o.0));
        }
        done[o.index()] = true;
    }
    if done.iter().all(|d| *d) { Ok(()) } else { Err("an op is missing".into()) }
}

/// One label for all bytes that views and parts make equal, whether or not a plan takes them.
struct Labels {
    first: Vec<u32>,
    root: Vec<u32>,
}

impl Labels {
    fn new(p: &Problem) -> Self {
        let mut first = vec![0u32];
        for t in p.tensors() {
            first.push(first[first.len() - 1] + t.size as u32);
        }
        let mut root: Vec<u32> = (0..first[first.len() - 1]).collect();
        for s in p.shares().iter().filter(|s| s.kind != ShareKind::InPlace) {
            for b in 0..p.tensor(s.inner).size as u32 {
                let x = top(&root, first[s.inner.index()] + b);
                let y = top(&root, first[s.outer.index()] + s.offset as u32 + b);
                root[x.max(y) as usize] = x.min(y);
            }
        }
        Labels { first, root }
    }

    fn of(&self, t: usize, byte: u64) -> Label {
        Label::Value(self.value(t, byte))
    }

    fn value(&self, t: usize, byte: u64) -> u32 {
        top(&self.root, self.first[t] + byte as u32)
    }
}

fn top(root: &[u32], mut i: u32) -> u32 {
    while root[i as usize] != i {
        i = root[i as usize];
    }
    i
}
