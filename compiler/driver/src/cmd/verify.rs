//! `neap verify`

use std::collections::HashMap;
use std::sync::Arc;

use neap_optable::{DType, Tensor, ValueId};
use neap_runtime::Options;
use serde::Serialize;

use crate::cli::Verify;
use crate::compile::Timing;
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

struct Tolerance {
    atol: f64,
    rtol: f64,
}

impl Tolerance {
    /// At least four units in the last place of 1, which f16 and bf16 need: every op rounds.
    fn of(&self, dtype: DType) -> Tolerance {
        let least = match dtype {
            DType::F16 => 1.0 / 256.0,
            DType::BF16 => 1.0 / 32.0,
            _ => 0.0,
        };
        Tolerance { atol: self.atol.max(least), rtol: self.rtol.max(least) }
    }
}

impl Report {
    fn compare(&mut self, got: &Tensor, expected: &Tensor, t: &Tolerance, place: impl Fn() -> String) {
        self.compared += 1;
        let t = t.of(expected.dtype);
        let mut bad = got.dtype != expected.dtype || got.data.len() != expected.data.len();
        for (g, e) in floats(got).into_iter().zip(floats(expected)) {
            if g == e || (g.is_nan() && e.is_nan()) {
                continue;
            }
            let diff = (g - e).abs();
            self.max_abs_diff = self.max_abs_diff.max(diff);
            // Below the absolute tolerance a ratio says nothing.
            if e.abs() > t.atol {
                self.max_rel_diff = self.max_rel_diff.max(diff / e.abs());
            }
            // Not `>`: a NaN or infinity on one side only must fail.
            let within = diff <= t.atol + t.rtol * e.abs();
            bad |= !within;
        }
        if bad && self.first_mismatch.is_none() {
            self.first_mismatch = Some(place());
        }
    }
}

fn floats(t: &Tensor) -> Vec<f64> {
    match t.to_f64() {
        Some(v) => v,
        None => t.to_i64().unwrap_or_default().into_iter().map(|v| v as f64).collect(),
    }
}
