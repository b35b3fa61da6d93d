//! The single rewrites and fusions that a pipeline applies, numbered.
//!
//! A pass asks before each. What is refused stays as it was, and what comes before a limit is the same whatever the limit is:
//! so a wrong result can be traced to the first step that brings it about (Whalley, "Automatic isolation of compiler errors", 1994).

use neap_optable::Node;

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// Operators become others.
    Rewrite,
    /// Operators become one kernel.
    Fusion,
}

impl StepKind {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            StepKind::Rewrite => "rewrite",
            StepKind::Fusion => "fusion",
        }
    }
}

/// A step that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// What it does.
    pub kind: StepKind,
    /// The pass.
    pub pass: &'static str,
    /// Its rule: `simplify-transpose`, `fuse-conv`.
    pub rule: String,
    /// The ONNX nodes, joined by `+`.
    pub nodes: String,
}

/// Which steps may be taken.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// How many in all.
    pub steps: Option<usize>,
    /// How many rewrites.
    pub rewrites: Option<usize>,
    /// How many fusions.
    pub fusions: Option<usize>,
    /// Rules that are off.
    pub disabled: Vec<String>,
}

/// The steps of a run of a pipeline.
#[derive(Debug, Default)]
pub struct Steps {
    /// Which may be taken.
    pub limits: Limits,
    /// Those taken so far.
    pub applied: Vec<Applied>,
}

impl Steps {
    /// Steps within limits.
    pub fn within(limits: Limits) -> Self {
        Steps { limits, applied: vec![] }
    }

    /// Asks for a step: `true` notes it as taken.
    pub fn take(&mut self, kind: StepKind, pass: &'static str, rule: impl Into<String>, nodes: &str) -> bool {
        let (rule, l) = (rule.into(), &self.limits);
        let of_kind = match kind {
            StepKind::Rewrite => l.rewrites,
            StepKind::Fusion => l.fusions,
        };
        let taken = self.applied.iter().filter(|a| a.kind == kind).count();
        let allowed = l.steps.is_none_or(|n| self.applied.len() < n) && of_kind.is_none_or(|n| taken < n);
        if !allowed || l.disabled.contains(&rule) {
            return false;
        }
        self.applied.push(Applied { kind, pass, rule, nodes: nodes.into() });
        true
    }

    /// Asks for the rewrite of a node by a pass `graph-NAME`: the rule is `NAME-op`.
    pub fn rewrite(&mut self, pass: &'static str, node: &Node) -> bool {
        let rule = format!("{}-{}", pass.trim_start_matches("graph-"), node.op.name());
        self.take(StepKind::Rewrite, pass, rule, &node.name)
    }
}
