//! Random problems and a planner that tries everything.

#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::needless_range_loop, reason = "written like the definitions, by index")]

pub mod attack;
pub mod brute;
pub mod fuzz;
pub mod nets;
pub mod random;
pub mod replay;

/// A problem in a few lines, for messages.
pub fn show(p: &neap_plan::Problem) -> String {
    let mut out = format!("align {}\n", p.storage_align());
    for (i, t) in p.tensors().iter().enumerate() {
        out += &format!(
            "  t{i} {} {:?}{}{}{}\n",
            t.size,
            t.home,
            [" ", " input"][usize::from(t.input)],
            ["", " output"][usize::from(t.output)],
            ["", " pinned"][usize::from(t.pinned)]
        );
    }
    for (i, o) in p.ops().iter().enumerate() {
        let ids = |l: &[neap_plan::TensorId]| l.iter().map(|t| t.0).collect::<Vec<_>>();
        out += &format!("  op{i} {:?} -> {:?} ws {}\n", ids(&o.inputs), ids(&o.outputs), o.workspace);
    }
    for s in p.shares() {
        out += &format!("  {:?} op{} t{} in t{} at {}\n", s.kind, s.op.0, s.inner.0, s.outer.0, s.offset);
    }
    out + &format!("  edges {:?}\n", p.edges())
}
