//! A plan as rectangles of steps and bytes, and the bytes alive over the steps.

use crate::check::BoundCheck;
use crate::formats::json::{op_names, tensor_names};
use crate::lifetime::Lives;
use crate::order::model::{Count, Model};
use crate::order::segment::segments;
use crate::place::{Block, Placed, load};
use crate::problem::Problem;
use crate::sharing::{Blocks, Sharing};
use crate::solution::{Place, Solution};
use crate::solve::{PlanError, Planned};

/// A rectangle: bytes [offset, offset + size) held in steps [from, to).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Tensor, workspace or buffer.
    pub name: String,
    /// What made it, for people.
    pub made_by: String,
    /// First step.
    pub from: u64,
    /// Step after the last.
    pub to: u64,
    /// Byte offset in the arena.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
}

/// Everything the reports show.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// What was planned.
    pub title: String,
    /// Names of the steps.
    pub steps: Vec<String>,
    /// Running time of each step, in the problem's unit.
    pub times: Vec<u64>,
    /// What lies in the arena.
    pub bars: Vec<Bar>,
    /// Bytes alive at each step of the plan.
    pub live: Vec<u64>,
    /// Bytes alive at each step of the file's order.
    pub file_live: Vec<u64>,
    /// Steps at which a segment begins.
    pub segments: Vec<u64>,
    /// Bytes of the arena.
    pub arena: u64,
    /// Bytes alive at the worst step.
    pub peak: u64,
    /// The worst step.
    pub peak_step: u64,
    /// Proven lower bound.
    pub lower_bound: u64,
    /// How far the checker verified it.
    pub bound: BoundCheck,
    /// Worst step of the file's order, bytes.
    pub file_order_peak: u64,
    /// Bytes without reuse.
    pub no_reuse: u64,
    /// How it was found.
    pub method: String,
}

impl Timeline {
    /// The timeline of a plan.
    ///
    /// # Errors
    /// Only where required shares contradict each other.
    pub fn new(title: &str, problem: &Problem, planned: &Planned, bound: BoundCheck) -> Result<Self, PlanError> {
        let solution = &planned.solution;
        let order = &solution.order;
        let lives = Lives::new(problem, order);
        let (tensors, ops) = (tensor_names(problem), op_names(problem));
        let mut bars = Vec::new();
        for t in problem.tensor_ids() {
            if let Place::Arena(offset) = solution.places[t.index()]
                && problem.tensor(t).size > 0
            {
                let (from, to) = lives.range(t);
                bars.push(Bar {
                    name: tensors[t.index()].clone(),
                    made_by: problem
                        .producer(t)
                        .map(|o| ops[o.index()].clone())
                        .unwrap_or_else(|| "graph input".into()),
                    from: from.into(),
                    to: to.min(lives.steps).into(),
                    offset,
                    size: problem.tensor(t).size,
                });
            }
        }
        for o in problem.op_ids().filter(|o| problem.op(*o).workspace > 0) {
            let step = u64::from(lives.step[o.index()]);
            let name = &ops[o.index()];
            bars.push(Bar {
                name: format!("workspace of {name}"),
                made_by: name.clone(),
                from: step,
                to: step + 1,
                offset: solution.workspaces[o.index()],
                size: problem.op(o).workspace,
            });
        }
        let live = live(problem, solution, &lives);
        let file = crate::evaluate::shares_of(problem, problem.file_order())?;
        let model = Model::new(problem, Count::Likely);
        let mut at = 0;
        let segments = segments(&model, &order.iter().map(|o| o.0).collect::<Vec<_>>())
            .into_iter()
            .map(|s| {
                at += s.ops.len() as u64;
                at - s.ops.len() as u64
            })
            .collect();
        let peak_step = live.iter().enumerate().max_by_key(|(i, b)| (**b, std::cmp::Reverse(*i))).map_or(0, |m| m.0);
        let c = &planned.certificate;
        Ok(Timeline {
            title: title.into(),
            steps: order.iter().map(|o| ops[o.index()].clone()).collect(),
            times: order.iter().map(|o| problem.op(*o).time).collect(),
            bars,
            peak_step: peak_step as u64,
            live,
            file_live: live_of(&file, problem.file_order().len()),
            segments,
            arena: c.arena,
            peak: c.peak,
            lower_bound: c.lower_bound,
            bound,
            file_order_peak: planned.file_order_peak,
            no_reuse: planned.no_reuse,
            method: c.method.clone(),
        })
    }

    /// The timeline of a table of buffers; its steps are the instants at which the load changes.
    pub fn of_table(title: &str, ids: &[String], blocks: &[Block], placed: &Placed, bound: BoundCheck) -> Self {
        let mut times: Vec<u64> = blocks.iter().flat_map(|b| [b.lower(), b.upper()]).collect();
        times.sort_unstable();
        times.dedup();
        times.pop();
        let step = |t: u64| times.partition_point(|x| *x < t) as u64;
        let profile = load(blocks);
        let live: Vec<u64> =
            times.iter().map(|t| profile[..profile.partition_point(|p| p.0 <= *t)].last().map_or(0, |p| p.1)).collect();
        let bars = ids.iter().zip(blocks).zip(&placed.placement.offsets).filter(|((_, b), _)| b.extent() > 0);
        let peak_step = live.iter().enumerate().max_by_key(|(i, b)| (**b, std::cmp::Reverse(*i))).map_or(0, |m| m.0);
        let peak = live.iter().copied().max().unwrap_or(0);
        Timeline {
            title: title.into(),
            steps: times.iter().map(|t| format!("time {t}")).collect(),
            times: times.windows(2).map(|w| w[1] - w[0]).chain([1]).take(times.len()).collect(),
            bars: bars
                .map(|((id, b), offset)| Bar {
                    name: id.clone(),
                    made_by: String::new(),
                    from: step(b.lower()),
                    to: step(b.upper()),
                    offset: *offset,
                    size: b.extent(),
                })
                .collect(),
            file_live: live.clone(),
            live,
            segments: Vec::new(),
            arena: placed.placement.height,
            peak,
            peak_step: peak_step as u64,
            lower_bound: placed.lower_bound,
            bound,
            file_order_peak: peak,
            no_reuse: blocks.iter().map(Block::extent).sum(),
            method: placed.method.clone(),
        }
    }

    /// What is held at the worst step, largest first.
    pub fn at_peak(&self) -> Vec<&Bar> {
        let mut held: Vec<&Bar> =
            self.bars.iter().filter(|b| b.from <= self.peak_step && self.peak_step < b.to).collect();
        held.sort_by_key(|b| (std::cmp::Reverse(b.size), b.offset));
        held
    }
}

fn live(problem: &Problem, solution: &Solution, lives: &Lives) -> Vec<u64> {
    let mut sharing = Sharing::new(problem, lives);
    for s in &solution.taken {
        sharing.try_take(*s);
    }
    live_of(&Blocks::new(problem, lives, &sharing).blocks, solution.order.len())
}

/// Bytes alive at each step.
fn live_of(blocks: &[Block], steps: usize) -> Vec<u64> {
    let profile = load(blocks);
    let (mut out, mut at, mut now) = (Vec::with_capacity(steps), 0, 0);
    for s in 0..steps as u64 {
        while profile.get(at).is_some_and(|p| p.0 <= s) {
            now = profile[at].1;
            at += 1;
        }
        out.push(now);
    }
    out
}
