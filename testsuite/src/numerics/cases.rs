//! The op cases that the reference is tested by.

use libtest_mimic::Trial;
use neap_optable::{Body, GraphOp, Tensor};
use neap_reference::cases::{self, Case};

use super::run;
use super::sample::Sample;

/// Cases in one trial: they are compiled together.
const TOGETHER: usize = 24;

/// One trial for a few cases of a file.
pub fn trials() -> Vec<Trial> {
    let (computed, refused): (Vec<Case>, Vec<Case>) = cases::all().into_iter().partition(is_computed);
    let mut out = vec![];
    for (file, _) in cases::FILES {
        let of_file: Vec<&Case> = computed.iter().filter(|c| c.file == *file).collect();
        for chunk in of_file.chunks(TOGETHER) {
            let samples: Vec<Sample> = chunk.iter().map(|c| sample(c)).collect();
            let lines = format!("{}-{}", chunk[0].line, chunk[chunk.len() - 1].line);
            out.push(Trial::test(format!("numerics {file}.txt:{lines}"), move || Ok(run::check(&samples)?)));
        }
    }
    out.push(Trial::test(
        format!("numerics {} cases of recurrences in f16 and bf16 are refused", refused.len()),
        move || Ok(refused.iter().try_for_each(is_refused)?),
    ));
    out
}

fn sample(c: &Case) -> Sample {
    let mut s = Sample::typed(c.op, c.attrs.clone(), c.inputs.clone(), c.types());
    s.name = format!("{}: {}", c.name(), s.name);
    s
}

/// Whether neap computes the case: recurrences in f16 and bf16 are refused (the importer casts around them).
fn is_computed(c: &Case) -> bool {
    let recurrent = matches!(c.op, GraphOp::Lstm | GraphOp::Gru);
    !(recurrent && c.inputs.iter().any(|t| t.dtype.is_half()))
}

fn is_refused(c: &Case) -> Result<(), String> {
    let mut body = Body::default();
    let args: Vec<_> = c.inputs.iter().map(|t| body.arg(Tensor::ty(t))).collect();
    body.results = body.push(c.op, c.attrs.clone(), &args, c.types(), "n");
    match neap_kernels::graph_to_loop::lower(&body.nodes[0], &body) {
        Ok(_) => Err(format!("{} is lowered, though its element type is to be refused", c.name())),
        Err(e) if e.to_string().contains("cast to f32 around them") => Ok(()),
        Err(e) => Err(format!("{}: {e}", c.name())),
    }
}
