//! `neap bisect`

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use indicatif::ProgressBar;
use neap_optable::Tensor;
use neap_passes::{Applied, Func};
use neap_runtime::Options;
use serde::Serialize;

use super::tolerance::Tolerance;
use crate::cli::Bisect;
use crate::compile::{Compiler, Graph, Timing};
use crate::failure::{At, Failure};
use crate::{arrays, feed, files, load};

#[derive(Serialize)]
struct Report {
    /// Steps of the graph passes.
    steps: usize,
    /// Programs that were compiled and run.
    runs: usize,
    guilty: Option<Guilty>,
    reproducer: Option<String>,
}

/// What makes the model wrong.
#[derive(Serialize)]
struct Guilty {
    /// From 1; 0: what comes after the graph passes.
    step: usize,
    kind: &'static str,
    pass: &'static str,
    rule: String,
    nodes: String,
    /// Whether the graph after the step is wrong already, or only the code made of it.
    graph_is_wrong: bool,
}

/// Runs the command.
pub fn run(args: &Bisect) -> Result<(), Failure> {
    if load::is_artefact(&args.model) {
        return Err(Failure::new(format!(
            "{}: is an artefact; bisect needs the ONNX model it was made from",
            args.model.display()
        )));
    }
    let given = feed::read(&args.inputs)?;
    let source = load::graph(&args.model, &args.options.dims, &given, &mut Timing::default())?;
    let wanted = load::wanted(&source.body)?;
    let inputs = feed::complete(&wanted, &given, Some(args.inputs.random.unwrap_or(0)))?;
    let expected = match &args.reference {
        Some(path) => reference(path, &source)?,
        None => interpret(&source, &inputs)?,
    };
    let output = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.bisect.mlir", source.name)));
    files::apart(&args.model, "the model", &[("-o", Some(&output))])?;
    files::has_folder(&output)?;
    let bar = if load::progress(args.json) { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    let compiler = load::compiler(&args.options, false, true)?;
    let mut search = Search { args, source: &source, inputs: &inputs, expected: &expected, compiler, bar, runs: 0 };

    let (whole, mut graph) = search.probe(None)?;
    let applied = graph.applied.clone();
    let n = applied.len();
    let mut guilty = None;
    let mut reproducer = vec![];
    if !whole {
        let (good, bare) = search.probe(Some(0))?;
        if good {
            // The least number of steps that is wrong is in low + 1..=high.
            let (mut low, mut high) = (0, n);
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                let (good, there) = search.probe(Some(middle))?;
                match good {
                    true => low = middle,
                    false => (high, graph) = (middle, there),
                }
            }
            let before = search.optimised(Some(high - 1))?;
            let wrong = !search.agrees(&interpret(&graph, &inputs)?);
            guilty = Some(Guilty::step(high, &applied[high - 1], wrong));
            let nodes = &applied[high - 1].nodes;
            reproducer = vec![cut("before", &before, nodes), cut("after", &graph, nodes)];
        } else {
            guilty = Some(Guilty {
                step: 0,
                kind: "kernel",
                pass: "lowering",
                rule: "kernels and code generation".into(),
                nodes: String::new(),
                graph_is_wrong: false,
            });
            reproducer = vec![Func { name: bare.name, body: bare.body }];
        }
    }
    search.bar.finish_and_clear();
    reproducer.retain(|f| !f.body.nodes.is_empty());
    if !reproducer.is_empty() {
        let text = neap_passes::graph::upstream::print(&reproducer).map_err(Failure::new)?;
        files::write(&output, |w| w.write_all(text.as_bytes()))?;
    }
    let reproducer = guilty.is_some().then(|| output.display().to_string());
    let report = Report { steps: n, runs: search.runs, guilty, reproducer };
    if args.json { super::print_json(&report) } else { super::print(&report.text()) }
}

impl Guilty {
    fn step(step: usize, a: &Applied, graph_is_wrong: bool) -> Self {
        let (kind, pass, rule, nodes) = (a.kind.name(), a.pass, a.rule.clone(), a.nodes.clone());
        Guilty { step, kind, pass, rule, nodes, graph_is_wrong }
    }
}

impl Report {
    fn text(&self) -> String {
        let Report { steps, runs, .. } = self;
        let Some(g) = &self.guilty else {
            return format!(
                "nothing is wrong: with all {steps} steps the outputs are within the tolerance ({runs} run)\n"
            );
        };
        let reproducer = self.reproducer.as_deref().unwrap_or_default();
        if g.step == 0 {
            return format!(
                "wrong without any of the {steps} rewrites and fusions: a kernel or the code generator is at fault ({runs} runs)\n\
                 `neap verify --no-rewrite --no-fusion` names the first node that is wrong; the graph is in {reproducer}\n"
            );
        }
        let fault = match g.graph_is_wrong {
            true => "the reference interpreter finds the graph wrong after it: the rule is at fault",
            false => "the graph is right after it: the kernel made of it, or its code, is at fault",
        };
        format!(
            "step {} of {steps}: {} {} by {} ({runs} runs)\nnodes: {}\n{fault}\nbefore and after: {reproducer}\nwithout it: --disable {}\n",
            g.step, g.kind, g.rule, g.pass, g.nodes, g.rule
        )
    }
}

struct Search<'a> {
    args: &'a Bisect,
    source: &'a Graph,
    inputs: &'a [Tensor],
    expected: &'a [Tensor],
    compiler: Compiler,
    bar: ProgressBar,
    runs: usize,
}

impl Search<'_> {
    fn optimised(&self, steps: Option<usize>) -> Result<Graph, Failure> {
        let mut compiler = self.compiler.clone();
        compiler.limits.steps = steps;
        load::optimise(self.source.clone(), &self.args.options, &compiler, &mut Timing::default())
    }

    /// Whether the program with so many steps is right, and its graph.
    fn probe(&mut self, steps: Option<usize>) -> Result<(bool, Graph), Failure> {
        self.bar.set_message(match steps {
            None => "all steps".into(),
            Some(n) => format!("{n} steps"),
        });
        self.bar.tick();
        self.runs += 1;
        let graph = self.optimised(steps)?;
        let compiled = self.compiler.compile(&graph, &mut Timing::default())?;
        let model = Arc::new(load::in_memory(compiled)?);
        let options = Options { threads: self.args.threads.into(), ..Options::default() };
        let mut session = load::session(&model, &options, &self.args.model)?;
        let mut buffers = super::Buffers::new(&session, self.inputs);
        buffers.run(&mut session)?;
        let results: Vec<Tensor> = buffers.results(&session).into_iter().map(|(_, t)| t).collect();
        Ok((self.agrees(&results), graph))
    }

    fn agrees(&self, results: &[Tensor]) -> bool {
        let t = Tolerance { atol: self.args.atol, rtol: self.args.rtol };
        results.iter().zip(self.expected).all(|(got, expected)| t.compare(got, expected).within)
    }
}

fn interpret(graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Tensor>, Failure> {
    neap_reference::eval_body(&graph.body, &graph.weights, inputs, &mut |_, _| {}).map_err(Failure::new)
}

/// The given outputs in the model's order.
fn reference(path: &std::path::Path, source: &Graph) -> Result<Vec<Tensor>, Failure> {
    let given = arrays::read_npz(path)?;
    let named = |name: &String| {
        let own = |k: &str| k == name || k.strip_prefix("out:") == Some(name);
        given.iter().find(|(k, _)| own(k)).map(|(_, t)| t.clone()).ok_or_else(|| format!("has no output '{name}'"))
    };
    source.body.result_names.iter().map(named).collect::<Result<_, _>>().at(path.display())
}

/// The nodes of these names, joined by `+`, as a function of their own: what they read from elsewhere are its arguments.
fn cut(name: &str, graph: &Graph, nodes: &str) -> Func {
    let body = &graph.body;
    let names: Vec<&str> = nodes.split('+').filter(|n| !n.is_empty()).collect();
    let part = |own: &str| own.split('+').any(|n| names.contains(&n));
    let chosen: Vec<bool> = body.nodes.iter().map(|n| part(&n.name)).collect();
    Func { name: name.into(), body: body.part(&chosen) }
}
