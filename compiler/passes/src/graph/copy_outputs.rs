//! Gives every result a kernel of its own to come from.
//!
//! A result that is an argument, a constant, or a view of either, and the second of two results that are the same value, get a
//! copy (a whole `graph.slice`), since outputs are written straight into the caller's buffers.
//!
//! **Does not fire when** every result is computed and none is there twice. Must run last: `graph-simplify` undoes it.
//!
//! ```mlir
//! return %arg0 : tensor<4xf32>   // becomes %0 = graph.slice %arg0 from [0] step [1] ...; return %0
//! ```

use std::collections::HashSet;

use neap_optable::{Attrs, GraphOp};

use crate::pass::{Changed, Cx, Func, GraphPass, PassError};

/// The pass.
pub struct CopyOutputs;

/// No options.
#[derive(clap::Args)]
pub struct Options {}

impl GraphPass for CopyOutputs {
    type Options = Options;
    const NAME: &'static str = "graph-copy-outputs";
    const SUMMARY: &'static str = "give every result a kernel of its own to come from";

    fn run(_: &mut Cx, func: &mut Func, _: &Options) -> Result<Changed, PassError> {
        let body = &mut func.body;
        let producers = body.producers();
        let mut taken = HashSet::new();
        let mut changed = Changed::No;
        for i in 0..body.results.len() {
            let result = body.results[i];
            let mut root = result;
            let computed = loop {
                match producers[root.0 as usize].map(|p| &body.nodes[p]) {
                    None => break false,
                    Some(n) => match n.op {
                        GraphOp::Reshape => root = n.inputs[0],
                        GraphOp::Constant | GraphOp::Weight => break false,
                        _ => break true,
                    },
                }
            };
            if computed && taken.insert(root) {
                continue;
            }
            let ty = body.ty(result).clone();
            let attrs = Attrs::new().ints("starts", vec![0; ty.rank()]).ints("steps", vec![1; ty.rank()]);
            let name = body.result_names.get(i).map_or_else(|| format!("result {i}"), |n| format!("copy of {n}"));
            body.results[i] = body.push(GraphOp::Slice, attrs, &[result], [ty], name)[0];
            changed = Changed::Yes;
        }
        Ok(changed)
    }
}
