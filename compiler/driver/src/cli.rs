//! The command line of `neap`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// neap: an ahead-of-time deep-learning compiler whose first concern is the high-water mark of memory.
#[derive(Debug, Parser)]
#[command(name = "neap", version, about, propagate_version = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// More words on what is going on (repeat for more).
    #[arg(short, long, global = true, action = clap::ArgAction::Count, display_order = 1000)]
    pub verbose: u8,
    /// Colours, and excerpts of the sources that errors name; `auto`: where standard error is a terminal.
    #[arg(long, value_enum, global = true, default_value = "auto", value_name = "WHEN", display_order = 1001)]
    pub color: clap::ColorChoice,
}

/// Subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compile a model ahead of time into an artefact.
    Compile(Compile),
    /// Run a model or an artefact on given inputs.
    Run(Run),
    /// Measure latency and memory.
    Bench(Bench),
    /// Show where the time goes: each kernel's time, operations and bytes, against what the machine can do.
    Profile(Profile),
    /// Compare a compiled model with the reference interpreter, op by op.
    Verify(Verify),
    /// Find the rewrite, fusion or kernel that makes a model wrong.
    Bisect(Bisect),
    /// Show what is fused, what it saves, and why not more.
    Fusions(Fusions),
    /// Show what is in a model.
    Inspect(Inspect),
    /// Plan memory: of a model, of a problem as JSON, or of a table of buffers as CSV.
    Plan(Plan),
    /// Write a well-known architecture with seeded weights as ONNX.
    Zoo(Zoo),
    /// Show what neap finds on this machine, and try both code generators.
    Doctor(Doctor),
    /// Print completions for a shell.
    Completions(Completions),
    /// Write the manual pages, one a command.
    Man(Man),
}

/// Code generators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// LLVM: optimising.
    Llvm,
    /// Cranelift: compiles fast.
    Cranelift,
}

/// Systems that code can be made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum System {
    /// 64-bit x86 with at least x86-64-v2.
    #[value(name = "x86_64-linux-gnu")]
    X86_64,
    /// 64-bit Arm with NEON; --backend llvm alone.
    #[value(name = "aarch64-linux-gnu")]
    Aarch64,
}

/// What is made instead of an artefact: a level, printed, or files for C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names are the levels")]
pub enum Emit {
    MlirGraph,
    MlirLoop,
    MlirScf,
    MlirSegment,
    Llvm,
    Asm,
    Clif,
    /// A shared library for C, and its header beside it.
    So,
    /// A relocatable object for C, and its header beside it.
    Obj,
    /// The header alone.
    CHeader,
}

/// Where a library for C has its weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WeightPlace {
    /// In the library.
    Inside,
    /// In a file beside it.
    Beside,
}

/// How to compile.
#[derive(Clone, Debug, Args)]
pub struct CompileOptions {
    /// Code generator [default: llvm].
    #[arg(long, value_enum)]
    pub backend: Option<Backend>,
    /// System to make code for: x86_64-linux-gnu or aarch64-linux-gnu [default: this machine's].
    #[arg(long, value_enum, value_name = "TRIPLE")]
    pub target: Option<System>,
    /// CPU to make code for: native, x86-64-v2, x86-64-v3 or x86-64-v4; for aarch64 generic [default: native, or what all CPUs of
    /// --target have].
    #[arg(long, value_name = "CPU")]
    pub target_cpu: Option<String>,
    /// Size of an open dim, by its name or as INPUT.AXIS (repeatable).
    #[arg(long = "dim", value_name = "NAME=N", value_parser = parse_dim)]
    pub dims: Vec<(String, u64)>,
    /// Pipeline of graph passes instead of the default one.
    #[arg(long, value_name = "PIPELINE")]
    pub passes: Option<String>,
    /// Which rewrites and fusions to leave out.
    #[command(flatten)]
    pub steps: StepOptions,
    /// Run segments tile by tile where that lowers the arena, computing at most this share of operations anew; such as 5%.
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub recompute_limit: Option<f64>,
    /// Keep outputs in the planned arena, where the runtime shows them; buffers of the caller's get copies.
    #[arg(long)]
    pub hold_outputs: bool,
    /// Print a table of times per phase on standard error.
    #[arg(long)]
    pub timing: bool,
    /// Write the IR after this pass, or after all.
    #[arg(long, value_name = "PASS|all", requires = "dump_ir_dir")]
    pub dump_ir_after: Option<String>,
    /// Folder for --dump-ir-after.
    #[arg(long, value_name = "DIR", requires = "dump_ir_after")]
    pub dump_ir_dir: Option<PathBuf>,
}

/// Which rewrites and fusions to leave out, to find which one matters.
#[derive(Clone, Debug, Default, Args)]
pub struct StepOptions {
    /// Leave out all rewrites.
    #[arg(long, conflicts_with = "max_rewrites")]
    pub no_rewrite: bool,
    /// Leave out all fusions: a kernel for each operator.
    #[arg(long, conflicts_with = "max_fusions")]
    pub no_fusion: bool,
    /// Rules to leave out, such as simplify-transpose,fuse-conv; `neap bisect` and `neap fusions` name them.
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = crate::steps::rule)]
    pub disable: Vec<String>,
    /// Only the first rewrites.
    #[arg(long, value_name = "N")]
    pub max_rewrites: Option<usize>,
    /// Only the first fusions.
    #[arg(long, value_name = "N")]
    pub max_fusions: Option<usize>,
}

impl CompileOptions {
    /// The code generator asked for, or the default one.
    pub fn backend(&self) -> Backend {
        self.backend.unwrap_or(Backend::Llvm)
    }

    /// The first option given that only a model has a use for.
    pub fn for_models(&self) -> Option<&'static str> {
        let given = [
            ("--dim", !self.dims.is_empty()),
            ("--backend", self.backend.is_some()),
            ("--target", self.target.is_some()),
            ("--target-cpu", self.target_cpu.is_some()),
            ("--passes", self.passes.is_some()),
            ("--no-rewrite", self.steps.no_rewrite),
            ("--no-fusion", self.steps.no_fusion),
            ("--disable", !self.steps.disable.is_empty()),
            ("--max-rewrites", self.steps.max_rewrites.is_some()),
            ("--max-fusions", self.steps.max_fusions.is_some()),
            ("--recompute-limit", self.recompute_limit.is_some()),
            ("--hold-outputs", self.hold_outputs),
            ("--dump-ir-after", self.dump_ir_after.is_some()),
        ];
        given.into_iter().find(|g| g.1).map(|g| g.0)
    }
}

/// What to feed a model with.
#[derive(Clone, Debug, Args)]
pub struct InputOptions {
    /// Inputs by name, as numpy writes them (`np.savez`).
    #[arg(long, value_name = "FILE.npz")]
    pub inputs: Option<PathBuf>,
    /// One input (repeatable).
    #[arg(long = "input", value_name = "NAME=FILE.npy", value_parser = parse_input)]
    pub input: Vec<(String, PathBuf)>,
    /// Fill the inputs that are not given with seeded random numbers.
    #[arg(long, value_name = "SEED")]
    pub random: Option<u64>,
}

/// `neap compile`
#[derive(Debug, Args)]
pub struct Compile {
    /// ONNX model.
    pub model: PathBuf,
    /// Artefact to write; default: the model's name with `.neap` in this folder.
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    /// Print this level (to -o, or standard output), or write a library for C, instead of an artefact.
    #[arg(long, value_enum)]
    pub emit: Option<Emit>,
    /// Where a library for C has its weights [default: inside].
    #[arg(long, value_enum, value_name = "PLACE", requires = "emit")]
    pub weights: Option<WeightPlace>,
    /// Begin of a C library's symbols and header [default: the model file's name].
    #[arg(long, value_name = "NAME", requires = "emit")]
    pub prefix: Option<String>,
    /// How to compile.
    #[command(flatten)]
    pub options: CompileOptions,
    /// Print one JSON object on standard output.
    #[arg(long, conflicts_with = "emit")]
    pub json: bool,
}

/// `neap run`
#[derive(Debug, Args)]
pub struct Run {
    /// Artefact or ONNX model.
    pub model: PathBuf,
    /// Inputs.
    #[command(flatten)]
    pub inputs: InputOptions,
    /// Folder for the outputs, one `.npy` each.
    #[arg(long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
    /// Threads.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// Debug: fill dead memory with NaN patterns.
    #[arg(long)]
    pub poison: bool,
    /// How to compile, for a model.
    #[command(flatten)]
    pub options: CompileOptions,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `neap bench`
#[derive(Debug, Args)]
pub struct Bench {
    /// Artefact or ONNX model.
    pub model: PathBuf,
    /// Inputs; random ones where none are given.
    #[command(flatten)]
    pub inputs: InputOptions,
    /// Threads.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// Timed runs; default: as many as fit in --seconds, at least 5.
    #[arg(long)]
    pub runs: Option<u32>,
    /// Runs before the timed ones.
    #[arg(long, default_value_t = 3)]
    pub warmup: u32,
    /// Time to spend when --runs is not given.
    #[arg(long, default_value_t = 3.0)]
    pub seconds: f64,
    /// How to compile, for a model.
    #[command(flatten)]
    pub options: CompileOptions,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

/// What the rows of a profile are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProfileBy {
    /// Each launch, told by its ONNX nodes.
    Launch,
    /// Equal kernels together, such as those of repeated layers.
    Kernel,
}

/// `neap profile`
#[derive(Debug, Args)]
pub struct Profile {
    /// Artefact or ONNX model.
    pub model: PathBuf,
    /// Inputs; random ones where none are given.
    #[command(flatten)]
    pub inputs: InputOptions,
    /// Threads.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// Timed runs; default: as many as fit in --seconds, at least 5.
    #[arg(long)]
    pub runs: Option<u32>,
    /// Runs before the timed ones.
    #[arg(long, default_value_t = 3)]
    pub warmup: u32,
    /// Time to spend when --runs is not given.
    #[arg(long, default_value_t = 3.0)]
    pub seconds: f64,
    /// What the rows are.
    #[arg(long, value_enum, default_value = "launch")]
    pub by: ProfileBy,
    /// Rows of the table, the slowest first; 0 for all.
    #[arg(long, default_value_t = 20)]
    pub top: usize,
    /// Write one run as a trace for Chrome or Perfetto.
    #[arg(long, value_name = "TRACE.json")]
    pub trace: Option<PathBuf>,
    /// How to compile, for a model.
    #[command(flatten)]
    pub options: CompileOptions,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `neap verify`
#[derive(Debug, Args)]
pub struct Verify {
    /// ONNX model.
    pub model: PathBuf,
    /// Inputs; random ones where none are given.
    #[command(flatten)]
    pub inputs: InputOptions,
    /// Absolute tolerance: |a - b| <= atol + rtol * |b|. In f16 and bf16 at least four units in the last place of 1.
    #[arg(long, default_value_t = 1e-4)]
    pub atol: f64,
    /// Relative tolerance.
    #[arg(long, default_value_t = 1e-3)]
    pub rtol: f64,
    /// Threads.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// Before that, interpret the graph after each single rewrite and fusion.
    #[arg(long)]
    pub stepwise: bool,
    /// How to compile.
    #[command(flatten)]
    pub options: CompileOptions,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `neap bisect`
#[derive(Debug, Args)]
pub struct Bisect {
    /// ONNX model.
    pub model: PathBuf,
    /// Inputs; random ones where none are given.
    #[command(flatten)]
    pub inputs: InputOptions,
    /// Right outputs by name [default: what the reference interpreter computes].
    #[arg(long, value_name = "FILE.npz")]
    pub reference: Option<PathBuf>,
    /// Absolute tolerance, as in `neap verify`.
    #[arg(long, default_value_t = 1e-4)]
    pub atol: f64,
    /// Relative tolerance.
    #[arg(long, default_value_t = 1e-3)]
    pub rtol: f64,
    /// Threads.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// The guilty operators before and after the step, as MLIR [default: the model's name with `.bisect.mlir` in this folder].
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    /// How to compile.
    #[command(flatten)]
    pub options: CompileOptions,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `neap fusions`
#[derive(Debug, Args)]
pub struct Fusions {
    /// ONNX model.
    pub model: PathBuf,
    /// Rows of the table, those that save the most first; 0 for all.
    #[arg(long, default_value_t = 20)]
    pub top: usize,
    /// How to compile.
    #[command(flatten)]
    pub options: CompileOptions,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `neap inspect`
#[derive(Debug, Args)]
pub struct Inspect {
    /// ONNX model.
    pub model: PathBuf,
    /// Size of an open dim (repeatable).
    #[arg(long = "dim", value_name = "NAME=N", value_parser = parse_dim)]
    pub dims: Vec<(String, u64)>,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

/// What a plan makes small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlanObjective {
    /// Bytes of the arena.
    Arena,
    /// Bytes alive at the worst step.
    Peak,
}

/// How a table's `lower` and `upper` are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableInterval {
    /// Alive on [lower, upper), as MiniMalloc reads it.
    HalfOpen,
    /// Alive on (lower, upper), as idealloc reads it.
    Open,
}

/// `neap plan`
#[derive(Debug, Args)]
pub struct Plan {
    /// ONNX model, memory problem (.json) or table of buffers (.csv).
    pub file: PathBuf,
    /// What to make small.
    #[arg(long, value_enum, default_value = "arena")]
    pub objective: PlanObjective,
    /// Stop as soon as the arena fits; such as 1048576, 64MB or 16GiB.
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub capacity: Option<u64>,
    /// Heuristics alone: fast, without search for proofs.
    #[arg(long)]
    pub heuristic: bool,
    /// Stop searching after this many seconds (answers then depend on the machine).
    #[arg(long, value_name = "S")]
    pub time_limit: Option<f64>,
    /// How a table's lower and upper are read [default: half-open].
    #[arg(long, value_enum)]
    pub interval: Option<TableInterval>,
    /// Find the largest size of the model's first open dim (the batch, as a rule) that fits --capacity, up to 2^24.
    #[arg(long, conflicts_with_all = ["max_dim", "html", "trace", "problem"])]
    pub max_batch: bool,
    /// Find the largest size of this open dim that fits --capacity, up to 2^24.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["html", "trace", "problem"])]
    pub max_dim: Option<String>,
    /// Write a page that shows the plan.
    #[arg(long, value_name = "REPORT.html")]
    pub html: Option<PathBuf>,
    /// Write a trace for Chrome or Perfetto.
    #[arg(long, value_name = "TRACE.json")]
    pub trace: Option<PathBuf>,
    /// Write the memory problem as JSON.
    #[arg(long, value_name = "PROBLEM.json")]
    pub problem: Option<PathBuf>,
    /// How to compile, for a model.
    #[command(flatten)]
    pub options: CompileOptions,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `neap zoo`
#[derive(Debug, Args)]
pub struct Zoo {
    /// Architecture; `list` shows all.
    pub name: String,
    /// ONNX file to write.
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    /// The small configuration that tests use.
    #[arg(long)]
    pub small: bool,
    /// Seed of the weights.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Batch size, or `open` to leave it symbolic.
    #[arg(long, value_name = "N|open", value_parser = parse_size)]
    pub batch: Option<neap_zoo::Size>,
    /// Sequence length, or `open`; for language models.
    #[arg(long, value_name = "N|open", value_parser = parse_size)]
    pub seq: Option<neap_zoo::Size>,
    /// Image side, for vision models.
    #[arg(long)]
    pub image: Option<u64>,
    /// Cached positions, or `open`; for decoding.
    #[arg(long, value_name = "N|open", value_parser = parse_size)]
    pub past: Option<neap_zoo::Size>,
    /// Spell layer norms out in primitive operators, as old exporters do.
    #[arg(long)]
    pub decomposed_norms: bool,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `neap doctor`
#[derive(Debug, Args)]
pub struct Doctor {
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `neap completions`
#[derive(Debug, Args)]
pub struct Completions {
    /// Shell; bash: `neap completions bash > ~/.local/share/bash-completion/completions/neap`.
    pub shell: clap_complete::Shell,
}

/// `neap man`
#[derive(Debug, Args)]
pub struct Man {
    /// Folder for neap.1, neap-compile.1 and so on.
    #[arg(long, value_name = "DIR")]
    pub output_dir: PathBuf,
}

fn parse_dim(text: &str) -> Result<(String, u64), String> {
    let (name, n) = text.rsplit_once('=').ok_or("expected NAME=N or INPUT.AXIS=N")?;
    let n: u64 = n.parse().map_err(|_| format!("'{n}' is not a size"))?;
    if name.is_empty() || n > 1 << 40 {
        return Err("expected NAME=N with N from 0 to 2^40".into());
    }
    Ok((name.into(), n))
}

fn parse_bytes(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 10] = [
        ("", 1),
        ("B", 1),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
    ];
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let unit = UNITS.iter().find(|u| u.0.eq_ignore_ascii_case(&text[at..]));
    let (_, scale) =
        unit.ok_or("expected bytes, such as 1048576, 64MB or 1.5GiB; units are kB, MB, GB, TB, KiB, MiB, GiB and TiB")?;
    let past = || format!("'{text}' is past 2^62 bytes");
    let bytes = match text[..at].parse::<u64>() {
        Ok(n) => n.checked_mul(*scale).ok_or_else(past)?,
        // A fraction of a unit, to the byte below.
        Err(_) => match text[..at].parse::<f64>() {
            Ok(n) if n * (*scale as f64) < (1u64 << 62) as f64 => (n * *scale as f64) as u64,
            Ok(_) => return Err(past()),
            Err(_) => return Err(format!("'{text}' is no number of bytes")),
        },
    };
    if bytes < 1 << 62 { Ok(bytes) } else { Err(past()) }
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').ok_or("expected a percentage, such as 5%")?;
    let n: f64 = number.trim().parse().map_err(|_| format!("'{text}' is no percentage"))?;
    if (0.0..=1000.0).contains(&n) { Ok(n / 100.0) } else { Err(format!("'{text}' is not from 0% to 1000%")) }
}

fn parse_size(text: &str) -> Result<neap_zoo::Size, String> {
    match text {
        "open" => Ok(neap_zoo::Size::Symbolic),
        n => n.parse().map(neap_zoo::Size::Fixed).map_err(|_| format!("'{n}' is neither a size nor 'open'")),
    }
}

fn parse_input(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = text.split_once('=').ok_or("expected NAME=FILE.npy")?;
    Ok((name.into(), path.into()))
}
