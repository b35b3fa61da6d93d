//! The zoo's models, small, on both back ends, with every way of sharing memory left out by turns (with LLVM, which takes
//! its time, all at once): the arena is what was planned, to the byte, in the program, in what its launches touch and in what
//! a session maps, with the outputs in the caller's buffers and in the arena; over poisoned memory nobody reads or writes what is not theirs; and all compute the same bits.

use std::sync::Arc;

use libtest_mimic::Trial;
use neap_codegen::host_target;
use neap_driver::compile::{Compiled, DEFAULT_PIPELINE, Graph, Sharing, Timing};
use neap_driver::load::in_memory;
use neap_optable::{Tensor, TensorType};
use neap_passes::Manager;
use neap_passes::import::{ImportOptions, import};
use neap_runtime::program::{Place, Program};
use neap_runtime::{Model, Options, Session};
use neap_spec::Backend;

use crate::numerics::placed::sharings;
use crate::numerics::run::{self, run_compiled, same_bits};
use crate::numerics::sample::{Dice, Style};

/// One trial a model.
pub fn trials() -> Vec<Trial> {
    let name = |e: &neap_zoo::Entry| e.name;
    neap_zoo::list().iter().map(name).map(|n| Trial::test(format!("arena {n}"), move || Ok(check(n)?))).collect()
}

fn check(name: &str) -> Result<(), String> {
    let graph = zoo(name)?;
    let types = |values: &[neap_optable::ValueId]| values.iter().map(|v| graph.body.ty(*v).clone()).collect::<Vec<_>>();
    let inputs = inputs(name, &types(&graph.body.args))?;
    let mut first: Option<Vec<Tensor>> = None;
    for backend in [Backend::Cranelift, Backend::Llvm] {
        let mut ready = None;
        let mut sharings = sharings();
        if backend == Backend::Llvm {
            sharings = vec![sharings[0], Sharing { in_place: false, parts: false, views: false }];
        }
        let hold = [(Sharing::default(), true)];
        for (sharing, hold) in sharings.into_iter().map(|s| (s, false)).chain(hold) {
            let at = |e: String| format!("{backend:?} with {sharing:?}, outputs held: {hold}: {e}");
            let compiler = run::compiler(&host_target(backend), sharing, hold);
            // The passes do not depend on how memory is shared.
            let ready = match &ready {
                Some(g) => g,
                None => ready.insert(
                    compiler
                        .optimise(graph.clone(), DEFAULT_PIPELINE, &mut Manager::default())
                        .map_err(|e| at(e.to_string()))?,
                ),
            };
            let compiled = compiler.compile(ready, &mut Timing::default()).map_err(|e| at(e.to_string()))?;
            to_the_byte(&compiled).map_err(at)?;
            let found = run_compiled(compiled, &inputs, &types(&graph.body.results)).map_err(at)?;
            let first = first.get_or_insert_with(|| found.clone());
            same_bits(&found, first).map_err(|e| at(format!("not the bits of the first: {e}")))?;
        }
    }
    Ok(())
}

fn zoo(name: &str) -> Result<Graph, String> {
    let options = neap_zoo::Options { small: true, ..neap_zoo::Options::default() };
    let proto = neap_zoo::build(name, &options).map_err(|e| e.to_string())?;
    let model = neap_onnx::from_proto(proto, &neap_onnx::external::NoExternal).map_err(|e| e.to_string())?;
    let imported = import(&model, &ImportOptions::default()).map_err(|e| format!("{e:?}"))?;
    Ok(Graph {
        name: name.into(),
        body: imported.body,
        weights: imported.weights,
        tiling: Default::default(),
        applied: vec![],
    })
}

fn inputs(name: &str, types: &[TensorType]) -> Result<Vec<Tensor>, String> {
    let mut dice = Dice::new(name);
    let of = |t: &TensorType| {
        let dims = t.static_dims().ok_or_else(|| format!("an input of open size: {t}"))?;
        Ok(dice.tensor(t.dtype, &dims, Style::Plain))
    };
    types.iter().map(of).collect()
}

/// Plan, program, launches and session agree on the arena.
fn to_the_byte(compiled: &Compiled) -> Result<(), String> {
    let (program, planned) = (&compiled.program, compiled.memory.arena_bytes);
    if program.arena_bytes != planned {
        return Err(format!("the program has {} bytes, planned were {planned}", program.arena_bytes));
    }
    // Besides what launches name there is the scratch of one thread, at the peak if anywhere.
    let scratch = program.launches.iter().map(|l| l.scratch.next_multiple_of(64)).max().unwrap_or(0);
    let touched = touched(program);
    if !(touched..=touched + scratch).contains(&planned) {
        return Err(format!("launches touch {touched} bytes and {scratch} of scratch, planned were {planned}"));
    }
    let mapped = |program: Program, threads: usize| {
        let compiled = Compiled {
            program,
            code: compiled.code.clone(),
            weights: compiled.weights.clone(),
            memory: compiled.memory.clone(),
            kernels: compiled.kernels,
        };
        let model: Arc<Model> = Arc::new(in_memory(compiled).map_err(|e| e.to_string())?);
        let session = Session::new(model, &Options { threads, ..Options::default() }).map_err(|e| e.to_string())?;
        Ok::<u64, String>(session.arena_bytes())
    };
    let one = mapped(program.clone(), 1)?;
    if one != planned {
        return Err(format!("{one} bytes are mapped for one thread, planned were {planned}"));
    }
    let three = mapped(program.clone(), 3)?;
    if !(planned..=planned + 2 * scratch).contains(&three) {
        return Err(format!(
            "{three} bytes are mapped for three threads, planned were {planned} with {scratch} of scratch"
        ));
    }
    Ok(())
}

/// The end of the highest arena byte that a launch names, rounded up as the plan is.
fn touched(program: &Program) -> u64 {
    let end = |place, bytes| match place {
        Place::Arena(offset) => offset + bytes,
        _ => 0,
    };
    let ends = program.launches.iter().flat_map(|l| &l.buffers).map(|b| end(b.place, b.bytes));
    ends.max().unwrap_or(0).next_multiple_of(64)
}
