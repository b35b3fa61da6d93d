//! A wrong rule and a wrong fusion, planted through the public interface of passes: `bisect` and `verify --stepwise` name them.
//!
//! With arguments this is a `neap` that knows the planted passes; without, it is the test, which runs itself.

use std::process::{Command, Output};

use neap_optable::{BinaryKind, GraphOp, UnaryKind};
use neap_passes::{Changed, Cx, Erased, Func, GraphPass, PassError, StepKind, register};
use serde_json::Value;

#[derive(clap::Args)]
struct NoOptions {}

/// Takes an addition for a subtraction.
struct Rule;

impl GraphPass for Rule {
    type Options = NoOptions;
    const NAME: &'static str = "graph-planted-rule";
    const SUMMARY: &'static str = "wrong: an addition becomes a subtraction";
    const STEPS: bool = true;

    fn run(cx: &mut Cx, func: &mut Func, _: &NoOptions) -> Result<Changed, PassError> {
        let add = |k: BinaryKind| k == BinaryKind::Add;
        let node =
            func.body.nodes.iter_mut().filter(|n| n.op == GraphOp::Binary && add(n.attrs.get_enum("kind"))).nth(1);
        let Some(node) = node.filter(|n| cx.steps.rewrite(Self::NAME, n)) else { return Ok(Changed::No) };
        node.attrs = node.attrs.clone().int("kind", BinaryKind::Sub);
        Ok(Changed::Yes)
    }
}

/// Loses the ReLU of a group.
struct Fusion;

impl GraphPass for Fusion {
    type Options = NoOptions;
    const NAME: &'static str = "graph-planted-fusion";
    const SUMMARY: &'static str = "wrong: a group loses its ReLU";
    const STEPS: bool = true;

    fn run(cx: &mut Cx, func: &mut Func, _: &NoOptions) -> Result<Changed, PassError> {
        for n in &mut func.body.nodes {
            let Some(region) = &mut n.region else { continue };
            let relu = region
                .nodes
                .iter_mut()
                .find(|n| n.op == GraphOp::Unary && n.attrs.get_enum::<UnaryKind>("kind") == UnaryKind::Relu);
            let Some(relu) = relu else { continue };
            if !cx.steps.take(StepKind::Fusion, Self::NAME, "planted-fusion-relu", &n.name) {
                break;
            }
            relu.attrs = relu.attrs.clone().int("kind", UnaryKind::Abs);
            return Ok(Changed::Yes);
        }
        Ok(Changed::No)
    }
}

static RULE: Erased<Rule> = Erased::NEW;
static FUSION: Erased<Fusion> = Erased::NEW;

fn main() -> std::process::ExitCode {
    register(&RULE);
    register(&FUSION);
    let args: Vec<_> = std::env::args_os().collect();
    // The test runner's own options begin with a dash.
    if args.get(1).is_some_and(|a| !a.to_string_lossy().starts_with('-')) {
        return neap_driver::main_neap(args);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let neap = |args: &[&str]| -> Output {
        let me = std::env::current_exe().expect("this program");
        Command::new(me).args(args).current_dir(&folder).output().expect("it runs")
    };
    let json = |args: &[&str]| -> Value {
        let out = neap(args);
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        serde_json::from_slice(&out.stdout).expect("one object")
    };
    assert!(neap(&["zoo", "resnet50", "--small", "-o", "m.onnx"]).status.success());

    let right = json(&["bisect", "m.onnx", "--json"]);
    assert_eq!((&right["guilty"], &right["runs"]), (&Value::Null, &Value::from(1)), "{right}");

    let front = "graph-simplify,graph-fold,graph-simplify,graph-fold-batch-norm,graph-fold";
    for (kind, rule, passes) in [
        (
            "rewrite",
            "planted-rule-binary",
            format!("{front},graph-planted-rule,graph-simplify,graph-fuse,graph-copy-outputs"),
        ),
        (
            "fusion",
            "planted-fusion-relu",
            format!("{front},graph-simplify,graph-fuse,graph-planted-fusion,graph-copy-outputs"),
        ),
    ] {
        let found = json(&["bisect", "m.onnx", "--passes", &passes, "-o", "guilty.mlir", "--json"]);
        let guilty = &found["guilty"];
        assert_eq!((guilty["kind"].as_str(), guilty["rule"].as_str()), (Some(kind), Some(rule)), "{found}");
        assert_eq!(guilty["graph_is_wrong"], true, "{found}");
        let (steps, runs) = (found["steps"].as_u64().expect("a number"), found["runs"].as_u64().expect("a number"));
        assert!(runs <= u64::from(steps.ilog2()) + 1 + 2, "{found}");
        let nodes = guilty["nodes"].as_str().expect("names");
        assert!(nodes.starts_with("/layer") || nodes.starts_with("/conv1"), "{found}");
        let text = std::fs::read_to_string(folder.path().join("guilty.mlir")).expect("a reproducer");
        assert!(text.contains("@before") && text.contains("@after") && text.lines().count() < 60, "{text}");

        let out = neap(&["verify", "m.onnx", "--stepwise", "--passes", &passes]);
        let error = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(!out.status.success() && error.contains(rule) && error.contains(nodes), "{error}");
        let out = neap(&["verify", "m.onnx", "--passes", &passes, "--disable", rule]);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    }
    std::process::ExitCode::SUCCESS
}
