//! `neap fusions`

use std::collections::HashMap;

use neap_optable::{Body, GraphOp, Node, ValueId, flops};
use neap_plan::report::human;
use serde::Serialize;

use crate::cli::Fusions;
use crate::compile::{Timing, computes};
use crate::failure::Failure;
use crate::feed::Given;
use crate::load;

#[derive(Serialize)]
struct Report {
    kernels_before: usize,
    kernels_after: usize,
    bytes_moved_before: u64,
    bytes_moved_after: u64,
    groups: Vec<Group>,
}

#[derive(Serialize)]
struct Group {
    kind: String,
    /// ONNX nodes.
    nodes: Vec<String>,
    /// Bytes of intermediates that are neither written nor read again.
    bytes_saved: u64,
    /// Operations for each byte that is read or written, each operator alone, and together.
    intensity_before: f64,
    intensity_after: f64,
    /// Why what reads the result is not in the group.
    stops_at: Vec<String>,
}

/// Runs the command.
pub fn run(args: &Fusions) -> Result<(), Failure> {
    if load::is_artefact(&args.model) {
        return Err(Failure::new(format!(
            "{}: is an artefact; give the ONNX model it was made from",
            args.model.display()
        )));
    }
    let source = load::graph(&args.model, &args.options.dims, &Given::new(), &mut Timing::default())?;
    let mut compiler = load::compiler(&args.options, false, args.json)?;
    let fused = load::optimise(source.clone(), &args.options, &compiler, &mut Timing::default())?.body;
    compiler.limits.fusions = Some(0);
    let plain = load::optimise(source, &args.options, &compiler, &mut Timing::default())?.body;
    let mut groups: Vec<Group> = fused.nodes.iter().filter_map(|n| group(&fused, n)).collect();
    groups.sort_by_key(|g| std::cmp::Reverse(g.bytes_saved));
    let report = Report {
        kernels_before: kernels(&plain),
        kernels_after: kernels(&fused),
        bytes_moved_before: moved(&plain),
        bytes_moved_after: moved(&fused),
        groups,
    };
    if args.json { super::print_json(&report) } else { super::print(&report.text(args.top)) }
}

fn kernels(body: &Body) -> usize {
    body.nodes.iter().filter(|n| computes(n.op)).count()
}

fn bytes(body: &Body, values: &[ValueId]) -> u64 {
    let mut seen: Vec<ValueId> = vec![];
    for v in values.iter().filter(|v| body.ty(**v).bytes().is_some()) {
        if !seen.contains(v) {
            seen.push(*v);
        }
    }
    seen.iter().filter_map(|v| body.ty(*v).bytes()).sum()
}

/// Bytes that kernels read and write.
fn moved(body: &Body) -> u64 {
    body.nodes.iter().filter(|n| computes(n.op)).map(|n| bytes(body, &n.inputs) + bytes(body, &n.outputs)).sum()
}

/// Index maps and constants: they are computed wherever they are read.
fn is_map(n: &Node) -> bool {
    matches!(n.op, GraphOp::Broadcast | GraphOp::Slice | GraphOp::Iota | GraphOp::Constant | GraphOp::Yield)
}

fn group(body: &Body, n: &Node) -> Option<Group> {
    let region = n.region.as_deref()?;
    let inner: Vec<&Node> = region.nodes.iter().filter(|m| !is_map(m)).collect();
    if inner.len() < 2 {
        return None;
    }
    let kept = |v: &ValueId| region.results.contains(v);
    let saved: u64 = inner
        .iter()
        .flat_map(|m| &m.outputs)
        .filter(|v| !kept(v))
        .map(|v| {
            let readers = inner.iter().filter(|m| m.inputs.contains(v)).count() as u64;
            (1 + readers) * region.ty(*v).bytes().unwrap_or(0)
        })
        .sum();
    let types = |b: &Body, ids: &[ValueId]| ids.iter().map(|v| b.ty(*v).clone()).collect::<Vec<_>>();
    let count = |m: &&Node| {
        let (ins, outs) = (types(region, &m.inputs), types(region, &m.outputs));
        flops(m.op, &m.attrs, &ins, &outs).as_const().unwrap_or(0)
    };
    let flops: u64 = inner.iter().map(count).sum();
    let after = bytes(body, &n.inputs) + bytes(body, &n.outputs);
    let ratio = |bytes: u64| flops as f64 / bytes.max(1) as f64;
    let mut nodes: Vec<String> = vec![];
    for name in n.name.split('+').filter(|name| !name.is_empty()) {
        if !nodes.iter().any(|n| n == name) {
            nodes.push(name.into());
        }
    }
    Some(Group {
        kind: n.attrs.get_str("kind").into(),
        nodes,
        bytes_saved: saved,
        intensity_before: ratio(after + saved),
        intensity_after: ratio(after),
        stops_at: n.outputs.iter().flat_map(|v| reasons(body, n, *v)).collect(),
    })
}

/// Whether a group reads an operand as a factor of its contraction or in its pool.
fn reads_in_window(n: &Node, v: ValueId) -> bool {
    let Some(region) = &n.region else { return false };
    let args: Vec<ValueId> = n.inputs.iter().zip(&region.args).filter(|(i, _)| **i == v).map(|(_, a)| *a).collect();
    let anchor = |m: &&Node| matches!(m.op, GraphOp::Matmul | GraphOp::Conv | GraphOp::Pool);
    region.nodes.iter().filter(anchor).any(|m| m.inputs.iter().any(|i| args.contains(i)))
}

/// Why the readers of a group's result are not in the group.
fn reasons(body: &Body, n: &Node, v: ValueId) -> Vec<String> {
    let mut out = vec![];
    if body.results.contains(&v) {
        out.push("is a result of the model".into());
    }
    let readers: Vec<&Node> = body.nodes.iter().filter(|r| r.inputs.contains(&v)).collect();
    let anchored = |n: &Node| n.region.is_some() && n.attrs.get_str("kind") != "elementwise";
    for r in &readers {
        let what = match &r.region {
            Some(_) => r.attrs.get_str("kind"),
            None => r.op.name(),
        };
        let name = r.name.split('+').next().unwrap_or_default();
        let windowed = matches!(r.op, GraphOp::Matmul | GraphOp::Conv | GraphOp::Pool)
            || (matches!(what, "matmul" | "conv" | "pool") && reads_in_window(r, v));
        let why = match () {
            () if windowed => "reads each element more than once".into(),
            () if readers.len() > 1 => format!("one of {} that read it", readers.len()),
            () if anchored(r) && anchored(n) => "each has a loop nest of its own".into(),
            () if r.region.is_none() && !matches!(r.op, GraphOp::Unary | GraphOp::Binary | GraphOp::Select) => {
                "moves or reduces elements in another order".into()
            }
            () if body.ty(r.outputs[0]).dims != body.ty(v).dims => "has another shape".into(),
            () => "would pass the limit of operators or operands".into(),
        };
        out.push(format!("{what} {name}: {why}"));
    }
    out
}

impl Report {
    fn text(&self, top: usize) -> String {
        let mut out = format!(
            "{} kernels become {}; {} read and written become {}\n\n",
            self.kernels_before,
            self.kernels_after,
            human(self.bytes_moved_before),
            human(self.bytes_moved_after)
        );
        let shown = if top == 0 { self.groups.len() } else { top.min(self.groups.len()) };
        out.push_str("     saved   FLOP/byte       kind        nodes; why no more\n");
        for g in &self.groups[..shown] {
            let intensity = format!("{:.1} -> {:.1}", g.intensity_before, g.intensity_after);
            let more = g.nodes.len().saturating_sub(3);
            let nodes = g.nodes.iter().take(3).cloned().collect::<Vec<_>>().join(" + ");
            let nodes = if more > 0 { format!("{nodes} + {more} more") } else { nodes };
            out.push_str(&format!("{:>10}   {intensity:14} {:11} {nodes}\n", human(g.bytes_saved), g.kind));
            let mut counts: HashMap<&String, usize> = HashMap::new();
            let first = g.stops_at.iter().filter(|s| {
                let c = counts.entry(s).or_insert(0);
                *c += 1;
                *c == 1
            });
            first.for_each(|s| out.push_str(&format!("{:42}{s}\n", "")));
        }
        if shown < self.groups.len() {
            out.push_str(&format!(
                "{} more groups; --top 0 shows all, --json more of each\n",
                self.groups.len() - shown
            ));
        }
        out
    }
}
