//! What a pass is.

use clap::{Args, Command, FromArgMatches};
use neap_optable::{Body, Weights};

use crate::steps::Steps;

/// Whether a pass did anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// The function is as it was.
    No,
    /// The function was rewritten.
    Yes,
}

/// Why a pass could not run.
#[derive(Debug, thiserror::Error)]
#[error("{pass}: {message}")]
pub struct PassError {
    /// Pass name.
    pub pass: &'static str,
    /// What went wrong, where.
    pub message: String,
}

/// What a pass may use besides the function.
#[derive(Debug, Default)]
pub struct Cx {
    /// The tensors behind `graph.weight`.
    pub weights: Weights,
    /// The single steps: a pass asks for each before it takes it.
    pub steps: Steps,
}

/// A function at the graph level.
#[derive(Clone, Debug)]
pub struct Func {
    /// Symbol name.
    pub name: String,
    /// The graph.
    pub body: Body,
}

/// A pass over one function at the graph level.
pub trait GraphPass: Sync {
    /// Options, parsed by clap from `name{key=value ...}`.
    type Options: Args + FromArgMatches;
    /// `graph-...`, the file's name behind the dash.
    const NAME: &'static str;
    /// One sentence, which is also the help.
    const SUMMARY: &'static str;
    /// Whether it asks [`Steps`] before each rewrite or fusion, so that its rules can be left out one by one.
    const STEPS: bool = false;
    /// Rewrites the function or leaves it.
    fn run(cx: &mut Cx, func: &mut Func, options: &Self::Options) -> Result<Changed, PassError>;
}

/// A pass without its option type, so that passes fit in a slice.
pub trait ErasedPass: Sync {
    /// Pass name.
    fn name(&self) -> &'static str;
    /// One sentence.
    fn summary(&self) -> &'static str;
    /// Whether it asks for single steps.
    fn steps(&self) -> bool;
    /// The options as a clap command, for help pages.
    fn command(&self) -> Command;
    /// Checks option words (`max-ops=8`) without running.
    fn check(&self, options: &[String]) -> Result<(), String>;
    /// Parses the option words and runs.
    fn run(&self, cx: &mut Cx, func: &mut Func, options: &[String]) -> Result<Changed, PassError>;
}

/// Makes an [`ErasedPass`] of a [`GraphPass`].
pub struct Erased<P>(pub std::marker::PhantomData<fn() -> P>);

impl<P> Erased<P> {
    /// For use in constants.
    pub const NEW: Self = Erased(std::marker::PhantomData);
}

impl<P: GraphPass> Erased<P> {
    fn parse(&self, options: &[String]) -> Result<P::Options, String> {
        let words = std::iter::once(P::NAME.to_string()).chain(options.iter().map(|o| format!("--{o}")));
        let matches = self.command().try_get_matches_from(words).map_err(|e| one_line(&e))?;
        P::Options::from_arg_matches(&matches).map_err(|e| one_line(&e))
    }
}

impl<P: GraphPass> ErasedPass for Erased<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn summary(&self) -> &'static str {
        P::SUMMARY
    }

    fn steps(&self) -> bool {
        P::STEPS
    }

    fn command(&self) -> Command {
        let base = Command::new(P::NAME).about(P::SUMMARY).no_binary_name(false).disable_help_flag(true);
        P::Options::augment_args(base)
    }

    fn check(&self, options: &[String]) -> Result<(), String> {
        self.parse(options).map(|_| ())
    }

    fn run(&self, cx: &mut Cx, func: &mut Func, options: &[String]) -> Result<Changed, PassError> {
        let options = self.parse(options).map_err(|message| PassError { pass: P::NAME, message })?;
        P::run(cx, func, &options)
    }
}

/// clap's message without its usage block, which speaks of dashes that pipeline texts do not have.
fn one_line(e: &clap::Error) -> String {
    let text = e.to_string();
    let mut lines =
        text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("Usage") && !l.starts_with("For more"));
    let first = lines.next().unwrap_or("bad options").trim_start_matches("error: ").replace("--", "");
    match lines.find(|l| l.starts_with("tip:")) {
        Some(tip) => format!("{first} ({})", tip.replace("--", "")),
        None => first,
    }
}
