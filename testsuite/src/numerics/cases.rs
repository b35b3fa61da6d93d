//! The op cases that the reference is tested by.

use libtest_mimic::Trial;
use neap_optable::{Body, DType, GraphOp, Tensor};
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
        format!("numerics {} cases of element types that are refused until later", refused.len()),
        move || Ok(refused.iter().try_for_each(is_refused)?),
    ));
    out
}

fn sample(c: &Case) -> Sample {
    let mut s = Sample::typed(c.op, c.attrs.clone(), c.inputs.clone(), c.types());
    s.name = format!("{}: {}", c.name(), s.name);
    s
}

/// Whether neap computes with the case's element types; the others come with a later issue and are refused until then.
fn is_computed(c: &Case) -> bool {
    c.inputs.iter().chain(&c.outputs).all(|t| match t.dtype {
        DType::F32 | DType::I32 | DType::I64 | DType::Bool | DType::I8 | DType::U8 => true,
        DType::F64 | DType::F16 | DType::BF16 | DType::I16 | DType::U16 | DType::U32 | DType::U64 => false,
    })
}

fn is_refused(c: &Case) -> Result<(), String> {
    // A view of bytes needs no kernel, whatever its element type.
    if c.op == GraphOp::Reshape {
        return Ok(());
    }
    let mut body = Body::default();
    let args: Vec<_> = c.inputs.iter().map(|t| body.arg(Tensor::ty(t))).collect();
    body.results = body.push(c.op, c.attrs.clone(), &args, c.types(), "n");
    match neap_kernels::graph_to_loop::lower(&body.nodes[0], &body) {
        Ok(_) => Err(format!("{} is lowered, though its element type is to be refused", c.name())),
        Err(e) if e.to_string().contains("is not computed with yet; convert") => Ok(()),
        Err(e) => Err(format!("{}: {e}", c.name())),
    }
}
