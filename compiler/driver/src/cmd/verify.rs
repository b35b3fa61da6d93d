//! `neap verify`

use std::collections::HashMap;
use std::sync::Arc;

use indicatif::ProgressBar;
use neap_optable::{Tensor, ValueId};
use neap_runtime::Options;
use serde::Serialize;

use super::tolerance::Tolerance;
use crate::cli::Verify;
use crate::compile::{Graph, Timing};
use crate::failure::Failure;
use crate::{feed, load};

#[derive(Default, Serialize)]
struct Report {
    ok: bool,
    max_abs_diff: f64,
    max_rel_diff: f64,
    first_mismatch: Option<String>,
    compared: usize,
}

/// Runs the command.
pub fn run(args: &Verify) -> Result<(), Failure> {
    let mut timing = Timing::default();
    if load::is_artefact(&args.model) {
        return Err(Failure::new(format!(
            "{}: is an artefact; verify needs the ONNX model it was made from",
            args.model.display()
        )));
    }
    let given = feed::read(&args.inputs)?;
    let graph = load::graph(&args.model, &args.options.dims, &given, &mut timing)?;
    let wanted = load::wanted(&graph.body)?;
    let inputs = feed::complete(&wanted, &given, Some(args.inputs.random.unwrap_or(0)))?;
    let source = graph.clone();
    if args.stepwise {
        stepwise(args, &source, &inputs)?;
    }
    let (graph, compiled) = load::compile(graph, &args.options, true, args.json, &mut timing)?;
    let model = Arc::new(load::in_memory(compiled)?);
    let options = Options { threads: args.threads.into(), ..Options::default() };
    let mut session = load::session(&model, &options, &args.model)?;
    let mut buffers = super::Buffers::new(&session, &inputs);
    buffers.run(&mut session)?;
    let results: HashMap<String, Tensor> = buffers.results(&session).into_iter().collect();

    let mut report = Report::default();
    let tolerance = Tolerance { atol: args.atol, rtol: args.rtol };
    // Op by op: every kernel's result against the reference's value of the same node of the optimised graph.
    let mut observe = |node: &neap_optable::Node, values: &[Tensor]| {
        for (v, expected) in node.outputs.iter().zip(values) {
            let ValueId(id) = v;
            if let Some(got) = results.get(&format!("%{id}")) {
                report.compare(got, expected, &tolerance, || format!("node '{}'", node.name));
            }
        }
    };
    let outputs = timing
        .phase("reference", || neap_reference::eval_body(&graph.body, &graph.weights, &inputs, &mut observe))
        .map_err(Failure::new)?;
    for (name, expected) in graph.body.result_names.iter().zip(&outputs) {
        report.compare(&results[name], expected, &tolerance, || format!("output '{name}'"));
    }
    // And the whole: the model's outputs against the graph as it was imported.
    let outputs = timing
        .phase("reference", || neap_reference::eval_body(&source.body, &source.weights, &inputs, &mut |_, _| {}))
        .map_err(Failure::new)?;
    for (name, expected) in source.body.result_names.iter().zip(&outputs) {
        report.compare(&results[name], expected, &tolerance, || format!("output '{name}' (after graph passes)"));
    }
    report.ok = report.first_mismatch.is_none();
    super::print_timing(&timing, args.options.timing);
    if args.json {
        super::print_json(&report)?;
    } else if report.ok {
        super::print(&format!(
            "ok: {} tensors agree with the reference; largest difference {:.3e} absolute, {:.3e} relative\n",
            report.compared, report.max_abs_diff, report.max_rel_diff
        ))?;
    }
    match report.first_mismatch {
        Some(place) => Err(Failure::new(format!(
            "{}: first mismatch at {place}; largest difference {:.3e} absolute, {:.3e} relative",
            args.model.display(),
            report.max_abs_diff,
            report.max_rel_diff
        ))),
        None => Ok(()),
    }
}

/// Interprets the graph after each single step of the passes; the first that changes an output beyond the tolerance is an error.
fn stepwise(args: &Verify, source: &Graph, inputs: &[Tensor]) -> Result<(), Failure> {
    let mut compiler = load::compiler(&args.options, false, true)?;
    let outputs =
        |g: &Graph| neap_reference::eval_body(&g.body, &g.weights, inputs, &mut |_, _| {}).map_err(Failure::new);
    let mut optimised = |steps: Option<usize>| {
        compiler.limits.steps = steps;
        load::optimise(source.clone(), &args.options, &compiler, &mut Timing::default())
    };
    let applied = optimised(None)?.applied;
    let expected = outputs(source)?;
    let t = Tolerance { atol: args.atol, rtol: args.rtol };
    let bar = if load::progress(args.json) { ProgressBar::new(applied.len() as u64) } else { ProgressBar::hidden() };
    for (i, step) in applied.iter().enumerate() {
        let found = outputs(&optimised(Some(i + 1))?)?;
        bar.inc(1);
        if !found.iter().zip(&expected).all(|(f, e)| t.compare(f, e).within) {
            return Err(Failure::new(format!(
                "{}: step {} of {} changes an output: {} {} at '{}'; leave it out with --disable {}",
                args.model.display(),
                i + 1,
                applied.len(),
                step.kind.name(),
                step.rule,
                step.nodes,
                step.rule
            )));
        }
    }
    bar.finish_and_clear();
    Ok(())
}

impl Report {
    fn compare(&mut self, got: &Tensor, expected: &Tensor, t: &Tolerance, place: impl Fn() -> String) {
        self.compared += 1;
        let d = t.compare(got, expected);
        self.max_abs_diff = self.max_abs_diff.max(d.abs);
        self.max_rel_diff = self.max_rel_diff.max(d.rel);
        if !d.within && self.first_mismatch.is_none() {
            self.first_mismatch = Some(place());
        }
    }
}
