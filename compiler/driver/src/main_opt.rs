//! `neap-opt`: MLIR text in, a pipeline of passes, MLIR text out. For FileCheck tests and for trying passes.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use neap_mlir::Locations;
use neap_passes::{CONVERSIONS, Cx, Dump, Func, Limits, Manager, PASSES, Step};

use crate::cli::{Backend, CompileOptions, Emit};
use crate::compile::{Compiler, Graph, Sharing};
use crate::diagnostics;
use crate::failure::{At, Failure};
use crate::files;
use crate::load;

/// neap-opt: run passes over MLIR text.
#[derive(Debug, Parser)]
#[command(name = "neap-opt", version, about)]
struct Cli {
    /// MLIR file; `-` or none for standard input.
    file: Option<PathBuf>,
    /// Pipeline, such as 'graph-fuse{max-ops=8},mlir(canonicalize,cse),convert-graph-to-loop'.
    #[arg(long, default_value = "")]
    passes: String,
    /// File to write; default: standard output.
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Tensors behind `graph.weight`, by key, as numpy writes them; passes leave the others alone.
    #[arg(long, value_name = "FILE.npz")]
    weights: Option<PathBuf>,
    /// Print locations.
    #[arg(long)]
    locations: bool,
    /// Code generator that conversions schedule for.
    #[arg(long, value_enum, default_value = "llvm")]
    backend: Backend,
    /// CPU that conversions schedule for; a fixed one by default, so that tests print the same everywhere.
    #[arg(long, default_value = "x86-64-v4")]
    target_cpu: String,
    /// After convert-loop-to-gpu, print this chip's assembly instead of MLIR.
    #[arg(long, value_enum)]
    gpu_chip: Option<Chip>,
    /// Write the IR after this pass, or after all.
    #[arg(long, value_name = "PASS|all", requires = "dump_ir_dir")]
    dump_ir_after: Option<String>,
    /// Folder for --dump-ir-after.
    #[arg(long, value_name = "DIR")]
    dump_ir_dir: Option<PathBuf>,
    /// Colours, and excerpts of the sources that errors name; `auto`: where standard error is a terminal.
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    color: clap::ColorChoice,
    /// List the passes with their summaries.
    #[arg(long)]
    list_passes: bool,
    /// Print the documentation page of the passes.
    #[arg(long, hide = true)]
    pass_docs: bool,
}

/// GPUs that assembly can be printed for.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
enum Chip {
    #[value(name = "sm_90a")]
    Sm90a,
    #[value(name = "gfx942")]
    Gfx942,
}

/// What an in-process run printed.
#[derive(Clone, Debug, Default)]
pub struct OptOutput {
    /// 0, 1 or 2.
    pub code: u8,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Runs `neap-opt` on the process's streams.
pub fn main_opt(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let out = opt(args, diagnostics::pretty);
    let _ = std::io::stdout().write_all(out.stdout.as_bytes());
    let _ = std::io::stderr().write_all(out.stderr.as_bytes());
    ExitCode::from(out.code)
}

/// Runs `neap-opt` in this process, the program's name first among the arguments.
pub fn opt_main(args: impl IntoIterator<Item = OsString>) -> OptOutput {
    opt(args, |choice| choice == clap::ColorChoice::Always)
}

fn opt(args: impl IntoIterator<Item = OsString>, pretty: fn(clap::ColorChoice) -> bool) -> OptOutput {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(e) if e.use_stderr() => return OptOutput { code: 2, stderr: e.to_string(), ..OptOutput::default() },
        Err(e) => return OptOutput { stdout: e.to_string(), ..OptOutput::default() },
    };
    match run(&cli) {
        Ok(stdout) => OptOutput { stdout, ..OptOutput::default() },
        Err(f) => {
            let stderr = diagnostics::errors(&f.message, pretty(cli.color));
            OptOutput { code: f.code, stderr, ..OptOutput::default() }
        }
    }
}

fn run(cli: &Cli) -> Result<String, Failure> {
    if cli.list_passes {
        let passes = PASSES.iter().map(|p| (p.name(), p.summary())).chain(CONVERSIONS.iter().copied());
        return Ok(passes.map(|(n, s)| format!("{n:26} {s}\n")).collect());
    }
    if cli.pass_docs {
        return Ok(pass_docs());
    }
    let steps = neap_passes::parse(&cli.passes).map_err(Failure::usage)?;
    let (name, text) = read(cli)?;
    shallow(&name, &text)?;
    let out = pipeline(cli, &name, &text, &steps)?;
    match &cli.output {
        Some(path) => files::write(path, |w| w.write_all(out.as_bytes())).map(|()| String::new()),
        None => Ok(out),
    }
}

fn read(cli: &Cli) -> Result<(String, String), Failure> {
    match &cli.file {
        Some(path) if path.as_os_str() != "-" => {
            let text = std::fs::read_to_string(path).at(path.display())?;
            Ok((path.display().to_string(), text))
        }
        _ => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).at("standard input")?;
            Ok(("<stdin>".into(), text))
        }
    }
}

/// MLIR's parser and printer call themselves for each level of nesting, and the stack is what they run out of.
fn shallow(name: &str, text: &str) -> Result<(), Failure> {
    const MOST: usize = 500;
    let (mut depth, mut line) = (0usize, 1);
    let mut chars = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        match c {
            '\n' => line += 1,
            '/' if chars.peek() == Some(&'/') => while chars.next_if(|c| *c != '\n').is_some() {},
            '"' => {
                while let Some(c) = chars.next().filter(|c| *c != '"') {
                    line += usize::from(c == '\n');
                    if c == '\\' {
                        chars.next();
                    }
                }
            }
            '(' | '[' | '{' | '<' => depth += 1,
            // `->` and `>=` close nothing.
            '>' if before == '-' || chars.peek() == Some(&'=') => {}
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MOST {
            return Err(Failure::new(format!("{name}:{line}: nested more than {MOST} levels deep")));
        }
        before = c;
    }
    Ok(())
}

fn pipeline(cli: &Cli, name: &str, text: &str, steps: &[Step]) -> Result<String, Failure> {
    let lowers = steps.iter().position(|s| matches!(s, Step::Conversion(_))).unwrap_or(steps.len());
    let raises =
        steps[lowers..].iter().position(|s| !matches!(s, Step::Conversion(_))).map_or(steps.len(), |n| lowers + n);
    let (graph, conversions, upstream) = (&steps[..lowers], &steps[lowers..raises], &steps[raises..]);
    let conversions: Vec<&str> = conversions
        .iter()
        .filter_map(|s| match s {
            Step::Conversion(name) => Some(*name),
            _ => None,
        })
        .collect();
    let cx = neap_mlir::context();
    let module = neap_mlir::parse_module(&cx, text, name).map_err(Failure::new)?;
    let at_loop_level = graph.is_empty() && conversions == ["convert-loop-to-scf"];
    if !at_loop_level && (!steps.is_empty() || neap_mlir::graph::occurs(&module)) {
        neap_mlir::graph::check(&module).map_err(Failure::new)?;
    }
    let lowered = match (graph, conversions.as_slice()) {
        ([], []) if upstream.is_empty() => return Ok(neap_mlir::print(&module.as_operation(), locations(cli))),
        _ if at_loop_level => {
            let kernels = neap_kernels::mlir::read_module(&module).map_err(Failure::new)?;
            compiler(cli)?.emit_kernels(&kernels)?
        }
        (steps, ["convert-graph-to-loop", "convert-loop-to-gpu"]) => {
            let bodies = neap_mlir::graph::read_module(&module).map_err(Failure::new)?;
            let mut funcs: Vec<Func> = bodies.into_iter().map(|(name, body)| Func { name, body }).collect();
            Manager { verify: true, ..Manager::default() }
                .run(steps, &mut weights(cli)?, &mut funcs)
                .map_err(Failure::new)?;
            device(cli, &funcs)?
        }
        (_, conversions) => {
            let bodies = neap_mlir::graph::read_module(&module).map_err(Failure::new)?;
            let funcs = bodies.into_iter().map(|(name, body)| Func { name, body }).collect();
            graph_level(cli, graph, conversions, funcs)?
        }
    };
    if upstream.is_empty() {
        return Ok(lowered);
    }
    // Below the graph level only MLIR's own passes run; the text is the level's whole state.
    let mut module = neap_mlir::parse_module(&cx, &lowered, name).map_err(Failure::new)?;
    for step in upstream {
        let Step::Mlir(pipeline) = step else {
            return Err(Failure::usage("graph passes come before conversions; after them only mlir(...) steps run"));
        };
        neap_mlir::run_upstream(&cx, &mut module, pipeline).map_err(Failure::new)?;
    }
    Ok(neap_mlir::print(&module.as_operation(), locations(cli)))
}

/// Graph passes, then the conversions.
fn graph_level(cli: &Cli, steps: &[Step], conversions: &[&str], mut funcs: Vec<Func>) -> Result<String, Failure> {
    let dump = match (&cli.dump_ir_after, &cli.dump_ir_dir) {
        (Some(after), Some(dir)) => Some(Dump { after: after.clone(), dir: dir.clone() }),
        _ => None,
    };
    let mut manager = Manager { verify: true, dump, times: vec![] };
    let mut cx = weights(cli)?;
    manager.run(steps, &mut cx, &mut funcs).map_err(Failure::new)?;
    let emit = match conversions {
        [] => return neap_passes::graph::upstream::print_as(&funcs, locations(cli)).map_err(Failure::new),
        ["convert-graph-to-loop"] => Emit::MlirLoop,
        ["convert-graph-to-loop", "convert-loop-to-scf"] => Emit::MlirScf,
        _ => {
            return Err(Failure::usage(
                "conversions come in order: convert-graph-to-loop, then convert-loop-to-scf or convert-loop-to-gpu",
            ));
        }
    };
    let compiler = compiler(cli)?;
    let mut out = String::new();
    for f in funcs {
        let graph = Graph {
            name: f.name,
            body: f.body,
            weights: cx.weights.clone(),
            tiling: Default::default(),
            applied: vec![],
        };
        out.push_str(&compiler.emit(&graph, emit)?);
    }
    Ok(out)
}

/// What `--weights` gives.
fn weights(cli: &Cli) -> Result<Cx, Failure> {
    let mut cx = Cx::default();
    for (key, t) in
        cli.weights.iter().map(|p| crate::arrays::read_npz(p)).collect::<Result<Vec<_>, _>>()?.into_iter().flatten()
    {
        cx.weights.insert(key, t);
    }
    Ok(cx)
}

/// Every kernel of the functions for GPUs.
fn device(cli: &Cli, funcs: &[Func]) -> Result<String, Failure> {
    let cx = neap_mlir::context();
    let mut out = String::new();
    for f in funcs {
        for kernel in crate::compile::kernels(&f.body)? {
            let (module, _) = neap_kernels::loop_to_gpu::emit(&kernel, &cx).map_err(Failure::new)?;
            let chip = cli.gpu_chip.map(|c| match c {
                Chip::Sm90a => neap_codegen::GpuChip::Sm90a,
                Chip::Gfx942 => neap_codegen::GpuChip::Gfx942,
            });
            match chip {
                Some(chip) => out.push_str(&neap_codegen::compile_gpu(&module, chip).map_err(Failure::new)?),
                None => out.push_str(&module.as_operation().to_string()),
            }
        }
    }
    Ok(out)
}

fn compiler(cli: &Cli) -> Result<Compiler, Failure> {
    let options = CompileOptions {
        steps: Default::default(),
        backend: Some(cli.backend),
        target: None,
        target_cpu: Some(cli.target_cpu.clone()),
        dims: vec![],
        passes: None,
        recompute_limit: None,
        hold_outputs: false,
        timing: false,
        dump_ir_after: None,
        dump_ir_dir: None,
    };
    Ok(Compiler {
        target: load::target(&options)?,
        observe: true,
        hold_outputs: false,
        tile_until: None,
        sharing: Sharing::default(),
        limits: Limits::default(),
        progress: false,
    })
}

/// `docs/generated/passes.md`.
fn pass_docs() -> String {
    let mut out = String::from("# Passes\n\nGenerated by `just generate`; do not edit.\n");
    for p in PASSES {
        out.push_str(&format!("\n## {}\n\n{}.\n", p.name(), capitalised(p.summary())));
        for a in p.command().get_arguments().filter(|a| a.get_id() != "help") {
            let default: Vec<_> = a.get_default_values().iter().map(|v| v.to_string_lossy()).collect();
            let help = a.get_help().map(ToString::to_string).unwrap_or_default();
            out.push_str(&format!("\n- `{}={}`: {help}", a.get_long().unwrap_or_default(), default.join(",")));
        }
        if p.command().get_arguments().any(|a| a.get_id() != "help") {
            out.push('\n');
        }
    }
    out.push_str("\n# Conversions\n\nThese leave the graph level; they come last in a pipeline, and only `mlir(...)` may follow.\n");
    for (name, summary) in CONVERSIONS {
        out.push_str(&format!("\n## {name}\n\n{}.\n", capitalised(summary)));
    }
    out
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn locations(cli: &Cli) -> Locations {
    if cli.locations { Locations::Shown } else { Locations::Hidden }
}
